import numpy as np
import pytest

from healthgym.envs.ehr_event_modelling.labels import label_rows
from healthgym.envs.ehr_event_modelling.timeline import (
    DAY,
    NO_TIME,
    EventKind,
    RawEvents,
    Timeline,
    assemble,
)

KINDS = (
    EventKind("Visit/IP", "visit_occurrence"),
    EventKind("Visit/ERIP", "visit_occurrence"),
    EventKind("Visit/OP", "visit_occurrence"),
    EventKind("SNOMED/55464009", "condition_occurrence"),
    EventKind("Note/any", "note"),
)
IP, ERIP, OP, DIAGNOSIS, OTHER = range(5)
NOON = 720
#: 23:59 of day 0, in minutes.
CUT = DAY - 1


def chart(*events: tuple[int, int, int]) -> Timeline:
    """Build one patient from (kind, start, end)."""
    kind, start, end = (np.array(column, dtype=np.int64) for column in zip(*events, strict=True))
    count = len(kind)
    raw = RawEvents(
        np.zeros(count, dtype=np.int64),
        start,
        end,
        kind,
        np.full(count, np.nan),
        np.zeros(count, dtype=np.int64),
    )
    return assemble(np.array([7], dtype=np.int64), raw, KINDS)


def labelled(*events: tuple[int, int, int]) -> list[tuple[int, bool]]:
    timeline = chart(*events)
    rows = label_rows(timeline, timeline.kinds_of({"SNOMED/55464009"}))
    return list(zip(rows.time.tolist(), rows.label.tolist(), strict=True))


STAY = (IP, NOON - 300, NOON)
LONG_AFTER = (OTHER, 900 * DAY, NO_TIME)


@pytest.mark.parametrize(
    ("after", "label"),
    [
        (1, False),  # the day after the prediction is not yet within the horizon
        (DAY - 1, False),
        (DAY, True),
        (180 * DAY, True),
        (365 * DAY, True),
        (365 * DAY + 1, False),
    ],
)
def test_outcome_counts_from_one_to_365_days_after(after: int, label: bool) -> None:
    diagnosis = (DIAGNOSIS, CUT + after, NO_TIME)
    assert labelled(STAY, diagnosis, LONG_AFTER) == [(CUT, label)]


@pytest.mark.parametrize("when", [-1000 * DAY, NOON, CUT])
def test_existing_diagnosis_leaves_no_row(when: int) -> None:
    assert labelled(STAY, (DIAGNOSIS, when, NO_TIME), LONG_AFTER) == []


def test_only_the_first_diagnosis_counts() -> None:
    early, late = (DIAGNOSIS, CUT + 60, NO_TIME), (DIAGNOSIS, CUT + 30 * DAY, NO_TIME)
    assert labelled(STAY, early, late, LONG_AFTER) == [(CUT, False)]


def test_prediction_is_at_the_end_of_the_discharge_day() -> None:
    assert labelled((ERIP, -3 * DAY, 0), LONG_AFTER) == [(CUT, False)]
    assert labelled((IP, -3 * DAY, CUT), LONG_AFTER) == [(CUT, False)]
    assert labelled((IP, -3 * DAY, DAY), LONG_AFTER) == [(DAY + CUT, False)]


def test_outpatient_visits_and_open_stays_are_no_prediction_times() -> None:
    assert labelled((OP, 0, NOON), LONG_AFTER) == []
    assert labelled((IP, 0, NO_TIME), LONG_AFTER) == []


def test_two_discharges_on_a_day_are_one_row() -> None:
    assert labelled(STAY, (ERIP, NOON + 60, NOON + 300), LONG_AFTER) == [(CUT, False)]


def test_censored_before_the_horizon_leaves_no_negative_row() -> None:
    last = CUT + 365 * DAY
    assert labelled(STAY, (OTHER, last - 1, NO_TIME)) == []
    assert labelled(STAY, (OTHER, last, NO_TIME)) == [(CUT, False)]


def test_positive_needs_no_follow_up() -> None:
    assert labelled(STAY, (DIAGNOSIS, CUT + 40 * DAY, NO_TIME)) == [(CUT, True)]


def test_later_discharges_have_rows_until_the_diagnosis() -> None:
    again = (IP, 100 * DAY, 100 * DAY + NOON)
    after = (IP, 500 * DAY, 500 * DAY + NOON)
    diagnosis = (DIAGNOSIS, 420 * DAY, NO_TIME)
    found = labelled(STAY, again, diagnosis, after, LONG_AFTER, (OTHER, 1500 * DAY, NO_TIME))
    assert found == [(CUT, False), (100 * DAY + CUT, True)]


def test_cut_removes_what_came_later_and_blanks_open_ends() -> None:
    timeline = chart((IP, 10, 50), (OP, 60, 70), (OTHER, 65, 66), (OTHER, 70, NO_TIME))
    seen = timeline.cut(np.array([66]))
    assert seen.start.tolist() == [10, 60, 65]
    # The source blanks an end at the limit, too.
    assert seen.end.tolist() == [50, NO_TIME, NO_TIME]
