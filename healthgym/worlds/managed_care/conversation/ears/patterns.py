"""Patterns of words, as they are written in the data beside this module.

A pattern is a line of words. ``(a|b c)`` is one of several, ``<name>`` one of a class, ``a~`` a
word in any of its forms, ``(a|b)~`` one of several in any; ``?`` behind one makes it optional.
``..`` lets up to three words pass, ``...`` up to eight, never past the end of a clause. ``^``
stands for the beginning of a clause, words such as ``and so`` left aside, and ``$`` for its end.
``[name]`` stands for one of the expressions of a list, which may have several words, and
``<name>`` for a word that nobody knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from sys import intern

_GAPS = {"..": 3, "...": 8}
#: How much worse than another it is to look a pattern up by a common word.
_COMMON = 40
#: What stands for every word that is not known, such as a name.
UNKNOWN = "*"


@dataclass(frozen=True, slots=True)
class Element:
    """One place of a pattern.

    Attributes:
        words: The words that may stand there.
        runs: The expressions of several words that may, patterns themselves.
        gap: How many words may stand before it.
        optional: Whether it may be left out.
        any: The words of which one has to be in a message for it to be filled.
    """

    words: frozenset[str]
    runs: tuple[Pattern, ...]
    gap: int
    optional: bool
    any: frozenset[str]


@dataclass(frozen=True, slots=True)
class Pattern:
    """A line of places.

    Attributes:
        number: Its place among all patterns.
        elements: The places.
        first: Whether it begins a clause.
        last: Whether it ends one.
        steps: The places as they are tried, hundreds of times a message: the words, or the only
            one; how many may stand before; whether it may be left out; numbers of expressions.
    """

    number: int
    elements: tuple[Element, ...]
    first: bool
    last: bool
    steps: tuple[Step, ...]


Step = tuple[str | frozenset[str], int, bool, frozenset[int]]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What patterns are made of.

    Attributes:
        classes: Words by the name of their class.
        phrases: Expressions by the name of their list.
        forms: Irregular forms by the plain one.
        common: Common words, by which no pattern is looked up if it has others.
        made: The patterns by their lines, as they come; the same line is the same pattern.
        sets: The groups of words of their places.
    """

    classes: Mapping[str, frozenset[str]]
    phrases: Mapping[str, tuple[str, ...]]
    forms: Mapping[str, tuple[str, ...]]
    common: frozenset[str]
    made: dict[str, Pattern] = field(default_factory=dict)
    sets: dict[frozenset[str], frozenset[str]] = field(default_factory=dict)

    def words(self, text: str) -> frozenset[str]:
        """Return the words for which a word of a pattern stands.

        Raises:
            KeyError: If there is no such class.
        """
        if text.startswith("<"):
            return self.classes[text.strip("<>")]
        return self._inflected(text[:-1]) if text.endswith("~") else frozenset((text,))

    def _inflected(self, word: str) -> frozenset[str]:
        if word in self.forms:
            return frozenset((word, *self.forms[word]))
        if word.endswith("e"):
            return frozenset((word, f"{word}s", f"{word}d", f"{word[:-1]}ing"))
        if word.endswith("y") and word[-2] not in "aeou":
            stem = word[:-1]
            return frozenset((word, f"{stem}ies", f"{stem}ied", f"{word}ing"))
        s = "es" if word.endswith(("s", "sh", "ch", "x", "z")) else "s"
        return frozenset((word, f"{word}{s}", f"{word}ed", f"{word}ing"))

    def pattern(self, text: str) -> Pattern:
        """Return what a line stands for.

        Raises:
            KeyError: If it names what there is not.
            ValueError: If it has no place that must be filled.
        """
        if text not in self.made:
            self.made[text] = self._pattern(text)
        return self.made[text]

    def weight(self, words: frozenset[str]) -> int:
        """Return how bad it is to look a pattern up by one of some words."""
        return len(words) + _COMMON * len(words & self.common)

    def _pattern(self, text: str) -> Pattern:
        parts = text.split()
        first, last = parts[0] == "^", parts[-1] == "$"
        elements = self._line(text.strip("^$ "))
        while elements and elements[0].optional and not first:
            elements = elements[1:]  # Whatever stands there, the pattern holds.
        if all(element.optional for element in elements):
            raise ValueError(f"{text!r} has no place that must be filled.")
        return Pattern(len(self.made), elements, first, last, tuple(map(_step, elements)))

    def _line(self, text: str) -> tuple[Element, ...]:
        elements: list[Element] = []
        gap = 0
        for part in _split(text, " "):
            if part in _GAPS:
                gap = _GAPS[part]
            elif part:
                elements.append(self._element(part.removesuffix("?"), gap, part.endswith("?")))
                gap = 0
        return tuple(elements)

    def _element(self, text: str, gap: int, optional: bool) -> Element:
        if text.startswith("["):
            ways = list(self.phrases[text.strip("[]")])
        elif text.startswith("("):
            forms = "~" if text.endswith("~") else ""
            inside = text.removesuffix("~")[1:-1]
            ways = [f"{way}{forms}" for way in _split(inside, "|") if way.strip()]
        else:
            ways = [text]
        words: set[str] = set()
        runs: list[Pattern] = []
        for way in filter(None, map(str.strip, ways)):
            if " " in way or way[0] in "([":
                runs.append(self.pattern(way))
            else:
                words |= self.words(way)
        found = set(words)
        for run in runs:
            needed = [each.any for each in run.elements if not each.optional]
            rarest: frozenset[str] = min(needed, key=self.weight)
            found |= rarest
        return Element(self._set(words), tuple(runs), gap, optional, self._set(found))

    def _set(self, words: set[str]) -> frozenset[str]:
        """Return some words, as the same set, and the same words, wherever they are the same.

        What is the same object is found in a table without a look at its letters.
        """
        made = self.sets.get(frozenset(words))
        if made is None:
            made = frozenset(map(intern, words))
            self.sets[made] = made
        return made


def _step(element: Element) -> Step:
    """Return a place as it is tried."""
    runs = frozenset(run.number for run in element.runs)
    return _one(element.words), element.gap, element.optional, runs


def _one(words: frozenset[str]) -> str | frozenset[str]:
    """Return the only one of some words, or all of them: one is found without a search."""
    return next(iter(words)) if len(words) == 1 else words


def _split(text: str, mark: str) -> Iterator[str]:
    """Return the parts of a text between marks that stand in no brackets."""
    depth = begin = 0
    for place, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter == mark and not depth:
            yield text[begin:place]
            begin = place + 1
    yield text[begin:]
