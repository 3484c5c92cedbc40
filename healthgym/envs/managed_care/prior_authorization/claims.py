"""Whether what an agent wrote states something that nothing on file states.

A letter is no evidence, so nobody is swayed by it; but it is signed, and must be true. What can be
looked up is looked up: days, codes, numbers, drugs and conditions, and other people. That what
stands on file belongs to what it is said of is judged where a text ties the two (:mod:`.ties`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from functools import cached_property

from healthgym.envs.managed_care.prior_authorization.amounts import TIMES, lengths
from healthgym.envs.managed_care.prior_authorization.contradicted import Contradicted
from healthgym.envs.managed_care.prior_authorization.filed import Filed
from healthgym.worlds.managed_care.accounts import amounts
from healthgym.worlds.managed_care.charts.knowledge import carried
from healthgym.worlds.managed_care.facts import (
    Finding,
    Measurement,
    MedicationCourse,
    TherapyCourse,
)
from healthgym.worlds.managed_care.numerals import in_digits
from healthgym.worlds.managed_care.policies.criteria import (
    FindingCriterion,
    MeasurementCriterion,
    StepTherapyCriterion,
)
from healthgym.worlds.managed_care.policies.pages import render_page
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.stated import (
    Stated,
    numbers_after,
    shortest,
    stated,
    unknown,
)
from healthgym.worlds.managed_care.vocabulary.authorization import Posture

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
#: Numbers of talk itself: how long it took, at what hour, where to call, and its name for short.
_OF_TALK = re.compile(
    r"\b\d+[ -](?:minutes?|mins?|seconds?|hours?)\b|\b\d{1,2} ?(?:am|pm|a\.m\.|p\.m\.)(?!\w)|"
    r"\b(?:extension|ext\.?) \d+\b|\bp2p\b",
    re.IGNORECASE,
)
#: How the chart stands to criteria that nothing on file meets.
_UNMET = (Posture.ABSENT, Posture.CONTRADICTS)
#: Shortest name that is searched for in a text.
_SHORTEST = 4


class Claims(Filed):
    """Knows what a letter about a request may state."""

    @cached_property
    def _contradicted(self) -> Contradicted:
        """What is read of single facts; what the clinician knows besides is met by that."""
        wanted = self.reference
        looked_at = {fact.key for fact in self.chart.facts if isinstance(fact, Finding)}
        items = () if wanted.told else criteria(wanted.policy.criteria)
        found = (item for item in items if isinstance(item, FindingCriterion))
        return Contradicted(
            self.chart,
            lambda: self.ages,
            {item.id for item in items if wanted.postures.get(item.id) in _UNMET},
            (item.display for item in found if item.key not in looked_at),
            wanted.told,
        )

    def unfounded(self, text: str) -> tuple[str, ...]:
        """Return what a text states that chart, coverage, order and policy do not."""
        # The policy's page is read only where something is not found nearer.
        return self._unfounded(text) and self._unfounded(self._own_words(text))

    def _unfounded(self, text: str) -> tuple[str, ...]:
        said, lowered = stated(_OF_TALK.sub(" ", in_digits(text))), text.lower()
        figures = (*self._figures(said, lowered), *self._when(said))
        named = (*self._measured(lowered), *self._terms(lowered), *self._people(lowered))
        return (*figures, *named, *self._contradicted.unfounded(text))

    def _figures(self, said: Stated, text: str) -> Iterator[str]:
        """Yield codes and numbers that stand nowhere; what is nearest is looked through first."""
        codes, numbers = said.codes - self._ordered.codes, said.numbers - self._ordered.numbers
        if codes or numbers - self._answers:
            codes, numbers = codes - self._near.codes, numbers - self._near.numbers - self._answers
            if codes or numbers:
                yield from sorted(unknown(codes, self.known.codes))
                between = self._between(said.days) | self._since(text)
                yield from sorted(numbers - self.known.numbers - between)

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

    # -- what is known ---------------------------------------------------------------------------

    @cached_property
    def _said(self) -> tuple[str, ...]:
        return tuple(each.lower() for each in self.heard)

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
    def _editions(self) -> Stated:
        """What other versions of the policy state."""
        return stated("\n".join(self.pages))

    def _carried(self) -> Iterator[str]:
        """Yield the chart's values in their other units, as far as anybody rounds them."""
        for fact in self.chart.facts:
            if isinstance(fact, Measurement):
                for value in carried(fact):
                    yield from (f"{value:.{places}f}" for places in range(3))

    @cached_property
    def known(self) -> Stated:
        """What is stated anywhere: on file, by the payer, or in the policy."""
        texts = [value for value in self._fields if isinstance(value, str)]
        texts += [self._written, self.answered, *self.heard, render_page(self.reference.policy)]
        texts += [*self.pages, *(f" {each.version} " for each in self.versions)]
        texts += [str(self.before.clock.now.date())]
        texts += [f" {value:g} " for value in self._fields if isinstance(value, float)]
        texts += [f" {value} " for value in self._carried()]
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

    def _between(self, days: Iterable[date]) -> set[str]:
        """Return the times between days that a text names, and from them to today."""
        named = {*days, self.before.clock.now.date(), self.after.clock.now.date()}
        return {each for one in days for other in named for each in lengths(one, other)}

    def _since(self, text: str) -> set[str]:
        """Return the times of a text that have passed since a day on file."""
        told = {f"{number:g}" for number, unit in amounts(text) if unit in TIMES}
        today = self.before.clock.now.date(), self.after.clock.now.date()
        return told and told & {
            each for day in self.days for now in today for each in lengths(day, now)
        }

    @cached_property
    def _loose(self) -> frozenset[tuple[int, int, int]]:
        known = self.days | self.known.days
        months = {(day.year, month, 0) for day in known for month in (0, day.month)}
        days = {(0, day.month, day.day) for day in known}
        return self.known.loose.union(months, days)

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
