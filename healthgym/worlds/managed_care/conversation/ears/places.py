"""Where the words of a message stand, and where patterns match: over all of it at once, by bits."""

from __future__ import annotations

from dataclasses import dataclass

from healthgym.worlds.managed_care.conversation.ears.grammar import Grammar
from healthgym.worlds.managed_care.conversation.ears.patterns import UNKNOWN, Pattern, Step


@dataclass(slots=True)
class Places:
    """Where the words of a message stand.

    Attributes:
        at: The bits of each word, and of what else was looked for: words that are not there, and
            groups of words.
        said: The words.
        inside: All words but the first ones of clauses.
        openings: Words that open a clause: the first ones, and those that follow a lead.
        lasts: The last words of clauses.
        patterns: All patterns.
        near: The numbers of patterns that may match and were not tried yet.
        matched: Where patterns end that did, by their numbers.
        might: The numbers of all patterns that may match, or did.
    """

    at: dict[str | frozenset[str], int]
    said: frozenset[str]
    inside: int
    openings: int
    lasts: int
    patterns: tuple[Pattern, ...]
    near: set[int]
    matched: dict[int, int]
    might: set[int]

    def of(self, words: str | frozenset[str]) -> int:
        """Return where a word stands, or one of some words."""
        bits = self.at.get(words)
        return self._look(words) if bits is None else bits

    def _look(self, words: str | frozenset[str]) -> int:
        """Return where one of some words stands, and keep it; a word on its own is not there."""
        at, bits = self.at, 0
        if not isinstance(words, str):
            for word in words & self.said:
                bits |= at[word]
        at[words] = bits
        return bits

    def match(self, numbers: frozenset[int]) -> list[int]:
        """Return the numbers of those of some patterns that match."""
        here = numbers & self.might
        if not here:
            return []
        matched, patterns = self.matched, self.patterns
        untried = here & self.near
        if untried:
            self.near -= untried
            for number in untried:
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
        inside, at = self.inside, self.at
        now = 0
        begun = False
        for words, gap, optional, runs in steps:
            here = at.get(words)
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
    at: dict[str | frozenset[str], int] = {}
    bit = 1
    for word in words:
        at[word] = at.get(word, 0) | bit
        bit <<= 1
    said = frozenset(words)
    strange = {word for word in said - rules.usual if word.isalpha()}
    if strange:
        at[UNKNOWN] = at.get(UNKNOWN, 0)
        for word in strange:
            at[UNKNOWN] |= at[word]
        words = tuple([UNKNOWN if word in strange else word for word in words])
        said |= {UNKNOWN}
    inside = (bit - 1) & ~starts
    lead, openings = 0, starts
    for word in said & rules.leads:
        lead |= at[word]
    for _ in range(2):
        openings |= (openings & lead) << 1 & inside
    ends, near = rules.lookup.read(words, starts, openings)
    return Places(
        at=at,
        said=said,
        inside=inside,
        openings=openings,
        lasts=(starts | bit) >> 1,
        patterns=rules.patterns,
        near=near,
        matched=ends,
        might=near.union(ends),
    )
