"""What agents write in the languages of tools, bent: SQL, YAML, Python, JSON, search and prose."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from importlib import resources
from types import MappingProxyType

import numpy as np

from healthgym.core.borders import JsonObject
from healthgym.core.tool import ToolSpec
from healthgym.testing.odd_values import odd_fit, pick

_WORD = re.compile(r"[^\s\"',;()\[\]{}|]{2,60}")
#: Words remembered of what was read, the latest ones.
_MOST_WORDS = 400
_LONGEST = 20_000
_EXTREMES = (
    "0", "-1", "1e400", "9" * 40, "0.000000001", "10000-01-01", "\u0663", "\u00b2", "NaN", "",
)  # fmt: skip
_PIECES = ("\x00", "\n", "\u2028", "\u202e", "\U0001f600", "\u0301", '"', "'", "\\", "{", "(", "%")
#: What is repeated to try a pattern's patience, and how often: half the time few repetitions, for
#: patterns that take twice as long for each, else many, for those that go through all from each.
_DRAWN_OUT = (
    "1",
    "a",
    "A",
    " ",
    "-",
    ".",
    ",",
    "\n",
    "1,",
    "a ",
    "1 ",
    "a, ",
    "(",
    "[",
    "| ",
    "no ",
)
_FEW, _MANY = 40, 20_000
#: Share of texts that are drawn out so.
_DRAWING_OUT = 0.01
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


class Language(StrEnum):
    """What the text of an argument is read as."""

    SQL = "sql"
    YAML = "yaml"
    PYTHON = "python"
    JSON = "json"
    SEARCH = "search"
    PROSE = "prose"
    PATH = "path"


#: What says, in the name and the description of an argument or its tool, what it is read as.
_SIGNS: Mapping[Language, re.Pattern[str]] = MappingProxyType(
    {
        Language.SQL: re.compile(r"\bsql|select\b|\bquery\b|\bwhere\b|condition on", re.I),
        Language.YAML: re.compile(r"\byaml|config|contents|text to replace|in its place", re.I),
        Language.PYTHON: re.compile(r"\bprogram\b|python|expression|formula", re.I),
        Language.JSON: re.compile(r"\bjson\b|resource|payload|\bdata\b|url", re.I),
        Language.SEARCH: re.compile(r"fhir|search|date|since|until|token|\bcode\b|category", re.I),
        Language.PATH: re.compile(r"\bpath|folder|\bfile|shard|table", re.I),
    }
)


@cache
def phrases() -> Mapping[Language, tuple[str, ...]]:
    """Return phrases of each language; ``{w}`` stands for a word of the episode."""
    text = resources.files("healthgym.testing").joinpath("languages.json").read_text("ascii")
    return MappingProxyType({Language(name): tuple(ps) for name, ps in json.loads(text).items()})


def languages_of(spec: ToolSpec, name: str, schema: JsonObject) -> tuple[Language, ...]:
    """Return what the text of a tool's argument may be read as; prose if nothing says."""
    said = f"{name} {schema.get('description', '')}"
    found = tuple(language for language, sign in _SIGNS.items() if sign.search(said))
    if not found:
        about = f"{spec.name} {spec.description}"
        found = tuple(language for language, sign in _SIGNS.items() if sign.search(about))
    return (*found, Language.PROSE)


class Speaker:
    """Writes texts for a tool's arguments, with words of the episode in them.

    Args:
        rng: Source of the variety.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._words: list[str] = ["a"]

    def hear(self, text: str) -> None:
        """Take in the words of a text: only who names what there is gets past the first check."""
        self._words = (self._words + _WORD.findall(text[:_LONGEST]))[-_MOST_WORDS:]

    def write(self, spec: ToolSpec, name: str, schema: JsonObject) -> str:
        """Return a text for an argument: a word, a phrase of its language, or something odd."""
        rng = self._rng
        if rng.random() < _DRAWING_OUT:
            return self.drawn_out()
        if "format" in schema or rng.random() < 0.15:
            return str(odd_fit(rng, schema))
        if rng.random() < 0.35:
            return self.word()
        likely = languages_of(spec, name, schema)
        language = pick(rng, likely) if rng.random() < 0.85 else pick(rng, tuple(Language))
        text = self.phrase(language)
        return self.bent(text) if rng.random() < 0.25 else text

    def phrase(self, language: Language) -> str:
        """Return a phrase of a language."""
        text: str = pick(self._rng, phrases()[language])
        while "{w}" in text:
            text = text.replace("{w}", self.word().replace("{w}", ""), 1)
        return text

    def word(self) -> str:
        """Return a word of the episode."""
        text: str = pick(self._rng, self._words)
        return text

    def drawn_out(self) -> str:
        """Return a text that repeats a piece of itself, and ends otherwise."""
        rng = self._rng
        piece = pick(rng, _DRAWN_OUT) if rng.random() < 0.6 else f"{self.word()} "
        times = _FEW if rng.random() < 0.5 else max(_MANY // len(piece), 1)
        before = self.word() if rng.random() < 0.5 else ""
        return f"{before}{piece * times}{pick(rng, _PIECES)}"

    def bent(self, text: str) -> str:
        """Return a text with something cut off, doubled, put in or out of bounds."""
        rng = self._rng
        place = int(rng.integers(len(text) + 1))
        match int(rng.integers(6)):
            case 0:
                return text[:place]
            case 1:
                return f"{text[:place]}{pick(rng, _PIECES)}{text[place:]}"
            case 2:
                return (text + "\n" + text)[:_LONGEST]
            case 3:
                return text[:place] + self.word() + text[place:]
            case 4:
                return text[::-1] if rng.random() < 0.2 else text.swapcase()
        numbers: Sequence[re.Match[str]] = list(_NUMBER.finditer(text))
        if not numbers:
            return f"{text}{pick(rng, _EXTREMES)}"
        found = pick(rng, numbers)
        return f"{text[: found.start()]}{pick(rng, _EXTREMES)}{text[found.end() :]}"
