"""The wording of notes: phrases with alternatives, read from text files, filled in by chance.

A phrase is a line such as ``[Takes|On] {drug} {dose}[| as before].``: brackets hold alternatives,
an empty one included, and may be nested; braces are filled by who asks. Phrases lie under a
heading ``## key``, and one of a heading's phrases is taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import shake_128
from importlib.resources import files
from struct import Struct
from typing import ClassVar

import numpy as np

from healthgym.errors import DamagedDataError

#: Numbers drawn at once: a scalar draw costs more than a phrase.
_BLOCK = 1024
#: The same for a single document.
_DOCUMENT = 64
_NUMBERS = Struct(f"<{_DOCUMENT}I")


class Chooser:
    """Choices from one generator, drawn in blocks because there are many and each is small.

    Args:
        rng: Where chance comes from.
    """

    __slots__ = ("_left", "_rng")

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._left: Iterator[int] = iter(())

    def below(self, bound: int) -> int:
        """Return a number from 0 to ``bound - 1``; the bound is at most a few thousand."""
        for number in self._left:
            return number % bound
        self._left = iter(self._drawn())
        return next(self._left) % bound

    def number(self) -> int:
        """Return a number whose remainder is what :meth:`below` would return, for any bound."""
        return self.below(2**31)

    def _drawn(self) -> Sequence[int]:
        """Return the next numbers."""
        numbers: list[int] = self._rng.integers(0, 2**31, size=_BLOCK).tolist()
        return numbers

    def chance(self, percent: int) -> bool:
        """Return true in so many of 100 cases."""
        return self.below(100) < percent

    def shuffle(self, items: list[str]) -> None:
        """Bring items into another order, in place."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]

    def seed(self) -> int:
        """Return what another chooser can be made from."""
        return self.below(2**31) << 31 | self.below(2**31)


class Ahead(Chooser):
    """Choices of which all the numbers were drawn before the first is made.

    Args:
        numbers: As of :meth:`drawn`.
    """

    __slots__ = ()

    #: How many choices can be made, at least.
    MOST: ClassVar[int] = _BLOCK

    def __init__(self, numbers: Iterable[int]) -> None:
        self._left = iter(numbers)

    @staticmethod
    def drawn(rng: np.random.Generator) -> np.ndarray:
        """Return the numbers, and leave the stream as a :class:`Chooser` would of as many."""
        return rng.integers(0, 2**31, size=_BLOCK).astype(np.uint32)

    def _drawn(self) -> Sequence[int]:
        raise AssertionError(f"More than {_BLOCK} choices were made where no more are expected.")


class Undecided(Chooser):
    """No choice: always the first."""

    __slots__ = ()

    def __init__(self) -> None:
        pass

    def below(self, bound: int) -> int:
        """Return 0."""
        return 0

    def chance(self, percent: int) -> bool:
        """Return false."""
        return False


class _Seeded(Chooser):
    """Choices that follow from a seed, for as much as a document takes.

    A generator would take longer to set up than a document to choose its words.

    Args:
        seed: As of :meth:`Chooser.seed`.
    """

    __slots__ = ("_blocks", "_seed")

    def __init__(self, seed: int) -> None:
        self._seed, self._blocks = seed, 0
        self._left = iter(())

    def _drawn(self) -> Sequence[int]:
        self._blocks += 1
        data = shake_128(f"{self._seed}/{self._blocks}".encode()).digest(4 * _DOCUMENT)
        return _NUMBERS.unpack(data)


def seeded(seed: int) -> Chooser:
    """Return a chooser of its own, from what :meth:`Chooser.seed` returned."""
    return _Seeded(seed)


@dataclass(frozen=True, slots=True)
class Slot:
    """A place to fill in."""

    name: str


@dataclass(frozen=True, slots=True)
class Choice:
    """A place where one of several wordings stands.

    Attributes:
        options: The wordings.
        plain: The same as texts, where none has a slot or a choice in it; else nothing.
    """

    options: tuple[Phrase, ...]
    plain: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        simple = all(isinstance(part, str) for each in self.options for part in each)
        texts = tuple("".join(map(str, each)) for each in self.options) if simple else ()
        object.__setattr__(self, "plain", texts)


Phrase = tuple[str | Slot | Choice, ...]


def parse(text: str) -> Phrase:
    """Read a phrase.

    Raises:
        ValueError: If brackets or braces do not match.
    """
    options, end = _options(text, 0, nested=False)
    if end != len(text):
        raise ValueError(f"unmatched bracket at column {end + 1}")
    return options[0]


def _options(text: str, start: int, *, nested: bool) -> tuple[tuple[Phrase, ...], int]:
    options: list[Phrase] = []
    parts: list[str | Slot | Choice] = []
    plain: list[str] = []

    def flush() -> None:
        if plain:
            parts.append("".join(plain))
            plain.clear()

    at = start
    while at < len(text):
        sign = text[at]
        if sign == "[":
            flush()
            inner, at = _options(text, at + 1, nested=True)
            parts.append(Choice(inner))
        elif sign == "{":
            flush()
            end = text.find("}", at)
            if end < 0:
                raise ValueError(f"unmatched brace at column {at + 1}")
            parts.append(Slot(text[at + 1 : end]))
            at = end
        elif sign == "|" and nested:
            flush()
            options.append(tuple(parts))
            parts.clear()
        elif sign == "]":
            break
        else:
            plain.append(sign)
        at += 1
    if nested and at >= len(text):
        raise ValueError(f"unmatched bracket at column {start}")
    flush()
    options.append(tuple(parts))
    return tuple(options), at


def expand(phrase: Phrase, chooser: Chooser, slots: Mapping[str, str]) -> str:
    """Return a phrase with its choices made and its slots filled.

    Raises:
        KeyError: If a slot is not among ``slots``.
    """
    out: list[str] = []
    below = chooser.below
    for part in phrase:
        # By class rather than by `isinstance`: a document asks this some two hundred times.
        kind = part.__class__
        if kind is str:
            out.append(part)  # type: ignore[arg-type]
        elif kind is Slot:
            out.append(slots[part.name])  # type: ignore[union-attr]
        elif isinstance(part, Choice):
            plain = part.plain
            if plain:
                out.append(plain[below(len(plain))])
            else:
                options = part.options
                out.append(expand(options[below(len(options))], chooser, slots))
    return "".join(out)


@dataclass(frozen=True, slots=True)
class Phrasebook:
    """All phrases by key."""

    phrases: Mapping[str, tuple[Phrase, ...]]

    def __contains__(self, key: str) -> bool:
        return key in self.phrases

    def say(self, key: str, chooser: Chooser, slots: Mapping[str, str]) -> str:
        """Return one of a key's phrases, filled in, its first letter a capital.

        Raises:
            KeyError: If there is no such key, or a slot is missing.
        """
        options = self.phrases[key]
        text = expand(options[chooser.below(len(options))], chooser, slots)
        return text[:1].upper() + text[1:]


def read_phrases(name: str, text: str) -> dict[str, tuple[Phrase, ...]]:
    """Read a file of phrases.

    Args:
        name: The file's name, for messages.
        text: Its contents.

    Raises:
        DamagedDataError: If a line is no phrase, or a heading comes twice or has none.
    """
    found: dict[str, list[Phrase]] = {}
    key = ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("## "):
            key = line[3:].strip()
            if key in found:
                raise DamagedDataError(f"{name}, line {number}: {key} has phrases already.")
            found[key] = []
        elif line.startswith("- "):
            if not key:
                raise DamagedDataError(f"{name}, line {number}: a phrase before any heading.")
            try:
                found[key].append(parse(line[2:]))
            except ValueError as error:
                raise DamagedDataError(f"{name}, line {number}: {error}.") from error
    for heading, phrases in found.items():
        if not phrases:
            raise DamagedDataError(f"{name}: {heading} has no phrases.")
    return {heading: tuple(phrases) for heading, phrases in found.items()}


@cache
def phrasebook() -> Phrasebook:
    """Return the phrases of all notes."""
    found: dict[str, tuple[Phrase, ...]] = {}
    folder = files(__package__) / "notes"
    for path in sorted(folder.iterdir(), key=lambda each: each.name):
        if path.name.endswith(".md"):
            found.update(read_phrases(path.name, path.read_text("utf-8")))
    return Phrasebook(found)
