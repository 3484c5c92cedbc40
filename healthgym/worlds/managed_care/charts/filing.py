"""The desk at which a chart's encounters and documents are written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import cache
from importlib.resources import files

from healthgym.core.borders import JsonObject
from healthgym.worlds.managed_care.charts.knowledge import (
    Form,
    Topic,
    forms,
    short_names,
    topics,
    topics_of,
)
from healthgym.worlds.managed_care.charts.phrases import Chooser
from healthgym.worlds.managed_care.charts.planning import Planned
from healthgym.worlds.managed_care.charts.prose import lower_first
from healthgym.worlds.managed_care.charts.reports import panel_of
from healthgym.worlds.managed_care.charts.sheets import Binder, DeferredDocument, Sheet
from healthgym.worlds.managed_care.charts.structured import id_tail
from healthgym.worlds.managed_care.charts.visits import Visit, moment
from healthgym.worlds.managed_care.facts import AnyFact, Diagnosis, Finding, Measurement
from healthgym.worlds.managed_care.population.staff import PRIMARY, Workforce
from healthgym.worlds.managed_care.records.chart import (
    DocumentReference,
    Encounter,
    Patient,
    ServiceRequest,
)
from healthgym.worlds.managed_care.staff import Worker

#: Specialty of an author where the form fixes it.
_AUTHORS = {
    "hospital": "Hospital Medicine",
    "psychiatry": "Psychiatry",
    "social_work": "Clinical Social Work",
    "radiology": "Radiology",
    "laboratory": "Pathology",
}
#: Where encounters of a type take place; the practice otherwise.
_PLACES = {"inpatient": "hospital", "imaging": "imaging", "lab": "laboratory"}
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
        encounters: Those written so far.
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
        self.encounters: list[Encounter] = []
        self.documents: list[DocumentReference] = []
        self.shows: dict[str, Sheet] = {}
        self._binder = Binder(patient, facts, orders, units)
        self._staff, self._chooser = staff, chooser
        self._tail = id_tail(patient.id)
        own = [one for name in PRIMARY for one in staff.clinicians(name)]
        self._primary = own[chooser.below(len(own))]
        self._specialists: dict[str, Worker] = {}

    def write_encounters(
        self, visits: Sequence[Visit], planned: Iterable[Planned], today: date
    ) -> None:
        """Write an encounter for each visit, of the type its documents make it."""
        kinds: dict[int, list[Planned]] = {}
        for each in planned:
            if each.place is not None:
                kinds.setdefault(each.place, []).append(each)
        for place, visit in enumerate(visits):
            notes = kinds.get(place, [])
            encounter_type = self._type(notes)
            lead = next((n for n in notes if forms()[n.kind].encounter == encounter_type), None)
            focus = self._focus(lead.facts if lead else visit.facts, visit.day, bool(lead))
            author = self._author(forms()[lead.kind], lead.facts) if lead else self._primary
            self.encounters.append(
                self._encounter(place, visit, encounter_type, focus, author, today)
            )

    def _type(self, notes: Sequence[Planned]) -> str:
        types = {forms()[note.kind].encounter for note in notes} - {""}
        if "inpatient" in types:
            return "inpatient"
        ranked = [name for name in _RANK if name in types]
        if ranked:
            return ranked[-1]
        return "telehealth" if self._chooser.chance(15) else "office"

    def _encounter(
        self,
        place: int,
        visit: Visit,
        encounter_type: str,
        focus: str,
        author: Worker,
        today: date,
    ) -> Encounter:
        table = _encounter_types()[encounter_type]
        cpt = table["cpt"][self._chooser.below(len(table["cpt"]))] if table["cpt"] else (None, None)
        summaries = table["summary"]
        summary = str(summaries[self._chooser.below(len(summaries))])
        where = _PLACES.get(encounter_type)
        return Encounter(
            id=f"ENC-{self._tail}-{place + 1:03d}",
            patient_id=self._binder.patient.id,
            occurred_at=self._time(visit.day, today),
            encounter_type=encounter_type,
            practitioner_id=author.id,
            summary=summary.format(focus=focus),
            encounter_cpt_code=cpt[0],
            encounter_cpt_description=cpt[1],
            facility_name=self._staff.places[where] if where else self._staff.provider.name,
        )

    def _time(self, day: date, today: date) -> datetime:
        # What happens today happened before the offices open.
        minute = self._chooser.below(45) if day >= today else 240 + self._chooser.below(480)
        return moment(day, 360 + minute)

    def write(self, planned: Planned, today: date) -> None:
        """File a document; its text is written when somebody reads it."""
        form = forms()[planned.kind]
        focus = self._focus(planned.facts, planned.day, noted=True)
        author = self._author(form, planned.facts)
        start = self._encounter_time(planned) or self._time(planned.day, today)
        signed = start + timedelta(minutes=10 + self._chooser.below(40))
        key = f"DOC-{self._tail}-{len(self.documents) + 1:03d}"
        title = form.titles[self._chooser.below(len(form.titles))].format(
            focus=focus, specialty=author.specialty, panel=panel_of(planned.facts)
        )
        sheet = self.shows[key] = Sheet(
            self._binder, planned, form, author, focus, signed, self._chooser.seed()
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

    def _encounter_id(self, place: int) -> str:
        return f"ENC-{self._tail}-{place + 1:03d}"

    def _encounter_time(self, planned: Planned) -> datetime | None:
        if planned.place is None or planned.place >= len(self.encounters):
            return None
        at = self.encounters[planned.place].occurred_at
        return at if at.date() == planned.day else None

    def _author(self, form: Form, facts: Iterable[AnyFact]) -> Worker:
        if form.author == "primary":
            return self._primary
        if form.author == "specialist":
            topic = _topic(facts)
            return self._specialist(topic.specialty if topic else PRIMARY[0])
        return self._specialist(_AUTHORS[form.author])

    def _specialist(self, specialty: str) -> Worker:
        if specialty not in self._specialists:
            known = self._staff.clinicians(specialty)
            self._specialists[specialty] = known[self._chooser.below(len(known))]
        return self._specialists[specialty]

    def _focus(self, facts: Iterable[AnyFact], day: date, noted: bool) -> str:
        """Return what a visit is about: the problem that most of its facts belong to."""
        facts = tuple(facts)
        named = [
            fact
            for fact in facts
            if isinstance(fact, Diagnosis) and fact.active and (noted or fact.noted_in)
        ]
        topic = _topic(facts)
        if topic is not None:
            named.sort(key=lambda fact: topic not in topics_of(fact))
        if named:
            return self._name(named[0])
        for seen in facts:
            if isinstance(seen, Finding):
                return lower_first(seen.display.removeprefix("Admission for "))
        return _PLAIN[self._chooser.below(len(_PLAIN))]

    def _name(self, problem: Diagnosis) -> str:
        names = (*short_names(problem.code), lower_first(problem.display))
        return names[self._chooser.below(len(names))]


_PLAIN = ("ongoing care", "general health", "current medicines", "recent results")


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
