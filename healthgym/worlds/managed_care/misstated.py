"""Whether a text says of a known fact what the file denies: resolved or not, and why it was ended.

Looked at is what is said outright, of one fact: that an illness is active, that a medicine was
stopped for a reason. What is denied, asked, quoted of an older page or said in passing is not: an
honest sentence that is refused does more harm than a false one that is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from healthgym.worlds.managed_care.facts import AnyFact, Diagnosis, MedicationCourse, StopReason
from healthgym.worlds.managed_care.word_forms import form, untitled

_CLAUSE = re.compile(r"[;\n]+|[.!?]+(?=\s|$)|,? (?:but|however|while|whereas) ")
#: A policy's and a criterion's ids before its words.
_NAMED = re.compile(r"^.*\bc\d+: ")
#: What leaves open, denies, or tells of another time or page.
_OTHERWISE = re.compile(
    r"\b(?:no|not|without|neither|nor|never|none|whether|if|were|unless|must|asks?|asked|requir\w+|"
    r"question|older|earlier|former|until|lists?|listed|replaced|longer|copied|either|(?:19|20)\d\d)"
    r"\b|n't\b"
)
_NOW, _OVER = "active|current|ongoing|still present", "resolved|inactive"
#: What a state is told by, behind a name and before it.
_BEHIND = r"(?: \w+){0,2}? (?:is|remains|stays|has) (?:now |still |again |since )?(?:%s)\b"
_BEFORE = r"\b(?:%s) "
#: How a text says that something was ended for a reason, and a list of courses, with days.
_STOPPED = re.compile(
    r"\b(?:stopped|ended|discontinued|given up)(?: (?:on|in|after) \S+(?: \S+)?)?,?"
    r" (?:for|because of|due to|owing to|on account of|as|because) (?P<why>[^,;]*)"
)
_LISTED = re.compile(r"\b(?:19|20)\d\d(?:-\d\d-\d\d)?\)?[,:(] ?\(?(?P<why>[^,;()]*)")
_DENIED = re.compile(
    r"\b(?:no|not|without|neither|nor|never|whether|unless|must|asks?|requir\w+)\b|n't\b"
)
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
    for clause in _CLAUSE.split(untitled(text.casefold())):
        plain = " ".join(clause.split())
        if plain and _NAMED.sub("", plain) not in asked:
            yield from _states(plain, diagnoses)
            yield from _ends(plain, courses)


def _states(clause: str, diagnoses: Iterable[Diagnosis]) -> Iterator[str]:
    """Yield an illness that is called active where it is resolved, or the other way round."""
    if _OTHERWISE.search(clause):
        return
    there: dict[str, set[bool]] = {}
    for fact in diagnoses:
        there.setdefault(fact.display.casefold().partition(",")[0], set()).add(fact.active)
    for name, states in there.items():
        if len(states) > 1 or name not in clause:
            continue
        wrong = _OVER if True in states else _NOW
        written = rf"\b{re.escape(name)}"
        found = re.search(rf"{written}{_BEHIND % wrong}|{_BEFORE % wrong}{written}", clause)
        if found:
            yield f"not so on file: {found[0]!r}"


def _ends(clause: str, courses: Iterable[MedicationCourse]) -> Iterator[str]:
    """Yield a medicine that is said to have been stopped for another reason than it was."""
    named: dict[str, set[StopReason | None]] = {}
    for fact in courses:
        if fact.medication.casefold() in clause:
            named.setdefault(fact.medication, set()).add(fact.stop_reason)
    if len(named) != 1:
        return
    ((name, reasons),) = named.items()
    found = _STOPPED.search(clause) or _LISTED.search(clause)
    if found is None or _DENIED.search(clause) or not reasons <= _REASONS.keys():
        return
    said = {one for one, words in _REASONS.items() if form(words).search(found["why"])}
    if said and not said & reasons:
        yield f"ended for another reason: {name}"
