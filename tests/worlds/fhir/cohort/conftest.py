"""Charts and patients that the cohort's tests look at."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from healthgym.worlds.fhir.charts import ChartBuilder
from healthgym.worlds.fhir.cohort import (
    PatientProfile,
    Volume,
    draw_patient,
    vocabulary,
    write_chart,
    write_patient,
    write_volume,
)

Resources = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="session")
def now() -> datetime:
    return datetime(2023, 11, 13, 10, 15, tzinfo=UTC)


@pytest.fixture(scope="session")
def crowd(now: datetime) -> list[PatientProfile]:
    """Two thousand patients drawn one after the other."""
    rng = np.random.default_rng(11)
    return [draw_patient(rng, mrn=f"S{7_000_000 + i}", now=now) for i in range(2000)]


@pytest.fixture(scope="session")
def sufferers(crowd: list[PatientProfile]) -> dict[str, PatientProfile]:
    """A woman and a man who have every disease, so that nothing is absent by chance."""
    names = tuple(disease.name for disease in vocabulary().diseases)
    found = {patient.gender: patient for patient in crowd[:50]}
    return {
        gender: replace(patient, conditions=names, severities=(0.3,) * len(names))
        for gender, patient in found.items()
    }


@pytest.fixture(scope="session")
def chart_of(now: datetime) -> Callable[..., Resources]:
    """Writes one patient's chart and returns its resources by type."""

    def chart(patient: PatientProfile, seed: int = 0, **options: Any) -> Resources:
        builder = ChartBuilder()
        write_patient(builder, patient)
        write_chart(builder, patient, np.random.default_rng(seed), **({"now": now} | options))
        base = builder.build()
        return {
            kind: [base.resource(kind, row) for row in range(base.size(kind))]
            for kind in ("Patient", "Observation", "Condition", "Procedure", "MedicationRequest")
        }

    return chart


class NameCollector(ChartBuilder):
    """A builder that only notes by which codes, displays and texts records are known."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def lab(self, mrn: str, code: str, *args: Any, **options: Any) -> None:
        self.names.add(code)

    def labs(self, mrn: str, code: str, *args: Any, **options: Any) -> None:
        self.names.add(code)

    def vital(self, mrn: str, name: str, *args: Any, **options: Any) -> None:
        self.names.add(name)

    def vitals(self, mrn: str, name: str, *args: Any, **options: Any) -> None:
        self.names.add(name)

    def condition(self, mrn: str, code: str, display: str, *args: Any, **options: Any) -> None:
        self.names |= {code, display}

    def medication_request(self, mrn: str, text: str, *args: Any, **options: Any) -> None:
        self.names.add(text)

    def procedure(self, mrn: str, code: str, display: str, *args: Any, **options: Any) -> None:
        self.names |= {code, display}


@pytest.fixture(scope="session")
def names_in(now: datetime) -> Callable[..., set[str]]:
    """Writes one patient's chart and returns every code, display and text in it."""

    def collect(patient: PatientProfile, volume: Volume, omit: frozenset[str]) -> set[str]:
        builder = NameCollector()
        rng = np.random.default_rng(0)
        write_volume(builder, patient, rng, now=now, years=5.0, volume=volume, omit=omit)
        return builder.names

    return collect
