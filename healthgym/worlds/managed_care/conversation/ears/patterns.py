"""Patterns of words, matched over all of a message at once by the bits of its words.

A pattern is a line of words. ``(a|b c)`` is one of several, ``<name>`` one of a class, ``a~`` a
word in any of its forms; ``?`` behind one makes it optional. ``..`` lets up to three words pass,
``...`` up to eight, never past the end of a clause. ``^`` stands for the beginning of a clause,
words such as ``and so`` left aside, and ``$`` for its end. ``[name]`` stands for one of the
expressions of a list, which may have several words, and ``<name>`` for a word that nobody knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

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
        runs: The expressions of several words that may.
        gap: How many words may stand before it.
        optional: Whether it may be left out.
        any: The words of which one has to be in a message for it to be filled.
    """

    words: frozenset[str]
    runs: tuple[tuple[Element, ...], ...]
    gap: int
    optional: bool
    any: frozenset[str]


@dataclass(frozen=True, slots=True)
class Pattern:
    """A line of places.

    Attributes:
        elements: The places.
        first: Whether it begins a clause.
        last: Whether it ends one.
        anchor: The words of which one has to be in a message for it to match.
        needs: Other words of each group of which one has to be, the rarest first, as bits of the
            vocabulary.
    """

    elements: tuple[Element, ...]
    first: bool
    last: bool
    anchor: frozenset[str]
    needs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What patterns are made of.

    Attributes:
        classes: Words by the name of their class.
        phrases: Expressions by the name of their list.
        forms: Irregular forms by the plain one.
        common: Common words, by which no pattern is looked up if it has others.
        bits: The bit of each word of a pattern, as they come.
    """

    classes: Mapping[str, frozenset[str]]
    phrases: Mapping[str, tuple[str, ...]]
    forms: Mapping[str, tuple[str, ...]]
    common: frozenset[str]
    bits: dict[str, int] = field(default_factory=dict)

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
        parts = text.split()
        first, last = parts[0] == "^", parts[-1] == "$"
        elements = self._line(text.strip("^$ "))
        while elements and elements[0].optional and not first:
            elements = elements[1:]  # Whatever stands there, the pattern holds.
        needed = [element.any for element in elements if not element.optional]
        if not needed:
            raise ValueError(f"{text!r} has no place that must be filled.")
        anchor, *needs = sorted(needed, key=self._weight)
        return Pattern(elements, first, last, anchor, tuple(map(self._bits, needs)))

    def _bits(self, words: frozenset[str]) -> int:
        bits = 0
        for word in sorted(words):
            bits |= self.bits.setdefault(word, 1 << len(self.bits))
        return bits

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
        else:
            ways = list(_split(text[1:-1], "|")) if text.startswith("(") else [text]
        words: set[str] = set()
        runs: list[tuple[Element, ...]] = []
        for way in filter(None, map(str.strip, ways)):
            if " " in way or way[0] in "([":
                runs.append(self._line(way))
            else:
                words |= self.words(way)
        found = set(words)
        for run in runs:
            needed = sorted((each.any for each in run if not each.optional), key=self._weight)
            found |= needed[0]
        return Element(frozenset(words), tuple(runs), gap, optional, frozenset(found))

    def _weight(self, words: frozenset[str]) -> int:
        return len(words) + _COMMON * len(words & self.common)


def _split(text: str, mark: str) -> Iterator[str]:
    """Return the parts of a text between marks that stand in no brackets."""
    depth = begin = 0
    for place, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter == mark and not depth:
            yield text[begin:place]
            begin = place + 1
    yield text[begin:]


@dataclass(slots=True)
class Places:
    """Where the words of a message stand.

    Attributes:
        at: The bits of each word.
        said: The words.
        have: The words, as bits of the vocabulary.
        inside: All words but the first ones of clauses.
        openings: Words that open a clause: the first ones, and those that follow a lead.
        lasts: The last words of clauses.
        known: Bits of the places of patterns that were looked up before.
    """

    at: Mapping[str, int]
    said: frozenset[str]
    have: int
    inside: int
    openings: int
    lasts: int
    known: dict[frozenset[str], int] = field(default_factory=dict)

    def of(self, words: frozenset[str]) -> int:
        """Return where one of some words stands."""
        bits = self.known.get(words)
        if bits is None:
            bits = 0
            for word in words & self.said:
                bits |= self.at[word]
            self.known[words] = bits
        return bits

    def ends(self, pattern: Pattern) -> int:
        """Return the last words of all places where a pattern matches."""
        have = self.have
        for words in pattern.needs:
            if not words & have:
                return 0
        return self.found(pattern)

    def found(self, pattern: Pattern) -> int:
        """Return the same of a pattern none of whose words is missing."""
        now = self._run(pattern.elements, self.openings if pattern.first else -1)
        return now & self.lasts if pattern.last else now

    def _run(self, elements: tuple[Element, ...], reach: int) -> int:
        """Return the last words of a line that begins at one of some words."""
        inside, known = self.inside, self.known
        now = 0
        begun = False
        for element in elements:
            if begun:
                reach = (now << 1) & inside
            if element.gap:
                for _ in range(element.gap):
                    reach |= (reach << 1) & inside
            here = known.get(element.words)
            hit = reach & (self.of(element.words) if here is None else here)
            if element.runs:
                for run in element.runs:
                    hit |= self._run(run, reach)
            if begun and element.optional:
                now |= hit
            elif not element.optional:
                now, begun = hit, True
                if not now:
                    return 0
        return now


def places_of(
    words: Iterable[str],
    starts: int,
    leads: frozenset[str],
    bits: Mapping[str, int],
    known: frozenset[str],
) -> Places:
    """Return where the words of a message stand.

    Args:
        words: The words.
        starts: The first words of clauses.
        leads: Words that may stand before what opens a clause.
        bits: The bit of each word of the vocabulary.
        known: All words that are known.
    """
    at: dict[str, int] = {}
    bit = 1
    for word in words:
        at[word] = at.get(word, 0) | bit
        bit <<= 1
    strange = 0
    for word in at.keys() - known:
        strange |= at[word] if word.isalpha() else 0
    if strange:
        at[UNKNOWN] = strange
    have = 0
    for word in at:
        have |= bits.get(word, 0)
    places = Places(at, frozenset(at), have, (bit - 1) & ~starts, starts, (starts | bit) >> 1)
    lead = places.of(leads)
    for _ in range(2):
        places.openings |= (places.openings & lead) << 1 & places.inside
    return places
