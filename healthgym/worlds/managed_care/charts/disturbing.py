"""What may be wrong with the paper of a chart, though the facts stay as they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType

import numpy as np

from healthgym.core.records import replace
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.charts.rendering import render_chart
from healthgym.worlds.managed_care.charts.structured import document_key
from healthgym.worlds.managed_care.facts import AnyFact, Finding, Measurement, TherapyCourse
from healthgym.worlds.managed_care.policies.units import other_units
from healthgym.worlds.managed_care.population.staff import Workforce
from healthgym.worlds.managed_care.records.chart import DocumentReference
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind

Known = Mapping[str, AnyFact]


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfKind:
    """Something is wrong with documents of a kind, or with those of them that state a fact."""

    kind: DocumentKind
    fact_id: str = ""

    def check(self, known: Known) -> None:
        """Refuse a fact that is not told in this kind; see ``compose``."""
        if self.fact_id:
            _told(known, self.fact_id, self.kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingDocuments(_OfKind):
    """Documents of a kind are not in the chart.

    Attributes:
        kind: The kind.
        fact_id: Only those that state this fact; all of the kind if empty.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictingValue:
    """A second document of a kind states another value for a fact.

    Attributes:
        fact_id: A measurement, a finding or a therapy.
        kind: Kind of the second document.
        value: What it states: a number in the measurement's unit, a finding's value, a number of
            sessions.
    """

    fact_id: str
    kind: DocumentKind
    value: float | str

    def check(self, known: Known) -> None:
        """Refuse a fact without a value, and the value it has; see ``compose``."""
        fact = _fact(known, self.fact_id)
        if other_value(fact, self.value) == fact:
            raise ValueError(f"{self.fact_id} has the value {self.value}; that is no conflict.")


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherUnit:
    """Documents give a measurement in another unit than the structured record.

    Attributes:
        fact_id: The measurement.
        unit: UCUM unit; ``policies.units.other_units`` says which there are.
    """

    fact_id: str
    unit: str

    def check(self, known: Known) -> None:
        """Refuse a unit into which nobody can convert; see ``compose``."""
        fact = _fact(known, self.fact_id)
        if not isinstance(fact, Measurement) or self.unit not in other_units(fact.code, fact.unit):
            raise ValueError(f"{self.fact_id} cannot be given in {self.unit}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsignedDocument(_OfKind):
    """The latest document of a kind is a draft that nobody signed.

    Attributes:
        kind: The kind.
        fact_id: The latest that states this fact; the latest of all if empty.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignDocument:
    """A document of another patient lies in the chart; its header names that patient.

    Attributes:
        source: The other patient's chart.
        kind: Kind of the document; the latest one is taken.
    """

    source: PatientChart
    kind: DocumentKind

    def check(self, known: Known) -> None:
        """Refuse a chart that has no document of the kind; see ``compose``."""
        if not any(document.kind is self.kind for document in self.source.documents):
            raise ValueError(f"{self.source.patient.id} has no {self.kind} that could be misfiled.")


Disturbance = MissingDocuments | ConflictingValue | OtherUnit | UnsignedDocument | ForeignDocument


def other_value(fact: AnyFact, value: float | str) -> AnyFact:
    """Return a fact with another value.

    Raises:
        ValueError: If it has no value, or the value is of another type.
    """
    if isinstance(fact, Measurement) and not isinstance(value, str):
        return replace(fact, value=float(value))
    if isinstance(fact, Finding) and isinstance(value, str):
        return replace(fact, value=value)
    if isinstance(fact, TherapyCourse) and not isinstance(value, str):
        return replace(fact, sessions=int(value))
    raise ValueError(f"{fact.id} cannot be stated as {value!r}.")


def _fact(known: Known, fact_id: str) -> AnyFact:
    if fact_id not in known:
        raise ValueError(f"There is no fact {fact_id} to disturb.")
    return known[fact_id]


def _told(known: Known, fact_id: str, kind: DocumentKind) -> None:
    if kind not in _fact(known, fact_id).noted_in:
        raise ValueError(f"{fact_id} is told in no {kind.value}.")


def disturb(
    chart: PatientChart,
    disturbance: Disturbance,
    staff: Workforce,
    rng: np.random.Generator,
    today: date,
) -> PatientChart:
    """Return a chart with something wrong with its paper.

    ``OtherUnit`` is left alone: it is for the writing itself (``render_chart``'s ``units``).

    Args:
        chart: The chart.
        disturbance: What is to be wrong.
        staff: Who writes.
        rng: Where wording comes from.
        today: The day of the world.

    Raises:
        ValueError: If the chart has no document that could be disturbed so.
    """
    if isinstance(disturbance, MissingDocuments):
        return _leave_out(chart, disturbance)
    if isinstance(disturbance, UnsignedDocument):
        return _unsign(chart, disturbance)
    if isinstance(disturbance, ConflictingValue):
        return _contradict(chart, disturbance, staff, rng, today)
    if isinstance(disturbance, ForeignDocument):
        return _misfile(chart, disturbance)
    return chart


def _of_kind(chart: PatientChart, kind: DocumentKind, fact_id: str) -> list[DocumentReference]:
    found = [
        document
        for document in chart.documents
        if document.kind is kind and (not fact_id or fact_id in chart.shows[document.id])
    ]
    if not found:
        about = f" that states {fact_id}" if fact_id else ""
        raise ValueError(f"The chart of {chart.patient.id} has no {kind.value}{about}.")
    return found


def _leave_out(chart: PatientChart, missing: MissingDocuments) -> PatientChart:
    gone = {document.id for document in _of_kind(chart, missing.kind, missing.fact_id)}
    return replace(
        chart,
        documents=tuple(x for x in chart.documents if x.id not in gone),
        shows=MappingProxyType({key: v for key, v in chart.shows.items() if key not in gone}),
    )


def _unsign(chart: PatientChart, unsigned: UnsignedDocument) -> PatientChart:
    last = _of_kind(chart, unsigned.kind, unsigned.fact_id)[-1]
    body, _, _ = last.content.rpartition("\n")
    draft = replace(
        last,
        content=f"{body}\nDraft, not signed: {last.author_name}, NPI {last.author_npi}",
        signed_at=None,
        signed_by_name=None,
        signed_by_npi=None,
    )
    return replace(chart, documents=tuple(draft if x.id == last.id else x for x in chart.documents))


def _contradict(
    chart: PatientChart,
    conflict: ConflictingValue,
    staff: Workforce,
    rng: np.random.Generator,
    today: date,
) -> PatientChart:
    fact = next(each for each in chart.facts if each.id == conflict.fact_id)
    other = replace(other_value(fact, conflict.value), noted_in=(conflict.kind,))
    extra = render_chart(chart.patient, chart.coverages, (other,), (), staff, rng, today)
    page = extra.documents[-1]
    return _filed(chart, page, frozenset())


def _misfile(chart: PatientChart, foreign: ForeignDocument) -> PatientChart:
    pages = [x for x in foreign.source.documents if x.kind is foreign.kind]
    return _filed(chart, pages[-1], frozenset())


def _filed(chart: PatientChart, page: DocumentReference, shown: frozenset[str]) -> PatientChart:
    """Put a page into a chart in the order of its days, under the next free id."""
    key = f"{document_key(chart.patient.id)}{_next_number(chart):03d}"
    encounter = next(
        (x.id for x in chart.encounters if x.occurred_at.date() == page.created_at.date()), None
    )
    filed = replace(page, id=key, patient_id=chart.patient.id, encounter_id=encounter)
    documents = sorted((*chart.documents, filed), key=lambda one: (one.created_at, one.id))
    shows = MappingProxyType({**chart.shows, key: shown})
    return replace(chart, documents=tuple(documents), shows=shows)


def _next_number(chart: PatientChart) -> int:
    numbers: Iterable[int] = (int(each.id.rpartition("-")[2]) for each in chart.documents)
    return max(numbers, default=0) + 1
