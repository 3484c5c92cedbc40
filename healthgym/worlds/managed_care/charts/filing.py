"""The desk at which a chart's encounters and documents are written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import cache, partial
from importlib.resources import files

from healthgym.core.borders import JsonObject
from healthgym.worlds.managed_care.charts.focus import topic_of
from healthgym.worlds.managed_care.charts.hours import drawn_at, visit_start
from healthgym.worlds.managed_care.charts.knowledge import (
    Form,
    forms,
    order_form,
)
from healthgym.worlds.managed_care.charts.ordering import Ordering
from healthgym.worlds.managed_care.charts.phrases import Chooser
from healthgym.worlds.managed_care.charts.planning import Planned
from healthgym.worlds.managed_care.charts.seen import Seen, written
from healthgym.worlds.managed_care.charts.sheets import Binder, Sheet
from healthgym.worlds.managed_care.charts.stays import Stay, StayKind, stay_form
from healthgym.worlds.managed_care.charts.structured import document_key
from healthgym.worlds.managed_care.charts.unread import DeferredDocument
from healthgym.worlds.managed_care.charts.visits import Visit
from healthgym.worlds.managed_care.facts import AnyFact
from healthgym.worlds.managed_care.population.staff import PRIMARY, Workforce
from healthgym.worlds.managed_care.records.chart import (
    DocumentReference,
    Encounter,
    Patient,
    ServiceRequest,
)
from healthgym.worlds.managed_care.staff import Worker
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind

#: Specialty of an author where the form fixes it.
_AUTHORS = {
    "hospital": "Hospital Medicine",
    "psychiatry": "Psychiatry",
    "social_work": "Clinical Social Work",
    "radiology": "Radiology",
    "laboratory": "Pathology",
}
_UNCODED = (None, None)
#: What a laboratory writes.
_RESULTED = frozenset({DocumentKind.LAB_RESULT, DocumentKind.LAB_SUMMARY})
_IN_THE_LABORATORY = timedelta(hours=3, minutes=6)
#: A note is begun so long after the visit began, and so long after the note before.
_NOTHING = timedelta()
_TALK, _NEXT_NOTE = timedelta(minutes=22), timedelta(minutes=17)
#: Which type a visit is of if documents of several belong to it.
_RANK = ("lab", "imaging", "telehealth", "office", "social_work", "behavioral_health", "consult")


@cache
def _encounter_types() -> JsonObject:
    table: JsonObject = json.loads((files(__package__) / "encounters.json").read_text("utf-8"))
    return table


class Desk:
    """Writes one patient's encounters and documents.

    Args:
        patient: Whose chart it is.
        facts: Everything true of the patient.
        orders: What is ordered.
        staff: Who may write.
        chooser: Where authors and titles come from, and the seeds of the wording.
        units: Unit in which documents give a measurement, by fact id.

    Attributes:
        documents: Those written so far.
        shows: The sheets of the documents, which know what these state, by id.
    """

    def __init__(
        self,
        patient: Patient,
        facts: Sequence[AnyFact],
        orders: Sequence[ServiceRequest],
        staff: Workforce,
        chooser: Chooser,
        units: Mapping[str, str],
    ) -> None:
        self.documents: list[DocumentReference] = []
        self.shows: dict[str, Sheet] = {}
        self._binder = Binder(patient, facts, orders, units)
        self._staff, self._chooser = staff, chooser
        self._document_key = document_key(patient.id)
        own = staff.family_doctors(patient.dob)
        self._primary = own[chooser.below(len(own))]
        self._specialists: dict[str, Worker] = {}
        self._ordering: tuple[int, Ordering] | None = None
        self._stays: Mapping[int, Stay] = {}
        self._seen: list[Seen] = []
        self._filed: dict[date, int] = {}

    def admit(self, stays: Mapping[int, Stay]) -> None:
        """Note which encounters are stays, by place; to be called before anything is written."""
        self._stays = stays

    def expect(self, ordering: Ordering, place: int) -> None:
        """Note from which visit the orders come; to be called before anything is written."""
        self._ordering = (place, ordering)

    def write_encounters(self, visits: Sequence[Visit], planned: Iterable[Planned]) -> None:
        """File an encounter for each visit, of the type its documents make it.

        What is drawn for it is drawn now; it is written when somebody reads it.
        """
        kinds: dict[int, list[Planned]] = {}
        for each in planned:
            if each.place is not None:
                kinds.setdefault(each.place, []).append(each)
        since: tuple[Stay, ...] = ()
        for place, visit in enumerate(visits):
            if place in self._stays:
                since = (*since, self._stays[place])
                self._stayed(place, self._stays[place])
                continue
            if since:
                self._binder.since[place], since = since, ()
            if self._ordering is not None and place == self._ordering[0]:
                own = self._ordering[1]
                number, named = self._chooser.number(), (own.code, own.name)
                self._see(place, own.at, own.encounter, own.clinician, number, named=named)
                continue
            notes = kinds.get(place, [])
            encounter_type = self._type(notes)
            lead = next((n for n in notes if forms()[n.kind].encounter == encounter_type), None)
            facts, number = lead.facts if lead else visit.facts, self._chooser.number()
            author = self._author(forms()[lead.kind], lead.facts) if lead else self._primary
            self._see(
                place, visit.day, encounter_type, author, number, facts=facts, noted=bool(lead)
            )

    def _type(self, notes: Sequence[Planned]) -> str:
        types = {forms()[note.kind].encounter for note in notes} - {""}
        if "inpatient" in types:
            return "inpatient"
        ranked = [name for name in _RANK if name in types]
        if ranked:
            return ranked[-1]
        return "telehealth" if self._chooser.chance(15) else "office"

    def _see(
        self,
        place: int,
        at: date,
        encounter_type: str,
        author: Worker,
        number: int,
        *,
        named: tuple[str, str] | None = None,
        facts: tuple[AnyFact, ...] = (),
        noted: bool = True,
        ended: str = "",
    ) -> None:
        """File an encounter; arguments as of :class:`Seen`, and what its summary adds."""
        table = _encounter_types()[encounter_type]
        cpt = table["cpt"][self._chooser.below(len(table["cpt"]))] if table["cpt"] else _UNCODED
        summaries = table["summary"]
        summary = str(summaries[self._chooser.below(len(summaries))]) + ended
        self._seen.append(
            Seen(place, at, encounter_type, author, summary, number, cpt, named, facts, noted)
        )

    def _stayed(self, place: int, stay: Stay) -> None:
        """File the encounter of a stay, which tells on what day it ended."""
        number, named = self._chooser.number(), (stay.code, stay.name)
        doctor = self._specialist(_AUTHORS["hospital"])
        ended = f", discharged {stay.ended}" if stay.kind is StayKind.INPATIENT else ""
        self._see(place, stay.begun, stay.kind.value, doctor, number, named=named, ended=ended)

    def write_stays(self) -> None:
        """File the note of each stay."""
        for place, stay in self._stays.items():
            form, planned = stay_form(stay.kind), stay.planned(place, self._binder.facts)
            author, number = self._author(form, ()), self._chooser.number()
            named = (stay.code, stay.name)
            self._file(planned, form, author, number, self._start(planned), named)

    def write(self, planned: Planned, after: timedelta = _NOTHING) -> None:
        """File a document; its text is written when somebody reads it.

        Args:
            planned: What it tells.
            after: How much later than usual it is written.
        """
        form, number = forms()[planned.kind], self._chooser.number()
        author = self._author(form, planned.facts)
        self._file(planned, form, author, number, self._start(planned) + after)

    def write_order_note(self, ordering: Ordering) -> None:
        """File the note of the visit from which the orders come."""
        place = self._ordering[0] if self._ordering else 0
        planned = ordering.planned(place)
        form = order_form(ordering.kind, seen=ordering.encounter != "telehealth")
        number, named = self._chooser.number(), (ordering.code, ordering.name)
        self._file(
            *(planned, form, ordering.clinician, number, ordering.at + _TALK), named, ordering
        )

    def _file(
        self,
        planned: Planned,
        form: Form,
        author: Worker,
        number: int,
        start: datetime,
        named: tuple[str, str] | None = None,
        ordering: Ordering | None = None,
    ) -> None:
        # One author writes one note after the other.
        before = self._filed.setdefault(start.date(), 0)
        self._filed[start.date()] += 1
        start += _NEXT_NOTE * before
        signed = start + timedelta(minutes=4 + self._chooser.below(9))
        key = f"{self._document_key}{len(self.documents) + 1:03d}"
        sheet = self.shows[key] = Sheet(
            binder=self._binder,
            planned=planned,
            form=form,
            author=author,
            signed=signed,
            titled=form.titles[self._chooser.below(len(form.titles))],
            number=number,
            seed=self._chooser.seed(),
            named=named,
            ordering=ordering,
        )
        self.documents.append(
            DeferredDocument.later(
                sheet,
                id=key,
                patient_id=self._binder.patient.id,
                kind=planned.kind,
                created_at=start,
            )
        )

    def _start(self, planned: Planned) -> datetime:
        """Return when a document is begun: at its visit, a laboratory's in the afternoon."""
        if planned.kind in _RESULTED:
            return drawn_at(self._binder.patient, planned.day) + _IN_THE_LABORATORY
        return visit_start(self._binder.patient, planned.day) + _TALK

    def _author(self, form: Form, facts: Iterable[AnyFact]) -> Worker:
        if form.author == "primary":
            return self._primary
        if form.author == "specialist":
            topic = topic_of(facts)
            return self._specialist(topic.specialty if topic else PRIMARY[0])
        return self._specialist(_AUTHORS[form.author])

    def _specialist(self, specialty: str) -> Worker:
        if specialty not in self._specialists:
            known = self._staff.clinicians(specialty)
            self._specialists[specialty] = known[self._chooser.below(len(known))]
        return self._specialists[specialty]

    def encounters(self) -> Callable[[], tuple[Encounter, ...]]:
        """Return what writes the encounters."""
        return partial(written, self._seen, self._binder, self._staff)
