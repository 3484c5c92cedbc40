"""Whether a text says of a known fact what the file denies: resolved or not, and why it was ended.

Looked at are clauses that name one fact: whose name stands nowhere, or stands beside another, is
told of elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from healthgym.worlds.managed_care.facts import AnyFact, Diagnosis, MedicationCourse, StopReason
from healthgym.worlds.managed_care.word_forms import form

_CLAUSE = re.compile(r"[;\n]+|[.!?]+(?=\s|$)|,? (?:but|however|while|whereas) ")
#: A policy's and a criterion's ids before its words.
_NAMED = re.compile(r"^.*\bc\d+: ")
_NOW, _OVER = "active|current|ongoing|still present", "resolved|inactive|over"
#: What tells that something was ended, and what asks for it: a policy's own words.
_ENDED = re.compile(r"\b(?:stopped|ended|discontinued|given up)\b|\b(?:19|20)\d\d\b")
_ASKED = re.compile(r"\b(?:unless|must|requir\w+|asks?|needed|either|reasons? for stopping)\b")
#: What a state is told by, behind a name and before it.
_BEHIND = r"(?: \w+){0,2}? (?:is|are|was|remains|stays) (?:now |still |again )?(?:%s)\b"
_BEFORE = r"\b(?:%s) "
#: Words for a reason to stop, by the name of their expression; courses that were completed are
#: told of in many words.
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
    for clause in _CLAUSE.split(" ".join(text.casefold().split(" "))):
        if _NAMED.sub("", " ".join(clause.split())) in asked:
            continue
        yield from _states(clause, diagnoses)
        yield from _ends(clause, courses)


def _states(clause: str, diagnoses: Iterable[Diagnosis]) -> Iterator[str]:
    there: dict[str, set[bool]] = {}
    for fact in diagnoses:
        there.setdefault(fact.display.casefold().partition(",")[0], set()).add(fact.active)
    for name, states in there.items():
        if len(states) > 1 or name not in clause:
            continue
        wrong = _OVER if True in states else _NOW
        written = re.escape(name)
        found = re.search(f"{written}{_BEHIND % wrong}|{_BEFORE % wrong}{written}", clause)
        if found and not form("not_there").search(clause):
            yield f"not so on file: {found[0]!r}"


def _ends(clause: str, courses: Iterable[MedicationCourse]) -> Iterator[str]:
    named: dict[str, set[StopReason | None]] = {}
    for fact in courses:
        if fact.medication.casefold() in clause:
            named.setdefault(fact.medication, set()).add(fact.stop_reason)
    if len(named) != 1 or _ASKED.search(clause) or not _ENDED.search(clause):
        return
    ((name, reasons),) = named.items()
    said = {reason for reason, words in _REASONS.items() if form(words).search(clause)}
    if said and reasons <= _REASONS.keys() and not said & reasons:
        yield f"ended for another reason: {name}"
