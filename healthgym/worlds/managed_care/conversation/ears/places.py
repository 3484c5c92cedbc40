"""Where the words of a message stand, and where patterns match: over all of it at once, by bits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from healthgym.worlds.managed_care.conversation.ears.grammar import Grammar
from healthgym.worlds.managed_care.conversation.ears.patterns import UNKNOWN, Pattern, Step


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
        patterns: All patterns.
        near: The numbers of patterns that may match.
        matched: Where patterns end that did, by their numbers.
        known: The bits of each word, and of groups of words that were looked up before.
        tried: The numbers of those that were tried when they were asked for.
    """

    at: Mapping[str, int]
    said: frozenset[str]
    have: int
    inside: int
    openings: int
    lasts: int
    patterns: tuple[Pattern, ...]
    near: set[int]
    matched: dict[int, int]
    known: dict[str | frozenset[str], int]
    tried: set[int] = field(default_factory=set)

    def of(self, words: frozenset[str]) -> int:
        """Return where one of some words stands."""
        bits = self.known.get(words)
        return self._look(words) if bits is None else bits

    def _look(self, words: str | frozenset[str]) -> int:
        """Return where one of some words stands, and keep it; a word on its own is not there."""
        bits = 0
        if not isinstance(words, str):
            for word in words & self.said:
                bits |= self.at[word]
        self.known[words] = bits
        return bits

    def match(self, numbers: Iterable[int]) -> None:
        """Try some patterns, all of which may match.

        Args:
            numbers: The numbers of the patterns.
        """
        have, patterns = self.have, self.patterns
        for number in numbers:
            pattern = patterns[number]
            for needed in pattern.needs:
                if not needed & have:
                    break
            else:
                ends = self._run(pattern.steps, self.openings if pattern.first else -1)
                if pattern.last:
                    ends &= self.lasts
                if ends:
                    self.matched[number] = ends

    def ends(self, numbers: frozenset[int]) -> int:
        """Return the last words of all places where one of some patterns matches."""
        untried = self.near & numbers
        if untried:
            untried -= self.tried
            self.tried |= untried
            self.match(untried)
        bits = 0
        for number in numbers.intersection(self.matched):
            bits |= self.matched[number]
        return bits

    def _run(self, steps: tuple[Step, ...], reach: int) -> int:
        """Return the last words of a line that begins at one of some words."""
        inside, known = self.inside, self.known
        now = 0
        begun = False
        for words, gap, optional, runs in steps:
            here = known.get(words)
            if here is None:
                here = self._look(words)
            if not here and not runs:
                if optional:
                    continue
                return 0
            if begun:
                reach = (now << 1) & inside
            if gap:
                for _ in range(gap):
                    reach |= (reach << 1) & inside
            hit = reach & here
            if runs:
                for run in runs:
                    if run.number in self.near or run.number in self.matched:
                        hit |= self._run(run.steps, reach)
            if not optional:
                if not hit:
                    return 0
                now, begun = hit, True
            elif begun:
                now |= hit
        return now


def places_of(words: tuple[str, ...], starts: int, rules: Grammar) -> Places:
    """Return where the words of a message stand.

    Args:
        words: The words.
        starts: The first words of clauses, as bits.
        rules: By what they are read.
    """
    bits, known = rules.bits, rules.spelling.known
    at: dict[str, int] = {}
    bit = 1
    for word in words:
        at[word] = at.get(word, 0) | bit
        bit <<= 1
    strange = {word for word in frozenset(at) - known if word.isalpha() and word not in bits}
    if strange:
        for word in strange:
            at[UNKNOWN] = at.get(UNKNOWN, 0) | at[word]
        words = tuple(UNKNOWN if word in strange else word for word in words)
    have = 0
    groups: dict[str | frozenset[str], int] = {}
    for word, where in at.items():
        have |= bits.get(word, 0)
        groups[word] = where
    ends, near = rules.lookup.read(words, at, starts)
    places = Places(
        at=at,
        said=frozenset(at),
        have=have,
        inside=(bit - 1) & ~starts,
        openings=starts,
        lasts=(starts | bit) >> 1,
        patterns=rules.patterns,
        near=near,
        matched=ends,
        known=groups,
    )
    lead = places.of(rules.leads)
    for _ in range(2):
        places.openings |= (places.openings & lead) << 1 & places.inside
    return places
