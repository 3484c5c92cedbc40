"""Which patterns a message can match, told by pairs of its words before any pattern is tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from healthgym.worlds.managed_care.conversation.ears.patterns import (
    Element,
    Pattern,
    Vocabulary,
)

#: Words from the first word of a pair to its second, where some may stand between.
FAR = 4
#: How much worse a pair with words between is to look a pattern up by.
_LOOSE = 3


@dataclass(slots=True)
class Entry:
    """What a word, or a pair of words, tells of patterns.

    Attributes:
        whole: The numbers of patterns that it is a match of, and ends.
        part: The numbers of patterns that it may be a part of.
    """

    whole: list[int] = field(default_factory=list)
    part: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Lookup:
    """Patterns by words that they cannot do without.

    Attributes:
        alone: By one word.
        beside: By two words, one right after the other.
        near: By two words of which one follows the other within a few words.
    """

    alone: dict[str, Entry] = field(default_factory=dict)
    beside: dict[str, dict[str, Entry]] = field(default_factory=dict)
    near: dict[str, dict[str, Entry]] = field(default_factory=dict)

    def read(
        self, words: tuple[str, ...], at: Mapping[str, int], starts: int
    ) -> tuple[dict[int, int], set[int]]:
        """Return where patterns of one or two words end, and which others may match.

        Args:
            words: The words of a message, ``UNKNOWN`` in place of those that nobody knows.
            at: The bits of each word.
            starts: The first words of clauses, as bits.
        """
        ends: dict[int, int] = {}
        open_: set[int] = set()
        for word in at.keys() & self.alone.keys():
            entry = self.alone[word]
            for number in entry.whole:
                ends[number] = ends.get(number, 0) | at[word]
            open_.update(entry.part)
        end = len(words)  # of the clause; words are gone through from behind
        for place in range(len(words) - 1, -1, -1):
            after = place + 1
            if after < end:
                for pairs, last in ((self.beside, after + 1), (self.near, after + FAR)):
                    row = pairs.get(words[place])
                    if row is None:
                        continue
                    for other in range(after, min(last, end)):
                        hit = row.get(words[other])
                        if hit is not None:
                            for number in hit.whole:
                                ends[number] = ends.get(number, 0) | 1 << other
                            open_.update(hit.part)
            if starts >> place & 1:
                end = place
        return ends, open_


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two words that stand in every match of a pattern.

    Attributes:
        first: What the first may be.
        second: What the second may be.
        most: Most words from the one to the other.
    """

    first: frozenset[str]
    second: frozenset[str]
    most: int


def lookup_of(patterns: Iterable[Pattern], vocabulary: Vocabulary) -> Lookup:
    """Return what patterns are looked up by: the pair of words that is the least common.

    Args:
        patterns: The patterns.
        vocabulary: What they are made of.
    """
    made = Lookup()

    def weight(pair: _Pair) -> int:
        loose = _LOOSE if pair.most > 1 else 1
        return vocabulary.weight(pair.first) * vocabulary.weight(pair.second) * loose

    for pattern in patterns:
        pair = min(_pairs(pattern.elements), key=weight, default=None)
        if pair is None:
            needed = (each.any for each in pattern.elements if not each.optional)
            for word in sorted(min(needed, key=vocabulary.weight)):
                _enter(made.alone.setdefault(word, Entry()), pattern, 1)
            continue
        pairs = made.near if pair.most > 1 else made.beside
        for first in sorted(pair.first):
            row = pairs.setdefault(first, {})
            for second in sorted(pair.second):
                _enter(row.setdefault(second, Entry()), pattern, 2, pair.most)
    return made


def _enter(entry: Entry, pattern: Pattern, words: int, most: int = 1) -> None:
    """Take note of a pattern; it is looked up by so many words."""
    elements = pattern.elements
    plain = not any(each.runs or each.optional for each in elements)
    whole = plain and len(elements) == words and most in (1, FAR)
    free = not pattern.first and not pattern.last
    (entry.whole if whole and free else entry.part).append(pattern.number)


def _pairs(elements: tuple[Element, ...]) -> Iterator[_Pair]:
    """Return the pairs of places that have to be filled, one after the other and close enough."""
    before: frozenset[str] | None = None
    most = 0
    for element in elements:
        most += element.gap + 1
        if element.optional:
            if element.runs:
                before = None  # Who knows how long it is.
            continue
        if before is not None and most <= FAR:
            yield _Pair(before, _edge((element,)), most)
        before, most = _edge((element,), last=True), 0


def _edge(line: tuple[Element, ...], *, last: bool = False) -> frozenset[str]:
    """Return the words that the first or the last word of a line may be."""
    found: frozenset[str] = frozenset()
    for element in reversed(line) if last else line:
        found |= element.words
        for run in element.runs:
            found |= _edge(run.elements, last=last)
        if not element.optional:
            break
    return found
