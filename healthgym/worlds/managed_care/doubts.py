"""What a sentence brings up that has to be there, whoever wrote it and whatever could be seen.

A name, a test, an illness or a drug, a matter of private life, somebody else who knows or says
something, a conversation, a deed, a day of the week, what a policy asks; and a word that neither
the office nor everyday language has. What is supposed, asked for, offered or said not to be there
brings up nothing. Each is a :data:`Doubt`, to be put to what could be seen of a case. Which doubts
a sentence raises depends on its words alone, and most sentences that are judged were written much
the same before: a policy that learns says thousands of times what it said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from healthgym.core.cache import short_text_cache
from healthgym.worlds.managed_care.claim_words import (
    contracted,
    desk_stems,
    desk_words,
    everyday,
    free_of_policies,
    kind,
    kinds,
    small,
    stands,
    stems,
)
from healthgym.worlds.managed_care.disguises import flattened
from healthgym.worlds.managed_care.own_words import presumed
from healthgym.worlds.managed_care.seen import MONTHS, Seen
from healthgym.worlds.managed_care.word_forms import CLAUSE, form

#: Says what is wrong, by what could be seen; blank if nothing is.
Doubt = Callable[[Seen], str]

#: Characters of a sentence whose doubts are kept: of such a one there are few enough.
LONGEST = 400
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*[A-Za-z]|[A-Za-z]")
#: Ids of records, codes and stages ("IIIb", as "3b"): no words.
_ID = re.compile(r"\b[A-Za-z]*\d[\w.-]*|\b[A-Z]+-[A-Z0-9-]+\b|\b(?:I{1,3}|IV)[ab]\b")
_NAMES = "|".join((*MONTHS, *(rf"{month[:3]}\b\.?" for month in MONTHS)))
#: A day is judged where days are.
DAY = re.compile(rf"\b(?:(?:\d+ )?(?:{_NAMES})(?: \d+(?:st|nd|rd|th)?)?,? \d+|\d+ (?:{_NAMES}))\b")
#: What no day is without.
DATED = re.compile("|".join(month[:3] for month in MONTHS))
_MONTH = re.compile(rf"\b(?:in|since|last|of|until|early|late) ({_NAMES})\b")
#: Kinds of words of which each sentence is asked how it speaks of them.
_JUDGED = frozenset({"clinical", "conduct", "kin", "others", "private", "times"})
#: The same, with words that join others, where what is said of somebody is looked through.
_PASSED = _JUDGED | {"joining"}
#: The same, with words for what an office gives, of which somebody who needs it has had nothing.
_NEEDED = _PASSED | {"given"}
#: Before a part of the body that is on one side.
_SIDE = re.compile(r"\b(left|right)(?:[ -]\w+)?[ -]$")
#: Before a day that is none in particular.
_ANY = re.compile(r"\b(?:an?|any|every|each|most|next|coming) $")
#: Where a sentence leaves the policy for the request.
_POLICY_ENDS = re.compile(r"\b(?:and|while|whereas|so)\b(?= (?:\d|the (?:request|order)|i\b|we\b))")
#: How far from a word what denies or offers it is looked for, in characters: further away it is
#: about something else, and each word of a very long clause would go through all of it.
_NEAR = 240
_LEAST_LETTERS = 4


@dataclass(frozen=True, slots=True)
class Claims:
    """What a sentence brings up.

    Attributes:
        doubts: What of it has to be looked up.
        small: The sentence in small letters; of a question what it takes for granted.
        claims_nothing: Whether it is one that supposes, asks or denies.
    """

    doubts: tuple[Doubt, ...]
    small: str
    claims_nothing: bool


@short_text_cache(2048, LONGEST)
def claims_of(sentence: str, pages: tuple[str, ...]) -> Claims:
    """Return what a sentence brings up.

    Args:
        sentence: The sentence, with days as 0.
        pages: Folders of the handbook whose words are free.
    """
    worded = _of_words(_ID.sub("0", sentence).replace("_", " "), pages)
    doubts = (*worded.doubts, *_of_policies(sentence.casefold()))
    return Claims(doubts, worded.small, worded.claims_nothing)


@short_text_cache(2048, LONGEST)
def _of_words(plain: str, pages: tuple[str, ...]) -> Claims:
    """Return what a sentence without ids and numbers brings up, but for what a policy asks."""
    dated = tuple(partial(_dated, each) for each in _MONTH.findall(plain))
    # A set term names a need, and no finding: "knowledge deficit".
    text = form("set_terms").sub("", _MONTH.sub("", plain).casefold())
    if text.endswith("?"):  # a question asks, but for what it takes for granted
        text = presumed(text) or text
    doubts: tuple[Doubt, ...] = (*_names(plain, pages), *dated)
    nothing = form("not_claimed").search(text) is not None
    if not nothing:
        parts = CLAUSE.split(text)
        asked = text.endswith("?")
        wanted = tuple(found[0] for found in form("wanted").finditer(text))
        doubts += tuple(doubt for part in parts for doubt in _of_clause(part, wanted, asked, pages))
    return Claims(doubts, text, nothing)


@short_text_cache(4096, LONGEST)  # lists are made of what many lists have
def _of_clause(
    clause: str, wanted: tuple[str, ...], asked: bool, pages: tuple[str, ...]
) -> tuple[Doubt, ...]:
    """Return what a clause brings up; in a sentence that asks it states no fact.

    Args:
        clause: The clause, in small letters.
        wanted: What its sentence says is needed.
        asked: Whether its sentence asks.
        pages: Folders of the handbook whose words are free.
    """
    words = tuple(map(_Word.of, _WORD.finditer(clause)))
    if asked:
        return tuple(_accounts(clause, words))
    facts = (*_facts(clause, words, wanted), *_strange(clause, words, wanted, pages))
    return (*facts, *_accounts(clause, words))


class _Word(NamedTuple):
    """A word of a clause, its kinds, and where it stands."""

    name: str
    kinds: frozenset[str]
    start: int
    end: int

    @classmethod
    def of(cls, found: re.Match[str]) -> _Word:
        name = found[0].removesuffix("'s")
        return cls(name, kinds(name), *found.span())


@short_text_cache(2048, LONGEST)
def words_of_person(sentence: str, pages: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words that a sentence says of the patient and that an office does not print.

    Args:
        sentence: The sentence, in small letters, with "the patient" for a name.
        pages: Folders of the handbook whose words are free.
    """
    desk, words = desk_stems(pages), []
    for clause in CLAUSE.split(sentence):
        told = form("of_person").match(clause.strip())
        what = (told["what"] or told["deed"]) if told else ""
        if not what or form("allowed").match(what):
            continue
        free = _NEEDED if what.startswith("needs ") else _PASSED
        for word in small(what):
            passed = len(word) < _LEAST_LETTERS or contracted(word) or kinds(word) & free
            if not passed and not stands(word, desk):
                words.append(word)
    return tuple(words)


# -- names and days ----------------------------------------------------------------------------


def _names(sentence: str, pages: tuple[str, ...]) -> Iterator[Doubt]:
    """Yield names, and abbreviations in capitals, that no office has."""
    words = list(_WORD.finditer(sentence))
    shouted = sum(word[0].isupper() and len(word[0]) > 1 for word in words) * 2 > len(words)
    for word in () if shouted else words[1:]:
        if not word[0][0].isupper():
            continue
        name = word[0].casefold().removesuffix("'s")
        opens = sentence[max(word.start() - 2, 0) : word.start()].rstrip().endswith((":", "(", '"'))
        if opens or kind("known_names", name.split("'")[0]):  # "I'd"
            continue
        if name not in desk_words(pages):
            yield partial(_named, word[0], name)


def _named(word: str, name: str, seen: Seen) -> str:
    known = seen.has(name) or all(map(seen.has, name.split("-")))
    return "" if known else f"nowhere named: {word}"


def _dated(month: str, seen: Seen) -> str:
    return "" if month in seen.months() else f"nowhere dated: {month}"


# -- facts -------------------------------------------------------------------------------------


def _facts(clause: str, words: tuple[_Word, ...], wanted: tuple[str, ...]) -> Iterator[Doubt]:
    """Yield tests, illnesses, drugs, deeds and matters of private life."""
    for name, said, start, end in words:
        side = _SIDE.search(_left(clause, start)) if "parts" in said else None
        private = "private" in said
        if private or side or "clinical" in said or "conduct" in said:
            # What a sentence says is needed nobody has yet.
            needed = not private and any(name in each for each in wanted)
            yield _Fact(name, private, needed, side[1] if side else "", clause, (start, end))


@dataclass(frozen=True, slots=True)
class _Fact:
    """A word for something that is there or not, at a place of a clause."""

    name: str
    private: bool
    needed: bool
    side: str
    clause: str
    place: tuple[int, int]

    def __call__(self, seen: Seen) -> str:
        if self._stands(seen) and (not self.side or seen.has(self.side)):
            return ""
        start, end = self.place
        after = form("absent_after").search(self.clause, end, end + _NEAR)
        denied = after or _before("not_there", self.clause, start)
        return "" if denied else f"nowhere seen: {self.name}"

    def _stands(self, seen: Seen) -> bool:
        if self.private:
            return self.name in seen.free or seen.has_form(self.name)
        return self.needed or seen.stands(self.name)


def _strange(
    clause: str, words: tuple[_Word, ...], wanted: tuple[str, ...], pages: tuple[str, ...]
) -> Iterator[Doubt]:
    """Yield words that neither the office nor everyday language has.

    Where somebody is asked for something, other words are needed than on file.
    """
    desk = desk_stems(pages)
    for word, said, *_ in words:
        if len(word) < _LEAST_LETTERS or stands(word, desk) or everyday(word):
            continue
        if not said & _JUDGED and not any(word in each for each in wanted):
            yield partial(_unseen, word, clause)


def _unseen(word: str, clause: str, seen: Seen) -> str:
    if seen.stands(word) or seen.has_form(word):
        return ""
    denied = _before("not_there", clause, clause.casefold().find(word))
    return "" if denied else f"nowhere seen: {word}"


# -- accounts ----------------------------------------------------------------------------------


def _accounts(clause: str, words: tuple[_Word, ...]) -> Iterator[Doubt]:
    """Yield other people, deeds, conversations and days that an account brings in."""
    for name, said, start, end in words:
        brought = "kin" in said or "others" in said
        if brought or ("times" in said and not _ANY.search(_left(clause, start))):
            yield partial(_mentioned, name, clause, (start, end))
    if form("of_others").search(clause):
        yield partial(_wrong, f"of somebody else: {clause[:60]!r}")
    if form("blame").search(clause):
        yield partial(_blamed, clause[:60])
    for done in form("patient_deeds").finditer(clause):
        deed = (done["deed"] or done["done"]).split()[0]
        if not _left_open(clause, done.start()):
            yield partial(_done, deed, done[0])
    member = form("talked_with_member").search(clause)
    other = form("talked").search(clause)
    if member or other:
        yield partial(_talked, clause, member, other)


def _mentioned(name: str, clause: str, place: tuple[int, int], seen: Seen) -> str:
    if seen.knows(name):
        return ""
    offered = form("offered").match(clause[place[1] : place[1] + _NEAR].lstrip())
    return "" if offered or _left_open(clause, place[0]) else f"nowhere mentioned: {name}"


def _wrong(what: str, seen: Seen) -> str:
    return what


def _blamed(clause: str, seen: Seen) -> str:
    return "" if seen.talked else f"laid to somebody: {clause!r}"


def _done(deed: str, told: str, seen: Seen) -> str:
    return "" if seen.stands(deed) else f"nowhere seen: {told}"


def _talked(
    clause: str, member: re.Match[str] | None, other: re.Match[str] | None, seen: Seen
) -> str:
    if member and seen.wrote and member[0].startswith("you "):
        member = None
    talked = member or (None if seen.talked else other)
    if talked is None or _left_open(clause, talked.start()):
        return ""
    return f"no conversation is on record: {clause[:60]!r}"


# -- policies, and what is said of the file ----------------------------------------------------


def _of_policies(sentence: str) -> Iterator[Doubt]:
    """Yield what a policy is said to ask or to allow, and what is said of the file as a whole."""
    shown = repr(sentence[:60])
    if form("policy_new").search(sentence):
        yield partial(_wrong, f"not on the policy's page: {shown}")
    for found in form("policy_says").finditer(sentence):
        asked = _POLICY_ENDS.split(found["what"])[0]
        told = stems(CLAUSE.split(asked)[0]) - free_of_policies()
        yield partial(_asked, told, found["what"].strip()[:60])
    endless = form("boundless").search(sentence)
    if endless:
        yield partial(_written, endless[0], f"without an end: {shown}")
    if form("no_call").search(sentence):
        yield lambda seen: f"there was a call: {shown}" if seen.heard else ""
    if form("nothing_sent").search(sentence):
        yield lambda seen: f"documents were sent: {shown}" if seen.sent else ""
    when = form("another_time").search(sentence)
    if when:
        yield partial(_written, when[0], f"nowhere dated: {when[0]}")
    late = form("lateness").search(sentence)
    if late:
        yield partial(_written, late[0], f"nowhere late: {shown}")
    for found in form("policy_part").finditer(sentence):
        yield partial(_written, found[0], f"no such part: {found[0]!r}")


def _asked(stems_told: frozenset[str], what: str, seen: Seen) -> str:
    return f"not on the policy's page: {what!r}" if stems_told - seen.policy_stems else ""


def _written(words: str, wrong: str, seen: Seen) -> str:
    """Return what is wrong with words that stand nowhere as they are."""
    return "" if flattened(words.casefold()) in seen.texts.flat else wrong


# -- what is before and behind -----------------------------------------------------------------


def _left_open(clause: str, place: int) -> bool:
    """Return whether what stands at a place is offered or denied by what is before it."""
    return any(_before(name, clause, place + 1) for name in ("offered", "not_there"))


def _before(name: str, clause: str, place: int) -> re.Match[str] | None:
    """Return where a form stands near before a place."""
    return form(name).search(clause, max(place - _NEAR, 0), place)


def _left(clause: str, place: int) -> str:
    return clause[max(place - _NEAR, 0) : place]
