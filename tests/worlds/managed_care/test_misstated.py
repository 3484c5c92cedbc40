"""What a text says of a fact that the file denies."""

from __future__ import annotations

from datetime import date

import pytest

from healthgym.worlds.managed_care.facts import Diagnosis, MedicationCourse, StopReason
from healthgym.worlds.managed_care.misstated import misstated


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
        "Sertraline was ended in 2025: it failed.",
        "Sertraline was stopped because the patient chose to stop.",
        "Mirtazapine stopped for lack of money.",
    ],
)
def test_what_the_file_denies_is_found(text: str) -> None:
    assert [*misstated(text, FACTS)]


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
        "C4: sertraline or another one, stopped for an inadequate response, must have been used.",
        "Sertraline was completed as planned for 12 weeks.",
    ],
)
def test_what_it_bears_out_is_not(text: str) -> None:
    assert not [*misstated(text, FACTS)]


def test_the_policys_own_words_tell_of_nobody() -> None:
    asked = "Prior use of sertraline, 2 weeks, discontinued for inadequate response."
    assert [*misstated(f"C2: {asked}", FACTS)]
    assert not [*misstated(f"C2: {asked}", FACTS, printed=f"# Criteria\n{asked}")]
