"""Numbers that a text works out: by how much a value changed, and how long something took.

"A1c 7.9 % on 2026-02-10, up 2.1 points from 5.8 %" tells three numbers, two of which are on file.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import date
from itertools import combinations

from healthgym.worlds.managed_care.stated import days_in, shortest, stated

#: By how much a value is said to have changed.
_CHANGE = re.compile(
    r"(?:(?<=[\s(])[+\u2212-] ?(?=\d)|\u0394 ?|"
    r"\b(?:up|down|by|rose|risen|fell|fallen|dropped|lost|gained|change|difference)\b"
    r"(?: (?:by|of|about|from|some|almost|nearly|over|roughly))? )(\d+(?:\.\d+)?)|"
    r"(\d+(?:\.\d+)?) ?[\w%/]{0,8} (?:of \w+ )?"
    r"(?:points?|more|less|higher|lower|better|worse|lost|gained)\b"
)
#: How far off such a number may be, as a decimal one and as a whole one that is told roughly; and
#: from where on chance finds none of these among several values.
_ROUNDED, _ROUGHLY, _LARGE = 0.051, 0.06, 50
_SPAN = re.compile(
    r"\b(\d+(?:\.\d+)?)(?:,? (?:and|or|to) \d+)?[ -]?"
    r"(days?|d|weeks?|wks?|months?|mos?|years?|yrs?)\b"
)
#: How long a unit is, in days.
_DAYS_OF = {"d": 1.0, "w": 7.0, "m": 30.44, "y": 365.25}
_SENTENCE = re.compile(r"(?:[^.;!?\n]|\.(?=\d))+")
#: A word by which a measurement goes: "a1c", "ldl", "phq-9".
_MEASURE = re.compile(r"[a-z][a-z0-9]{2,}(?:-\d)?")


def reckoned(
    text: str, measured: Collection[tuple[str, Sequence[float]]], today: date
) -> frozenset[str]:
    """Return the numbers that a text works out rightly, in their shortest form.

    Args:
        text: The text.
        measured: What was measured, and all its values on file.
        today: The last day of the work.
    """
    small = text.lower()
    days = {*_days_of(small, today), today} if _SPAN.search(small) else frozenset()
    found: list[str] = []
    before: set[date] = set()
    for sentence in _SENTENCE.findall(small):
        # A day may have been told in the clause before: "eGFR 32 on 01/07; no labs since, 71 d".
        own = set(_days_of(sentence, today)) if days else set()
        found += (*_changes(sentence, measured), *_spans(sentence, own | before, days))
        before = own or before
    return frozenset(map(shortest, found))


def _days_of(text: str, today: date) -> Iterator[date]:
    """Yield the days of a text, one without a year as the last such day up to today."""
    yield from days_in(text)
    for _, month, day in stated(text).loose:
        for year in (today.year, today.year - 1):
            try:
                told = date(year, month, day)
            except ValueError:
                continue
            if told <= today:
                yield told
                break


def _changes(sentence: str, measured: Collection[tuple[str, Sequence[float]]]) -> Iterator[str]:
    """Yield the numbers by which something changed: two of its values are told, or it is named."""
    told = {first or last for first, last in _CHANGE.findall(sentence)}
    if not told:
        return
    numbers = {float(number) for number in stated(sentence).numbers}
    words = frozenset(_MEASURE.findall(sentence))
    for name, values in measured:
        named = not words.isdisjoint(_MEASURE.findall(name.lower()))
        for first, last in combinations(values, 2):
            both = first in numbers and last in numbers
            if both or named or first in numbers or last in numbers:
                yield from (each for each in told if _is_change(each, first, last, exact=not both))


def _is_change(number: str, first: float, last: float, *, exact: bool) -> bool:
    """Return whether a number is by how much two values differ.

    Args:
        number: The number.
        first: A value.
        last: Another.
        exact: Whether a small whole number is none: among several values chance would find one.
    """
    change = abs(first - last)
    if "." in number:
        return abs(float(number) - change) < _ROUNDED
    near = abs(float(number) - change) <= max(_ROUGHLY * change, 0.5)
    return near and (not exact or float(number) >= _LARGE)


def _spans(sentence: str, near: Collection[date], days: Collection[date]) -> Iterator[str]:
    """Yield the numbers of days, weeks or months between a day told near by and one of some."""
    spans = _SPAN.findall(sentence)
    apart = [abs((first - last).days) for first in near for last in days] if spans else []
    for number, unit in spans:
        length = _DAYS_OF[unit[0]]
        if any(abs(each / length - float(number)) < (1 if length > 1 else 0.5) for each in apart):
            yield number
