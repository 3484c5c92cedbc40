"""Medicines that are named in a message: those of the vocabulary, and words that must be one."""

from __future__ import annotations

from collections.abc import Iterator

from healthgym.worlds.managed_care.conversation.ears.grammar import Grammar
from healthgym.worlds.managed_care.conversation.ears.patterns import UNKNOWN
from healthgym.worlds.managed_care.conversation.ears.reading import Reading

#: Letters of the shortest name of a medicine that is told by where it stands.
_SHORTEST = 5


def medicines_of(reading: Reading, known: Grammar) -> Iterator[tuple[str, int]]:
    """Return the medicines that are named, in small letters, and where.

    Args:
        reading: The message.
        known: The grammar.
    """
    said = reading.places.said
    if UNKNOWN not in said and said.isdisjoint(known.drugs):
        return
    words, breaks = reading.words.words, reading.words.breaks
    place = 0
    while place < len(words):
        end = _end(words, breaks, place, known)
        if end > place:
            yield " ".join(words[place:end]), (1 << end) - (1 << place)
        place = max(end, place + 1)


def _end(words: tuple[str, ...], breaks: tuple[int, ...], place: int, known: Grammar) -> int:
    """Return the end of the name that begins at a place; the place itself if none does."""
    for size in (3, 2):
        run = words[place : place + size]
        if run[0] not in known.leaders or any(breaks[place + 1 : place + size]):
            continue
        if " ".join(run) in known.medicines:
            return place + size
    return place + _is(place, words, known)


def _is(place: int, words: tuple[str, ...], known: Grammar) -> bool:
    """Return whether a word names a medicine."""
    word = words[place]
    if word in known.medicines:
        return True
    if word in known.spelling.known or word in known.others or not word.isalpha():
        return False
    if len(word) > _SHORTEST and word.endswith(known.endings):
        return True
    before = place - 1
    while before >= 0 and words[before] in known.passes:
        before -= 1
    return len(word) >= _SHORTEST and before >= 0 and words[before] in known.takes
