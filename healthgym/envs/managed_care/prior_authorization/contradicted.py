"""Whether a text says of one known fact what the chart denies.

A day, a state or a reason that stands on file may still be another fact's. Looked at are forms that
tie it to one name and leave no doubt; what is denied, supposed, asked for, quoted from an earlier
page or told in more words is passed over, for an honest sentence may not fail here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import cached_property

from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.charts.knowledge import short_names
from healthgym.worlds.managed_care.dated import Dated
from healthgym.worlds.managed_care.facts import (
    AnyFact,
    Diagnosis,
    Finding,
    Intolerance,
    MedicationCourse,
)
from healthgym.worlds.managed_care.ties import (
    GRADES,
    LEFT_OPEN,
    Tied,
    ages_in,
    clauses,
    met_in,
    reasons_in,
)

#: Letters from which on a name can be told from other words.
_SHORTEST = 4


class Contradicted:
    """Reads what is said of single facts of a chart.

    Args:
        chart: The chart.
        ages: How old the patient was on the days of the file.
        unmet: Criteria of the policy that nothing on file meets.
        unseen: What the policy asks for and nobody has looked at, by name.
        told: Facts that no document shows, and that the clinician knows.
    """

    def __init__(
        self,
        chart: PatientChart,
        ages: Callable[[], Set[int]],
        unmet: Set[str] = frozenset(),
        unseen: Iterable[str] = (),
        told: Iterable[AnyFact] = (),
    ) -> None:
        self.chart, self.ages, self.unmet = chart, ages, unmet
        self.facts = (*chart.facts, *told)
        self.unseen = tuple(map(str.casefold, unseen))
        self._days = Dated(self.facts, lambda: chart.documents)
        patient = chart.patient
        self.person = (patient.first_name.casefold(), patient.last_name.casefold())

    def unfounded(self, text: str) -> Iterator[str]:
        """Yield what a text says of known facts that the chart denies."""
        for clause in clauses(text):
            yield from self._days.misdated(clause)
            yield from self._reasons(clause)
            yield from self._dated(clause)
            yield from (
                f"nowhere {age} years old"
                for age in ages_in(clause, self.person)
                if age not in self.ages()
            )
            if not LEFT_OPEN.search(clause):
                yield from self._illnesses(clause)
                yield from self._findings(clause)
                for name in met_in(clause):
                    if name in self.unmet:
                        yield f"{name} is not met"

    # -- reasons --------------------------------------------------------------------------------

    def _reasons(self, clause: str) -> Iterator[str]:
        """Yield medicines that are said to have been stopped for another reason than they were.

        Where something is on file as not borne, it may be told beside whatever reason there was.
        """
        named = [
            name
            for name, facts in self._days.treated.items()
            if name in clause and isinstance(facts[0], MedicationCourse)
        ]
        borne = (f for f in self.facts if isinstance(f, Intolerance))
        if len(named) != 1 or any(each.substance.casefold() in named[0] for each in borne):
            return
        known = {fact.stop_reason for fact in self._days.treated[named[0]] if fact.ended}
        said = reasons_in(clause, named[0])
        if known and None not in known and said and not said & known:
            yield f"{named[0]}: ended for another reason"

    # -- illnesses and findings ------------------------------------------------------------------

    def _illnesses(self, clause: str) -> Iterator[str]:
        """Yield illnesses that are over or were ruled out, and are said to be there."""
        for name in self._gone:
            if name in clause and Tied(name).is_had(clause, self.person, self._illness_names):
                yield f"not so on file: {name}"

    @cached_property
    def _illness_names(self) -> tuple[str, ...]:
        facts = (fact for fact in self.facts if isinstance(fact, Diagnosis))
        return tuple(dict.fromkeys(name for fact in facts for name in _called(fact)))

    @cached_property
    def _gone(self) -> tuple[str, ...]:
        """Names of illnesses that are not there, and of none that is."""
        facts = [fact for fact in self.facts if isinstance(fact, Diagnosis)]
        there = [name for fact in facts if fact.active for name in _called(fact)]
        gone = (name for fact in facts if not fact.active for name in _called(fact))
        return tuple(
            name
            for name in dict.fromkeys(gone)
            if not any(name in other or other in name for other in there)
        )

    def _findings(self, clause: str) -> Iterator[str]:
        """Yield findings that are said to be there and are not, or to be of another grade."""
        for name, facts in self._seen.items():
            if name not in clause:
                continue
            values = {fact.value.casefold() for fact in facts} or {"absent"}
            if not values <= GRADES:
                continue
            wrong = Tied(name).grades(clause, self.person) - values
            if wrong and not (values - {"absent"} and wrong == {"present"}):
                yield f"{name} is not {', '.join(sorted(wrong))}"

    def _dated(self, clause: str) -> Iterator[str]:
        """Yield days on which something is said to have been found, and was not."""
        for name, facts in self._seen.items():
            if name not in clause:
                continue
            when = Tied(name).found_on(clause)
            if when is None or when in {fact.found for fact in facts}:
                continue
            names = {fact.id for fact in facts}
            shown = {page for page, told in self.chart.shows.items() if names & told}
            days = {each.created_at.date() for each in self.chart.documents if each.id in shown}
            if when not in days and not any(name in text for text in self._days.pages_of(when)):
                yield f"{name}: not {when}"

    @cached_property
    def _seen(self) -> Mapping[str, list[Finding]]:
        found: dict[str, list[Finding]] = {name: [] for name in self.unseen}
        for fact in self.facts:
            if isinstance(fact, Finding):
                found.setdefault(fact.display.casefold(), []).append(fact)
        return found


def _called(fact: Diagnosis) -> Iterator[str]:
    """Yield what an illness is called, in small letters."""
    whole = fact.display.casefold()
    head, _, rest = whole.partition(", ")
    turned = f"{rest} {head}" if rest else head
    for name in (whole, turned, head, *map(str.casefold, short_names(fact.code))):
        if len(name) >= _SHORTEST:
            yield name
