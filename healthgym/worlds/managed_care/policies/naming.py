"""Which criteria a text names, in whatever words stand around them."""

from __future__ import annotations

import re
from collections.abc import Iterator

#: A criterion's id; the beginning of a diagnosis code such as C34.90 is none.
_CRITERION = re.compile(r"(?<![a-z0-9.])c0*([1-9]\d{0,2})(?![a-z0-9]|\.\d)")
#: A number that counts criteria, and not weeks, points or percents.
_COUNTED = (
    r"0*[1-9]\d{0,2}(?!\d|[./-]\d| ?%| of \d|[ -](?:hours?|days?|weeks?|months?|years?|points?|"
    r"sessions?|visits?|treatments?|doses?|units?|agents?|m[mg]|cm)\b)"
)
#: Criteria by number in words, as the handbook's own examples have it: "criterion 3", "criteria 1,
#: 2 and 6".
_NUMBERED = re.compile(
    rf"(?<![a-z])criteri(?:on|a) (?:no\. ?|number |# ?)?({_COUNTED}"
    rf"(?:(?:, ?(?:and |or )?| and | or | & ){_COUNTED})*)"
)


def criteria_named(text: str) -> frozenset[str]:
    """Return the ids of the criteria that a text names, as C3 or as criterion 3."""
    return frozenset(f"C{number}" for number in _numbers(" ".join(text.lower().split())))


def _numbers(flat: str) -> Iterator[int]:
    yield from map(int, _CRITERION.findall(flat))
    for listed in _NUMBERED.findall(flat):
        yield from map(int, re.findall(r"\d+", listed))
