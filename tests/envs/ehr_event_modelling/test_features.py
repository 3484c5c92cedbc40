import math

import numpy as np
import pytest

from healthgym.envs.ehr_event_modelling.features import Measure, Recipe, build, demographics
from healthgym.envs.ehr_event_modelling.labels import Rows
from healthgym.envs.ehr_event_modelling.task import EventInstance, Study
from healthgym.envs.ehr_event_modelling.timeline import (
    DAY,
    NO_TIME,
    EventKind,
    RawEvents,
    assemble,
)
from healthgym.errors import ToolError

KINDS = (EventKind("LOINC/1", "measurement"), EventKind("SNOMED/2", "condition_occurrence"))
NAN = math.nan


@pytest.fixture
def small_study() -> Study:
    """Two patients; the first is predicted on day 10 and day 20, the second on day 10."""
    events = [  # patient, day, kind, value
        (0, 1, 0, 5.0),
        (0, 9, 0, 8.0),
        (0, 9, 1, NAN),
        (0, 10, 0, 3.0),  # at the prediction time: not yet known
        (0, 15, 0, NAN),
        (1, 3, 0, 4.0),
        (1, 12, 1, NAN),
    ]
    patient, day, kind, value = (np.array(column) for column in zip(*events, strict=True))
    raw = RawEvents(
        patient.astype(np.int64),
        day.astype(np.int64) * DAY,
        np.full(len(day), NO_TIME),
        kind.astype(np.int64),
        value.astype(np.float64),
        np.zeros(len(day), dtype=np.int64),
    )
    timeline = assemble(np.array([70, 80]), raw, KINDS)
    train = Rows(np.array([0, 0]), np.array([10, 20]) * DAY, np.array([False, True]))
    validation = Rows(np.array([1]), np.array([10]) * DAY, np.array([True]))
    return Study("x", ("SNOMED/2",), timeline, train, validation, validation.unlabelled())


def column(study: Study, measure: Measure, code: str = "LOINC/1", **kwargs: int) -> list[float]:
    made = build(study, Recipe(measure, prefix=code, least=1, **kwargs))
    assert made.columns[0].startswith(code)
    return [*made.train[:, 0].tolist(), *made.validation[:, 0].tolist()]


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (Measure.COUNT, [2, 4, 1]),
        (Measure.ANY, [1, 1, 1]),
        (Measure.LAST, [8, 3, 4]),
        (Measure.MEAN, [6.5, 16 / 3, 4]),
        (Measure.MIN, [5, 3, 4]),
        (Measure.MAX, [8, 8, 4]),
        (Measure.SLOPE, [3, -2, 0]),
        (Measure.DAYS_SINCE, [1, 5, 7]),
    ],
)
def test_measures(small_study: Study, measure: Measure, expected: list[float]) -> None:
    assert column(small_study, measure) == pytest.approx(expected, rel=1e-6)


def test_window_counts_back_from_the_prediction(small_study: Study) -> None:
    assert column(small_study, Measure.COUNT, window=5) == [1, 1, 0]
    assert column(small_study, Measure.COUNT, window=9) == [2, 1, 1]


def test_no_value_is_empty_and_no_event_is_zero(small_study: Study) -> None:
    last = column(small_study, Measure.LAST, window=2)
    assert last[0] == 8.0
    assert np.isnan(last[1:]).all()
    assert column(small_study, Measure.COUNT, "SNOMED") == [1, 1, 0]


def test_looking_ahead_is_possible_and_marked(small_study: Study) -> None:
    made = build(small_study, Recipe(Measure.COUNT, after=3, least=1, prefix="SNOMED"))
    assert made.validation.tolist() == [[1.0]]
    assert made.peeks
    assert not build(small_study, Recipe(Measure.COUNT, least=1)).peeks


def test_codes_are_chosen_by_train_patients(small_study: Study) -> None:
    with pytest.raises(ToolError, match="No code"):
        build(small_study, Recipe(Measure.COUNT, least=2))
    with pytest.raises(ToolError, match="with values"):
        build(small_study, Recipe(Measure.LAST, prefix="SNOMED", least=1))
    assert build(small_study, Recipe(Measure.COUNT, least=1, most=1)).train.shape == (2, 1)


def test_counts_agree_with_counting_one_by_one(tiny_instance: EventInstance) -> None:
    study = tiny_instance.reference.study
    made = build(study, Recipe(Measure.COUNT, window=200, prefix="SNOMED/"))
    timeline = study.timeline
    codes = np.array([kind.code for kind in timeline.kinds])[timeline.kind]
    rng = np.random.default_rng(0)
    for row in rng.integers(0, len(study.test), 12):
        mine = timeline.patient == study.test.patient[row]
        age = study.test.time[row] - timeline.start
        seen = codes[mine & (age > 0) & (age <= 200 * DAY)]
        for place, name in enumerate(made.columns):
            assert made.test[row, place] == (seen == name.split()[0]).sum()


def test_demographics(tiny_instance: EventInstance) -> None:
    made = demographics(tiny_instance.reference.study)
    assert made.columns == ("age", "male", "days on record")
    assert ((made.test[:, 0] > 17) & (made.test[:, 0] < 96)).all()
    assert set(np.unique(made.test[:, 1])) == {0.0, 1.0}
    assert (made.test[:, 2] > 0).all()
