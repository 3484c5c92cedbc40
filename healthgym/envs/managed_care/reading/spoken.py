"""Whether somebody states a fact in speech, in whatever words: its name, its value and its days."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from healthgym.worlds.managed_care.charts.prose import names_of
from healthgym.worlds.managed_care.charts.stated import numbers_of
from healthgym.worlds.managed_care.facts import (
    AnyFact,
    Diagnosis,
    Finding,
    Intolerance,
    Measurement,
    MedicationCourse,
    ProcedureDone,
    TherapyCourse,
)
from healthgym.worlds.managed_care.stated import days_in

_ENDS = re.compile(r"(?<=[.!?])\s+|\n+")
#: What takes a sentence back: neither a denial nor a question states a fact.
_DENIES = re.compile(
    r"\b(?:not|never|isn't|wasn't|aren't|weren't|didn't|doesn't|cannot|can't|without|deny|denies|"
    r"whether|if|suppose|supposing|would|should|might)\b"
)
#: Stands for the fact's own words, of which nothing else takes anything.
_FACT = " \0 "
_NOT = r"(?:not|never|isn't|wasn't|aren't|weren't|cannot|can't|couldn't|without)"
#: What denies nothing: why a course ended, how a scan is made, that there is no paper of something,
#: and how one begins to say it.
_HARMLESS = re.compile(
    r"\bnot (?:well )?tolerated\b|\bnot effective\b|"
    r"\b(?:did not|didn't) (?:help|work|suffice|respond|improve|tolerate)\b|"
    r"\b(?:without|not much) (?:\w+ )?(?:relief|benefit|effect|improvement|success|response)\b|"
    r"\b(?:without|w/o)(?: and with)? (?:iv )?contrast\b|\bnot only\b|"
    rf"\b{_NOT}\b[^.,;:\d\0]*?\b(?:records?|recorded|charts?|charted|file|filed|paper|papers|"
    r"paperwork|documents?|documented|documentation|packet|attached|submitted|sent|written)\b|"
    r"\b(?:i|we) (?:would|should)(?: also)?(?: like to)? (?:add|say|tell|note|mention|stress)\b|"
    r"\byou should (?:also )?(?:know|note)\b|\bif i may\b"
)


def spoken(text: str, fact: AnyFact) -> bool:
    """Return whether a text states a fact: names it with its value, and gives each of its days.

    A question states nothing, nor does a sentence that denies or supposes.

    Args:
        text: What was said.
        fact: A fact.
    """
    # Few facts are named at all; whether a sentence stands, and its days, take longer to see.
    parts = [(part, _named(part.casefold(), fact)) for part in _ENDS.split(text)]
    if not any(named for _, named in parts):
        return False
    kept = [(part, named) for part, named in parts if _stands(part, fact)]
    days = days_in("\n".join(part for part, _ in kept))
    return any(named for _, named in kept) and set(_days(fact)) <= days


def affirmed(text: str) -> str:
    """Return what of a text states anything: no question, and nothing denied or supposed."""
    kept = (
        part
        for part in _ENDS.split(text)
        if not part.rstrip().endswith("?")
        and _DENIES.search(_HARMLESS.sub(" ", part.casefold())) is None
    )
    return "\n".join(kept)


def _stands(sentence: str, fact: AnyFact) -> bool:
    """Return whether a sentence states anything; the words of the fact itself may deny."""
    if sentence.rstrip().endswith("?"):
        return False
    low = sentence.casefold()
    own = sorted((word.casefold() for word in _words(fact)), key=len, reverse=True)
    for word in own:
        low = low.replace(word, _FACT)
    return _DENIES.search(_HARMLESS.sub(" ", low)) is None


def _named(low: str, fact: AnyFact) -> bool:
    match fact:
        case Measurement():
            named = any(_whole(name.casefold(), low) for name in names_of(fact))
            return named and any(_number(number, low) for number in numbers_of(fact))
        case MedicationCourse():
            return _whole(fact.medication.casefold(), low)
        case TherapyCourse():
            return _whole(fact.display.casefold(), low) and _number(str(fact.sessions), low)
        case Finding():
            return _whole(fact.display.casefold(), low) and _whole(fact.value.casefold(), low)
        case Diagnosis() | ProcedureDone():
            return _whole(fact.display.casefold(), low) or _whole(fact.code.casefold(), low)
        case Intolerance():
            return _whole(fact.substance.casefold(), low)


def _words(fact: AnyFact) -> Iterator[str]:
    match fact:
        case Finding():
            yield from (fact.display, fact.value)
        case MedicationCourse():
            yield fact.medication
        case Intolerance():
            yield from filter(None, (fact.substance, fact.reaction))
        case _:
            yield fact.display


def _days(fact: AnyFact) -> Iterator[date]:
    match fact:
        case Measurement():
            yield fact.taken
        case MedicationCourse() | TherapyCourse():
            yield fact.started
            if fact.ended is not None:
                yield fact.ended
        case Finding():
            yield fact.found
        case Diagnosis():
            yield fact.onset
        case ProcedureDone():
            yield fact.performed
        case Intolerance():
            yield fact.recorded


def _whole(name: str, low: str) -> bool:
    return name in low and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", low) is not None


def _number(number: str, low: str) -> bool:
    return re.search(rf"(?<![\d.]){re.escape(number)}(?!\d|\.\d)", low) is not None
