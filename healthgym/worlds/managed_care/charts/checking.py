"""What facts of one patient must not say."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from healthgym.worlds.managed_care.charts.prose import begun
from healthgym.worlds.managed_care.facts import AnyFact, Diagnosis, MedicationCourse, TherapyCourse
from healthgym.worlds.managed_care.records.chart import Patient


def faults_of(patient: Patient, facts: Iterable[AnyFact], today: date) -> list[str]:
    """Return what contradicts itself or the calendar, each with the fact's id.

    Args:
        patient: Whose facts they are.
        facts: What is said to be true.
        today: The day of the world.
    """
    faults: list[str] = []
    seen: set[str] = set()
    active: set[str] = set()
    for fact in facts:
        if fact.id in seen:
            faults.append(f"{fact.id}: two facts have this id")
        seen.add(fact.id)
        start = begun(fact)
        if start < patient.dob:
            faults.append(f"{fact.id}: {start} is before birth ({patient.dob})")
        if start > today:
            faults.append(f"{fact.id}: {start} is after today ({today})")
        if isinstance(fact, MedicationCourse | TherapyCourse):
            faults += _course(fact, today)
        if isinstance(fact, Diagnosis):
            if fact.code in active:
                faults.append(f"{fact.id}: {fact.code} is on the problem list twice")
            active.add(fact.code)
    return faults


def _course(fact: MedicationCourse | TherapyCourse, today: date) -> list[str]:
    faults = []
    if fact.ended is None:
        if fact.stop_reason is not None:
            faults.append(f"{fact.id}: a reason for stopping, and no end")
    elif fact.ended < fact.started:
        faults.append(f"{fact.id}: ended {fact.ended}, before it started {fact.started}")
    elif fact.ended > today:
        faults.append(f"{fact.id}: {fact.ended} is after today ({today})")
    if isinstance(fact, TherapyCourse) and fact.sessions < 0:
        faults.append(f"{fact.id}: {fact.sessions} sessions")
    return faults


def check_facts(patient: Patient, facts: Iterable[AnyFact], today: date) -> None:
    """Refuse facts that contradict themselves or the calendar.

    Raises:
        ValueError: The message names every fact at fault.
    """
    faults = faults_of(patient, facts, today)
    if faults:
        raise ValueError(f"The facts of {patient.id} contradict themselves: {'; '.join(faults)}.")
