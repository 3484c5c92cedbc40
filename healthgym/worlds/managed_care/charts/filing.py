"""The desk at which a chart's encounters and documents are written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import cache
from importlib.resources import files

from healthgym.core.borders import JsonObject
from healthgym.worlds.managed_care.charts.hours import drawn_at, visit_start
from healthgym.worlds.managed_care.charts.knowledge import (
    Form,
    Topic,
    forms,
    order_form,
    short_names,
    topics,
    topics_of,
)
from healthgym.worlds.managed_care.charts.ordering import Ordering
from healthgym.worlds.managed_care.charts.phrases import Chooser
from healthgym.worlds.managed_care.charts.planning import Planned
from healthgym.worlds.managed_care.charts.prose import lower_first
from healthgym.worlds.managed_care.charts.reports import panel_of
from healthgym.worlds.managed_care.charts.seen import About, Named, Seen, Told
from healthgym.worlds.managed_care.charts.sheets import Binder, DeferredDocument, Sheet
from healthgym.worlds.managed_care.charts.stays import Stay, StayKind, stay_form
from healthgym.worlds.managed_care.charts.structured import document_key, id_tail
from healthgym.worlds.managed_care.charts.visits import Visit
from healthgym.worlds.managed_care.facts import AnyFact, Diagnosis, Measurement
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
#: Where encounters of a type take place; the practice otherwise.
_PLACES = {
    "inpatient": "hospital",
    "emergency": "hospital",
    "day_surgery": "hospital",
    "imaging": "imaging",
    "lab": "laboratory",
}
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
        self._tail = id_tail(patient.id)
        self._document_key = document_key(patient.id)
        own = staff.family_doctors(patient.dob)
        self._primary = own[chooser.below(len(own))]
        self._specialists: dict[str, Worker] = {}
        self._ordering: tuple[int, Ordering] | None = None
        self._stays: Mapping[int, Stay] = {}
        self._seen: list[Seen] = []
        self._filed: dict[date, int] = {}
        self._topics: dict[int, tuple[tuple[AnyFact, ...], Topic | None]] = {}

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
                named = Named(own.code, own.name, self._chooser.number())
                self._see(place, own.at, own.encounter, named, own.clinician)
                continue
            notes = kinds.get(place, [])
            encounter_type = self._type(notes)
            lead = next((n for n in notes if forms()[n.kind].encounter == encounter_type), None)
            facts = lead.facts if lead else visit.facts
            about = Told(facts, self._chooser.number(), bool(lead))
            author = self._author(forms()[lead.kind], lead.facts) if lead else self._primary
            self._see(place, visit.day, encounter_type, about, author)

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
        about: About,
        author: Worker,
        ended: str = "",
    ) -> None:
        """File an encounter.

        Args:
            place: Which of the visits it is.
            at: When it began, or the day on which the patient was seen.
            encounter_type: Of which type it is.
            about: What it was about.
            author: Who saw the patient.
            ended: What its summary adds.
        """
        table = _encounter_types()[encounter_type]
        cpt = table["cpt"][self._chooser.below(len(table["cpt"]))] if table["cpt"] else (None, None)
        summaries = table["summary"]
        summary = str(summaries[self._chooser.below(len(summaries))]) + ended
        self._seen.append(Seen(place, at, encounter_type, about, author, summary, *cpt))

    def encounters(self) -> tuple[Encounter, ...]:
        """Write the encounters."""
        return tuple(map(self._encounter, self._seen))

    def _encounter(self, seen: Seen) -> Encounter:
        patient, at = self._binder.patient, seen.at
        where = _PLACES.get(seen.encounter_type)
        house = self._staff.places[where] if where else self._staff.provider.name
        city = patient.address_city
        return Encounter(
            id=self._encounter_id(seen.place),
            patient_id=patient.id,
            occurred_at=at if isinstance(at, datetime) else visit_start(patient, at),
            encounter_type=seen.encounter_type,
            practitioner_id=seen.author.id,
            summary=seen.summary.format(focus=self._said(seen.about, seen.at)),
            encounter_cpt_code=seen.code,
            encounter_cpt_description=seen.description,
            facility_name=f"{house}, {city}" if city else house,
        )

    def _said(self, about: About, day: date) -> str:
        if isinstance(about, Named):
            return _called(about.code, about.title, about.number)
        return self._focus(about.facts, day, about.number, noted=about.noted)[0]

    def _stayed(self, place: int, stay: Stay) -> None:
        """File the encounter of a stay, which tells on what day it ended."""
        named = Named(stay.code, stay.name, self._chooser.number())
        doctor = self._specialist(_AUTHORS["hospital"])
        ended = f", discharged {stay.ended}" if stay.kind is StayKind.INPATIENT else ""
        self._see(place, stay.begun, stay.kind.value, named, doctor, ended)

    def write_stays(self) -> None:
        """File the note of each stay."""
        for place, stay in self._stays.items():
            form, planned = stay_form(stay.kind), stay.planned(place, self._binder.facts)
            author = self._author(form, ())
            focus = _called(stay.code, stay.name, self._chooser.number())
            start = self._start(planned)
            self._file(planned, form, author, focus, stay.code, start)

    def write(self, planned: Planned, after: timedelta = _NOTHING) -> None:
        """File a document; its text is written when somebody reads it.

        Args:
            planned: What it tells.
            after: How much later than usual it is written.
        """
        form = forms()[planned.kind]
        focus, code = self._focus(planned.facts, planned.day, self._chooser.number(), noted=True)
        author = self._author(form, planned.facts)
        self._file(planned, form, author, focus, code, self._start(planned) + after)

    def write_order_note(self, ordering: Ordering) -> None:
        """File the note of the visit from which the orders come."""
        place = self._ordering[0] if self._ordering else 0
        planned = ordering.planned(place)
        form = order_form(ordering.kind, seen=ordering.encounter != "telehealth")
        focus = _called(ordering.code, ordering.name, self._chooser.number())
        self._file(
            planned, form, ordering.clinician, focus, ordering.code, ordering.at + _TALK, ordering
        )

    def _file(
        self,
        planned: Planned,
        form: Form,
        author: Worker,
        focus: str,
        code: str,
        start: datetime,
        ordering: Ordering | None = None,
    ) -> None:
        # One author writes one note after the other.
        before = self._filed.setdefault(start.date(), 0)
        self._filed[start.date()] += 1
        start += _NEXT_NOTE * before
        signed = start + timedelta(minutes=4 + self._chooser.below(9))
        key = f"{self._document_key}{len(self.documents) + 1:03d}"
        title = form.titles[self._chooser.below(len(form.titles))]
        panel = panel_of(planned.facts) if "{panel}" in title else ""
        title = title.format(focus=focus, specialty=author.specialty, panel=panel)
        sheet = self.shows[key] = Sheet(
            binder=self._binder,
            planned=planned,
            form=form,
            author=author,
            focus=focus,
            signed=signed,
            seed=self._chooser.seed(),
            code=code,
            ordering=ordering,
        )
        self.documents.append(
            DeferredDocument.later(
                sheet.content,
                id=key,
                patient_id=self._binder.patient.id,
                case_id=None,
                encounter_id=None if planned.place is None else self._encounter_id(planned.place),
                kind=planned.kind,
                title=title,
                created_at=start,
                note_type=form.note_type,
                author_name=author.name,
                author_npi=author.npi or "",
                signed_at=signed,
                signed_by_name=author.name,
                signed_by_npi=author.npi or "",
                structured_data={},
            )
        )

    def _start(self, planned: Planned) -> datetime:
        """Return when a document is begun: at its visit, a laboratory's in the afternoon."""
        if planned.kind in _RESULTED:
            return drawn_at(self._binder.patient, planned.day) + _IN_THE_LABORATORY
        return visit_start(self._binder.patient, planned.day) + _TALK

    def _encounter_id(self, place: int) -> str:
        return f"ENC-{self._tail}-{place + 1:03d}"

    def _author(self, form: Form, facts: Iterable[AnyFact]) -> Worker:
        if form.author == "primary":
            return self._primary
        if form.author == "specialist":
            topic = self._topic(tuple(facts))
            return self._specialist(topic.specialty if topic else PRIMARY[0])
        return self._specialist(_AUTHORS[form.author])

    def _specialist(self, specialty: str) -> Worker:
        if specialty not in self._specialists:
            known = self._staff.clinicians(specialty)
            self._specialists[specialty] = known[self._chooser.below(len(known))]
        return self._specialists[specialty]

    def _focus(
        self, facts: tuple[AnyFact, ...], day: date, number: int, *, noted: bool
    ) -> tuple[str, str]:
        """Return what a visit is about, and its code: the problem of most of its facts.

        Args:
            facts: What the visit is known by.
            day: Its day.
            number: What was drawn for the words.
            noted: Whether a document tells the facts.
        """
        named = [
            fact
            for fact in facts
            if isinstance(fact, Diagnosis) and fact.active and (noted or fact.noted_in)
        ]
        if not named:
            named = [fact for fact in self._binder.active if fact.onset <= day]
        topic = self._topic(facts)
        if topic is not None:
            named.sort(key=lambda fact: topic not in topics_of(fact))
        if named:
            return _called(named[0].code, named[0].display, number), named[0].code
        return _PLAIN[number % len(_PLAIN)], ""

    def _topic(self, facts: tuple[AnyFact, ...]) -> Topic | None:
        """Return the topic of most facts; of one note it is asked for up to three times."""
        known = self._topics.get(id(facts))
        if known is None:
            # What is kept beside the answer cannot be another tuple's number.
            known = self._topics[id(facts)] = facts, _topic(facts)
        return known[1]


def _called(code: str, title: str, number: int) -> str:
    """Return what a condition is called, as a number that was drawn has it."""
    names = (*short_names(code), lower_first(title))
    return names[number % len(names)]


_PLAIN = ("a yearly check", "preventive care", "a general check-up", "a wellness visit")


def _topic(facts: Iterable[AnyFact]) -> Topic | None:
    """Return the topic of most facts, vital signs apart; the first in a tie."""
    counts: dict[str, int] = {}
    for fact in facts:
        if not isinstance(fact, Measurement) or fact.code not in _VITAL_ONLY:
            for topic in topics_of(fact):
                counts[topic.name] = counts.get(topic.name, 0) + 1
    most = max(counts.values(), default=0)
    return next((each for each in topics() if most and counts.get(each.name) == most), None)


#: Taken at every visit, whatever it is about.
_VITAL_ONLY = frozenset({"8480-6", "8462-4", "29463-7", "39156-5", "8302-2", "8867-4"})
