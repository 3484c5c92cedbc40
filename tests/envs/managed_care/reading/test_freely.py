"""Facts told in words of somebody's own: read where they are told outright, left where not."""

from __future__ import annotations

from datetime import date

import pytest

from healthgym.envs.managed_care.reading.freely import freely_told
from healthgym.worlds.managed_care.facts import (
    AnyFact,
    Diagnosis,
    Finding,
    Measurement,
    MedicationCourse,
    StopReason,
    TherapyCourse,
)
from healthgym.worlds.managed_care.policies.criteria import (
    AnyCriterion,
    CountCriterion,
    DiagnosisCriterion,
    FindingCriterion,
    MeasurementCriterion,
    StepTherapyCriterion,
    TherapyCriterion,
)
from healthgym.worlds.managed_care.vocabulary.authorization import ItemOperator

PROGRAM = TherapyCriterion(
    id="C4", display="pain rehabilitation program", therapy="pain_rehabilitation", months=18
)
PHQ = MeasurementCriterion(
    id="C2",
    display="PHQ-9 score",
    code="44261-6",
    operator=ItemOperator.GTE,
    threshold=20,
    unit="{score}",
    months=1,
)
STEP = StepTherapyCriterion(
    id="C3",
    display="antidepressants",
    drug_class="antidepressant",
    drugs=("sertraline", "bupropion"),
    agents=1,
    weeks=8,
    reasons=(StopReason.INEFFECTIVE,),
)
DROP = FindingCriterion(
    id="C5",
    display="foot drop",
    key="exam.foot_drop",
    scale=("absent", "mild", "severe"),
    accepted=("severe",),
)
GOUT = DiagnosisCriterion(id="C1", display="gout", prefixes=("M10",), examples=("M10.9",))
DAYS = date(2024, 9, 19), date(2025, 1, 2)


def told(text: str, item: AnyCriterion) -> AnyFact | None:
    return next(freely_told(text, item), None)


@pytest.mark.parametrize(
    "text",
    [
        "A pain rehabilitation program with 15 sessions was done elsewhere from 2024-09-19 to "
        "2025-01-02 and completed.",
        "She went through a second pain rehabilitation program elsewhere: 15 sessions, which began "
        "on September 19, 2024 and ended on January 2, 2025 because the course was complete.",
        "C4: she attended a pain rehabilitation program. It took fifteen sessions, from 9/19/2024 "
        "to 1/2/2025, and she completed it. I have no paper of it.",
    ],
)
def test_a_course_is_heard(text: str) -> None:
    fact = told(text, PROGRAM)
    assert isinstance(fact, TherapyCourse)
    assert (fact.sessions, fact.started, fact.ended) == (15, *DAYS)
    assert fact.stop_reason is StopReason.COMPLETED


@pytest.mark.parametrize(
    "text",
    [
        "Was there a pain rehabilitation program of 15 sessions from 2024-09-19 to 2025-01-02?",
        "There was no pain rehabilitation program.",
        "She did not attend 15 sessions of a pain rehabilitation program from 2024-09-19 on.",
        "A pain rehabilitation program took 15 sessions, or 20 sessions, from 2024-09-19 on.",
        "She had 15 sessions from 2024-09-19 to 2025-01-02.",
        "A pain rehabilitation program of 15 sessions.",
    ],
)
def test_what_is_asked_denied_or_half_told_is_not(text: str) -> None:
    assert told(text, PROGRAM) is None


def test_values_findings_medicines_and_illnesses_are_heard() -> None:
    seen = told("Her foot drop was severe when I saw her on March 3, 2026.", DROP)
    assert isinstance(seen, Finding)
    assert (seen.value, seen.found) == ("severe", date(2026, 3, 3))
    course = told("She took sertraline from 2024-09-19 to 2025-01-02; it did not help.", STEP)
    assert isinstance(course, MedicationCourse)
    assert (course.started, course.ended, course.stop_reason) == (*DAYS, StopReason.INEFFECTIVE)
    ill = told("Gout, M10.9, was made out on 2024-09-19.", GOUT)
    assert isinstance(ill, Diagnosis)
    assert (ill.code, ill.onset, ill.active) == ("M10.9", DAYS[0], True)
    value = told("On March 16, 2026 the PHQ-9 score came to 27 points.", PHQ)
    assert isinstance(value, Measurement)
    assert (value.value, value.taken) == (27.0, date(2026, 3, 16))
    assert told("It is M17.11, known since 2024-09-19.", GOUT) is None


def test_two_medicines_or_two_values_are_left() -> None:
    both = "Sertraline and bupropion were taken from 2024-09-19 to 2025-01-02."
    assert told(both, STEP) is None
    assert told("Her foot drop was mild, then severe, on 2026-03-03.", DROP) is None
    assert told("The PHQ-9 score was 27 points, or 17 points, on 2026-03-16.", PHQ) is None


IGG = CountCriterion(
    id="C2",
    display="immunoglobulin G",
    code="2465-3",
    operator=ItemOperator.LT,
    threshold=500,
    unit="mg/dL",
    minimum=2,
    months=12,
)
BOTH = {(497.0, date(2025, 8, 8)), (493.0, date(2025, 8, 18))}


@pytest.mark.parametrize(
    "text",
    [
        "Immunoglobulin G was 497 mg/dL on 2025-08-08, and 493 mg/dL on 2025-08-18.",
        "On C2: immunoglobulin G 497 mg/dL on 2025-08-08 and immunoglobulin G 493 mg/dL on "
        "2025-08-18, two separate days, each lower than 500 mg/dL.",
        "Immunoglobulin G was 497 mg/dL on 2025-08-08; immunoglobulin G was 493 mg/dL on "
        "2025-08-18.",
        "On 2025-08-08 immunoglobulin G was 497 mg/dL, and on 2025-08-18 it was 493 mg/dL.",
        "C2 asks for immunoglobulin G lower than 500 mg/dL on 2 days. He found immunoglobulin G "
        "497 mg/dL on 2025-08-08. He found immunoglobulin G 493 mg/dL on 2025-08-18.",
    ],
)
def test_several_values_of_a_sentence_are_each_told_with_their_day(text: str) -> None:
    facts = [fact for fact in freely_told(text, IGG) if isinstance(fact, Measurement)]
    assert {(fact.value, fact.taken) for fact in facts} == BOTH


@pytest.mark.parametrize(
    "text",
    [
        "Immunoglobulin G was 497 and 493 mg/dL, on 2025-08-08 or 2025-08-18.",
        "Immunoglobulin G has to be below 500 mg/dL on 2025-08-08 and 2025-08-18.",
        "Immunoglobulin G was not 497 mg/dL on 2025-08-08, nor 493 mg/dL on 2025-08-18.",
        "The other value was 497 mg/dL on 2025-08-08, and 493 mg/dL on 2025-08-18.",
    ],
)
def test_values_without_a_day_of_their_own_a_limit_or_what_is_denied_tell_nothing(
    text: str,
) -> None:
    assert not list(freely_told(text, IGG))
