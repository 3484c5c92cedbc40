"""Background charts: the history of one patient, written into a chart builder."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from healthgym.errors import ConfigurationError
from healthgym.worlds.fhir.charts import ChartBuilder
from healthgym.worlds.fhir.cohort.course import Course, draw_course, local_midnight, spread_out
from healthgym.worlds.fhir.cohort.patients import PatientProfile
from healthgym.worlds.fhir.cohort.physiology import fluctuations, levels, measured
from healthgym.worlds.fhir.cohort.tables import (
    ALWAYS,
    Bools,
    Floats,
    Groups,
    Ints,
    Selection,
    disease_tables,
    first_use,
    panel_groups,
    round_groups,
    selection,
    signal_tables,
)
from healthgym.worlds.fhir.cohort.vocabulary import vocabulary

FULL_LABS, FULL_VITALS = 3_300, 2_334
FULL_CONDITIONS, FULL_MEDICATIONS, FULL_PROCEDURES = 748, 220, 1_250
"""Records of a data-bearing patient on the published server (its totals over 100 patients)."""

INPATIENT_SHARE = 0.72
"""Share of records that belong to hospital stays."""

_YEAR_S = 31_556_952
_BULK_FROM = 600  # above this many observations, arrays are cheaper to hand over than rows
_ACUTE_SPREAD = 1.35  # values in hospital scatter more than in the clinic
_MORE_FORMS = 0.35  # share of further Condition rows that repeat a known disease
_STILL_ACTIVE = 0.96
_FLAGS = (None, "HIGH", "LOW")


@dataclass(frozen=True, slots=True)
class Volume:
    """How many records of each kind a chart gets."""

    labs: int
    vitals: int
    conditions: int
    medications: int
    procedures: int


def write_chart(
    builder: ChartBuilder,
    patient: PatientProfile,
    rng: np.random.Generator,
    *,
    now: datetime,
    years: float = 5.0,
    density: float = 1.0,
    omit: frozenset[str] = frozenset(),
) -> None:
    """Write the history of ``patient``: conditions, labs, vitals, procedures, medication orders.

    Args:
        builder: Where the rows go; :func:`write_patient` adds the Patient resource itself.
        patient: Whose history.
        rng: Source of randomness.
        now: End of the history, timezone-aware; nothing is dated or released after it.
        years: Length of the history.
        density: 1.0 gives about 7,850 records, as the published server holds per patient with
            data; 0.015 gives about 130.
        omit: Codes (``MG``, ``C64.2``), vital names (``BP``), disease names and class tags
            (``anticoagulant``) to leave out entirely.

    Raises:
        ConfigurationError: If ``now`` has no timezone, or ``years`` or ``density`` is not above 0.
    """
    if years <= 0 or density <= 0:
        raise ConfigurationError("A chart needs years and a density above 0.")
    scale = density * float(np.exp(rng.normal(-0.02, 0.2)))
    diseases = len(patient.conditions)
    volume = Volume(
        labs=round(FULL_LABS * scale),
        vitals=round(FULL_VITALS * scale),
        conditions=max(round(FULL_CONDITIONS * scale), diseases + 2),
        medications=max(round(FULL_MEDICATIONS * scale), 4 + diseases),
        procedures=round(FULL_PROCEDURES * scale),
    )
    write_volume(builder, patient, rng, now=now, years=years, volume=volume, omit=omit)


def write_volume(
    builder: ChartBuilder,
    patient: PatientProfile,
    rng: np.random.Generator,
    *,
    now: datetime,
    years: float,
    volume: Volume,
    omit: frozenset[str] = frozenset(),
) -> None:
    """Write a history of exactly ``volume`` records; what ``omit`` names is then left out.

    Raises:
        ConfigurationError: If ``now`` has no timezone.
    """
    if now.tzinfo is None:
        raise ConfigurationError("The end of a chart's history needs a timezone.")
    end = int(now.timestamp())
    start = end - int(years * _YEAR_S)
    course = draw_course(rng, start, end, volume.labs / FULL_LABS)
    chosen = selection(omit, patient.gender)
    diseases = disease_tables()
    present = np.array([diseases.index[name] for name in patient.conditions], dtype=np.int64)
    writer = _Writer(builder, patient, rng, course, chosen, present, end)
    writer.conditions(volume.conditions)
    writer.observations(volume.labs, volume.vitals)
    writer.procedures(volume.procedures)
    writer.medications(volume.medications)


@dataclass(frozen=True, slots=True)
class _Taken:
    """Measurements sorted by signal, then time; ``group`` tells which were taken together."""

    signals: Ints
    times: Ints
    acute: Bools
    group: Ints
    groups: int


@dataclass(slots=True)
class _Writer:
    """The parts of one chart; they share the course of the patient's stays and visits."""

    builder: ChartBuilder
    patient: PatientProfile
    rng: np.random.Generator
    course: Course
    chosen: Selection
    present: Ints
    end: int

    def conditions(self, count: int) -> None:
        """Write each disease once, then repeats in other spellings and incidental findings."""
        words, tables, rng = vocabulary(), disease_tables(), self.rng
        known = [self.chosen.forms[i] for i in self.present.tolist()]
        known = [forms for forms in known if forms]
        met = tables.finding_requires[self.present].any(axis=0)
        weights = self.chosen.findings * (met | ~tables.finding_required)
        u = rng.random((3, count))
        moments = self.course.moments(rng, u[0] < INPATIENT_SHARE)
        picks = _choose_in_use(rng, weights, weights, first_use().findings, moments, u[0] < 1)
        onsets = np.where(u[1] < 0.5, local_midnight(moments), moments).tolist()
        share = u[2].tolist()
        found = [words.findings[pick] for pick in picks.tolist()]
        add, mrn = self.builder.condition, self.patient.mrn
        for i, onset in enumerate(onsets):
            if i < len(known):
                code, display = known[i][0]
            elif known and share[i] < _MORE_FORMS:
                position = share[i] / _MORE_FORMS * len(known)
                forms = known[int(position)]
                code, display = forms[int(position % 1 * len(forms))]
            elif found:
                code, display = found[i].code, found[i].display
            else:
                continue
            add(mrn, code, display, onset)

    def observations(self, labs: int, vitals: int) -> None:
        """Write lab results, ECG measurements and flowsheet vitals."""
        rng, tables, chosen = self.rng, signal_tables(), self.chosen
        boost = np.exp(disease_tables().panel_boost[self.present].sum(axis=0))
        weights = (chosen.panels[0] * boost, chosen.panels[1] * boost)
        taken = self._take(panel_groups(), weights, labs)
        charted = self._take(round_groups(), chosen.rounds, vitals)
        signals = np.concatenate((taken.signals, charted.signals))
        times = np.concatenate((taken.times, charted.times))
        deviations = fluctuations(rng, signals, times)
        deviations[np.concatenate((taken.acute, charted.acute))] *= _ACUTE_SPREAD
        on = datetime.fromtimestamp(self.end, UTC).date()
        values = measured(levels(self.patient, on), signals, deviations)
        # A panel is released as a whole, a quarter of an hour to some hours after collection.
        turnaround = 900 + 60 * rng.lognormal(3.7, 0.7, taken.groups).astype(np.int64)
        issued = np.minimum(taken.times + turnaround[taken.group], self.end)
        flags = (values > tables.high[signals]) + 2 * (values < tables.low[signals])
        n, bulk = len(taken.signals), len(signals) > _BULK_FROM
        self._write_labs(taken, values[:n], issued, flags[:n], bulk)
        self._write_vitals(charted, values[n:], bulk)

    def procedures(self, count: int) -> None:
        """Write orders and procedures, dated on the day's midnight."""
        rows, rng = vocabulary().procedures, self.rng
        inpatient = rng.random(count) < INPATIENT_SHARE
        days = local_midnight(self.course.moments(rng, inpatient))
        picks = _choose_in_use(
            rng, *self.chosen.procedures, first_use().procedures, days, inpatient
        )
        add, mrn = self.builder.procedure, self.patient.mrn
        for pick, day in zip(picks.tolist(), days.tolist(), strict=False):
            row = rows[pick]
            add(mrn, row.code, row.display, day)

    def medications(self, count: int) -> None:
        """Write medication orders; nearly all stay active for ever, as on the published server."""
        rows, rng, chosen = vocabulary().medications, self.rng, self.chosen
        indicated = disease_tables().indications[self.present].sum(axis=0)
        indicated *= chosen.medication_mask
        in_hospital, in_clinic = (weights + indicated for weights in chosen.medications)
        inpatient = rng.random(count) < INPATIENT_SHARE
        days = local_midnight(self.course.moments(rng, inpatient))
        since = first_use().medications
        picks = _choose_in_use(rng, in_hospital, in_clinic, since, days, inpatient)
        active = (rng.random(count) < _STILL_ACTIVE).tolist()
        add, mrn = self.builder.medication_request, self.patient.mrn
        for pick, day, stays in zip(picks.tolist(), days.tolist(), active, strict=False):
            row = rows[pick]
            add(
                mrn,
                row.text,
                day,
                timing=row.timing,
                route=row.route,
                dose=row.dose,
                dose_unit=row.unit if row.dose is not None else "",
                status="active" if stays else "completed",
            )

    def _take(self, groups: Groups, weights: tuple[Floats, Floats], records: int) -> _Taken:
        """Draw measurements that make ``records`` Observations before anything is left out."""
        rng = self.rng
        inpatient = rng.random(records // 2 + 4) < INPATIENT_SHARE
        picks = _choose_by_setting(rng, *weights, inpatient)
        total = groups.records[picks].cumsum()
        enough = int(total.searchsorted(records, "right"))
        rest = records - (int(total[enough - 1]) if enough else 0)
        single = rng.random(rest) < INPATIENT_SHARE
        alone = _choose_by_setting(
            rng, weights[0][groups.singles], weights[1][groups.singles], single
        )
        picks = np.concatenate((picks[:enough], groups.singles[alone]))
        inpatient = np.concatenate((inpatient[:enough], single))[: len(picks)]
        moments = self.course.moments(rng, inpatient)
        order = moments.argsort(kind="stable")
        picks, inpatient, moments = picks[order], inpatient[order], spread_out(moments)
        size = groups.size[picks]
        group = np.arange(len(picks)).repeat(size)
        ends = size.cumsum()
        within = np.arange(len(group)) - (ends - size)[group]
        signals = groups.members[groups.start[picks][group] + within]
        kept = self.chosen.signals[signals].nonzero()[0]
        kept = kept[signals[kept].argsort(kind="stable")]
        group = group[kept]
        return _Taken(signals[kept], moments[group], inpatient[group], group, len(picks))

    def _write_labs(
        self, taken: _Taken, values: Floats, issued: Ints, flags: Ints, bulk: bool
    ) -> None:
        signals, times = taken.signals, taken.times
        labs, mrn = vocabulary().labs, self.patient.mrn
        # A laboratory changes how it prints a unit now and then; each patient sees one of them.
        pick = int(self.rng.integers(4))
        if not bulk:
            add = self.builder.lab
            columns = (column.tolist() for column in (signals, times, values, issued, flags))
            for signal, time, value, release, flag in zip(*columns, strict=True):
                lab = labs[signal]
                unit, mark = lab.units[pick % len(lab.units)], _FLAGS[flag]
                add(mrn, lab.code, time, value, unit, issued=release, interpretation=mark)
            return
        limits = signals.searchsorted(np.arange(len(labs) + 1)).tolist()
        for lab, low, high in zip(labs, limits, limits[1:], strict=False):
            if low < high:
                marks = [_FLAGS[flag] for flag in flags[low:high].tolist()]
                self.builder.labs(
                    mrn,
                    lab.code,
                    times[low:high],
                    values[low:high],
                    lab.units[pick % len(lab.units)],
                    issued=issued[low:high],
                    interpretations=marks if any(marks) else None,
                )

    def _write_vitals(self, charted: _Taken, values: Floats, bulk: bool) -> None:
        signals, times = charted.signals, charted.times
        mrn, index = self.patient.mrn, signal_tables().index
        for vital, wanted in zip(vocabulary().vitals, self.chosen.vitals, strict=True):
            if not wanted:
                continue
            slices = []
            for channel in vital.channels:
                number = index[channel.name]
                low, high = signals.searchsorted([number, number + 1]).tolist()
                slices.append(slice(low, high))
            if slices[0].start == slices[0].stop:
                continue
            columns = [values[part] for part in slices]
            if len(columns) == 2:  # a pulse pressure below 15 mmHg would be an artefact
                columns[1] = np.minimum(columns[1], columns[0] - 15)
            texts = [
                vital.template.format(*(f"{value:g}" for value in row))
                for row in zip(*(column.tolist() for column in columns), strict=True)
            ]
            if bulk:
                self.builder.vitals(mrn, vital.name, times[slices[0]], texts)
            else:
                for time, text in zip(times[slices[0]].tolist(), texts, strict=True):
                    self.builder.vital(mrn, vital.name, time, text)


def _choose_by_setting(
    rng: np.random.Generator, in_hospital: Floats, in_clinic: Floats, inpatient: Bools
) -> Ints:
    """Draw positions with the first weights where ``inpatient``, else with the second.

    Returns:
        Positions; shape (N,), or (0,) if there is nothing to choose from in either setting.
    """
    hospital, clinic = in_hospital.cumsum(), in_clinic.cumsum()
    if not len(hospital) or not (hospital[-1] + clinic[-1]):
        return np.empty(0, dtype=np.int64)
    if not hospital[-1]:
        hospital = clinic
    elif not clinic[-1]:
        clinic = hospital
    u = rng.random(len(inpatient))
    picked: Ints = np.where(
        inpatient,
        hospital.searchsorted(u * hospital[-1], "right"),
        clinic.searchsorted(u * clinic[-1], "right"),
    )
    return picked


def _choose_in_use(
    rng: np.random.Generator,
    in_hospital: Floats,
    in_clinic: Floats,
    since: Ints,
    moments: Ints,
    inpatient: Bools,
) -> Ints:
    """Draw as :func:`_choose_by_setting`, nothing before the moment it came into use."""
    picks = _choose_by_setting(rng, in_hospital, in_clinic, inpatient)
    if len(picks) and (early := since[picks] > moments).any():
        always = since == ALWAYS
        again = _choose_by_setting(rng, in_hospital * always, in_clinic * always, inpatient[early])
        picks[early] = again
    return picks
