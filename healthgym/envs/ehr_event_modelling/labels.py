"""The label rule: whether a first diagnosis follows a discharge within a year."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from healthgym.envs.ehr_event_modelling.timeline import (
    DAY,
    NO_TIME,
    Ints,
    Mask,
    Timeline,
    end_of_day,
)

#: Visits whose ends are prediction times.
INPATIENT = ("Visit/IP", "Visit/ERIP")
#: The outcome lies this long after the prediction, both ends included.
HORIZON = (DAY, 365 * DAY)

_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Rows:
    """Prediction times, sorted by patient and time.

    Attributes:
        patient: Index of the patient in the timeline, shape ``(rows,)``.
        time: Prediction time in minutes, likewise.
        label: Whether the outcome follows; empty where the labels are not known.
    """

    patient: Ints
    time: Ints
    label: Mask

    def __len__(self) -> int:
        return len(self.patient)

    def where(self, keep: Mask) -> Rows:
        """Return the rows of a mask."""
        label = self.label[keep] if len(self.label) else self.label
        return Rows(self.patient[keep], self.time[keep], label)

    def first(self) -> Rows:
        """Return each patient's first row."""
        if not len(self):
            return self
        keep = np.concatenate([[True], self.patient[1:] != self.patient[:-1]])
        return self.where(keep)

    def unlabelled(self) -> Rows:
        """Return the rows without their labels."""
        return Rows(self.patient, self.time, np.zeros(0, dtype=np.bool_))


def discharges(timeline: Timeline) -> tuple[Ints, Ints]:
    """Return patient index and end of every inpatient visit that has an end."""
    chosen = timeline.kinds_of(INPATIENT)[timeline.kind] & (timeline.end != NO_TIME)
    return timeline.patient[chosen].astype(np.int64), timeline.end[chosen]


def label_rows(timeline: Timeline, outcome: Mask, ends: tuple[Ints, Ints] | None = None) -> Rows:
    """Apply the rule of EHRSHOT's new-onset tasks.

    A prediction is made at 23:59 of the day of each inpatient discharge before the first
    diagnosis. It is positive where that diagnosis comes 1 to 365 days later. A negative needs a
    record that reaches past the horizon; where it is censored before, there is no row.

    Args:
        timeline: Full records.
        outcome: Which kinds are the diagnosis, shape ``(kinds,)``.
        ends: Patient index and time of each discharge; those of inpatient visits if None.
    """
    patients = len(timeline.patient_ids)
    patient, discharged = discharges(timeline) if ends is None else ends
    times = end_of_day(discharged)
    span = int(times.max()) + 1 if len(times) else 1
    low = int(times.min()) if len(times) else 0
    keys = np.unique(patient * (span - low) + (times - low))
    patient, times = keys // (span - low), keys % (span - low) + low
    diagnosed = np.full(patients, _NEVER, dtype=np.int64)
    hits = outcome[timeline.kind]
    np.minimum.at(diagnosed, timeline.patient[hits], timeline.start[hits])
    last = np.full(patients, -_NEVER, dtype=np.int64)
    np.maximum.at(last, timeline.patient, timeline.start)
    first = diagnosed[patient]
    label = (first >= times + HORIZON[0]) & (first <= times + HORIZON[1])
    keep = (times < first) & (label | (last[patient] >= times + HORIZON[1]))
    return Rows(patient[keep], times[keep], label[keep])
