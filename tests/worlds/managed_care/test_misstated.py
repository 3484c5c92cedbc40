"""What a text says of a fact that the file denies."""

from __future__ import annotations

from datetime import date

import pytest

from healthgym.worlds.managed_care.facts import (
    Diagnosis,
    Measurement,
    MedicationCourse,
    StopReason,
)
from healthgym.worlds.managed_care.misstated import OnFile


def course(name: str, reason: StopReason | None) -> MedicationCourse:
    return MedicationCourse(
        id=name,
        medication=name,
        drug_class="antidepressant",
        dose="15 mg",
        frequency="once daily",
        started=date(2025, 1, 2),
        ended=date(2025, 4, 2),
        stop_reason=reason,
    )


FACTS = (
    Diagnosis(id="D-1", code="G40.909", display="Epilepsy", onset=date(2023, 1, 2), active=False),
    Diagnosis(id="D-2", code="I10", display="Hypertension", onset=date(2020, 1, 2)),
    course("mirtazapine", StopReason.INEFFECTIVE),
    course("sertraline", StopReason.INTOLERANCE),
    course("bupropion", None),
)


@pytest.mark.parametrize(
    "text",
    [
        "C1 is open, and her epilepsy is active.",
        "There is a current epilepsy.",
        "Hypertension is resolved.",
        "Mirtazapine 2025-01-02 to 2025-04-02, rash; the rest is as asked.",
        "Sertraline was ended on 2025-04-02 for lack of effect.",
        "Sertraline was stopped because the patient chose to stop.",
        "Mirtazapine stopped for lack of money.",
    ],
)
def test_what_the_file_denies_is_found(text: str) -> None:
    assert [*OnFile(FACTS).misstated(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Epilepsy is resolved, and hypertension is active.",
        "There is no active epilepsy.",
        "Epilepsy is no longer active.",
        "Mirtazapine 2025-01-02 to 2025-04-02, lack of effect; sertraline, not tolerated.",
        "Sertraline failed for side effects.",
        "Mirtazapine and sertraline: one failed, one was not tolerated.",
        "Bupropion was stopped for side effects.",
        "Two agents failed.",
        "Failed sertraline in 2025.",
        "Mirtazapine ended after 50 days, short of 8 weeks, and not for side effects.",
        "Mirtazapine was taken from 2025-01-02 to 2025-04-02 without side effects.",
        "Mirtazapine was discontinued with no intolerance documented.",
        "Mirtazapine was stopped early, and side effects were not the reason.",
        "The length is not waived, for mirtazapine was not stopped for side effects.",
        "Sertraline was stopped on 2025-04-02 for side effects after little response.",
        "Sertraline was stopped for side effects, not for inadequate response.",
        "Epilepsy was active until the note of 2025-12-04.",
        "The older note lists active epilepsy, the newer one says it is resolved.",
        "Whether epilepsy is active was the question.",
        "Were the epilepsy active, C6 would fail.",
        "Hypertension is over 140 mmHg.",
        "C4: sertraline or another one, stopped for an inadequate response, must have been used.",
        "Sertraline was completed as planned for 12 weeks.",
    ],
)
def test_what_it_bears_out_is_not(text: str) -> None:
    assert not [*OnFile(FACTS).misstated(text)]


def test_the_policys_own_words_tell_of_nobody() -> None:
    asked = "Prior use of sertraline, 2 weeks, discontinued for inadequate response"
    assert [*OnFile(FACTS).misstated(f"C2: {asked}")]
    assert not [*OnFile(FACTS, lambda: f"# Criteria\n{asked}").misstated(f"C2: {asked}")]


_VALUES = (
    Measurement(
        id="F-1",
        code="4548-4",
        display="hemoglobin A1c",
        value=8.2,
        unit="%",
        taken=date(2026, 2, 4),
    ),
    Measurement(
        id="F-2",
        code="39156-5",
        display="body mass index",
        value=31.4,
        unit="kg/m2",
        taken=date(2026, 1, 9),
    ),
    course("sertraline", StopReason.INTOLERANCE),
)


@pytest.mark.parametrize(
    "text",
    [
        "Hemoglobin A1c: 8.2 % on 2026-01-09.",
        "The hemoglobin A1c was 8.2 on January 9, 2026.",
        "Body mass index 31.4 kg/m2 (2026-02-04).",
        "Sertraline was started on 2026-02-04.",
        "Sertraline was started on 2025-01-02 and stopped on 2026-02-04.",
    ],
)
def test_the_day_of_another_fact_is_found(text: str) -> None:
    assert [*OnFile(_VALUES).misstated(text)]
    told = OnFile(_VALUES, said=lambda: ["It was on 2026-01-09, or on 2026-02-04."])
    assert not [*told.misstated(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Hemoglobin A1c: 8.2 % on 2026-02-04, body mass index 31.4 on 2026-01-09.",
        "A letter of 2026-01-09 has a hemoglobin A1c of 8.2.",
        "Hemoglobin A1c 7.9 on 2026-01-09.",  # another value: judged as a number
        "Sertraline was started on 2025-01-02 and stopped on 2025-04-02.",
        "Sertraline, 2025-01-02 to 2025-04-02; body mass index of 2026-01-09.",
    ],
)
def test_a_day_beside_its_own_fact_or_a_page_is_not(text: str) -> None:
    assert not [*OnFile(_VALUES).misstated(text)]
