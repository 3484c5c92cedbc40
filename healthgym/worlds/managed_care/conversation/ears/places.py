"""Where the words of a message stand, and where patterns match: over all of it at once, by bits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from healthgym.worlds.managed_care.conversation.ears.grammar import Grammar
from healthgym.worlds.managed_care.conversation.ears.patterns import UNKNOWN, Pattern, Step


@dataclass(slots=True)
class Places:
    """Where the words of a message stand.

    Attributes:
        at: The bits of each word.
        said: The words.
        inside: All words but the first ones of clauses.
        openings: Words that open a clause: the first ones, and those that follow a lead.
        lasts: The last words of clauses.
        lack: The groups of words that patterns need and of which none is said, as bits.
        patterns: All patterns.
        needs: The groups that they need, by their numbers.
        near: The numbers of patterns that may match and were not tried yet.
        matched: Where patterns end that did, by their numbers.
        might: The numbers of all patterns that may match, or did.
        known: The bits of each word, and of groups of words that were looked up before.
    """

    at: Mapping[str, int]
    said: frozenset[str]
    inside: int
    openings: int
    lasts: int
    lack: int
    patterns: tuple[Pattern, ...]
    needs: tuple[int, ...]
    near: set[int]
    matched: dict[int, int]
    might: set[int]
    known: dict[str | frozenset[str], int]

    def of(self, words: frozenset[str]) -> int:
        """Return where one of some words stands."""
        bits = self.known.get(words)
        return self._look(words) if bits is None else bits

    def _look(self, words: str | frozenset[str]) -> int:
        """Return where one of some words stands, and keep it; a word on its own is not there."""
        bits = 0
        if not isinstance(words, str):
            at = self.at
            for word in words & self.said:
                bits |= at[word]
        self.known[words] = bits
        return bits

    def match(self, numbers: frozenset[int]) -> list[int]:
        """Return the numbers of those of some patterns that match."""
        here = numbers & self.might
        if not here:
            return []
        matched, patterns, needs, lack = self.matched, self.patterns, self.needs, self.lack
        untried = here & self.near
        self.near -= untried
        for number in untried:
            if needs[number] & lack:
                continue
            pattern = patterns[number]
            ends = self._run(pattern.steps, self.openings if pattern.first else -1)
            if pattern.last:
                ends &= self.lasts
            if ends:
                matched[number] = ends
        return [number for number in here if number in matched]

    def ends(self, numbers: frozenset[int]) -> int:
        """Return the last words of all places where one of some patterns matches."""
        bits = 0
        for number in self.match(numbers):
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
                for number in runs & self.might:
                    hit |= self._run(self.patterns[number].steps, reach)
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
    at: dict[str, int] = {}
    bit = 1
    for word in words:
        at[word] = at.get(word, 0) | bit
        bit <<= 1
    strange = {word for word in at.keys() - rules.usual if word.isalpha()}
    if strange:
        for word in strange:
            at[UNKNOWN] = at.get(UNKNOWN, 0) | at[word]
        words = tuple(UNKNOWN if word in strange else word for word in words)
    ends, near = rules.lookup.read(words, at, starts)
    places = Places(
        at=at,
        said=frozenset(at),
        inside=(bit - 1) & ~starts,
        openings=starts,
        lasts=(starts | bit) >> 1,
        lack=rules.lookup.lacking(at),
        patterns=rules.patterns,
        needs=rules.lookup.needs,
        near=near,
        matched=ends,
        might=near.union(ends),
        known=dict(at.items()),
    )
    lead = places.of(rules.leads)
    for _ in range(2):
        places.openings |= (places.openings & lead) << 1 & places.inside
    return places
