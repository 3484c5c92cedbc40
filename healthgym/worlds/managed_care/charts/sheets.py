"""The text of a document, written when somebody reads it or asks what it states."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cache, cached_property
from importlib.resources import files

from healthgym.worlds.managed_care.charts.blocks import SECTIONS, TALK
from healthgym.worlds.managed_care.charts.focus import called, focus_of, topic_of
from healthgym.worlds.managed_care.charts.knowledge import Form, systems_of_chapter, topics_of
from healthgym.worlds.managed_care.charts.ordering import Ordering
from healthgym.worlds.managed_care.charts.phrases import seeded
from healthgym.worlds.managed_care.charts.planning import Planned
from healthgym.worlds.managed_care.charts.prose import Prose, Unwritten, begun
from healthgym.worlds.managed_care.charts.reports import REPORTS, study_in
from healthgym.worlds.managed_care.charts.sections import SYSTEMS, Draft
from healthgym.worlds.managed_care.charts.stays import Stay
from healthgym.worlds.managed_care.facts import (
    AnyFact,
    Diagnosis,
    Finding,
    Measurement,
    MedicationCourse,
    ProcedureDone,
)
from healthgym.worlds.managed_care.records.chart import Patient, ServiceRequest
from healthgym.worlds.managed_care.staff import Worker
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind


@cache
def headings() -> Mapping[str, tuple[str, ...]]:
    """Return the headings a section may have."""
    table = json.loads((files(__package__) / "headings.json").read_text("utf-8"))
    return {key: tuple(values) for key, values in table.items()}


class Binder:
    """What all documents of a chart are written from.

    Args:
        patient: Whose chart it is.
        facts: Everything true of the patient.
        orders: What is ordered.
        units: Unit in which documents give a measurement, by fact id.

    Attributes:
        since: Stays in hospital since the visit before, by the place of a visit.
    """

    def __init__(
        self,
        patient: Patient,
        facts: Sequence[AnyFact],
        orders: Sequence[ServiceRequest],
        units: Mapping[str, str],
    ) -> None:
        self.patient, self.facts, self.units = patient, facts, units
        self.since: dict[int, tuple[Stay, ...]] = {}
        self._orders = orders

    def ordered(self, planned: Planned) -> tuple[ServiceRequest, ...]:
        """Return the orders a document mentions: the letter all, a note those of its visit."""
        if planned.kind is DocumentKind.LETTER_OF_MEDICAL_NECESSITY:
            return tuple(self._orders)
        return tuple(
            order
            for order in self._orders
            if planned.since <= order.requested_date.date() <= planned.day
        )

    def earlier(self, planned: Planned) -> dict[str, Measurement]:
        """Return, for each measurement, the one before that documents of this kind tell, too."""
        found: dict[str, Measurement] = {}
        for fact in planned.facts:
            if isinstance(fact, Measurement):
                before = None
                for other in self._series[fact.code]:
                    if other.taken >= fact.taken:
                        break
                    before = other if planned.kind in other.noted_in else before
                if before is not None and before.unit == fact.unit:
                    found[fact.id] = before
        return found

    @cached_property
    def _series(self) -> dict[str, list[Measurement]]:
        found: dict[str, list[Measurement]] = {}
        for fact in self.facts:
            if isinstance(fact, Measurement):
                found.setdefault(fact.code, []).append(fact)
        for values in found.values():
            values.sort(key=lambda one: (one.taken, one.id))
        return found

    @cached_property
    def _courses(self) -> tuple[MedicationCourse, ...]:
        return tuple(fact for fact in self.facts if isinstance(fact, MedicationCourse))

    def running(self, day: date) -> tuple[MedicationCourse, ...]:
        """Return the medicines that are taken on a day."""
        return tuple(
            each
            for each in self._courses
            if each.started <= day and (each.ended is None or each.ended > day)
        )

    def first_study(self, planned: Planned) -> bool:
        """Return whether nothing on file before an imaging report was seen in a study of its kind.

        A report whose study is not known by its facts counts any earlier imaging as of its kind.
        """
        if planned.kind is not DocumentKind.IMAGING_REPORT:
            return True
        kind = study_in(planned.facts)
        before = (fact for fact in self._imaged if begun(fact) < planned.day)
        return not any(kind is None or study_in((fact,)) == kind for fact in before)

    @cached_property
    def _imaged(self) -> tuple[AnyFact, ...]:
        """What an imaging study showed, and the studies; CPT codes of radiology begin with 7."""
        return tuple(
            fact
            for fact in self.facts
            if DocumentKind.IMAGING_REPORT in fact.noted_in
            or study_in((fact,)) is not None
            or (isinstance(fact, ProcedureDone) and fact.code.startswith("7"))
        )

    @cached_property
    def active(self) -> tuple[Diagnosis, ...]:
        """The conditions that the patient has."""
        return tuple(x for x in self.facts if isinstance(x, Diagnosis) and x.active)

    @cached_property
    def guarded(self) -> frozenset[str]:
        """The systems about which the facts have something to say.

        What was found at an examination may concern any of them, so that none is called normal.
        """
        found: set[str] = set()
        for fact in self.facts:
            for topic in topics_of(fact):
                found |= topic.systems
            if isinstance(fact, Diagnosis):
                found |= systems_of_chapter(fact.code[0])
            if isinstance(fact, Finding) and fact.key.startswith("exam."):
                found |= frozenset(SYSTEMS)
        return frozenset(found)


@dataclass(eq=False)
class Sheet:
    """A document to be written: what it will say, and which facts it states in full.

    Attributes:
        binder: The chart's.
        planned: What it is to tell.
        form: How documents of its kind are made.
        author: Who wrote it.
        signed: When it was signed.
        titled: Its title, with places for its subject and the like.
        number: What was drawn for how its subject is called.
        seed: What its wording is drawn from.
        named: Code and title of the condition that it is about; None where its facts tell that.
        ordering: The visit it is the note of, if an order comes from that visit.
    """

    binder: Binder
    planned: Planned
    form: Form
    author: Worker
    signed: datetime
    titled: str
    number: int
    seed: int
    named: tuple[str, str] | None = field(default=None, kw_only=True)
    ordering: Ordering | None = field(default=None, kw_only=True)

    def content(self) -> str:
        """Return the whole text."""
        prose = Prose(seeded(self.seed), self.binder.units, self.template)
        draft = self._draft(prose)
        body = self._body(draft)
        when = f"{prose.day(self.signed.date())} {self.signed:%H:%M} UTC"
        name, npi = self.author.name, self.author.npi or ""
        signature = prose.say("signed", author=name, npi=npi, when=when)
        return "\n".join((*self._header(draft), *body, "", signature))

    @property
    def template(self) -> int:
        """The number of the template that its author writes by, in every note."""
        return sum(map(ord, self.author.id + self.author.specialty))

    @cached_property
    def about(self) -> tuple[str, str]:
        """Its subject in words, and the ICD-10-CM code of that; empty if there is none."""
        if self.named is not None:
            return called(*self.named, self.number), self.named[0]
        facts, day = self.planned.facts, self.planned.day
        topic = topic_of(facts)
        return focus_of(self.binder.active, facts, topic, day, self.number, noted=True)

    @cached_property
    def stated(self) -> frozenset[str]:
        """Ids of the facts that it states in full."""
        # No choice of words decides what is stated, so that it is known before they are chosen:
        # nor does what they are chosen for, such as what the document is about.
        prose = Unwritten(self.binder.units)
        patient, earlier = self.binder.patient, self._earlier
        self._body(Draft(prose, self.planned, patient, focus="", earlier=earlier))
        return frozenset(prose.stated)

    @property
    def known(self) -> bool:
        """Whether somebody has asked what it states."""
        return "stated" in vars(self)

    def may_state(self, facts: AbstractSet[str]) -> bool:
        """Return whether it could state one of some facts; cheaper than to write it."""
        listed = self.ordering.listed if self.ordering else None
        if listed is not None and listed.id in facts:
            return True
        if any(fact.id in facts for fact in self.planned.facts):
            return True
        return any(fact.id in facts for fact in self._earlier.values())

    @cached_property
    def _earlier(self) -> Mapping[str, Measurement]:
        return self.binder.earlier(self.planned)

    def _draft(self, prose: Prose) -> Draft:
        place, (focus, code) = self.planned.place, self.about
        return Draft(
            prose=prose,
            planned=self.planned,
            patient=self.binder.patient,
            focus=focus,
            orders=self.binder.ordered(self.planned),
            earlier=self._earlier,
            guarded=self.binder.guarded,
            code=code,
            ordering=self.ordering,
            active=self.binder.active,
            running=self.binder.running(self.planned.day),
            first_study=self.binder.first_study(self.planned),
            stays=() if place is None else self.binder.since.get(place, ()),
        )

    def _header(self, draft: Draft) -> list[str]:
        patient, prose = draft.patient, draft.prose
        born = prose.day(patient.dob)
        lines = [
            f"{patient.last_name}, {patient.first_name} | DOB {born} | {patient.id}",
            f"{prose.day(draft.day)} | {self.author.name}, {self.author.specialty}",
        ]
        return [*lines, ""]

    def _body(self, draft: Draft) -> list[str]:
        layouts, template = self.form.layouts, self.template
        lines: list[str] = []
        upper = template % 5 < 2
        for section in layouts[template % len(layouts)]:
            if section in REPORTS:
                lines += REPORTS[section](draft)
                continue
            if section in TALK and isinstance(draft.prose, Unwritten):
                continue
            text = SECTIONS[section](draft)
            if text:
                names = headings()[section]
                heading = names[template % len(names)]
                lines.append(heading.upper() if upper else heading)
                lines += text
        return lines


class Stated(Mapping[str, frozenset[str]]):
    """Which facts each document of a chart states in full, found out when it is asked.

    Args:
        sheets: The documents by id.
    """

    __slots__ = ("_sheets",)

    def __init__(self, sheets: Mapping[str, Sheet]) -> None:
        self._sheets = sheets

    def __getitem__(self, key: str) -> frozenset[str]:
        return self._sheets[key].stated

    def __iter__(self) -> Iterator[str]:
        return iter(self._sheets)

    def __len__(self) -> int:
        return len(self._sheets)

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return dict, (dict(self),)

    def renamed(self, names: Mapping[str, str]) -> Stated:
        """Return the same of some documents, under new ids by the old ones."""
        return Stated({new: self._sheets[old] for old, new in names.items()})

    def besides(self, name: str, sheet: Sheet) -> Stated:
        """Return the same with another document."""
        return Stated({**self._sheets, name: sheet})

    def told(self, name: str, facts: AbstractSet[str]) -> frozenset[str]:
        """Return which of some facts a document states; nothing if there is no such document."""
        sheet = self._sheets.get(name)
        if sheet is None or not (sheet.known or sheet.may_state(facts)):
            return frozenset()
        return sheet.stated & facts

    def of(self, facts: AbstractSet[str]) -> Mapping[str, frozenset[str]]:
        """Return the documents that state some of the facts, each with which of these."""
        sheets = self._sheets
        binders = {sheet.binder for sheet in sheets.values()}
        told = [fact for binder in binders for fact in binder.facts if fact.id in facts]
        kinds = {kind for fact in told for kind in fact.noted_in}
        # The note of an ordering visit names what is ordered for, of whatever kind it is.
        able = [
            name
            for name, sheet in sheets.items()
            if sheet.planned.kind in kinds or sheet.ordering is not None
        ]
        return _stating(
            {name: sheets[name].stated for name in able if sheets[name].may_state(facts)}, facts
        )


def stating(
    shows: Mapping[str, frozenset[str]], facts: AbstractSet[str]
) -> Mapping[str, frozenset[str]]:
    """Return the documents that state some of the facts, each with which of these.

    Args:
        shows: A chart's; documents that cannot state one of the facts are not gone through.
        facts: Ids of facts.
    """
    return shows.of(facts) if isinstance(shows, Stated) else _stating(shows, facts)


def told_by(
    shows: Mapping[str, frozenset[str]], name: str, facts: AbstractSet[str]
) -> frozenset[str]:
    """Return which of some facts a document of a chart states.

    Args:
        shows: The chart's; a document that cannot state one of the facts is not gone through.
        name: Id of the document.
        facts: Ids of facts.
    """
    if isinstance(shows, Stated):
        return shows.told(name, facts)
    return shows.get(name, frozenset()) & facts


def also_stating(
    shows: Mapping[str, frozenset[str]], name: str, sheet: Sheet
) -> Mapping[str, frozenset[str]]:
    """Return a chart's ``shows`` with another document.

    Args:
        shows: The chart's.
        name: Id of the document.
        sheet: What it is written from.
    """
    if isinstance(shows, Stated):
        return shows.besides(name, sheet)
    return {**shows, name: sheet.stated}


def _stating(
    shows: Mapping[str, frozenset[str]], facts: AbstractSet[str]
) -> Mapping[str, frozenset[str]]:
    return {name: stated & facts for name, stated in shows.items() if stated & facts}


def renamed(
    shows: Mapping[str, frozenset[str]], names: Mapping[str, str]
) -> Mapping[str, frozenset[str]]:
    """Return a chart's ``shows`` for some of its documents, under new ids.

    Args:
        shows: The chart's.
        names: The new id of each document, by its old one.
    """
    if isinstance(shows, Stated):
        return shows.renamed(names)
    return {new: shows[old] for old, new in names.items()}
