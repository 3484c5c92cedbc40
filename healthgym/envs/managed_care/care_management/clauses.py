"""Clauses by how their field speaks: the words, what is known, what is supposed, and what is again.

A field tells, aims, plans or supposes; a clause of it may suppose besides, or repeat.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from healthgym.envs.managed_care.care_management.granted_words import REACH, form, opens, own
from healthgym.worlds.managed_care.word_forms import CLAUSE

_WORD = re.compile(r"\b[a-zé][a-zé'-]{0,39}\b|\d[\w.-]*")
#: What ends what is spoken of as known, besides words.
_BREAK = re.compile(r"[^\s'-]")
#: How far from a word what is said of it is looked for, in characters, as in ``doubts``.
NEAR = 240


class Speaks(StrEnum):
    """How a field speaks.

    Attributes:
        TELLS: It says what is.
        AIMS: It says what is to be.
        PLANS: It says what is to be done or asked.
        SUPPOSES: It says what may happen.
    """

    TELLS = "tells"
    AIMS = "aims"
    PLANS = "plans"
    SUPPOSES = "supposes"


class Word(NamedTuple):
    """A word of a clause.

    Attributes:
        name: The word, in small letters and without an owner's ending.
        own: Its kinds.
        definite: Whether it is spoken of as known.
        start: Where it begins.
        end: Where it ends.
    """

    name: str
    own: frozenset[str]
    definite: bool
    start: int
    end: int


@dataclass(frozen=True)
class Clause:
    """A clause of a sentence.

    Attributes:
        text: The clause, in small letters.
        lead: What is near before it.
        sentence: Its sentence.
        speaks: How that speaks.
    """

    text: str
    lead: str
    sentence: str
    speaks: Speaks

    @classmethod
    def all_of(cls, sentence: str, speaks: Speaks) -> Iterator[Clause]:
        """Yield the clauses of a sentence."""
        place = 0
        for text in CLAUSE.split(sentence):
            place = sentence.find(text, place)
            yield cls(text, sentence[max(place - NEAR, 0) : place], sentence, speaks)

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """Its words."""
        return tuple(words_of(self.text))

    @cached_property
    def repeated(self) -> bool:
        """Whether by it something happens that happened before; who asks again repeats that."""
        again = form("repeated").search(self.text)
        return again is not None and not form("rescreens").match(self.sentence)

    @cached_property
    def supposed(self) -> bool:
        """Whether what it tells is only possible, or asked."""
        if self.repeated:
            return False
        conditional = form("conditional").search(self.sentence) is not None
        return self.speaks is Speaks.SUPPOSES or conditional

    @cached_property
    def of_anybody(self) -> bool:
        """Whether it is for the case that there is somebody."""
        return form("if_any").search(self.sentence) is not None

    def before(self, word: Word) -> str:
        """Return what is near before a word."""
        return self.text[max(word.start - NEAR, 0) : word.start]

    def behind(self, word: Word) -> str:
        """Return what is near behind a word."""
        return self.text[word.end : word.end + NEAR]

    def kinds_at(self, place: int) -> frozenset[str]:
        """Return the kinds of the word at a place; none behind the last."""
        return self.words[place].own if place < len(self.words) else frozenset()


def words_of(clause: str) -> Iterator[Word]:
    """Yield the words of a clause."""
    left, ended = 0, 0
    for hit in _WORD.finditer(clause):
        name, start, end = hit[0], hit.start(), hit.end()
        owner = name.endswith("'s") or clause.startswith("'", end)
        name = name.removesuffix("'s")
        said = own(name)
        if _BREAK.search(clause, ended, start) or "ends" in said:
            left = 0
        yield Word(name, said, left > 0, start, end)
        left = REACH if owner or opens(name) else max(left - 1, 0)
        ended = end
