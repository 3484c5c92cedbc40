"""Whether a text says of a known fact what the file denies: resolved or not, when, and why ended.

Looked at is what is said outright, of one fact, in the forms of :mod:`.ties` and in a list of
courses with their days. What is denied, asked, quoted of an older page or said in passing is not:
an honest sentence that is refused does more harm than a false one that is not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property

from healthgym.worlds.managed_care.dated import Dated
from healthgym.worlds.managed_care.facts import AnyFact, Diagnosis, MedicationCourse, StopReason
from healthgym.worlds.managed_care.records.chart import DocumentReference
from healthgym.worlds.managed_care.ties import LEFT_OPEN, REASON_OPEN, Tied, clauses, reasons_in
from healthgym.worlds.managed_care.word_forms import form

#: A policy's and a criterion's ids before its words.
_NAMED = re.compile(r"^.*\bc\d+: ")
_OVER = r"(?: is| has)(?: now| since)* (?:resolved|inactive)\b"
#: What stands behind the last day of a course in a list of courses.
_LISTED = re.compile(r"\b(?:19|20)\d\d-\d\d-\d\d\)?[,:(] ?\(?(?P<why>[^,;()]*)")
#: Words for a reason to stop in such a list, by the name of their expression; courses that were
#: completed are told of in many words.
_REASONS: Mapping[StopReason, str] = {
    StopReason.INEFFECTIVE: "stopped_ineffective",
    StopReason.INTOLERANCE: "stopped_intolerance",
    StopReason.COST: "stopped_cost",
    StopReason.PATIENT_CHOICE: "stopped_choice",
}


class OnFile:
    """Facts of which a text may speak.

    Args:
        facts: What is on file.
        printed: Returns what the policy prints, which tells of no fact where it is said again.
        pages: Returns the pages that tell of them.
        said: Returns what was said of them on calls.
    """

    def __init__(
        self,
        facts: Iterable[AnyFact],
        printed: Callable[[], str] = str,
        pages: Callable[[], Iterable[DocumentReference]] = tuple,
        said: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        facts, self._printed = tuple(facts), printed
        self._dated = Dated(facts, pages, said)
        self._states: dict[str, set[bool]] = {}
        self._courses: dict[str, set[StopReason | None]] = {}
        for fact in facts:
            if isinstance(fact, Diagnosis):
                name = fact.display.casefold().partition(",")[0]
                self._states.setdefault(name, set()).add(fact.active)
            elif isinstance(fact, MedicationCourse):
                self._courses.setdefault(fact.medication, set()).add(fact.stop_reason)
        self._names = (*self._states, *self._dated.names)

    def misstated(self, text: str) -> Iterator[str]:
        """Yield what a text says of the facts that they deny."""
        flat = " ".join(text.replace("’", "'").casefold().split())
        if not any(name in flat for name in self._names):
            return
        for clause in clauses(text):
            if clause and _NAMED.sub("", clause) not in self._asked:
                yield from self._misstates(clause)
                yield from self._ends(clause)
                yield from self._dated.misdated(clause)

    @cached_property
    def _asked(self) -> str:
        return " ".join(self._printed().casefold().split())

    def _misstates(self, clause: str) -> Iterator[str]:
        """Yield an illness that is called active where it is resolved, or the other way round."""
        for name, states in self._states.items():
            if len(states) > 1 or name not in clause:
                continue
            over = re.search(rf"\b{re.escape(name)}{_OVER}", clause) if True in states else None
            rest = clause.replace(over[0], " ") if over else clause
            said = over or (False in states and _is_there(name, clause))
            if said and not LEFT_OPEN.search(rest):
                yield f"not so on file: {name}"

    def _ends(self, clause: str) -> Iterator[str]:
        """Yield a medicine that is said to have been stopped for another reason than it was."""
        named = [name for name in self._courses if name.casefold() in clause]
        if len(named) != 1:
            return
        reasons = self._courses[named[0]]
        said = reasons_in(clause, named[0].casefold()) or _listed(clause)
        if reasons <= _REASONS.keys() and said and not said & reasons:
            yield f"ended for another reason: {named[0]}"


def _is_there(name: str, clause: str) -> bool:
    named = rf"\b(?:active|current|ongoing) {re.escape(name)}\b"
    return Tied(name).is_had(clause, (), (name,)) or re.search(named, clause) is not None


def _listed(clause: str) -> set[StopReason]:
    """Return the reasons that stand behind the days of a course."""
    found = _LISTED.search(clause)
    if found is None or REASON_OPEN.search(clause.replace(found["why"], " ")):
        return set()
    return {one for one, words in _REASONS.items() if form(words).search(found["why"])}
