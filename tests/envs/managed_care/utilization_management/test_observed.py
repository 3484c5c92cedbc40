"""Values and days beside findings: what is asked for, and in which forms it may be given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

import pytest

from healthgym.core.borders import Json
from healthgym.envs.managed_care.utilization_management.observed import bare, misread
from healthgym.worlds.managed_care.facts import (
    AnyFact,
    Diagnosis,
    Measurement,
    MedicationCourse,
    StopReason,
    TherapyCourse,
)
from healthgym.worlds.managed_care.policies.criteria import (
    AgeCriterion,
    AnyCriterion,
    DiagnosisCriterion,
    MeasurementCriterion,
    StepTherapyCriterion,
    TherapyCriterion,
)
from healthgym.worlds.managed_care.policies.evaluation import posture
from healthgym.worlds.managed_care.policies.request import Request
from healthgym.worlds.managed_care.records.review import (
    ClinicalEvidenceItemObservation,
    NurseCriterionEvaluation,
)
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CriterionResult,
    ItemOperator,
    PlaceOfService,
)

TODAY = date(2026, 3, 13)
MET, UNCLEAR = CriterionResult.MET, CriterionResult.UNCLEAR
ASKED = Request(
    procedure_code="1", diagnosis_codes=("E11",), site=PlaceOfService.HOME, age=50, sex="male"
)
ANY_A1C = MeasurementCriterion(
    id="C1",
    display="hemoglobin A1c",
    code="4548-4",
    operator=ItemOperator.GTE,
    threshold=7.0,
    unit="%",
    months=6,
    recency="any",
)
STEP = StepTherapyCriterion(
    id="C1",
    display="antidepressants",
    drug_class="antidepressant",
    drugs=("sertraline", "bupropion"),
    agents=1,
    weeks=8,
    reasons=(StopReason.INEFFECTIVE,),
)
DIABETES = DiagnosisCriterion(id="C1", display="diabetes", prefixes=("E11",), examples=("E11.9",))


def a1c(value: float, days: int) -> Measurement:
    taken = TODAY - timedelta(days=days)
    return Measurement(
        id=f"F-{days}", code="4548-4", display="A1c", value=value, unit="%", taken=taken
    )


def course(name: str, weeks: int) -> MedicationCourse:
    return MedicationCourse(
        id=name,
        medication=name,
        drug_class="antidepressant",
        dose="",
        frequency="",
        started=TODAY - timedelta(days=100, weeks=weeks),
        ended=TODAY - timedelta(days=100),
        stop_reason=StopReason.INEFFECTIVE,
    )


def entry(
    notes: str = "", result: CriterionResult = MET, **values: Json
) -> NurseCriterionEvaluation:
    return NurseCriterionEvaluation(
        criterion_id="C1",
        criterion_text="",
        result=result,
        notes=notes,
        item_observations=tuple(
            ClinicalEvidenceItemObservation(item_id=f"C1.{name}", observed_value=value)
            for name, value in values.items()
        ),
    )


def is_misread(
    item: AnyCriterion, facts: Sequence[AnyFact], found: NurseCriterionEvaluation
) -> bool:
    return misread(item, posture(item, facts, ASKED, TODAY), found, facts, TODAY)


@pytest.mark.parametrize(
    ("value", "wrong"), [(7.4, False), (8.2, False), (6.1, True), (7.0, True), (9.9, True)]
)
def test_where_any_value_is_enough_any_that_is_there_will_do(value: float, wrong: bool) -> None:
    facts = [a1c(7.4, 90), a1c(6.1, 60), a1c(8.2, 30), a1c(9.9, 400)]
    assert is_misread(ANY_A1C, facts, entry(value=value)) is wrong


@pytest.mark.parametrize(("weeks", "wrong"), [(12, False), (20, False), (21, False), (8, True)])
def test_the_weeks_of_any_trial_will_do_and_the_least_asked_for_will_not(
    weeks: int, wrong: bool
) -> None:
    facts = [course("sertraline", 12), course("bupropion", 20)]
    assert is_misread(STEP, facts, entry(agents=1, weeks=weeks)) is wrong


@pytest.mark.parametrize(
    ("sessions", "weeks", "wrong"), [(9, 3, False), (9, None, False), (10, 3, True), (9, 8, True)]
)
def test_a_therapy_that_goes_on_may_be_entered_as_far_as_it_goes(
    sessions: int, weeks: int | None, wrong: bool
) -> None:
    asked = TherapyCriterion(
        id="C1", display="", therapy="psychotherapy", sessions=10, weeks=6, months=12
    )
    going = TherapyCourse(
        id="F-1",
        kind="psychotherapy",
        display="psychotherapy",
        sessions=9,
        started=TODAY - timedelta(weeks=3),
    )
    values: dict[str, Json] = {"sessions": sessions} | ({"weeks": weeks} if weeks else {})
    assert is_misread(asked, [going], entry(result=UNCLEAR, **values)) is wrong


@pytest.mark.parametrize(("value", "wrong"), [(9.9, False), (7.4, True)])
def test_a_value_that_is_too_old_may_be_entered_beside_what_it_leaves_open(
    value: float, wrong: bool
) -> None:
    facts = [a1c(9.9, 400)]
    assert is_misread(ANY_A1C, facts, entry(result=UNCLEAR, value=value)) is wrong
    assert is_misread(ANY_A1C, facts, entry(result=MET, value=value))


def test_of_too_few_trials_the_reason_that_counts_may_be_entered() -> None:
    asked, facts = replace(STEP, agents=2), [course("sertraline", 12)]
    assert not is_misread(asked, facts, entry(result=UNCLEAR, agents=1, reason=True))
    assert is_misread(asked, facts, entry(result=UNCLEAR, agents=2, reason=True))
    other = replace(asked, reasons=(StopReason.INTOLERANCE,))
    assert is_misread(other, facts, entry(result=UNCLEAR, reason=True))


def test_a_result_that_a_number_decides_stands_with_it() -> None:
    shown = posture(ANY_A1C, [a1c(7.4, 90)], ASKED, TODAY)
    assert bare(ANY_A1C, shown, entry())
    assert bare(ANY_A1C, shown, entry(value="high"))
    assert not bare(ANY_A1C, shown, entry(value=7.4))
    assert not bare(ANY_A1C, shown, entry(result=UNCLEAR))


@pytest.mark.parametrize(
    ("notes", "lacking"),
    [
        ("Type 2, diagnosed 2024-03-08.", False),
        ("On the problem list since March 8, 2024", False),
        ("08 Mar 2024", False),
        ("On the problem list.", True),
        ("Note of 2026-03-02.", True),
    ],
)
def test_a_diagnosis_stands_with_the_day_since_when_it_is_on_record(
    notes: str, lacking: bool
) -> None:
    onset = date(2024, 3, 8)
    known = Diagnosis(id="F-1", code="E11.9", display="diabetes", onset=onset)
    shown = posture(DIABETES, [known], ASKED, TODAY)
    assert bare(DIABETES, shown, entry(notes), frozenset({onset})) is lacking


def test_what_the_request_states_needs_no_value() -> None:
    adult = AgeCriterion(id="C1", display="age", minimum=18)
    assert not bare(adult, posture(adult, [], ASKED, TODAY), entry())
