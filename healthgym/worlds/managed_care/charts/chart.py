"""A patient's chart, and the library of all charts of a world. Immutable, shared between worlds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from types import MappingProxyType
from typing import ClassVar, TypeVar, cast

from healthgym.core.seeding import content_hash
from healthgym.worlds.managed_care.charts.structured import document_key, structured
from healthgym.worlds.managed_care.deferred import Deferred
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

_T = TypeVar("_T")

#: Rows a search returns at least and at most, whatever is asked for.
LIMITS = (1, 5000)

_NOTHING: Mapping[str, frozenset[str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class PatientChart:
    """One patient.

    Attributes:
        patient: Who it is.
        coverages: Coverage history, the latest first.
        encounters: Oldest first, as all that follow.
        conditions: Problem list.
        observations: Laboratory results, vital signs, scores.
        procedures: What was carried out.
        medications: Medication history.
        allergies: Allergies and contraindications.
        documents: Notes, reports, letters.
        orders: What was ordered, and may need an authorization.
        facts: What is true of the patient. Never shown.
        shows: Document id → ids of the facts that the document states in full. Never shown.
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
    shows: Mapping[str, frozenset[str]] = field(default_factory=lambda: _NOTHING)

    def activities(self) -> int:
        """Return how many records the chart holds, documents and orders included."""
        return sum(
            map(
                len,
                (
                    self.encounters,
                    self.conditions,
                    self.observations,
                    self.procedures,
                    self.medications,
                    self.allergies,
                    self.documents,
                    self.orders,
                ),
            )
        )

    @property
    def coverage(self) -> Coverage | None:
        """The latest coverage, in force or not; None if none is on file."""
        return self.coverages[0] if self.coverages else None

    def coverage_on(self, day: date) -> Coverage | None:
        """Return the coverage in force on a day, or None."""
        for coverage in self.coverages:
            begun = coverage.effective_date is None or coverage.effective_date <= day
            ended = coverage.termination_date is not None and coverage.termination_date < day
            if begun and not ended:
                return coverage
        return None

    def documents_showing(self, fact_id: str) -> tuple[DocumentReference, ...]:
        """Return the documents that state a fact in full."""
        return tuple(
            each for each in self.documents if fact_id in self.shows.get(each.id, frozenset())
        )


class DeferredChart(Deferred, PatientChart):
    """A chart whose encounters and structured records are made when somebody first reads one."""

    __slots__ = ("_write",)

    plain = PatientChart
    late = ("encounters", "conditions", "observations", "procedures", "medications", "allergies")


#: Late fields that follow from the facts alone: encounters hang on what is drawn for a chart.
_RECORDS = frozenset(DeferredChart.late) - {"encounters"}


class UnwrittenChart(Deferred, PatientChart):
    """A chart that is written when somebody first opens it, which few of a world's ever are.

    Its documents have ids by which the patient is found. Its structured records follow from the
    facts alone, so that nothing is written for who looks a medicine up.
    """

    __slots__ = ("_write",)

    plain = PatientChart
    late: ClassVar[tuple[str, ...]] = (*DeferredChart.late, "documents", "shows")

    def __getattr__(self, name: str) -> object:
        if name not in _RECORDS or self.begun:
            return super().__getattr__(name)
        value: object = getattr(structured(self.patient, self.facts), name)
        object.__setattr__(self, name, value)
        return value


def opened(chart: PatientChart) -> PatientChart:
    """Return a chart as it was written, so that it can be varied in its documents, too."""
    return cast("PatientChart", chart.made()) if isinstance(chart, UnwrittenChart) else chart


@dataclass(frozen=True, slots=True, kw_only=True)
class PatientFilter:
    """What a search asks for; all of it must hold, and letters' case does not matter.

    Attributes:
        query: Part of a patient id, member id, first, last or full name, or date of birth.
        patient_id: The whole id.
        member_id: The whole id.
        first_name: Part of it.
        last_name: Part of it.
        dob: ISO date of birth.
    """

    query: str | None = None
    patient_id: str | None = None
    member_id: str | None = None
    first_name: str | None = None
    last_name: str | None = None
    dob: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found.

    Attributes:
        charts: Sorted by last name, first name and id; at most as many as the limit allows.
        total: How many there are without the limit.
    """

    charts: tuple[PatientChart, ...]
    total: int


#: Charts sorted by name and id, and the identifiers of each.
_Index = tuple[tuple[PatientChart, ...], tuple[tuple[str, ...], ...]]


class ChartLibrary(Mapping[str, PatientChart]):
    """All charts of a world by patient id, with what finds patients, documents and orders.

    Args:
        charts: One chart for each patient.

    Raises:
        ValueError: If two charts are of one patient, or share the id of a document or an order.
    """

    __slots__ = ("_charts", "_documents", "_found", "_orders", "_unwritten")

    def __init__(self, charts: Iterable[PatientChart] = ()) -> None:
        self._charts: dict[str, PatientChart] = {}
        self._documents: dict[str, DocumentReference] = {}
        self._orders: dict[str, ServiceRequest] = {}
        #: Charts whose documents are looked up without having them all written.
        self._unwritten: dict[str, UnwrittenChart] = {}
        self._found: _Index | None = None
        for chart in charts:
            self._add(chart)

    def _add(self, chart: PatientChart) -> None:
        _file(self._charts, chart.patient.id, chart, "patient")
        if isinstance(chart, UnwrittenChart) and not chart.begun:
            _file(self._unwritten, document_key(chart.patient.id), chart, "documents")
        else:
            _file_all(self._documents, chart.documents)
        for order in chart.orders:
            _file(self._orders, order.id, order, "order")

    def _remove(self, chart: PatientChart) -> None:
        del self._charts[chart.patient.id]
        if self._unwritten.pop(document_key(chart.patient.id), None) is None:
            for document in chart.documents:
                del self._documents[document.id]
        for order in chart.orders:
            del self._orders[order.id]

    @property
    def _index(self) -> _Index:
        """The roster, and what finds each of it; put in order when somebody first searches."""
        if self._found is None:
            roster = sorted(self._charts.values(), key=lambda each: _sort_key(each.patient))
            self._found = tuple(roster), tuple(_identifiers(each.patient) for each in roster)
        return self._found

    def __getitem__(self, patient_id: str) -> PatientChart:
        return self._charts[patient_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._charts)

    def __len__(self) -> int:
        return len(self._charts)

    def document(self, document_id: str) -> DocumentReference | None:
        """Return a document by its id, or None."""
        found = self._documents.get(document_id)
        if found is None:
            key, mark, _ = document_id.rpartition("-")
            chart = self._unwritten.get(key + mark)
            pages = chart.documents if chart is not None else ()
            found = next((page for page in pages if page.id == document_id), None)
        return found

    def order(self, order_id: str) -> ServiceRequest | None:
        """Return an order by its id, or None."""
        return self._orders.get(order_id)

    def order_ids(self) -> Iterable[str]:
        """Return the ids of all orders."""
        return self._orders.keys()

    def content_hash(self) -> str:
        """Return a digest of what the charts show."""
        shown = [
            [
                repr(chart.patient),
                *map(repr, chart.orders),
                *(each.content for each in chart.documents),
            ]
            for chart in self.roster()
        ]
        return content_hash(shown)

    def roster(self) -> tuple[PatientChart, ...]:
        """Return all charts, sorted by last name, first name and id."""
        return self._index[0]

    def search(self, wanted: PatientFilter, limit: int = 25) -> Found:
        """Find patients by what identifies them; nothing clinical is searched.

        Args:
            wanted: What must hold; an empty filter finds everybody.
            limit: Rows at most, brought into 1 to 5,000.
        """
        found = list(zip(*self._index, strict=True))
        for text, place, whole in _tests(wanted):
            if whole:
                found = [each for each in found if each[1][place] == text]
            else:
                found = [each for each in found if text in each[1][place]]
        least, most = LIMITS
        rows = found[: min(max(limit, least), most)]
        return Found(tuple(chart for chart, _ in rows), len(found))

    def with_charts(self, charts: Iterable[PatientChart]) -> ChartLibrary:
        """Return a library in which these charts are added, or replace those of their patients.

        Costs what the new charts hold and a copy of its tables, not a new index of every chart.

        Raises:
            ValueError: If an id of a document or an order belongs to another patient already.
        """
        other = ChartLibrary()
        other._charts = dict(self._charts)
        other._documents = dict(self._documents)
        other._orders = dict(self._orders)
        other._unwritten = dict(self._unwritten)
        for chart in charts:
            old = other._charts.get(chart.patient.id)
            if old is not None:
                other._remove(old)
            other._add(chart)
        return other


def _file_all(table: dict[str, DocumentReference], pages: Sequence[DocumentReference]) -> None:
    # A world has a thousand: they are gone through one by one only where two share an id.
    own = {page.id: page for page in pages}
    if len(own) == len(pages) and own.keys().isdisjoint(table):
        table.update(own)
        return
    for page in pages:
        _file(table, page.id, page, "document")


def _file(table: dict[str, _T], key: str, value: _T, what: str) -> None:
    if key in table:
        raise ValueError(f"Two charts hold the {what} {key}.")
    table[key] = value


def _sort_key(patient: Patient) -> tuple[str, str, str]:
    return patient.last_name, patient.first_name, patient.id


def _identifiers(patient: Patient) -> tuple[str, ...]:
    """Return id, member id, first and last name, birthday, and all of these in one text."""
    first, last = patient.first_name.casefold(), patient.last_name.casefold()
    return (
        patient.id.casefold(),
        patient.member_id.casefold(),
        first,
        last,
        patient.dob.isoformat(),
        f"{patient.id}\n{patient.member_id}\n{first} {last}, {first}\n{patient.dob}".casefold(),
    )


def _tests(wanted: PatientFilter) -> list[tuple[str, int, bool]]:
    """List (text, which identifier, whether the whole must match) for each filter given."""
    asked = (
        (wanted.patient_id, 0, True),
        (wanted.member_id, 1, True),
        (wanted.first_name, 2, False),
        (wanted.last_name, 3, False),
        (wanted.dob, 4, True),
        (wanted.query, 5, False),
    )
    return [
        (text.strip().casefold(), place, whole)
        for text, place, whole in asked
        if text is not None and text.strip()
    ]
