"""Medicines that are named in a message: those of the vocabulary, and words that must be one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import takewhile

from healthgym.worlds.managed_care.charts.knowledge import brands_of
from healthgym.worlds.managed_care.conversation.ears.grammar import Grammar, grammar
from healthgym.worlds.managed_care.conversation.ears.patterns import UNKNOWN
from healthgym.worlds.managed_care.conversation.ears.reading import Reading
from healthgym.worlds.managed_care.conversation.ears.words import heard_words

#: Letters of the shortest name of a medicine that is told by where it stands.
_SHORTEST = 5
#: What joins the names of a list.
_ALSO = frozenset({"and", "or"})
#: What may stand between them besides.
_THE = frozenset({"the", "your", "my", "with"})
#: What becomes of a medicine, behind its name, and how far behind.
_BECOMES = frozenset(
    {"slip", "slips", "slipped", "slipping", "left", "leave", "forget", "forgotten", "skip"}
    | {"skipped", "miss", "missed", "take", "taking", "taken", "stop", "stopped"}
)
_BEHIND = 6


def medicines_of(
    reading: Reading, known: Grammar, own: tuple[str, ...] = ()
) -> Iterator[tuple[str, int]]:
    """Return the medicines that are named, in small letters, and where.

    Args:
        reading: The message.
        known: The grammar.
        own: Names of the medicines of who listens, with or without a dose; they know them by these,
            or by the first words of one.
    """
    words, breaks = reading.words.words, reading.words.breaks
    names = tuple(way for medicine in named(words, own) for way in _own(medicine))
    said, own_said = reading.places.said, bool(names)
    if not own_said and UNKNOWN not in said and said.isdisjoint(known.drugs):
        return
    telling = said - known.spelling.known | said & known.drugs
    past = last = 0
    for place, word in enumerate(words):
        if place < past or not (own_said or word in telling):
            continue
        # Looked at for each word: who has none of the first words has no name to hear.
        name, end = "", place
        if own_said:
            listed = last > 0 and _joined(words[last:place])
            name, end = _of_own(words, place, names, known, listed=listed)
        if end == place and word in telling:
            end = _end(words, breaks, place, known)
            name = " ".join(words[place:end])
        if end > place:
            yield name, (1 << end) - (1 << place)
            last = end
        past = end


def named(words: tuple[str, ...], own: tuple[str, ...]) -> tuple[str, ...]:
    """Return those of one's own medicines that may be named: the first word of the name is there.

    Args:
        words: The words of a message.
        own: Names of medicines.
    """
    if _first_words(own).isdisjoint(words):
        return ()
    return tuple(name for name in own if not _first_words((name,)).isdisjoint(words))


@lru_cache(maxsize=4096)
def _first_words(own: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word for name in own for _, words in _own(name) for word in words[:1])


@lru_cache(maxsize=4096)
def _own(medicine: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return a name up to the dose, in small letters, with its words as they may be heard."""
    parts = medicine.casefold().replace(",", " ").split()
    name = " ".join(takewhile(lambda word: not word[0].isdigit(), parts))
    # A medicine of several in one is said with an "and", and any by what stands on the box.
    *first, last = name.split("/")
    joined = f"{' '.join(first)} and {last}" if first else name
    ways = dict.fromkeys((name, joined, *map(str.casefold, brands_of(name))))
    return tuple((name, heard_words(way, grammar().spelling).words) for way in ways)


def _of_own(
    words: tuple[str, ...],
    place: int,
    names: tuple[tuple[str, tuple[str, ...]], ...],
    known: Grammar,
    *,
    listed: bool,
) -> tuple[str, int]:
    """Return which of one's own medicines is named at a place, and where its name ends.

    Args:
        words: The words of the message.
        place: The place.
        names: One's own names, with their words.
        known: The grammar.
        listed: Whether the name of a medicine stands before it, as in a list.
    """
    short: set[str] = set()
    for name, whole in names:
        if not whole or words[place] != whole[0]:
            continue
        if words[place : place + len(whole)] == whole:
            return name, place + len(whole)
        # What is short for a longer name is no word of every day, unless it is taken: "your
        # potassium" is in the blood, too.
        first = whole[0]
        taken = listed or _is_taken(place, words, known)
        taken = taken or not _BECOMES.isdisjoint(words[place + 1 : place + _BEHIND])
        if (
            first in known.medicines
            or first not in known.spelling.known
            or (first in known.leaders and taken)
        ):
            short.add(name)
    return (short.pop(), place + 1) if len(short) == 1 else ("", place)


def _joined(between: tuple[str, ...]) -> bool:
    """Return whether words between two names make a list of them: "metformin, the potassium"."""
    links = [word for word in between if word in _ALSO]
    return len(links) < 2 and all(word in _ALSO or word in _THE for word in between)


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
    return len(word) >= _SHORTEST and _is_taken(place, words, known)


def _is_taken(place: int, words: tuple[str, ...], known: Grammar) -> bool:
    """Return whether a word says of what follows at a place that it is taken."""
    before = place - 1
    while before >= 0 and words[before] in known.passes:
        before -= 1
    return before >= 0 and words[before] in known.takes
