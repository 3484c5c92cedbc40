"""What is heard in a turn of a call: the subjects it raises, and how it is meant.

A subject is raised by its criterion's id, by a term of the policy's page, by what clinicians call
it, by a code or by a unit that nothing else on the page has. A subject that a clause sets aside
("I will not ask about the ejection fraction") is not raised. Words are compared by their stems, and
a slip of one letter in a longer word is forgiven.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from importlib.resources import files

from healthgym.core.borders import JsonObject
from healthgym.core.cache import short_text_cache
from healthgym.worlds.managed_care.contracts import PeerSubject
from healthgym.worlds.managed_care.peers.words import Token, alike, plain, stems, tokens

#: How far apart the words of a term may stand, beyond its own.
_SLACK = 3
#: Cues that stand on both sides of a subject.
_PAIRED = "avoided_around"


class Manner(StrEnum):
    """How a turn is meant."""

    PLAIN = "plain"
    ACCUSING = "accusing"  #: it calls the other side dishonest
    BARGAINING = "bargaining"  #: it offers something for words, or orders what to say


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What is heard in a turn.

    Attributes:
        subjects: Ids of the criteria that it raises, in the order in which they come up.
        named: Those that it names by their ids.
        manner: How it is meant.
        open: Whether it asks for whatever the other side has.
        follows: Whether it asks on, without naming what about.
        closes: Whether it takes leave, or thanks, and asks for nothing.
    """

    subjects: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    manner: Manner = Manner.PLAIN
    open: bool = False
    follows: bool = False
    closes: bool = False

    @property
    def about(self) -> tuple[str, ...]:
        """What it asks about: what is named by its id, whatever it speaks of besides."""
        return self.named or self.subjects


@dataclass(frozen=True, slots=True)
class _Match:
    subject: str
    places: frozenset[int]
    at: int


@short_text_cache(1024, 2000)
def heard(message: str, subjects: tuple[PeerSubject, ...]) -> Turn:
    """Return what is heard in a turn.

    Args:
        message: The words.
        subjects: What may come up.
    """
    words = tokens(message)
    raised = tuple(_raised(words, subjects))
    by_id = {one.id for one in subjects if any(_names(word, one) for word in words)}
    text = plain(message)
    return Turn(
        subjects=raised,
        named=tuple(name for name in raised if name in by_id),
        manner=_manner(text),
        open=not raised and _any("opens", text),
        follows=not raised and _any("follows_up", text),
        closes="?" not in message and _any("closes", text) and not _any("requests", text),
    )


# -- subjects ----------------------------------------------------------------------------------


def _raised(words: tuple[Token, ...], subjects: Sequence[PeerSubject]) -> Iterator[str]:
    said = _Said(words, _vocabulary(tuple(subjects)))
    matches: list[_Match] = []
    for subject in subjects:
        matches += _matches(subject, said)
    kept = [one for one in matches if not any(_inside(one, other) for other in matches)]
    open_ones = [one for one in kept if not _set_aside(words, one)]
    yield from dict.fromkeys(one.subject for one in sorted(open_ones, key=lambda each: each.at))


class _Said:
    """The words of a turn, and where each word of a term stands among them.

    Args:
        words: The words.
        known: The stems of all words of terms.
    """

    def __init__(self, words: tuple[Token, ...], known: frozenset[str]) -> None:
        self.words = words
        self._stems: dict[str, list[int]] = {}
        #: By the first letter, what no term has, and may be a slip of what one has.
        self._strange: dict[str, list[int]] = {}
        for place, word in enumerate(words):
            self._stems.setdefault(word.stem, []).append(place)
            if word.stem not in known:
                self._strange.setdefault(word.stem[0], []).append(place)
        self._places: dict[tuple[str, bool], tuple[int, ...]] = {}

    def asks_for_one(self, place: int) -> bool:
        """Return whether the clause of a word speaks of what is requested, and not of what was."""
        clause = self.words[place].clause
        text = " ".join(one.text for one in self.words if one.clause == clause)
        return _any("of_requests", text) and not _any("of_before", text)

    def places(self, part: str, alone: bool) -> tuple[int, ...]:
        """Return where a word of a term stands, a slip of one letter forgiven in longer words.

        Args:
            part: The word's stem.
            alone: Whether it is the whole term.
        """
        key = part, alone
        found = self._places.get(key)
        if found is None:
            same = [at for at in self._stems.get(part, ()) if _is(self.words[at], part)]
            # An infection is no slip for an injection, where both are spoken of.
            least = 7 if alone else 5
            slips = self._strange.get(part[0], ())
            same += [at for at in slips if alike(self.words[at].stem, part, least=least)]
            found = self._places[key] = tuple(sorted(same))
        return found


def _inside(one: _Match, other: _Match) -> bool:
    """Return whether a term is part of a longer one of another subject."""
    return one.subject != other.subject and one.places < other.places


def _names(word: Token, subject: PeerSubject) -> bool:
    """Return whether a word is the id of a subject, or the number of its criterion."""
    number = subject.id.lstrip("CG-").lstrip("0")
    return word.criterion == number or word.text == subject.id.lower()


def _matches(subject: PeerSubject, said: _Said) -> Iterator[_Match]:
    for place, word in enumerate(said.words):
        if _names(word, subject):
            yield _Match(subject.id, frozenset({place}), place)
    for term in _terms(subject.terms):
        for found in _found(term, said):
            # Who is calling about which scan has not asked after an earlier one.
            if not (subject.again and said.asks_for_one(min(found))):
                yield _Match(subject.id, found, min(found))


@lru_cache(maxsize=256)
def _vocabulary(subjects: tuple[PeerSubject, ...]) -> frozenset[str]:
    """Return every word of a term."""
    return frozenset(
        part for subject in subjects for term in _terms(subject.terms) for part in term
    )


@lru_cache(maxsize=4096)
def _terms(terms: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    return tuple(dict.fromkeys(found for term in terms if (found := stems(term))))


def _found(term: tuple[str, ...], said: _Said) -> Iterator[frozenset[int]]:
    """Yield the places of a term's words, wherever they stand near each other."""
    everywhere: list[tuple[int, ...]] = []
    for part in term:
        everywhere.append(said.places(part, len(term) == 1))
        if not everywhere[-1]:
            return
    for first in everywhere[0] if len(term) == 1 else sorted(set().union(*everywhere)):
        clause, last = said.words[first].clause, first + len(term) + _SLACK
        near = [next((at for at in some if first <= at < last), None) for some in everywhere]
        found = frozenset(at for at in near if at is not None)
        if None not in near and all(said.words[at].clause == clause for at in found):
            yield found


def _is(word: Token, part: str) -> bool:
    """Return whether a word with the stem of a term's word is that word."""
    # "The pt has" is a patient; a therapy is written in capitals, or follows no article.
    return not (part == "pt" and word.after_article and not word.capital)


def _set_aside(words: tuple[Token, ...], match: _Match) -> bool:
    """Return whether the clause in which a subject comes up sets it aside."""
    first, last = min(match.places), max(match.places)
    clause = words[first].clause
    before = " ".join(one.text for one in words[:first] if one.clause == clause)
    after = " ".join(one.text for one in words[last + 1 :] if one.clause == clause)
    if _any("kept_after_all", before):
        return False
    if _any("avoided_before", before):
        return True
    return any(bool(left.search(before) and right.search(after)) for left, right in _around())


# -- manner --------------------------------------------------------------------------------------


def _manner(text: str) -> Manner:
    if _any("bargains", text):
        return Manner.BARGAINING
    if _any("accuses", text) and not _any("not_accusing", text):
        return Manner.ACCUSING
    return Manner.PLAIN


def _any(name: str, text: str) -> bool:
    return _cues()[name].search(text) is not None


@cache
def _cues() -> Mapping[str, re.Pattern[str]]:
    """Return what finds one of the cues of each kind."""
    cues = {name: found for name, found in _table().items() if name != _PAIRED}
    return {
        name: re.compile("|".join(f"(?:{cue})" for cue in found)) for name, found in cues.items()
    }


@cache
def _around() -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    return tuple((re.compile(left), re.compile(right)) for left, right in _table()[_PAIRED])


@cache
def _table() -> JsonObject:
    read: JsonObject = json.loads((files(__package__) / "data" / "cues.json").read_text("utf-8"))
    return read
