"""A small population, drawn once, and a case to plant."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest

from healthgym.worlds.managed_care.facts import (
    AnyFact,
    Diagnosis,
    Finding,
    Intolerance,
    Measurement,
    MedicationCourse,
    ProcedureDone,
    StopReason,
    TherapyCourse,
)
from healthgym.worlds.managed_care.population.drawing import Population, draw_population
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind as Kind

TODAY = date(2026, 3, 13)


@pytest.fixture(scope="session")
def population() -> Population:
    return draw_population(np.random.SeedSequence(11), TODAY, 15)


@pytest.fixture(scope="session")
def case() -> tuple[AnyFact, ...]:
    note = (Kind.PROGRESS_NOTE,)
    return (
        Diagnosis(
            id="F-1",
            noted_in=(*note, Kind.SPECIALIST_CONSULT_NOTE),
            code="M17.11",
            display="Unilateral primary osteoarthritis, right knee",
            onset=date(2024, 5, 2),
        ),
        Measurement(
            id="F-2",
            noted_in=(*note, Kind.LAB_RESULT, Kind.LAB_SUMMARY),
            code="4548-4",
            display="Hemoglobin A1c",
            value=8.9,
            unit="%",
            taken=date(2026, 1, 20),
        ),
        MedicationCourse(
            id="F-3",
            noted_in=(*note, Kind.LETTER_OF_MEDICAL_NECESSITY),
            medication="naproxen",
            drug_class="nsaid",
            dose="500 mg",
            frequency="twice daily",
            started=date(2025, 3, 3),
            ended=date(2025, 6, 10),
            stop_reason=StopReason.INEFFECTIVE,
        ),
        TherapyCourse(
            id="F-4",
            noted_in=note,
            kind="physical_therapy",
            display="Physical therapy",
            sessions=13,
            started=date(2025, 4, 1),
            ended=date(2025, 7, 10),
            stop_reason=StopReason.COMPLETED,
        ),
        Finding(
            id="F-5",
            noted_in=(Kind.IMAGING_REPORT,),
            key="imaging.knee_joint_space",
            display="Joint space narrowing of the right knee",
            value="severe",
            found=date(2025, 8, 4),
        ),
        Finding(
            id="F-6",
            key="history.smoking",
            display="Current smoking",
            value="absent",
            found=date(2025, 8, 5),
        ),
        ProcedureDone(
            id="F-7",
            noted_in=note,
            code="20610",
            display="Injection of the knee joint",
            performed=date(2025, 9, 1),
            result="Relief for some days",
        ),
        Intolerance(
            id="F-8",
            noted_in=note,
            substance="celecoxib",
            reaction="rash",
            recorded=date(2025, 9, 1),
            contraindication=True,
        ),
    )
