"""Which patterns a message can match, told by pairs of its words before any pattern is tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_

from healthgym.worlds.managed_care.conversation.ears.patterns import (
    Element,
    Pattern,
    Vocabulary,
)

#: Words from the first word of a pair to its second, where some may stand between.
FAR = 4
#: An entry while it is made.
_Found = tuple[list[int], list[int]]
#: How much worse a pair with words between is to look a pattern up by.
_LOOSE = 3


#: Numbers of patterns that a word or a pair is a match of and ends, and of those of which it may be
#: a part. Plain tuples: they are looked at hundreds of times a message.
Entry = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Lookup:
    """Patterns by words that they cannot do without.

    Attributes:
        alone: By one word.
        pairs: By two words: one right after the other, and one within a few words of the other.
        needs: The groups of words of which each has to be in a message besides, as bits, by the
            number of the pattern. The commonest groups have the lowest bits.
        fills: The groups that each word fills, as bits.
        groups: All groups, as bits.
    """

    alone: Mapping[str, Entry]
    pairs: Mapping[str, tuple[Mapping[str, Entry], Mapping[str, Entry]]]
    needs: tuple[int, ...]
    fills: Mapping[str, int]
    groups: int

    def read(
        self, words: tuple[str, ...], at: Mapping[str, int], starts: int
    ) -> tuple[dict[int, int], set[int]]:
        """Return where patterns of one or two words end, and which others may match for their pair.

        Args:
            words: The words of a message, ``UNKNOWN`` in place of those that nobody knows.
            at: The bits of each word.
            starts: The first words of clauses, as bits.
        """
        hits: list[tuple[Entry, int]] = [
            (self.alone[word], at[word]) for word in at if word in self.alone
        ]
        pairs = self.pairs
        end = len(words)  # of the clause; words are gone through from behind
        for place in range(len(words) - 1, -1, -1):
            word, after = words[place], place + 1
            if after < end and word in pairs:
                beside, near = pairs[word]
                if words[after] in beside:
                    hits.append((beside[words[after]], 2 << place))
                if near:
                    for far, other in enumerate(words[after : min(after + FAR, end)], after):
                        if other in near:
                            hits.append((near[other], 1 << far))
            if starts >> place & 1:
                end = place
        ends: dict[int, int] = {}
        open_: set[int] = set()
        for (whole, part), bit in hits:
            for number in whole:
                if number in ends:
                    ends[number] |= bit
                else:
                    ends[number] = bit
            if part:
                open_.update(part)
        return ends, open_

    def lacking(self, words: Iterable[str]) -> int:
        """Return the groups, as bits, of which no word is among some words."""
        have = 0
        fills = self.fills
        for word in words:
            if word in fills:
                have |= fills[word]
        return self.groups ^ have


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two words that stand in every match of a pattern.

    Attributes:
        first: What the first may be.
        second: What the second may be.
        most: Most words from the one to the other.
        fills: The groups of words that they fill for sure.
    """

    first: frozenset[str]
    second: frozenset[str]
    most: int
    fills: frozenset[frozenset[str]]


def lookup_of(patterns: Iterable[Pattern], vocabulary: Vocabulary) -> Lookup:
    """Return what patterns are looked up by: the pair of words that is the least common.

    Args:
        patterns: The patterns.
        vocabulary: What they are made of.
    """
    alone: dict[str, _Found] = {}
    beside: dict[str, dict[str, _Found]] = {}
    near: dict[str, dict[str, _Found]] = {}

    def weight(pair: _Pair) -> int:
        loose = _LOOSE if pair.most > 1 else 1
        return vocabulary.weight(pair.first) * vocabulary.weight(pair.second) * loose

    rest: list[list[frozenset[str]]] = []
    for pattern in patterns:
        needed = [each.any for each in pattern.elements if not each.optional]
        pair = min(_pairs(pattern.elements), key=weight, default=None)
        if pair is None:
            part = _is_part(pattern, 1)
            rarest: frozenset[str] = min(needed, key=vocabulary.weight)
            rest.append([group for group in needed if group != rarest])
            for word in rarest:
                alone.setdefault(word, ([], []))[part].append(pattern.number)
            continue
        pairs = near if pair.most > 1 else beside
        rest.append([group for group in needed if group not in pair.fills])
        part = _is_part(pattern, 2) or pair.most not in (1, FAR)
        for first in pair.first:
            row = pairs.setdefault(first, {})
            for second in pair.second:
                row.setdefault(second, ([], []))[part].append(pattern.number)
    needs, fills = _needs(rest)
    return Lookup(
        alone=_kept(alone),
        pairs={
            first: (_kept(beside.get(first, {})), _kept(near.get(first, {})))
            for first in beside | near
        },
        needs=needs,
        fills=fills,
        groups=reduce(or_, needs),
    )


def _needs(rest: list[list[frozenset[str]]]) -> tuple[tuple[int, ...], dict[str, int]]:
    """Return the groups of words that each pattern needs as bits, and those that words fill.

    Args:
        rest: The groups of each pattern.
    """
    counted = Counter(group for groups in rest for group in dict.fromkeys(groups))
    bits = {group: 1 << place for place, (group, _) in enumerate(counted.most_common())}
    fills: dict[str, int] = {}
    for group, bit in bits.items():
        for word in group:
            fills[word] = fills.get(word, 0) | bit
    return tuple(reduce(or_, map(bits.__getitem__, groups), 0) for groups in rest), fills


def _is_part(pattern: Pattern, words: int) -> bool:
    """Return whether so many words are but a part of a pattern, or have to stand somewhere."""
    elements = pattern.elements
    plain = not any(each.runs or each.optional for each in elements)
    return not plain or len(elements) > words or pattern.first or pattern.last


def _kept(found: Mapping[str, _Found]) -> Mapping[str, Entry]:
    return {word: (tuple(whole), tuple(part)) for word, (whole, part) in found.items()}


def _pairs(elements: tuple[Element, ...]) -> Iterator[_Pair]:
    """Return the pairs of places that have to be filled, one after the other and close enough."""
    before: frozenset[str] | None = None
    held = elements[0]  # what `before` is the edge of
    most = 0
    for element in elements:
        most += element.gap + 1
        if element.optional:
            if element.runs:
                before = None  # Who knows how long it is.
            continue
        if before is not None and most <= FAR:
            fills = frozenset(each.any for each in (held, element) if not each.runs)
            yield _Pair(before, _edge((element,)), most, fills)
        before, most, held = _edge((element,), last=True), 0, element


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
