"""Which patterns a message can match, told by pairs of its words before any pattern is tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
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
#: How much worse than another it is to look a pattern up by a pair with words between.
_LOOSE = 3
#: Places in an entry.
_WHOLE, _PART, _OPENING = range(3)

#: Numbers of patterns that a word or a pair is a match of and ends, of those of which it may be a
#: part, and of those of which it may be if it opens a clause. Plain tuples: they are looked at
#: hundreds of times a message.
Entry = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
_NOTHING: Entry = ((), (), ())
#: Of a word: the groups that it fills, as bits; what it finds alone; what it finds with the word
#: right after it, and with one of the next few.
Row = tuple[int, Entry | None, Mapping[str, Entry], Mapping[str, Entry]]


@dataclass(frozen=True, slots=True)
class Lookup:
    """Patterns by words that they cannot do without.

    Attributes:
        rows: What each word finds, alone or as the first of two.
        needs: The groups of words of which each has to be in the same clause besides, as bits, by
            the number of the pattern. The commonest groups have the lowest bits.
        groups: All groups, as bits.
        wholes: The patterns that match wherever another one does, by the number of that one.
        ways: The numbers of those.
    """

    rows: Mapping[str, Row]
    needs: tuple[int, ...]
    groups: int
    wholes: Mapping[int, tuple[int, ...]]
    ways: frozenset[int]

    def read(
        self, words: tuple[str, ...], starts: int, openings: int
    ) -> tuple[dict[int, int], set[int]]:
        """Return where patterns of one or two words end, and which others may match.

        No match goes from one clause to the next: what a pattern needs has to be in one.

        Args:
            words: The words of a message, ``UNKNOWN`` in place of those that nobody knows.
            starts: The first words of clauses, as bits.
            openings: The words that open a clause, as bits.
        """
        rows, needs, groups = self.rows, self.needs, self.groups
        ends: dict[int, int] = {}
        near: set[int] = set()
        hits: list[tuple[Entry, int, int]] = []  # of the clause, with the places of their words
        found: set[int] = set()
        filled, end = 0, len(words)  # of the clause; words are gone through from behind
        for place in range(end - 1, -1, -1):
            row = rows.get(words[place])
            if row is not None:
                fills, alone, beside, onward = row
                filled |= fills
                after = place + 1
                if alone is not None:
                    hits.append((alone, place, place))
                if after < end:
                    if words[after] in beside:
                        hits.append((beside[words[after]], place, after))
                    if onward:
                        for far in range(after, after + FAR if after + FAR < end else end):
                            if words[far] in onward:
                                hits.append((onward[words[far]], place, far))
            if starts >> place & 1:
                for (whole, part, opening), first, last in hits:
                    if whole:
                        bit = 1 << last
                        for number in whole:
                            ends[number] = ends.get(number, 0) | bit
                    if part:
                        found.update(part)
                    if opening and openings >> first & 1:
                        found.update(opening)
                lack = groups ^ filled
                near.update([number for number in found if not needs[number] & lack])
                hits.clear()
                found.clear()
                filled, end = 0, place
        for number in near & self.ways:
            near.update(self.wholes[number])
        return ends, near


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two words that stand in every match of a pattern.

    Attributes:
        first: What the first may be.
        second: What the second may be.
        most: Most words from the one to the other.
        fills: The groups of words that they fill for sure.
        begins: Whether every match begins with the first.
    """

    first: frozenset[str]
    second: frozenset[str]
    most: int
    fills: frozenset[frozenset[str]]
    begins: bool


@dataclass(frozen=True, slots=True)
class _Key:
    """What a pattern is looked up by.

    Attributes:
        first: What the only word may be, or the first of two.
        second: What the second may be; None if there is only one.
        far: Whether words may stand between them.
        place: Where in an entry the pattern is kept.
        rest: The groups of words that it needs besides.
    """

    first: frozenset[str]
    second: frozenset[str] | None
    far: bool
    place: int
    rest: tuple[frozenset[str], ...]


def lookup_of(patterns: tuple[Pattern, ...], vocabulary: Vocabulary) -> Lookup:
    """Return what patterns are looked up by: the pair of words that is the least common.

    Args:
        patterns: The patterns, by their numbers.
        vocabulary: What they are made of.
    """
    alone: dict[str, Entry] = {}
    beside: dict[str, dict[str, Entry]] = {}
    near: dict[str, dict[str, Entry]] = {}
    wholes = _wholes(patterns)
    keys = [_key(pattern, vocabulary) for pattern in patterns]
    for number, key in enumerate(keys):
        numbers = (number, *wholes.get(number, ())) if key.place == _WHOLE else (number,)
        for first in key.first:
            if key.second is None:
                alone[first] = _with(alone.get(first, _NOTHING), key.place, numbers)
                continue
            row = (near if key.far else beside).setdefault(first, {})
            for second in key.second:
                row[second] = _with(row.get(second, _NOTHING), key.place, numbers)
    needs, fills = _needs([key.rest for key in keys])
    return Lookup(
        rows={
            word: (fills.get(word, 0), alone.get(word), beside.get(word, {}), near.get(word, {}))
            for word in fills | alone | beside | near
        },
        needs=needs,
        groups=reduce(or_, needs),
        wholes=wholes,
        ways=frozenset(wholes),
    )


def _key(pattern: Pattern, vocabulary: Vocabulary) -> _Key:
    """Return what a pattern is looked up by."""
    if _is_choice(pattern):  # whose expressions are looked up
        return _Key(pattern.elements[0].words, None, False, _WHOLE, ())

    def weight(pair: _Pair) -> int:
        loose = _LOOSE if pair.most > 1 else 1
        return vocabulary.weight(pair.first) * vocabulary.weight(pair.second) * loose

    needed = [each.any for each in pattern.elements if not each.optional]
    pair = min(_pairs(pattern.elements), key=weight, default=None)
    if pair is None:
        rarest: frozenset[str] = min(needed, key=vocabulary.weight)
        place = _place(pattern, 1, begins=_begins(pattern.elements) == rarest)
        return _Key(rarest, None, False, place, tuple(g for g in needed if g != rarest))
    rest = tuple(group for group in needed if group not in pair.fills)
    place = _place(pattern, 2 if pair.most in (1, FAR) else 0, begins=pair.begins)
    return _Key(pair.first, pair.second, pair.most > 1, place, rest)


def _is_choice(pattern: Pattern) -> bool:
    """Return whether a pattern is nothing but one of several expressions, wherever it stands."""
    if len(pattern.elements) > 1 or pattern.first or pattern.last:
        return False
    runs = pattern.elements[0].runs
    return bool(runs) and not any(run.first or run.last for run in runs)


def _wholes(patterns: tuple[Pattern, ...]) -> dict[int, tuple[int, ...]]:
    """Return the patterns that match wherever another does, by the number of that one."""
    found: dict[int, dict[int, None]] = {}
    # From behind: what an expression is part of was made after it.
    for pattern in filter(_is_choice, reversed(patterns)):
        for run in pattern.elements[0].runs:
            above = found.setdefault(run.number, {})
            above |= dict.fromkeys((pattern.number, *found.get(pattern.number, ())))
    return {number: tuple(above) for number, above in found.items()}


def _needs(rest: list[tuple[frozenset[str], ...]]) -> tuple[tuple[int, ...], dict[str, int]]:
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


def _place(pattern: Pattern, words: int, *, begins: bool) -> int:
    """Return where in an entry a pattern is kept that is looked up by some words.

    Args:
        pattern: The pattern.
        words: How many words, one right after the other or within the gap between them; 0 if it is
            not known where they stand.
        begins: Whether every match begins with the first of them.
    """
    elements = pattern.elements
    plain = not any(each.runs or each.optional for each in elements)
    if plain and len(elements) == words and not (pattern.first or pattern.last):
        return _WHOLE
    return _OPENING if pattern.first and begins else _PART


def _with(entry: Entry, place: int, numbers: tuple[int, ...]) -> Entry:
    """Return an entry with more patterns in one of its places."""
    whole, part, opening = entry
    if place == _WHOLE:
        return whole + numbers, part, opening
    if place == _PART:
        return whole, part + numbers, opening
    return whole, part, opening + numbers


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
            begins = held is elements[0] and _begins(elements) is not None
            yield _Pair(before, _edge((element,)), most, fills, begins)
        before, most, held = _edge((element,), last=True), 0, element


def _begins(elements: tuple[Element, ...]) -> frozenset[str] | None:
    """Return the words of which one is the first of every match; None if they are not known."""
    opens = elements[0]
    return None if opens.gap or opens.optional or opens.runs else opens.words


def _edge(line: tuple[Element, ...], *, last: bool = False) -> frozenset[str]:
    """Return the words that the first or the last word of a line may be."""
    if len(line) == 1 and not line[0].runs:
        return line[0].words  # as most are
    found: frozenset[str] = frozenset()
    for element in reversed(line) if last else line:
        found |= element.words
        for run in element.runs:
            found |= _edge(run.elements, last=last)
        if not element.optional:
            break
    return found
