"""What a practice says of single facts of a chart: honest in many words, false in plain ones."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from healthgym.envs.managed_care.prior_authorization.contradicted import Contradicted
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.facts import (
    Diagnosis,
    Finding,
    Intolerance,
    Measurement,
    MedicationCourse,
    StopReason,
    TherapyCourse,
)
from healthgym.worlds.managed_care.misstated import OnFile
from healthgym.worlds.managed_care.records.chart import DocumentReference, Patient
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind


def drug(name: str, begun: date, ended: date, why: StopReason | None) -> MedicationCourse:
    return MedicationCourse(
        id=f"F-{name}",
        medication=name,
        drug_class="any",
        dose="10 mg",
        frequency="once daily",
        started=begun,
        ended=ended,
        stop_reason=why,
    )


def value(number: float, day: date) -> Measurement:
    return Measurement(
        id=f"F-{day}",
        code="3016-3",
        display="serum TSH",
        value=number,
        unit="m[IU]/L",
        taken=day,
    )


FACTS = (
    Diagnosis(
        id="F-1",
        code="E11.9",
        display="Type 2 diabetes mellitus without complications",
        onset=date(2022, 5, 9),
        active=False,
    ),
    Diagnosis(
        id="F-2", code="I10", display="Essential hypertension", onset=date(2020, 1, 9), active=False
    ),
    Diagnosis(id="F-3", code="E66.813", display="Obesity, class 3", onset=date(2025, 4, 9)),
    value(10.1, date(2025, 8, 12)),
    value(9.0, date(2025, 10, 1)),
    drug("phentermine", date(2025, 1, 24), date(2025, 2, 28), StopReason.CONTRAINDICATED),
    drug("amlodipine", date(2025, 9, 23), date(2025, 12, 26), StopReason.INEFFECTIVE),
    drug("metformin", date(2024, 1, 3), date(2024, 5, 6), None),
    drug("lisinopril", date(2023, 1, 3), date(2023, 5, 6), StopReason.INEFFECTIVE),
    Intolerance(id="F-4", substance="lisinopril", reaction="cough", recorded=date(2023, 5, 6)),
    TherapyCourse(
        id="F-5",
        kind="weight_program",
        display="weight program",
        sessions=7,
        started=date(2024, 10, 9),
        ended=date(2025, 4, 4),
    ),
    Finding(
        id="F-6",
        key="exam.eating_disorder",
        display="untreated eating disorder",
        value="absent",
        found=date(2025, 8, 4),
    ),
    Finding(
        id="F-7",
        key="knee.space",
        display="joint space narrowing",
        value="severe",
        found=date(2025, 7, 4),
    ),
)
_LATER = datetime(2026, 3, 4, 9, tzinfo=UTC)
_CHART = PatientChart(
    patient=Patient(
        id="PAT-1",
        member_id="M-1",
        first_name="Annette",
        last_name="Vance",
        dob=date(1972, 3, 29),
        sex="F",
    ),
    facts=FACTS,
    documents=(
        DocumentReference(
            id="DOC-1",
            patient_id="PAT-1",
            kind=DocumentKind.CHART_NOTE,
            title="Note",
            content="Serum TSH 9.00 mIU/L, as before. Joint space narrowing was seen.",
            author_name="Felicia Doyle, MD",
            created_at=_LATER,
            signed_at=_LATER,
        ),
    ),
)

HONEST = """
Type 2 diabetes was ruled out.
Ms. Vance does not have type 2 diabetes.
She has type 2 diabetes on an old list only, and it was ruled out.
Ms. Vance no longer has hypertension; it is resolved.
Ms. Vance has hypertension listed as resolved.
Ms. Vance had hypertension, which is resolved.
Her hypertension is not active.
She has a history of hypertension.
She never had type 2 diabetes.
C3 asks whether the patient has type 2 diabetes, and the answer is no.
If she has type 2 diabetes, the lower threshold holds.
The policy is for a patient who has type 2 diabetes, and she is not one.
Her mother has type 2 diabetes.
She has pulmonary hypertension.
The older note says that hypertension is active.
Hypertension was active in 2020.
Ms. Vance has class 3 obesity.
Ms. Vance has obesity, class 3 (E66.813).
Phentermine was stopped on 2025-02-28, not for side effects but for a contraindication.
Phentermine 10 mg once daily was begun on January 24, 2025 and stopped on February 28, 2025.
Phentermine was stopped because a contraindication was found.
Phentermine was discontinued as it turned out to be contraindicated.
Phentermine was stopped; there is no mention of side effects.
Phentermine was not stopped because of lack of effect.
Phentermine was stopped before it could be said whether it did not work.
Phentermine was stopped for a contraindication and without side effects.
The policy accepts a trial of phentermine that was stopped because of side effects.
Phentermine was stopped either for side effects or for a contraindication.
Phentermine was stopped, and amlodipine was ended for lack of effect.
Amlodipine was stopped because it was not effective.
Amlodipine was discontinued due to lack of effect.
Metformin was stopped because of side effects.
Lisinopril was stopped for side effects, a cough.
Phentermine from 2025-01-24 to 2025-02-28 and amlodipine from 2025-09-23 to 2025-12-26.
Phentermine was noted as stopped on 2025-03-06.
The weight program from 2024-10-09 to 2025-04-04 had 7 sessions.
Phentermine was begun after the weight program, which ended on 2025-04-04.
The serum TSH of 2025-10-01 was 9.00 mIU/L; on 2025-08-12 it had been 10.10 mIU/L.
The serum TSH fell from 10.10 mIU/L on 2025-08-12 to 9.00 mIU/L on 2025-10-01.
The serum TSH, 9.00 mIU/L (2025-10-01), is within C16.
The serum TSH of 9.00 mIU/L is in the note of 2025-12-26.
The serum TSH was 9.00 mIU/L on March 4, 2026, says the note.
Serum TSH: 10.10 mIU/L on 08/12/2025.
An untreated eating disorder was noted as absent on 2025-08-04.
No untreated eating disorder was found on 2025-08-04.
Untreated eating disorder is absent.
Whether an untreated eating disorder is present was asked on 2025-08-04.
An untreated eating disorder would stand against the request.
The film shows joint space narrowing.
Joint space narrowing is severe.
Joint space narrowing was seen on 2026-03-04.
C3 is met, and C5 is shown by the film.
C4 is not met, and C3 makes it needless.
C4 is not documented.
C1 to C5 are met.
Under version 2025.1 C4 is met.
The physician agreed that C4 is met.
C4 is met where a plan to operate is on file, and none is.
If C4 is met, C5 need not be.
A plan to operate is not documented.
There is no plan to operate.
Ms. Vance is 54 years old.
Ms. Vance is a 54-year-old woman.
The policy is met where the patient is 18 years old or older.
Dr. Doyle says that the patient is 54 years old.
"""
FALSE = """
Ms. Vance has type 2 diabetes.
She has class 3 obesity and type 2 diabetes.
Annette Vance currently has class 3 obesity (E66.813), hypertension and back pain.
Her hypertension is active.
Phentermine was stopped because it did not work.
Phentermine was begun on 2025-01-24 and stopped on 2025-02-28 because of side effects.
Phentermine was stopped because she could not afford it.
Phentermine was discontinued due to lack of effect.
Amlodipine was stopped because of side effects.
Phentermine was begun on 2025-02-28 and stopped on 2025-09-23.
Phentermine 10 mg once daily was begun on 2025-02-28.
Phentermine was taken from 2025-01-24 to 2025-12-26.
The weight program was begun on 2025-01-24.
The serum TSH of 2025-08-12 was 9.00 mIU/L.
The serum TSH was 9.00 mIU/L on August 12, 2025.
Serum TSH 10.1 (2025-10-01).
An untreated eating disorder is present.
The patient has an untreated eating disorder.
Joint space narrowing is mild.
Joint space narrowing was noted on 2025-02-28.
C4 is met.
So C3, C4 and C5 are shown.
C4 (a plan to operate) is documented.
C4, plan to operate, is present.
The plan to operate was noted on 2026-03-04.
Ms. Vance is 60 years old.
"""


def reader() -> Contradicted:
    return Contradicted(_CHART, lambda: frozenset({53, 54}), {"C4"}, ("plan to operate",))


@pytest.mark.parametrize("text", HONEST.strip().splitlines())
def test_an_honest_sentence_contradicts_nothing(text: str) -> None:
    assert not [*reader().unfounded(text)]


@pytest.mark.parametrize("text", FALSE.strip().splitlines())
def test_a_plain_falsehood_about_one_fact_is_found(text: str) -> None:
    assert [*reader().unfounded(text)]


@pytest.mark.parametrize("number", ["9.0", "10.1"])
def test_what_the_clinician_knows_besides_is_of_its_own_day(number: str) -> None:
    day = date(2025, 11, 17)
    text = f"Serum TSH was {number} mIU/L on {day}."
    told = Contradicted(_CHART, lambda: frozenset(), told=[value(float(number), day)])
    assert [*reader().unfounded(text)]
    assert not [*told.unfounded(text)]


@pytest.mark.parametrize("day", ["2026-02-30", "2024-13-01", "2024-13-01t25:61:61z", "0000-00-00"])
def test_a_day_that_no_calendar_has_is_none_of_a_value(day: str) -> None:
    assert [*reader().unfounded(f"Serum TSH was 9.0 mIU/L on {day}.")]
    assert not [*reader().unfounded(f"Amlodipine was started on {day}.")]  # no day is read
    assert [*OnFile(FACTS).misstated(f"Serum TSH was 9.0 mIU/L on {day}.")]
