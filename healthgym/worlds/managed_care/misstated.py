"""Whether a text says of a known fact what the file denies: resolved or not, and why it was ended.

Looked at is what is said outright, of one fact, in the forms of :mod:`.ties` and in a list of
courses with their days. What is denied, asked, quoted of an older page or said in passing is not:
an honest sentence that is refused does more harm than a false one that is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from healthgym.worlds.managed_care.facts import AnyFact, Diagnosis, MedicationCourse, StopReason
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


def misstated(text: str, facts: Iterable[AnyFact], printed: str = "") -> Iterator[str]:
    """Yield what a text says of facts that they deny.

    Args:
        text: What somebody wrote.
        facts: What is on file.
        printed: What the policy prints, which tells of no fact where it is said again.
    """
    known, asked = tuple(facts), " ".join(printed.casefold().split())
    diagnoses = [fact for fact in known if isinstance(fact, Diagnosis)]
    courses = [fact for fact in known if isinstance(fact, MedicationCourse)]
    for clause in clauses(text):
        if clause and _NAMED.sub("", clause) not in asked:
            yield from _states(clause, diagnoses)
            yield from _ends(clause, courses)


def _states(clause: str, diagnoses: Iterable[Diagnosis]) -> Iterator[str]:
    """Yield an illness that is called active where it is resolved, or the other way round."""
    there: dict[str, set[bool]] = {}
    for fact in diagnoses:
        there.setdefault(fact.display.casefold().partition(",")[0], set()).add(fact.active)
    for name, states in there.items():
        if len(states) > 1 or name not in clause:
            continue
        over = re.search(rf"\b{re.escape(name)}{_OVER}", clause) if True in states else None
        rest = clause.replace(over[0], " ") if over else clause
        if not LEFT_OPEN.search(rest) and (over or (False in states and _is_there(name, clause))):
            yield f"not so on file: {name}"


def _is_there(name: str, clause: str) -> bool:
    named = rf"\b(?:active|current|ongoing) {re.escape(name)}\b"
    return Tied(name).is_had(clause, (), (name,)) or re.search(named, clause) is not None


def _ends(clause: str, courses: Iterable[MedicationCourse]) -> Iterator[str]:
    """Yield a medicine that is said to have been stopped for another reason than it was."""
    named: dict[str, set[StopReason | None]] = {}
    for fact in courses:
        if fact.medication.casefold() in clause:
            named.setdefault(fact.medication, set()).add(fact.stop_reason)
    if len(named) != 1:
        return
    ((name, reasons),) = named.items()
    said = reasons_in(clause, name.casefold()) or _listed(clause)
    if reasons <= _REASONS.keys() and said and not said & reasons:
        yield f"ended for another reason: {name}"


def _listed(clause: str) -> set[StopReason]:
    """Return the reasons that stand behind the days of a course."""
    found = _LISTED.search(clause)
    if found is None or REASON_OPEN.search(clause.replace(found["why"], " ")):
        return set()
    return {one for one, words in _REASONS.items() if form(words).search(found["why"])}
