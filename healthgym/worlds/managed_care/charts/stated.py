"""Whether a text states a fact: the other direction of writing, to check it by."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date

from healthgym.worlds.managed_care.charts.knowledge import (
    converted,
    decimals_of,
    written_number,
)
from healthgym.worlds.managed_care.charts.prose import names_of
from healthgym.worlds.managed_care.facts import (
    AnyFact,
    Diagnosis,
    Finding,
    Intolerance,
    Measurement,
    MedicationCourse,
    TherapyCourse,
)
from healthgym.worlds.managed_care.policies.units import other_units

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def dates_of(day: date) -> tuple[str, ...]:
    """Return every way in which documents write a date."""
    month = _MONTHS[day.month - 1]
    return (
        day.isoformat(),
        f"{day.month:02d}/{day.day:02d}/{day.year}",
        f"{month} {day.day}, {day.year}",
        f"{day.day:02d} {month} {day.year}",
    )


def numbers_of(fact: Measurement) -> tuple[str, ...]:
    """Return the value as documents may write it: in its own unit, and in others."""
    units = (fact.unit, *other_units(fact.code, fact.unit))
    return tuple(written_number(converted(fact, unit), decimals_of(fact, unit)) for unit in units)


def states(text: str, fact: AnyFact) -> bool:
    """Return whether a text names a fact and gives its value, dose and days.

    Args:
        text: A document.
        fact: What it is said to state.
    """
    low = text.casefold()
    if isinstance(fact, Measurement):
        named = any(name.casefold() in low for name in names_of(fact)) or _pressure(fact, low)
        return named and any(_number(low, number) for number in numbers_of(fact))
    if isinstance(fact, MedicationCourse):
        ended = fact.ended is None or _dated(text, fact.ended)
        named = _all(low, (fact.medication, fact.dose, fact.frequency))
        return named and _dated(text, fact.started) and ended
    if isinstance(fact, TherapyCourse):
        ended = fact.ended is None or _dated(text, fact.ended)
        told = fact.display.casefold() in low and _number(low, str(fact.sessions))
        return told and _dated(text, fact.started) and ended
    if isinstance(fact, Finding):
        return _all(low, (fact.display, fact.value))
    if isinstance(fact, Diagnosis):
        return _all(low, (fact.display, fact.code))
    if isinstance(fact, Intolerance):
        return _all(low, (fact.substance, fact.reaction))
    return _all(low, (fact.display,)) and _dated(text, fact.performed)


def _pressure(fact: Measurement, low: str) -> bool:
    return fact.code in ("8480-6", "8462-4") and ("bp" in low or "b/p" in low or "blood pr" in low)


def _all(low: str, words: Iterable[str]) -> bool:
    return all(word.casefold() in low for word in words)


def _dated(text: str, day: date) -> bool:
    return any(each in text for each in dates_of(day))


def _number(low: str, number: str) -> bool:
    return re.search(rf"(?<![\d.]){re.escape(number)}(?![\d]|\.\d)", low) is not None
