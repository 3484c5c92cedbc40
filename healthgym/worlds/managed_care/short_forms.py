"""Abbreviations, and what they stand for: an office writes BMI where a page has body mass index.

Most are the initials of words on file. Those that are not, those that every office knows, and
everyday names of what a page calls otherwise (a bedsore, the lung) are in
``data/short_forms.json``, each with beginnings or parts of words of which one has to be on file; a
blank one always is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

#: A word with two capitals, which is no word: BMI, IgG, HbA1c, GAD-7, SpO2.
_SHORT = re.compile(r"(?<![\w-])[a-z]?[A-Z](?:[a-z]{0,2}[A-Z0-9]){1,5}[a-z]{0,2}(?![\w-])")
#: What each has, which is sooner found.
_CAPITALS = re.compile(r"[A-Z][a-z]{0,2}[A-Z0-9]")
#: Letters from which on initials are no chance; shorter ones are in the table.
_LEAST = 3
_NO_LETTER = re.compile(r"[^a-z]")
_JOINS = r"(?:(?:of|the|and|to|in|with|for)[ -])?"


def short_forms(sentence: str) -> Iterator[re.Match[str]]:
    """Yield the abbreviations of a sentence, written as they are; C1 is short for nothing."""
    for found in _SHORT.finditer(sentence) if _CAPITALS.search(sentence) else ():
        name = found[0].casefold()
        if name in _known() or len(_letters(name)) >= _LEAST:
            yield found


def spelled_out(short: str, text: str) -> bool:
    """Return whether a text has what an abbreviation stands for.

    Args:
        short: The abbreviation, such as ``OSA``.
        text: The text, in small letters.
    """
    name = short.casefold()
    if name in _known():
        return any(each in text for each in _known()[name])
    letters = _letters(name)
    if len(letters) < _LEAST:
        return False
    words = rf"\w*[ -]+{_JOINS}".join(letters)
    return re.search(rf"(?<!\w){words}", text) is not None


def known_short(name: str) -> bool:
    """Return whether a word, in small letters, is an abbreviation that every office knows."""
    return name in _known()


def _letters(name: str) -> str:
    return _NO_LETTER.sub("", name)


@cache
def _known() -> dict[str, tuple[str, ...]]:
    """Return what abbreviations stand for; an empty text is in every text."""
    folder = files("healthgym.worlds.managed_care") / "data"
    rows = dict(json.loads((folder / "short_forms.json").read_text("utf-8")))
    return {name: tuple(longer) for name, longer in rows.items()}
