"""A small chart with one row of every kind, and a store over it."""

from datetime import UTC, date, datetime

import pytest

from healthgym.core.clock import Clock
from healthgym.worlds.fhir import Address, ChartBuilder, ColumnBase, FhirStore

NOW = datetime(2023, 11, 13, 10, 15, tzinfo=UTC)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.fixture
def clock() -> Clock:
    return Clock(NOW)


@pytest.fixture(scope="session")
def chart() -> ColumnBase:
    builder = ChartBuilder()
    builder.patient(
        mrn="S1000001",
        family="Ordóñez",
        given="Tina",
        gender="female",
        birth_date=date(1950, 11, 13),
        phone="555-0100",
        address=Address("1 Elm St", "Palo Alto", "CA", "94304"),
        race="Other",
        ethnicity="Not Hispanic",
    )
    builder.patient(
        mrn="S1000002", family="Reid", given="Tina", gender="female", birth_date=date(1961, 2, 3)
    )
    tina, reid = "S1000001", "S1000002"
    builder.condition(tina, "C64.2", "Malignant neoplasm of left kidney", at("2021-05-06T07:00"))
    builder.condition(tina, "E87.1", "Hyponatremia", at("2022-05-06T07:00"))
    builder.lab(tina, "MG", at("2023-11-12T10:15"), 1.8, "mg/dL")
    builder.lab(tina, "MG", at("2023-11-13T09:00"), 2.1, "mg/dL", interpretation="HIGH")
    builder.lab(tina, "MG", at("2024-01-01T00:00"), 2.5, "mg/dL")
    builder.lab(tina, "K", at("2023-11-13T09:00"), 3.4, "mmol/L", issued=at("2023-11-13T09:40"))
    builder.lab(reid, "MG", at("2023-11-13T08:00"), 1.2, "mg/dL")
    builder.vital(tina, "BP", at("2023-11-13T08:00"), "149/44")
    builder.vital(tina, "Heart Rate", at("2023-11-13T08:30"), "72")
    builder.procedure(tina, "IMGCT0491", "CT Abdomen", at("2022-10-01T07:00"))
    builder.procedure(
        tina, "NUR1373", "Catheter", at("2023-11-10T07:00"), performed_end=at("2023-11-12T07:00")
    )
    builder.medication_request(
        tina,
        "HEPARIN 5,000 UNIT/ML INJ",
        at("2023-11-12T08:00"),
        timing="Q8H",
        route="Subcutaneous",
        dose=5000,
        dose_unit="Units",
    )
    builder.medication_request(tina, "ASPIRIN 81 MG PO", at("2020-01-01T08:00"), status="stopped")
    builder.service_request(
        tina, "http://snomed.info/sct", "306181000000106", "Orthopedics", at("2023-11-01T08:00")
    )
    return builder.build()


@pytest.fixture
def store(chart: ColumnBase, clock: Clock) -> FhirStore:
    return FhirStore(chart, clock=clock)


@pytest.fixture
def order() -> dict:
    return {
        "resourceType": "ServiceRequest",
        "status": "active",
        "intent": "order",
        "priority": "stat",
        "code": {"coding": [{"system": "http://loinc.org", "code": "4548-4"}]},
        "subject": {"reference": "Patient/S1000001"},
        "authoredOn": "2023-11-13T10:15:00+00:00",
    }
