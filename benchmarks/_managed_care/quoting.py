"""A reader who looks questions up in the handbook: by its tools alone, and without a model."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from healthgym.envs.managed_care.tools.handbook import HandbookToolset
from healthgym.worlds.managed_care.handbook.library import Library
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.handbook.wording import PLACEHOLDER, wording
from healthgym.worlds.managed_care.handbook.words import words_of

#: Pages that are opened for a question.
PAGES = 5
#: What a word of the question is worth in the heading above a passage, against one in it.
_HEADING = 0.5
#: What each place further down the hits takes from the passages of a page.
_RANK = 0.1
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_ITEM = re.compile(r"(?m)^(?=(?:[-*>|]|\d+\.) )|\n{2,}")


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and where its answer stands.

    Attributes:
        question: As somebody would ask it.
        page: Path of the page.
        answer: Words of that page, with the places for numbers.
    """

    question: str
    page: str
    answer: str

    def filled(self, rules: OperatingRules) -> str:
        """Return the answer with the numbers of some rules."""
        return flat(PLACEHOLDER.sub(lambda match: wording(rules, match[1]), self.answer))


@dataclass(frozen=True, slots=True)
class Found:
    """What came of looking a question up.

    Attributes:
        pages: Paths of the hits, the best first.
        passages: Passages of them, the best first.
    """

    pages: tuple[str, ...]
    passages: tuple[str, ...]


def questions(path: Path) -> tuple[Question, ...]:
    """Return the questions of a file, one a line."""
    lines = path.read_text("utf-8").splitlines()
    return tuple(Question(**json.loads(line)) for line in lines)


def flat(text: str) -> str:
    """Return a text as one line in small letters, without emphasis and targets of references."""
    plain = _LINK.sub(r"\1", text).replace("*", "").replace("`", "")
    return " ".join(plain.split()).lower()


def reader_of(library: Library) -> HandbookToolset:
    """Return the tools over a library."""
    return HandbookToolset(cast(Any, SimpleNamespace(handbook=library)))


def look_up(tools: HandbookToolset, question: str) -> Found:
    """Search for a question, open the best pages, and rank their passages.

    Args:
        tools: The handbook's tools.
        question: What is asked.
    """
    hits = tools.search(question).splitlines()[::2]
    pages = tuple(line.split(" | ")[0] for line in hits)
    passages = [
        (rank, heading, text)
        for rank, path in enumerate(pages[:PAGES])
        for heading, text in _passages(tools.read(path))
    ]
    best = _ranked(question, passages)
    return Found(pages, tuple(best))


def _passages(page: str) -> Iterator[tuple[str, str]]:
    """Yield the paragraphs, entries and rows of a page, with the heading that they stand under."""
    _, _, text = page.partition("\n\n")
    heading = ""
    for block in _ITEM.split(text):
        lines = [line for line in block.splitlines() if line.strip()]
        while lines and lines[0].startswith("#"):
            heading = lines.pop(0).lstrip("# ")
        if lines and set("".join(lines)) - set("|-: "):
            yield heading, " ".join(lines)


def _ranked(question: str, passages: Sequence[tuple[int, str, str]]) -> list[str]:
    counted = [words_of(f"{heading} {text}") for _, heading, text in passages]
    spread = Counter(word for words in counted for word in words)
    asked = list(words_of(question))
    rare = {word: math.log(1 + len(passages) / (1 + spread[word])) for word in asked}
    scored = []
    for place, (rank, heading, text) in enumerate(passages):
        inside, above = words_of(text), words_of(heading)
        score = sum(
            rare[word] * (1.0 if word in inside else _HEADING)
            for word in asked
            if word in inside or word in above
        )
        scored.append((-score * (1 - _RANK * rank), place, text))
    return [flat(text) for _, _, text in sorted(scored)]
