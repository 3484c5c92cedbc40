"""What a sentence brings up that has to be there, whoever wrote it and whatever could be seen.

A name, a test, an illness or a drug, a matter of private life, somebody else who knows or says
something, a conversation, a deed, a day of the week, what a policy asks; and, where a nurse writes
of a person, a word that neither the office nor everyday language has. What is supposed, asked for,
offered or said not to be there brings up nothing. Each is a :data:`Doubt`, to be put to what could
be seen of a case. Which doubts a sentence raises depends on its words alone, and most sentences
that are judged were written much the same before: a policy that learns says thousands of times
what it said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from healthgym.core.cache import short_text_cache
from healthgym.worlds.managed_care.borne_out import Slight, Strange
from healthgym.worlds.managed_care.claim_words import (
    STEM,
    desk_stems,
    everyday,
    free_of_policies,
    kinds,
    small,
    stands,
    stems,
)
from healthgym.worlds.managed_care.disguises import flattened
from healthgym.worlds.managed_care.named import (
    JUDGED,
    LEAST_LETTERS,
    MONTH,
    MONTH_NAMES,
    WORD,
    month_on_file,
    names_in,
)
from healthgym.worlds.managed_care.numerals import in_digits, is_number
from healthgym.worlds.managed_care.own_words import presumed
from healthgym.worlds.managed_care.seen import MONTHS, Seen
from healthgym.worlds.managed_care.short_forms import known_short
from healthgym.worlds.managed_care.word_forms import CLAUSE, NEAR, before, form

#: Says what is wrong, by what could be seen; blank if nothing is.
Doubt = Callable[[Seen], str]

#: Characters of a sentence whose doubts are kept: of such a one there are few enough.
LONGEST = 400
#: Ids of records, codes and stages ("IIIb", as "3b"): no words.
_ID = re.compile(r"\b[A-Za-z]*\d[\w.-]*|\b[A-Z]+-[A-Z0-9-]+\b|\b(?:I{1,3}|IV)[ab]\b")
#: A day is judged where days are.
DAY = re.compile(
    rf"\b(?:(?:\d+ )?(?:{MONTH_NAMES})(?: \d+(?:st|nd|rd|th)?)?,? \d+|\d+ (?:{MONTH_NAMES}))\b"
)
#: What no day is without.
DATED = re.compile("|".join(month[:3] for month in MONTHS))
#: What is denied one by one: "no cancer of colon, lung or breast".
_NONE_OF = re.compile(
    r"\b(?:no|without|denie[sd]|neither)(?: [\w'-]+){1,4}(?:, [\w'-]+(?: [\w'-]+){0,2})+,? n?or\b"
)
_SHORTLY = 40
#: Fewest words by which it is told what a policy asks.
_TELLS = 2
_YESTERDAY = "yesterday"
_NOTHING = re.compile(r"\b(?:nothing|none|nowhere|without finding|(?:found|finds?|has|is) no)\b")
#: Before a part of the body that is on one side.
_SIDE = re.compile(r"\b(left|right)(?:[ -]\w+)?[ -]$")
#: A time told from today, and how long its unit is, in days.
_AGO = re.compile(r"(?P<number>\d+|an?) (?P<unit>day|week|month|year)s? ago")
_DAYS_OF = {"day": 1, "week": 7, "month": 30, "year": 365}
#: As long as policies look back that ask for what is recent.
_LOOK_BACK = re.compile(r"\b(?:last|past|1|one) month\b")
#: A day that is told besides: "on 2026-02-12, four weeks ago".
_ON_A_DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b|\b\d{1,2}/\d{1,2}/\d{2}|(?<![\w.])0(?![\w.])")
#: Before a day that is none in particular.
_ANY = re.compile(r"\b(?:an?|any|every|each|most|next|coming) $")
#: Before a season that is one in particular.
_WHICH = re.compile(r"\b(?:last|this|past) $")
#: People whose names are deeds, too, and what is before such a name.
_DEEDS, _ARTICLE = frozenset({"judge"}), re.compile(r"\b(?:an?|the|our|your|that|this|another) $")
#: Where a sentence leaves the policy for the request.
_POLICY_ENDS = re.compile(
    r"\b(?:and|while|whereas|so)\b(?= (?:\d|i\b|we\b|"
    r"the (?:request|order|provider|practice|member|patient|case)))"
)
_CHANGED = re.compile(r"\b(?:lost|gained|put on|shed)\b")
#: What is counted of whoever has a trouble with alcohol on file, under that name or as days of use.
_DRINKING_DAYS = "drinking days"
_UNITS = frozenset({"kilogram", "kilograms", "program", "programs"})


@short_text_cache(2048, LONGEST)
def doubts_of(sentence: str, pages: tuple[str, ...]) -> tuple[Doubt, ...]:
    """Return what a sentence brings up that has to be looked up.

    Args:
        sentence: The sentence, with days as 0.
        pages: Folders of the handbook whose words are free.
    """
    worded = _of_words(_ID.sub("0", sentence).replace("_", " "), pages)
    return (*worded, *_of_policies(sentence.casefold(), pages))


@short_text_cache(2048, LONGEST)
def _of_words(plain: str, pages: tuple[str, ...]) -> tuple[Doubt, ...]:
    """Return what a sentence without ids and numbers brings up, but for what a policy asks."""
    dated = tuple(partial(month_on_file, each) for each in MONTH.findall(plain))
    # A set term names a need, and no finding: "knowledge deficit".
    text = form("set_terms").sub("", MONTH.sub("", plain).casefold())
    if text.endswith("?"):  # a question asks, but for what it takes for granted
        text = presumed(text) or text
    doubts: tuple[Doubt, ...] = (*names_in(plain, pages), *dated)
    if not form("not_claimed").search(text):
        parts = CLAUSE.split(_NONE_OF.sub(_joined, text))
        asked = text.endswith("?")
        wanted = tuple(found[0] for found in form("wanted").finditer(text))
        doubts += tuple(doubt for part in parts for doubt in _of_clause(part, wanted, asked))
    return doubts


@short_text_cache(4096, LONGEST)  # lists are made of what many lists have
def _of_clause(clause: str, wanted: tuple[str, ...], asked: bool) -> tuple[Doubt, ...]:
    """Return what a clause brings up; in a sentence that asks it states no fact.

    Args:
        clause: The clause, in small letters.
        wanted: What its sentence says is needed.
        asked: Whether its sentence asks.
    """
    words = tuple(map(_Word.of, WORD.finditer(clause)))
    if asked:
        return tuple(_accounts(clause, words, asked=True))
    return (*_facts(clause, words, wanted), *_accounts(clause, words, wanted))


def _joined(found: re.Match[str]) -> str:
    return found[0].replace(",", " or")


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


# -- facts -------------------------------------------------------------------------------------


def _facts(clause: str, words: tuple[_Word, ...], wanted: tuple[str, ...]) -> Iterator[Doubt]:
    """Yield tests, illnesses, drugs, deeds and matters of private life."""
    for name, said, start, end in words:
        if name in _UNITS and not _CHANGED.search(clause):  # many a test ends so
            continue
        if clause.strip() == "sex":  # "the same surname, sex and age"
            continue
        side = _SIDE.search(_left(clause, start)) if "parts" in said else None
        private = "private" in said
        if private or side or "clinical" in said or "conduct" in said:
            # What a sentence says is needed nobody has yet.
            needed = not private and any(name in each for each in wanted)
            yield Fact(name, private, needed, side[1] if side else "", clause, (start, end))


@dataclass(frozen=True, slots=True)
class Fact:
    """A word for something that is there or not, at a place of a clause."""

    name: str
    private: bool
    needed: bool
    side: str
    clause: str
    place: tuple[int, int]

    def __call__(self, seen: Seen) -> str:
        """Return what is wrong with it; blank if it could be seen."""
        if self._stands(seen) and (not self.side or seen.has(self.side)):
            return ""
        start, end = self.place
        after = form("absent_after").search(self.clause, end, end + NEAR)
        denied = after or before("not_there", self.clause, start)
        if denied:
            return ""
        return (Strange if self.private else Slight)("nowhere seen", self.name)

    def _stands(self, seen: Seen) -> bool:
        if self.private:
            # A home is smoke-free where smoking is on file.
            named = known_short(self.name) and seen.stands(self.name)
            named = named or (_DRINKING_DAYS in self.clause and seen.stands("alcohol"))
            return named or self.name in seen.free or seen.has_form(self.name.removesuffix("-free"))
        return self.needed or seen.stands(self.name)


# -- accounts ----------------------------------------------------------------------------------


def _accounts(
    clause: str, words: tuple[_Word, ...], wanted: tuple[str, ...] = (), *, asked: bool = False
) -> Iterator[Doubt]:
    """Yield other people, deeds, conversations and days that an account brings in.

    Who is asked after may be nobody: "is there a family history (mother, sister)?" And who is
    needed has not been there yet.
    """
    for name, said, start, end in () if asked else words:
        if any(name in each for each in wanted):
            continue
        before = _left(clause, start)
        brought = "kin" in said or ("others" in said and not _does(name, before))
        if brought or ("times" in said and not _ANY.search(before)):
            which = _WHICH.search(before) if "times" in said else None
            told = f"{which[0]}{name}" if which else name  # "last spring" is none on file
            yield partial(_mentioned, told, clause, (start, end))
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


def _does(name: str, before: str) -> bool:
    """Return whether a word tells what somebody does: who judges is no judge."""
    return name in _DEEDS and not _ARTICLE.search(before)


def _mentioned(name: str, clause: str, place: tuple[int, int], seen: Seen) -> str:
    if seen.knows(name) or (name == _YESTERDAY and 1 in seen.ago()):
        return ""
    offered = form("offered").match(clause[place[1] : place[1] + NEAR].lstrip())
    if offered or _left_open(clause, place[0]):
        return ""
    wrong = "nowhere mentioned"
    return Slight(wrong, name) if "times" in kinds(clause[slice(*place)]) else f"{wrong}: {name}"


def _wrong(what: str, seen: Seen) -> str:
    return what


def _blamed(clause: str, seen: Seen) -> str:
    return "" if seen.talked else f"laid to somebody: {clause!r}"


def _done(deed: str, told: str, seen: Seen) -> str:
    corrected = deed.startswith("withdr") and seen.corrected
    return "" if corrected or seen.stands(deed) else Strange("nowhere seen", told)


def _talked(
    clause: str, member: re.Match[str] | None, other: re.Match[str] | None, seen: Seen
) -> str:
    if member and (seen.spoken_with or (seen.wrote and member[0].startswith("you "))):
        member = None
    talked = member or (None if seen.talked else other)
    if talked is None or _left_open(clause, talked.start()):
        return ""
    return f"no conversation is on record: {clause[:60]!r}"


# -- policies, and what is said of the file ----------------------------------------------------


def _of_policies(sentence: str, pages: tuple[str, ...]) -> Iterator[Doubt]:
    """Yield what a policy is said to ask or to allow, and what is said of the file as a whole.

    What a policy asks is told in other words than its page's; what it is about stands there.
    """
    shown = repr(sentence[:60])
    if form("policy_new").search(sentence):
        yield partial(_wrong, f"not on the policy's page: {shown}")
    for found in form("policy_says").finditer(sentence):
        asks = found.start("what")
        if _NOTHING.search(sentence, max(found.start() - _SHORTLY, 0), asks):
            continue  # it "has nothing that lets"
        asked = _POLICY_ENDS.split(found["what"])[0]
        clause = CLAUSE.split(asked)[0]
        about = frozenset(_about(clause, pages)) - free_of_policies()
        told = stems(" ".join(one for one in small(clause) if not is_number(one)))
        told -= free_of_policies()
        yield partial(_asked, about, told, found["what"].strip()[:60])
    endless = form("boundless").search(sentence)
    if endless:
        yield partial(_written, endless[0], f"without an end: {shown}")
    if form("no_call").search(sentence):
        yield lambda seen: f"there was a call: {shown}" if seen.heard else ""
    if form("nothing_sent").search(sentence):
        yield lambda seen: f"documents were sent: {shown}" if seen.sent else ""
    when = form("another_time").search(sentence)
    if when and not _ON_A_DAY.search(sentence):
        yield partial(_elsewhen, when[0])
    late = form("lateness").search(sentence)
    if late:
        yield partial(_written, late[0], f"nowhere late: {shown}")
    for found in form("policy_part").finditer(sentence):
        yield partial(_written, found[0], f"no such part: {found[0]!r}")


def _about(words: str, pages: tuple[str, ...]) -> Iterator[str]:
    """Yield the beginnings of the words that name something, but for those of any office."""
    desk = desk_stems(pages)
    for word in small(words):
        plain = len(word) < LEAST_LETTERS or stands(word, desk) or everyday(word)
        if not plain or kinds(word) & JUDGED:
            yield word[:STEM]


def _asked(about: frozenset[str], told: frozenset[str], what: str, seen: Seen) -> str:
    if not about and len(told) < _TELLS:  # "than the handbook lets stand"
        return ""
    strange = about - seen.policy_stems or 2 * len(told - seen.policy_stems) > len(told)
    return f"not on the policy's page: {what!r}" if strange else ""


def _elsewhen(when: str, seen: Seen) -> str:
    """Return what is wrong with a time told from today; nothing if a policy looks back so far."""
    asked = _LOOK_BACK.search(when) and _LOOK_BACK.search(seen.policy().casefold())
    known = asked or _was_then(when, seen)
    return "" if known else _written(when, Strange("nowhere dated", when), seen)


def _was_then(when: str, seen: Seen) -> bool:
    """Return whether something on file was so long ago: "two weeks ago"."""
    told = _AGO.fullmatch(in_digits(when, small=True))
    if told is None:
        return False
    days = _DAYS_OF[told["unit"]]
    back = days * (int(told["number"]) if told["number"].isdigit() else 1)
    return any(2 * abs(back - each) <= days for each in seen.ago())


def _written(words: str, wrong: str, seen: Seen) -> str:
    """Return what is wrong with words that stand nowhere as they are."""
    return "" if flattened(words.casefold()) in seen.texts.flat else wrong


# -- what is before and behind -----------------------------------------------------------------


def _left_open(clause: str, place: int) -> bool:
    """Return whether what stands at a place is offered or denied by what is before it."""
    return any(before(name, clause, place + 1) for name in ("offered", "not_there"))


def _left(clause: str, place: int) -> str:
    return clause[max(place - NEAR, 0) : place]
