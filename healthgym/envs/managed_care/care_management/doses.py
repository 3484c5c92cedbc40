"""Whether a dose that is noted is the one on file, or one that the person told of."""

from __future__ import annotations

import re
from collections.abc import Iterable

from healthgym.core.cache import short_text_cache
from healthgym.worlds.managed_care.numerals import in_digits

#: An amount: a number before what it is counted in. Of "62.5/25 mcg" both numbers are amounts.
_AMOUNT = re.compile(
    r"(?P<numbers>\d[\d.,]*(?:/\d[\d.,]*)*)\s*(?:mg|mcg|µg|ug|g|units?|iu|ml|%|drops?|puffs?)\b"
)
_TIMES = re.compile(
    r"\b(?P<once>once|twice)\b(?! (?:a|per|every) (?:week|month))|"
    r"\b(?P<number>\d)\s*(?:x|times)?\s*(?:/|a|per|each)?\s*(?:daily|day)\b"
)
_OFTEN = {"once": "1", "twice": "2"}


def same_dose(dose: str, written: Iterable[str], said: str) -> bool:
    """Return whether a dose has no other amount, and is taken no oftener or rarer, than is known.

    What is noted in other words, without a number, is not compared.

    Args:
        dose: The dose as it was noted.
        written: The doses on file of the medicine.
        said: What the person said.
    """
    on_file, noted = [text.lower() for text in written], dose.lower()
    amounts = _amounts(noted).difference(*map(_amounts, on_file))
    if amounts and not amounts <= _amounts(said.lower()):
        return False
    right = frozenset(each for text in on_file for each in _times(text))
    times = _times(noted) - right
    return not right or not times or times <= _times(said.lower())


@short_text_cache(128, 40_000)  # of one conversation each medicine is asked
def _amounts(text: str) -> frozenset[str]:
    found = (each["numbers"].split("/") for each in _AMOUNT.finditer(in_digits(text, small=True)))
    return frozenset(f"{float(one):g}" for row in found for one in map(_plain, row) if one)


def _plain(number: str) -> str:
    """Return a number without the commas of thousands; blank if it is none."""
    bare = number.replace(",", "").rstrip(".")
    return bare if bare.count(".") <= 1 and len(bare) < 12 else ""


@short_text_cache(128, 40_000)
def _times(text: str) -> frozenset[str]:
    """Return how often a day something is taken, as texts say it."""
    found = _TIMES.finditer(in_digits(text, small=True))
    return frozenset(_OFTEN.get(each["once"] or "", each["number"] or "") for each in found)
