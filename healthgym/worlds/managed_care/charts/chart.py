"""A patient's chart, and the library of all charts; immutable, and shared between worlds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from healthgym.worlds.managed_care.facts import AnyFact
from healthgym.worlds.managed_care.records.chart import (
    Allergy,
    Condition,
    Coverage,
    DocumentReference,
    Encounter,
    MedicationRequest,
    Observation,
    Patient,
    Procedure,
    ServiceRequest,
)


@dataclass(frozen=True, kw_only=True)
class PatientChart:
    """Everything on file about a patient.

    Attributes:
        patient: Who it is.
        coverages: Coverage history, the current one last.
        encounters: Visits and stays.
        conditions: The problem list.
        observations: Results, vital signs and scores.
        procedures: Procedures that were carried out.
        medications: Medication history.
        allergies: Allergies and intolerances.
        documents: Notes and reports.
        orders: Orders that were there before the episode.
        facts: What is true of the patient; never shown.
        shows: Which facts a document states, by its id; never shown.
    """

    patient: Patient
    coverages: tuple[Coverage, ...] = ()
    encounters: tuple[Encounter, ...] = ()
    conditions: tuple[Condition, ...] = ()
    observations: tuple[Observation, ...] = ()
    procedures: tuple[Procedure, ...] = ()
    medications: tuple[MedicationRequest, ...] = ()
    allergies: tuple[Allergy, ...] = ()
    documents: tuple[DocumentReference, ...] = ()
    orders: tuple[ServiceRequest, ...] = ()
    facts: tuple[AnyFact, ...] = ()
    shows: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def coverage(self) -> Coverage | None:
        """The current coverage."""
        return self.coverages[-1] if self.coverages else None


class ChartLibrary:
    """Charts by patient; immutable.

    Args:
        charts: The charts.
    """

    def __init__(self, charts: Iterable[PatientChart]) -> None:
        self.charts: Mapping[str, PatientChart] = {chart.patient.id: chart for chart in charts}

    @cached_property
    def documents(self) -> Mapping[str, DocumentReference]:
        """Every document of every chart, by id."""
        return {doc.id: doc for chart in self.charts.values() for doc in chart.documents}

    @cached_property
    def orders(self) -> Mapping[str, ServiceRequest]:
        """Every order of every chart, by id."""
        return {order.id: order for chart in self.charts.values() for order in chart.orders}

    @cached_property
    def roster(self) -> tuple[Patient, ...]:
        """The patients, by last name, first name and id."""
        patients = (chart.patient for chart in self.charts.values())
        return tuple(sorted(patients, key=lambda p: (p.last_name, p.first_name, p.id)))
