"""Whether what an agent wrote states something that nothing on file states.

A letter is no evidence, so nobody is swayed by it; but it is signed, and must be true. What can be
looked up is looked up: days, codes, numbers, drugs and conditions, and other people. That what
stands on file belongs to what it is said of is judged where a text ties the two (:mod:`.ties`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from functools import cached_property

from healthgym.envs.managed_care.prior_authorization.amounts import lengths
from healthgym.envs.managed_care.prior_authorization.contradicted import Contradicted
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationReference
from healthgym.worlds.managed_care.apps.provider.inbox_and_directory import PRACTICE
from healthgym.worlds.managed_care.charts.ages import age_on
from healthgym.worlds.managed_care.facts import (
    Measurement,
    MedicationCourse,
    TherapyCourse,
)
from healthgym.worlds.managed_care.leaves import leaves
from healthgym.worlds.managed_care.policies.criteria import (
    MeasurementCriterion,
    StepTherapyCriterion,
)
from healthgym.worlds.managed_care.policies.pages import render_page
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.relay import PROVIDER
from healthgym.worlds.managed_care.shared import SharedOffices
from healthgym.worlds.managed_care.stated import (
    Stated,
    days_in,
    numbers_after,
    shortest,
    stated,
)
from healthgym.worlds.managed_care.vocabulary.authorization import MessageKind
from healthgym.worlds.managed_care.world import ManagedCareWorld

_NEGATED = re.compile(r"\b(?:not?|never|without|instead|contraindicat\w*|intoleran\w*|allerg\w*)\b")
_REQUIRED = re.compile(
    r"\b(?:requir\w*|polic\w*|criteri\w*|at least|at most|threshold|minimum|maximum|"
    r"no higher|no lower|or more|or less|below|above|under|over|limit)\b"
)
_OTHER_EDITION = re.compile(
    r"\b(?:versions?|earlier|former|older|superseded|bulletin|amend\w*|page|in force)\b"
)
_SENTENCE = re.compile(r"[^.!?;\n]+")
#: Where a sentence ends; the point of a number does not end it.
_ENDS = re.compile(r"[.!?](?=\s|$)|\n")
#: Letters of a day at the beginning of a time.
_DAY = len("2026-03-13")
#: Shortest name that is searched for in a text.
_SHORTEST = 4


class Claims:
    """Knows what a letter about a request may state.

    Args:
        before: The world as it began.
        after: The world now.
        reference: The right handling.
    """

    def __init__(
        self, before: ManagedCareWorld, after: ManagedCareWorld, reference: AuthorizationReference
    ) -> None:
        self.before, self.after, self.reference = before, after, reference
        self.chart = after.charts[reference.patient_id]
        self._contradicted = Contradicted(self.chart, lambda: self.ages)

    def unfounded(self, text: str) -> tuple[str, ...]:
        """Return what a text states that chart, coverage, order and policy do not."""
        # The policy's page is read only where something is not found nearer.
        return self._unfounded(text) and self._unfounded(self._own_words(text))

    def _unfounded(self, text: str) -> tuple[str, ...]:
        said, lowered = stated(text), text.lower()
        figures = (*self._figures(said), *self._when(said))
        named = (*self._measured(lowered), *self._terms(lowered), *self._people(lowered))
        return (*figures, *named, *self._contradicted.unfounded(text))

    def _figures(self, said: Stated) -> Iterator[str]:
        """Yield codes and numbers that stand nowhere; what is nearest is looked through first."""
        codes, numbers = said.codes - self._ordered.codes, said.numbers - self._ordered.numbers
        if codes or numbers - self._answers:
            codes, numbers = codes - self._near.codes, numbers - self._near.numbers - self._answers
            if codes or numbers:
                yield from sorted(codes - self.known.codes)
                yield from sorted(numbers - self.known.numbers - self._between(said.days))

    def _when(self, said: Stated) -> Iterator[str]:
        """Yield days and months in which nothing was."""
        days = said.days and said.days - self.days
        if days:
            yield from (day.isoformat() for day in sorted(days - self.known.days))
        months = said.loose and said.loose - self._loose
        yield from (f"{year}-{month}-{day}" for year, month, day in sorted(months))

    def _own_words(self, text: str) -> str:
        """Return a text without the sentences that are the policy's."""
        kept = (part for part in _ENDS.split(text) if _flat(part) not in self._criteria)
        return "\n".join(kept)

    def _measured(self, text: str) -> Iterator[str]:
        """Yield values of what is measured that the chart does not have.

        The policy's own numbers may be quoted where a sentence says that they are asked for.
        """
        for name, values in self._values.items():
            if name not in text:
                continue
            for number, sentence in numbers_after(name, text):
                printed = self._near.numbers
                if _OTHER_EDITION.search(sentence):
                    printed = printed | self._editions.numbers
                quoted = number in printed and _REQUIRED.search(sentence)
                if number not in values and not quoted and number not in self._told(name):
                    yield f"{name} {number}"

    def _told(self, name: str) -> set[str]:
        """Return the values of something in the documents that bear, which may have other units.

        What the payer wrote or said about the case may be quoted, for whoever appeals has to.
        """
        bearing = [d.content for d in self.chart.documents if d.id in self.reference.documents]
        theirs = (self.answered, *self.heard)
        told = (numbers_after(name, text.lower()) for text in (*bearing, *theirs))
        return {number for each in told for number, _ in each}

    def _terms(self, text: str) -> Iterator[str]:
        """Yield drugs and conditions that are not the patient's, unless it is said so."""
        for sentence in _SENTENCE.findall(text):
            for term in self._names:
                if term not in sentence or not _whole(term, sentence):
                    continue
                if any(term in known for known in (*self.own, *self._said)):
                    continue
                said = _NEGATED.search(sentence) or _REQUIRED.search(sentence)
                if term not in self._policy or not said:
                    yield term

    def _people(self, text: str) -> Iterator[str]:
        """Yield other patients who are named."""
        flat = " ".join(text.split())
        own = self.chart.patient
        for chart in self.after.charts.values():
            other = chart.patient
            if other.id == own.id:
                continue
            names = (other.first_name, other.last_name)
            forms = [other.id, other.member_id]
            if names != (own.first_name, own.last_name):
                forms += [" ".join(names), f"{other.last_name}, {other.first_name}"]
            if any(form.lower() in flat for form in forms):
                yield other.id

    # -- what is on file -------------------------------------------------------------------------

    @cached_property
    def _fields(self) -> tuple[object, ...]:
        """What the records hold; of documents their heads, since texts are written when read."""
        chart, staff = self.chart, self.after.staff
        parts = (
            chart.patient,
            *chart.coverages,
            *chart.conditions,
            *chart.observations,
            *chart.procedures,
            *chart.medications,
            *chart.allergies,
            *chart.encounters,
            *chart.orders,
            *staff.practitioners.values(),
        )
        heads = ((d.title, d.author_name, d.created_at, d.signed_at) for d in chart.documents)
        return tuple(leaves((parts, tuple(heads))))

    @cached_property
    def recorded(self) -> str:
        """What the records say, in small letters."""
        return "\n".join(value for value in self._fields if isinstance(value, str)).lower()

    @cached_property
    def own(self) -> tuple[str, ...]:
        """What the practice has of the patient in words, in small letters."""
        return self.recorded, self._written.lower(), self._memos.lower()

    @cached_property
    def _written(self) -> str:
        """What the documents say."""
        return "\n".join(document.content for document in self.chart.documents)

    @cached_property
    def answered(self) -> str:
        """What the payer wrote about the patient's cases: its letters, and what it asked for."""
        own = self.chart.patient.id
        cases = {case.id for case in self.after.cases.cases.values() if case.patient_id == own}
        letters = (x for x in self.after.letters.letters.values() if x.case_id in cases)
        asked = (
            message
            for message in self.after.inbox.messages.values()
            if message.case_id in cases and message.kind == MessageKind.PEND_REQUEST
        )
        said = (value for value in leaves((*letters, *asked)) if isinstance(value, str))
        return "\n".join((*said, self._memos))

    @cached_property
    def heard(self) -> tuple[str, ...]:
        """What the other side said on calls about the patient's cases."""
        world, own = self.after, self.chart.patient.id
        cases = [case.id for case in world.cases.cases.values() if case.patient_id == own]
        asked = [one.id for case in cases for one in world.peer.of(case)]
        said = tuple(
            turn.message
            for session in map(world.peer.session_of, asked)
            if session is not None
            for turn in session.transcript
            if turn.speaker != session.benchmark_side
        )
        if not isinstance(world, SharedOffices):
            return said
        turns = (turn for case in cases for line in world.parley.of(case) for turn in line.turns)
        return (*said, *(turn.message for turn in turns if turn.side != PROVIDER))

    @cached_property
    def _said(self) -> tuple[str, ...]:
        return tuple(each.lower() for each in self.heard)

    @cached_property
    def _memos(self) -> str:
        """What the practice's own people wrote to each other before."""
        kept = self.before.inbox.messages.values()
        return "\n".join(message.body for message in kept if message.box == PRACTICE)

    @cached_property
    def _policy(self) -> str:
        return render_page(self.reference.policy).lower()

    @cached_property
    def _criteria(self) -> frozenset[str]:
        """The sentences in which the policy says what it asks for."""
        policy = self.reference.policy
        texts = [policy.text(item.id) for item in criteria(policy.criteria)]
        texts += [render_page(policy)]
        return frozenset(_flat(part) for text in texts for part in _ENDS.split(text))

    @cached_property
    def _ordered(self) -> Stated:
        """What the order states."""
        orders, version = self.chart.orders, self.reference.policy.version
        codes = " ".join(" ".join((o.procedure_code, *o.diagnosis_codes)) for o in orders)
        return stated("\n".join([*(order.description for order in orders), codes, version]))

    @cached_property
    def _near(self) -> Stated:
        """What the policy states."""
        return stated(render_page(self.reference.policy))

    @cached_property
    def _versions(self) -> tuple[Policy, ...]:
        """The policy in all versions that the payer has."""
        book, policy = self.before.start.policies, self.reference.policy
        return (policy, *(each for each in (book.policies if book else ()) if each.id == policy.id))

    @cached_property
    def _pages(self) -> tuple[str, ...]:
        """The pages of the handbook about the policy: former versions, and what amends it."""
        pages = self.before.start.handbook.changed
        return tuple(page.text for path, page in pages.items() if self.reference.policy.id in path)

    @cached_property
    def _editions(self) -> Stated:
        """What other versions of the policy state."""
        return stated("\n".join(self._pages))

    @cached_property
    def known(self) -> Stated:
        """What is stated anywhere: on file, by the payer, or in the policy."""
        texts = [value for value in self._fields if isinstance(value, str)]
        texts += [self._written, self.answered, *self.heard, render_page(self.reference.policy)]
        texts += [*self._pages, *(f" {each.version} " for each in self._versions)]
        texts += [str(self.before.clock.now.date())]
        texts += [f" {value:g} " for value in self._fields if isinstance(value, float)]
        texts += [f" {age} " for age in self.ages]
        texts += [f" {year} " for year in {day.year for day in self.days}]
        return stated("\n".join(texts))

    @cached_property
    def _values(self) -> Mapping[str, frozenset[str]]:
        """The values of what is measured, by its name; where the policy asks for it, those, too."""
        found: dict[str, set[str]] = {}
        for each in self.chart.observations:
            values = found.setdefault(each.display.lower(), set())
            if each.value_quantity is not None:
                values.add(shortest(str(each.value_quantity)))
        for item in criteria(self.reference.policy.criteria):
            if isinstance(item, MeasurementCriterion):
                values = found.setdefault(item.display.lower(), set())
                values |= {
                    shortest(f"{fact.value}")
                    for fact in self.chart.facts
                    if isinstance(fact, Measurement) and fact.code == item.code
                }
                values |= self._answers
        return {name: frozenset(values) for name, values in found.items()}

    @cached_property
    def days(self) -> frozenset[date]:
        """Days of the records, of what was sent, and of the episode."""
        known = {
            value.date() if isinstance(value, datetime) else value
            for value in self._fields
            if isinstance(value, date)
        }
        clock = {self.before.clock.now.date(), self.after.clock.now.date()}
        letters = {letter.created_at.date() for letter in self.after.letters.letters.values()}
        filed = {
            packet.submitted_at.date() for packet in self.after.authorizations.packets.values()
        }
        cases = [
            c for c in self.after.cases.cases.values() if c.patient_id == self.chart.patient.id
        ]
        # Of a case its days only: what else it has is the agent's own words.
        due = {value.date() for value in leaves(tuple(cases)) if isinstance(value, datetime)}
        policy = {day for p in self._versions for day in (p.effective, p.terminated) if day}
        calls = {day for text in self._slots for day in days_in(text)}
        return frozenset(known | clock | letters | filed | due | policy | calls)

    @property
    def _slots(self) -> Iterator[str]:
        """Yield the times of calls, as they were offered and chosen."""
        own = self.chart.patient.id
        for case in self.after.cases.cases.values():
            for asked in self.after.peer.of(case.id) if case.patient_id == own else ():
                yield from (text[:_DAY] for text in leaves(asked) if isinstance(text, str))

    @cached_property
    def ages(self) -> frozenset[int]:
        """How old the patient was on the days of the file."""
        born = self.chart.patient.dob
        return frozenset(age_on(born, day) for day in self.days if day >= born)

    def _between(self, days: Iterable[date]) -> set[str]:
        """Return the times between days that a text names, and from them to today."""
        named = {*days, self.before.clock.now.date(), self.after.clock.now.date()}
        return {each for one in days for other in named for each in lengths(one, other)}

    @cached_property
    def _loose(self) -> frozenset[tuple[int, int, int]]:
        known = self.days | self.known.days
        months = {(day.year, day.month, 0) for day in known}
        return frozenset(months | {(0, day.month, day.day) for day in known})

    @cached_property
    def _answers(self) -> frozenset[str]:
        """Numbers that follow from the chart: what the forms ask for, and how long courses were."""
        asked = stated(" ; ".join(self.reference.answers.values())).numbers
        today = self.before.clock.now.date()
        told: set[str] = set()
        for fact in self.chart.facts:
            if isinstance(fact, MedicationCourse | TherapyCourse):
                told |= lengths(fact.started, fact.ended or today)
        return asked | told

    @cached_property
    def _names(self) -> frozenset[str]:
        """Drugs and conditions that are known here, the patient's and others'."""
        names: set[str] = set()
        for chart in self.after.charts.values():
            names |= {each.medication_name.lower() for each in chart.medications}
            names |= {each.display.lower() for each in chart.conditions}
        book = self.after.start.policies
        for policy in book.policies if book else ():
            for item in criteria(policy.criteria):
                if isinstance(item, StepTherapyCriterion):
                    names |= {drug.lower() for drug in (*item.drugs, *item.excluded)}
        return frozenset(name for name in names if len(name) >= _SHORTEST)


def _whole(term: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(term)}(?!\w)", text) is not None


def _flat(text: str) -> str:
    return " ".join(text.lower().strip(" .*-").split())
