"""Numbers as people write them in words."""

from __future__ import annotations

import re
from functools import partial
from typing import Final

#: The numbers from 0 to 20, each in its place.
SMALL_NUMBERS: Final = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    *("nineteen", "twenty"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_UNITS: Final = {word: value for value, word in enumerate(SMALL_NUMBERS)} | {
    word: 10 * value for value, word in enumerate(_TENS, 2)
}
#: What is as large as this in words is no more than a count, and stays as it is written.
_COUNTED_MOST: Final = 12
_LARGE: Final = {"hundred": 100, "thousand": 1000}
#: What a number below ten is added to.
_WITH_UNITS: Final = tuple(range(20, 100, 10))
_ONE = "|".join(sorted(_UNITS, key=len, reverse=True))
#: Parts of which each number has one that is read here: a text without any is not gone through.
_PARTS: Final = (
    *("teen", "enty", "irty", "orty", "ifty", "ixty", "ghty", "nety", "hundred", "thousand"),
    " point ",
)
_SPELLED = re.compile(
    rf"(?<![\w-])(?:(?:{_ONE})|an?(?= (?:hundred|thousand)\b))"
    rf"(?:(?:[- ]|,? and )(?:{_ONE}|hundred|thousand)(?![\w]))*"
    rf"(?P<point> point(?: (?:{'|'.join(SMALL_NUMBERS[:10])})(?!\w))+)?(?!\w)",
    re.IGNORECASE,
)


def in_digits(text: str, *, small: bool = False) -> str:
    """Return a text in which numbers above twelve, and those with a point, stand in digits.

    Smaller ones count things, and are words of many phrases ("one of them").

    Args:
        text: The text.
        small: Whether they stand in digits, too.
    """
    if small:
        return _SPELLED.sub(partial(_digits, least=-1), text)
    for part in _PARTS:
        if part in text:
            return _SPELLED.sub(_digits, text)
    return text  # as nearly every one


def is_number(word: str) -> bool:
    """Return whether a word in small letters is a number: "thirteen", "fifty-three"."""
    return all(part in _UNITS or part in _LARGE for part in word.split("-"))


def _digits(found: re.Match[str], least: int = _COUNTED_MOST) -> str:
    spelled, point = found[0].casefold(), found["point"] or ""
    whole, words = spelled.removesuffix(point.casefold()), []
    words = [each for each in re.findall(r"[a-z]+", whole) if each != "and"]
    value = _value(words)
    if value is None or (value <= least and not point):
        return found[0]
    decimals = (str(SMALL_NUMBERS.index(each)) for each in point.casefold().split()[1:])
    return f"{value}.{''.join(decimals)}" if point else str(value)


def _value(words: list[str]) -> int | None:
    """Return what words say together; None where they are several numbers side by side."""
    total, part, last = 0, 0, 0
    for word in words:
        if word in _LARGE:
            part = max(part, 1) * _LARGE[word]
            if word == "thousand":
                total, part = total + part, 0
            last = 0
            continue
        value = 1 if word in ("a", "an") else _UNITS[word]
        if last and not (last in _WITH_UNITS and 0 < value < _WITH_UNITS[0] // 2):
            return None  # two numbers, one after the other
        part, last = part + value, value
    return total + part
