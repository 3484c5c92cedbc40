"""Patterns of words, matched over all of a message at once by the bits of its words.

A pattern is a line of words. ``(a|b c)`` is one of several, ``<name>`` one of a class, ``a~`` a
word in any of its forms; ``?`` behind one makes it optional. ``..`` lets up to three words pass,
``...`` up to eight, never past the end of a clause. ``^`` stands for the beginning of a clause,
words such as ``and so`` left aside, and ``$`` for its end. ``[name]`` stands for one of the
expressions of a list, which may have several words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

_LISTED = re.compile(r"\[([a-z]+)\]")
#: Alternatives of which one has several words.
_SPACED = re.compile(r"\(([^()]* [^()]*)\)(\??)")
_GAPS = {"..": 3, "...": 8}


@dataclass(frozen=True, slots=True)
class Element:
    """One place of a pattern.

    Attributes:
        words: The words that may stand there.
        gap: How many words may stand before it.
        optional: Whether it may be left out.
    """

    words: frozenset[str]
    gap: int = 0
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Pattern:
    """A line of places.

    Attributes:
        elements: The places.
        first: Whether it begins a clause.
        last: Whether it ends one.
        anchor: The words of which one has to be in a message for it to match.
    """

    elements: tuple[Element, ...]
    first: bool
    last: bool
    anchor: frozenset[str]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What patterns are made of.

    Attributes:
        classes: Words by the name of their class.
        phrases: Expressions by the name of their list.
        forms: Irregular forms by the plain one.
        common: Common words, by which no pattern is looked up if it has others.
    """

    classes: Mapping[str, frozenset[str]]
    phrases: Mapping[str, tuple[str, ...]]
    forms: Mapping[str, tuple[str, ...]]
    common: frozenset[str]

    def words(self, text: str) -> frozenset[str]:
        """Return the words for which a place of a pattern stands.

        Raises:
            KeyError: If there is no such class.
        """
        made: set[str] = set()
        for word in text.strip("()").split("|"):
            if word.startswith("<"):
                made |= self.classes[word.strip("<>")]
            elif word.endswith("~"):
                made |= self.inflected(word[:-1])
            else:
                made.add(word)
        return frozenset(made)

    def inflected(self, word: str) -> frozenset[str]:
        """Return the forms of a word."""
        if word in self.forms:
            return frozenset((word, *self.forms[word]))
        if word.endswith("e"):
            return frozenset((word, f"{word}s", f"{word}d", f"{word[:-1]}ing"))
        if word.endswith("y") and word[-2] not in "aeou":
            stem = word[:-1]
            return frozenset((word, f"{stem}ies", f"{stem}ied", f"{word}ing"))
        s = "es" if word.endswith(("s", "sh", "ch", "x", "z")) else "s"
        return frozenset((word, f"{word}{s}", f"{word}ed", f"{word}ing"))

    def patterns(self, text: str) -> Iterator[Pattern]:
        """Return what a line stands for: one pattern, or several where it names a list.

        Raises:
            KeyError: If it names what there is not.
            ValueError: If it has no place that must be filled.
        """
        listed = _LISTED.search(text)
        spaced = _SPACED.search(text)
        if listed:
            ways: Iterable[str] = self.phrases[listed[1]]
        elif spaced:
            words = [way for way in spaced[1].split("|") if " " not in way]
            ways = [*(way for way in spaced[1].split("|") if " " in way)]
            ways += [f"({'|'.join(words)})"] if words else []
            ways += [""] if spaced[2] else []
        else:
            yield self._pattern(text)
            return
        found = listed or spaced
        assert found is not None
        for way in ways:
            yield from self.patterns(f"{text[: found.start()]}{way}{text[found.end() :]}")

    def _pattern(self, text: str) -> Pattern:
        elements: list[Element] = []
        gap, first, last = 0, False, False
        for part in text.split():
            if part == "^":
                first = True
            elif part == "$":
                last = True
            elif part in _GAPS:
                gap = _GAPS[part]
            else:
                optional = part.endswith("?")
                elements.append(Element(self.words(part.rstrip("?")), gap, optional))
                gap = 0
        while elements and elements[0].optional:
            del elements[0]  # Whatever stands there, the pattern holds.
        needed = [element.words for element in elements if not element.optional]
        if not needed:
            raise ValueError(f"{text!r} has no place that must be filled.")
        anchor = min(needed, key=self._commonness)
        return Pattern(tuple(elements), first, last, anchor)

    def _commonness(self, words: frozenset[str]) -> tuple[bool, int]:
        return bool(words & self.common), len(words)


@dataclass(slots=True)
class Places:
    """Where the words of a message stand.

    Attributes:
        at: The bits of each word.
        starts: The first words of clauses.
        openings: Words that open a clause: the first ones, and those that follow a lead.
        lasts: The last words of clauses.
        known: Bits of the places of patterns that were looked up before.
    """

    at: Mapping[str, int]
    starts: int
    openings: int
    lasts: int
    known: dict[frozenset[str], int] = field(default_factory=dict)

    def of(self, words: frozenset[str]) -> int:
        """Return where one of some words stands."""
        bits = self.known.get(words)
        if bits is None:
            bits = 0
            for word in words & self.at.keys():
                bits |= self.at[word]
            self.known[words] = bits
        return bits

    def ends(self, pattern: Pattern) -> int:
        """Return the last words of all places where a pattern matches."""
        inside = ~self.starts
        elements = pattern.elements
        now = self.of(elements[0].words)
        if pattern.first:
            now &= _reach(self.openings, elements[0].gap, inside)
        for element in elements[1:]:
            if not now:
                return 0
            here = self.of(element.words)
            if not here:
                if element.optional:
                    continue
                return 0
            hit = _reach((now << 1) & inside, element.gap, inside) & here
            now = now | hit if element.optional else hit
        return now & self.lasts if pattern.last else now


def _reach(bits: int, gap: int, inside: int) -> int:
    """Return some words and as many after each as a gap lets pass."""
    for _ in range(gap):
        bits |= (bits << 1) & inside
    return bits


def places_of(words: Iterable[str], starts: int, leads: frozenset[str]) -> Places:
    """Return where the words of a message stand.

    Args:
        words: The words.
        starts: The first words of clauses.
        leads: Words that may stand before what opens a clause.
    """
    at: dict[str, int] = {}
    bit = 1
    for word in words:
        at[word] = at.get(word, 0) | bit
        bit <<= 1
    places = Places(at, starts, starts, (starts | bit) >> 1)
    lead = places.of(leads)
    for _ in range(2):
        places.openings |= (places.openings & lead) << 1 & ~starts
    return places
