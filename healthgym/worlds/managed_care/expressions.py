"""Expressions of many alternatives, looked for in texts that mostly have none of them.

An expression tries each of its alternatives at each place of a text. Most of them have words that
cannot be left out, and whether a word stands in a text is known far sooner: an alternative is tried
only on texts that have its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from sys import maxsize
from typing import Any

try:
    # Private, and alone in knowing what an expression consists of.
    from re import _parser  # type: ignore[attr-defined]
except ImportError:  # whatever a later Python has in its place
    _parser = None

#: Texts of which one has to be there.
Needed = tuple[str, ...]

_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
_LEAST_LETTERS = 3
#: Kinds of parts that take no letter.
_PLACES = ("AT", "ASSERT", "ASSERT_NOT")


class Expression:
    """Several alternatives, as one.

    Args:
        alternatives: Regular expressions; of those that begin at one place the first is found.
    """

    def __init__(self, alternatives: Iterable[str]) -> None:
        self._alternatives = tuple(map(_Alternative, alternatives))
        by_rarest: dict[Needed, list[_Alternative]] = {}
        for each in self._alternatives:
            by_rarest.setdefault(each.rarest, []).append(each)
        self._by_rarest = tuple(by_rarest.items())

    def search(self, text: str, start: int = 0, end: int = maxsize) -> re.Match[str] | None:
        """Return where it stands first in a text, or in a part of it; None if nowhere."""
        for rarest, alternatives in self._by_rarest:
            for words in rarest:
                if words in text:
                    break
            else:  # as of nearly all, in nearly every text
                continue
            for each in alternatives:
                if each.stands(text, start, end):
                    return self._whole.search(text, start, end)
        return None

    def match(self, text: str, start: int = 0) -> re.Match[str] | None:
        """Return how it stands at a place of a text; None if it does not."""
        return self._whole.match(text, start)  # at one place that is sooner said than its words

    def finditer(self, text: str, start: int = 0) -> Iterator[re.Match[str]]:
        """Return an iterator over where it stands in a text, or from a place of it on."""
        return self._whole.finditer(text, start) if self.search(text, start) else iter(())

    def sub(self, words: str, text: str) -> str:
        """Return a text with words in the place of whatever it stands in."""
        return self._whole.sub(words, text) if self.search(text) else text

    @cached_property
    def _whole(self) -> re.Pattern[str]:
        """All of them: which is found first, and its groups, are those of one expression."""
        return re.compile("|".join(each.expression for each in self._alternatives))


class _Alternative:
    """One of the alternatives, and what it cannot do without; what is rarest is asked for first."""

    def __init__(self, expression: str) -> None:
        self.expression, needed = expression, needed_by(expression)
        self.rarest = needed[0] if needed else ("",)
        self._needed = needed[1:]

    def stands(self, text: str, start: int, end: int) -> bool:
        """Return whether it stands in a part of a text that has what is rarest of it."""
        for needed in self._needed:
            for words in needed:
                if words in text:
                    break
            else:
                return False
        return self._pattern.search(text, start, end) is not None

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(self.expression)


def needed_by(expression: str) -> tuple[Needed, ...]:
    """Return what is in every text in which an expression stands: one of each of these.

    What of it is not known here is taken to need nothing; then it is tried everywhere.
    """
    if _parser is None:
        return ()
    parsed = _parser.parse(expression)
    if parsed.state.flags & re.IGNORECASE:
        return ()
    return tuple(sorted(_needed(parsed), key=_rarity, reverse=True))


def _needed(parsed: Iterable[tuple[object, Any]], letters: str = "") -> Iterator[Needed]:
    """Yield the same of what an expression was parsed to, behind some letters."""
    for part, what in parsed:
        kind = str(part)
        if kind == "LITERAL":
            letters += chr(what)
        elif kind == "BRANCH":
            ways = [max(_needed(way, letters), key=_rarity, default=()) for way in what[1]]
            if all(ways):
                yield _shortest({words for way in ways for words in way})
            letters = ""
        elif kind not in _PLACES:
            yield from _told(letters)
            letters = ""
            if kind == "SUBPATTERN" and not what[1] & re.IGNORECASE:
                yield from _needed(what[3])
            elif kind in _REPEATS and what[0]:
                yield from _needed([*what[2]] * what[0])
    yield from _told(letters)


def _shortest(texts: Iterable[str]) -> Needed:
    """Return some texts without those that have another one in them, in the order of letters."""
    found: list[str] = []
    for text in sorted(texts, key=lambda text: (len(text), text)):
        if not any(each in text for each in found):
            found.append(text)
    return tuple(sorted(found))


def _told(letters: str) -> Iterator[Needed]:
    """Yield letters, unless it is one that every text has."""
    if len(letters) > 1 or (letters and not letters.isalnum() and not letters.isspace()):
        yield (letters,)


def _rarity(needed: Needed) -> tuple[bool, int, int]:
    """Return how soon one of some texts is seen not to be there: few are, that are no syllables."""
    shortest = min(map(len, needed), default=0)
    return shortest >= _LEAST_LETTERS, -len(needed), shortest
