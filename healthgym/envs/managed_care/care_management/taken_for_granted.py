"""What a text takes for granted, be it that it tells, aims, plans or supposes.

"If the ex-husband comes back drunk" supposes a visit, and takes a marriage, a divorce and a first
time for granted. Whoever is spoken of as somebody in particular, what is called by "the", what is
to happen again or to stop, what somebody did, and what a bad word says of the patient have to stand
on file or to have been said. What is new, possible or anybody's ("a neighbor", "any fall", "limit
alcohol") is free.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from functools import partial
from typing import NamedTuple

from healthgym.core.cache import short_text_cache
from healthgym.envs.managed_care.care_management.claims import SENTENCE
from healthgym.envs.managed_care.care_management.clauses import (
    NEAR,
    Clause,
    Speaks,
    Word,
    words_of,
)
from healthgym.envs.managed_care.care_management.granted_words import (
    LONGEST,
    PAGES,
    form,
    is_done,
    is_ill,
    is_matter,
    is_past,
    is_person,
    is_plain,
    is_strange,
    is_thing,
    own,
    same,
)
from healthgym.worlds.managed_care.borne_out import Slight
from healthgym.worlds.managed_care.claim_words import desk_words, kinds
from healthgym.worlds.managed_care.disguises import flattened
from healthgym.worlds.managed_care.doubts import Doubt, doubts_of
from healthgym.worlds.managed_care.numerals import SMALL_NUMBERS, in_digits
from healthgym.worlds.managed_care.seen import Seen
from healthgym.worlds.managed_care.short_forms import known_short
from healthgym.worlds.managed_care.word_forms import untitled

#: Letters of a word that may be misspelled, and how near it has to be to the right one.
_SPELLED, _ALIKE = range(6, 21), 0.87
#: Fewest words of a reason that stand nowhere if it is made up, and not just put otherwise.
_MADE_UP = 2
#: Words for people that are deeds, too.
_DONE = frozenset({"coach", "guard", "guide", "judge", "nurse", "partner"})
#: What an illness does, and a person, too, and after what it is the illness.
_FITS, _FIT = frozenset({"attack", "attacks"}), re.compile(r"\b(?:heart|panic|asthma|gout) $")
#: What says that a deed came to nothing, "I saw no result", or that a talk ended: "broke off".
_NONE = re.compile(r" (?:no|none|nothing|nobody|off|on to)\b")
#: What offers something as one thing of many: "an evening with the stars, maybe".
_MAYBE = re.compile(r"\b(?:maybe|perhaps|such as|for example|e\.?g\.?|for instance)(?!\w)")
#: What is measured in two positions, and what somebody was by trade: their trade is looked up.
_TERMS = re.compile(
    r"\blying(?= ?(?:/|and|to|-) ?(?:standing|sitting)| down\b| flat\b| bp\b| blood\b)|"
    r"\bex(?=[ -](?:[a-z]+ )?[a-z]*(?:ers?|ors?|ists?|nurses?|clerks?|cooks?|guards?|men|man)\b)|"
    r"(?<=\bown )affairs?\b",
    re.I,
)
#: What is refused in a talk.
_OF_TALK = re.compile(
    r" (?:to (?:answer|talk|go on|say|be asked|discuss)|(?:any |all |the |a |my |our |those |"
    r"these |further |other |last |first |mood |two |screening )*"
    r"(?:questions?|questionnaires?|screen\w*|call|offers?|rest|assessment|program(?:me)?))\b"
)
#: What a caller says of what they said themselves.
_OWN_WORDS = frozenset({"offered", "promised"})
#: Words that are the past of themselves.
_SAME_IN_PAST = frozenset({"beat", "cut", "hit", "hurt", "quit"})


#: What is said of a word that is taken for granted, and kinds of words that no sentence bears out.
_WRONG = "takes for granted"
_HEAVY = frozenset(
    {"bare", "befalls", "event", "gift", "grave", "misdeed", "past", "thing", "trait"}
)


class Granted(NamedTuple):
    """What a text takes for granted.

    Attributes:
        doubts: What of it has to be looked up.
        again: Clauses by which something happens again, or goes on.
    """

    doubts: tuple[Doubt, ...]
    again: tuple[str, ...] = ()


#: What nearly all texts take for granted.
NOTHING = Granted(())


def taken_for_granted(text: str, speaks: Speaks) -> Granted:
    """Return what a text takes for granted.

    Args:
        text: The text.
        speaks: How it speaks.
    """
    return NOTHING if is_plain(text) else _of_text(text, speaks)  # nearly all are


@short_text_cache(2048, LONGEST)
def _of_text(text: str, speaks: Speaks) -> Granted:
    """Return what the sentences of a text take for granted."""
    clean = _TERMS.sub(" ", untitled(text.replace("’", "'")))
    read = [_of_sentence(each.strip(), speaks) for each in SENTENCE.findall(clean)]
    return Granted(
        tuple(doubt for each in read for doubt in each.doubts),
        tuple(clause for each in read for clause in each.again),
    )


@short_text_cache(4096, LONGEST)
def _of_sentence(sentence: str, speaks: Speaks) -> Granted:
    """Return what a sentence takes for granted."""
    small = " ".join(sentence.casefold().split())
    if is_plain(small):
        return NOTHING
    doubts: list[Doubt] = [*_named(sentence), *_of_the_desk(small, speaks)]
    again: list[str] = []
    known: set[str] = set()
    for clause in Clause.all_of(small, speaks):
        doubts += (*_of_words(clause, known), *_of_misdeeds(clause), *_of_deeds(clause))
        if clause.repeated:
            again.append(clause.text)
    for fact in form("factive").finditer(small):
        if speaks is Speaks.TELLS:  # which is read for its claims anyway
            doubts += _of_reason(fact["what"])
        else:
            doubts += doubts_of(fact["what"].rstrip("."), PAGES)
    return Granted(tuple(doubts), tuple(again))


# -- words -------------------------------------------------------------------------------------


def _of_words(clause: Clause, known: set[str]) -> Iterator[Doubt]:
    """Yield who and what the words of a clause take for granted.

    Args:
        clause: The clause.
        known: Words of the sentence that were read before; these are added.
    """
    for place, word in enumerate(clause.words):
        name, said = word.name, word.own
        definite = word.definite and name not in known
        if name in _DONE and clause.before(word).endswith("to "):
            continue  # "for the prescriber to judge"
        if name in _FITS and _FIT.search(clause.before(word)):
            continue  # an illness, which is read as one
        if name == "chief" and clause.behind(word).lstrip().startswith(("worry", "concern")):
            continue
        known.add(name)
        if said & {"trait", "gift"}:
            yield partial(_unsaid, name)
        elif is_person(name, definite=word.definite):
            if definite or not _anybody(clause, word):
                yield partial(_unknown, name)
        elif "grave" in said:
            possible = _possible(clause, word, clause.kinds_at(place + 1))
            if definite or clause.repeated or not possible:
                yield partial(_unsaid, name)
        elif "work" in said and form("owned").search(clause.before(word)):
            yield partial(_unknown, name)
        elif "bare" in said and form("place").search(clause.before(word)):
            yield partial(_unsaid, name)
        elif "topic" not in clause.kinds_at(place + 1):  # "the flu shot", "the fire department"
            yield from _of_matters(clause, word, definite)


def _of_matters(clause: Clause, word: Word, definite: bool) -> Iterator[Doubt]:
    """Yield the deed, event, thing, illness or strange word that is taken for granted."""
    name, said = word.name, word.own
    if "misdeed" in said and clause.repeated:
        yield partial(_unsaid, name)
    elif is_matter(name):
        again = clause.repeated and "thing" not in said
        if definite or again or _is_said(clause, word):
            yield partial(_unsaid, name)
    elif is_ill(name):
        if (definite and not clause.possible) or clause.repeated:
            yield partial(_unsaid, name)
    elif definite and is_strange(name) and not _MAYBE.search(clause.text):
        yield partial(_unwritten, name)


def _possible(clause: Clause, word: Word, following: frozenset[str] = frozenset()) -> bool:
    """Return whether a word for what is bad asks for it, warns of it, or supposes it of anybody."""
    asked = form("asked_of").search(clause.lead + clause.before(word))  # of a list as a whole
    befalls = "befalls" in word.own and (clause.supposed or "topic" in following)
    return asked is not None or befalls


def _is_said(clause: Clause, word: Word) -> bool:
    """Return whether a private matter is spoken of as one that there is."""
    if "thing" in word.own:
        return form("counted").search(clause.before(word)) is not None
    plans = clause.speaks in {Speaks.AIMS, Speaks.PLANS} and "event" not in word.own
    return plans and not _possible(clause, word)


def _anybody(clause: Clause, word: Word) -> bool:
    """Return whether somebody is spoken of who may be anybody, or nobody."""
    behind = clause.behind(word)
    if clause.of_anybody or form("told_of").match(behind):
        return clause.of_anybody
    if form("some").search(clause.before(word)) or form("or_others").match(behind):
        return True
    several = word.name == "children" or (word.name.endswith("s") and word.name[-2:] != "ss")
    return several or clause.sentence.endswith("?")


def _unknown(name: str, seen: Seen) -> str:
    told = seen.knows(name) or any(map(seen.has, same().get(name, ())))
    return "" if told else f"{_WRONG}: {name}"


def _unsaid(name: str, seen: Seen) -> str:
    # By its beginning an illness is known; "brothel" is not by "brother".
    told = (
        name in seen.free
        or seen.has_form(name)
        or any(map(seen.has, same().get(name, ())))
        or ((is_ill(name) or known_short(name)) and seen.stands(name))
    )
    if told:
        return ""
    return f"{_WRONG}: {name}" if own(name) & _HEAVY else Slight(_WRONG, name)


def _untold(words: tuple[str, ...], seen: Seen) -> str:
    strange = [word for word in words if not (seen.stands(word) or seen.has_form(word))]
    return f"{_WRONG}: {', '.join(strange)}" if len(strange) >= _MADE_UP else ""


def _uncounted(words: str, seen: Seen) -> str:
    """Return what is wrong with a number of times or days that stands nowhere, in either form."""
    often, _, what = words.partition(" ")
    told = {words, in_digits(words, small=True)}
    if often.isdigit() and int(often) < len(SMALL_NUMBERS):
        told.add(f"{SMALL_NUMBERS[int(often)]} {what}")
    if any(flattened(each) in seen.texts.flat for each in told):
        return ""
    # "I miss about three a week."
    weekly = what == "times" and re.search(
        rf"\b{re.escape(often)} (?:[a-z]+ ){{0,2}}week", seen.texts.flat
    )
    return "" if weekly else Slight("nowhere", words)


def _unwritten(name: str, seen: Seen) -> str:
    wrong = _unsaid(name, seen)
    return "" if wrong and _is_misspelled(name) else wrong


@short_text_cache(2048, LONGEST)
def _is_misspelled(name: str) -> bool:
    """Return whether a strange word is one of the office with a slip in it."""
    return len(name) in _SPELLED and bool(get_close_matches(name, desk_words(PAGES), 1, _ALIKE))


# -- deeds -------------------------------------------------------------------------------------


def _of_reason(reason: str) -> Iterator[Doubt]:
    """Yield the words of a reason: why something is as it is stands on file, or nobody knows it."""
    told = (word.name for word in words_of(reason) if is_thing(word.name))
    words = tuple(word for word in dict.fromkeys(told) if "joining" not in kinds(word))
    if len(words) >= _MADE_UP:
        yield partial(_untold, words)


def _of_misdeeds(clause: Clause) -> Iterator[Doubt]:
    """Yield what somebody is said to do, is to stop, or is asked about, that nobody should do."""
    for name in ("misdeeds", "stops", "hidden"):
        for found in form(name).finditer(clause.text):
            if _OF_TALK.match(clause.text, found.end("done")):
                continue  # who refuses a question does nothing wrong
            supposed = name == "misdeeds" and clause.supposed
            if not supposed and own(found["done"]) & {"misdeed", "grave"}:
                yield partial(_unsaid, found["done"])


def _of_deeds(clause: Clause) -> Iterator[Doubt]:
    """Yield what somebody is taken to have done, or to do for a living."""
    for found in form("told_past").finditer(clause.text):
        behind = clause.text[found.end() + len(found["done"]) :]
        as_said = found["who"] in {"i", "we"} or clause.text[: found.start()].endswith("as ")
        if as_said and found["done"] in _OWN_WORDS:
            continue  # what is promised on a call is judged there
        if _NONE.match(behind) or _OF_TALK.match(behind):
            continue
        if is_past(found["done"]) and not _is_asked(clause, found):
            yield partial(_unsaid, found["done"])
    if clause.speaks is Speaks.TELLS:
        for found in form("works_at").finditer(clause.text):
            yield from (partial(_unsaid, word) for word in found["what"].split() if is_thing(word))
        for found in form("lasted").finditer(clause.text):
            yield partial(_uncounted, found["told"] or found["times"])
        return
    for found in form("passive").finditer(clause.text):
        if is_past(found["done"]):
            yield partial(_unsaid, found["done"])
    if clause.speaks is Speaks.PLANS and clause.sentence.startswith(clause.text):
        deed = form("deeds").match(clause.text)
        if deed and deed["done"] not in _SAME_IN_PAST and is_done(deed["done"]):
            yield partial(_wrong, f"done already: {clause.text[:60]!r}")


def _is_asked(clause: Clause, found: re.Match[str]) -> bool:
    """Return whether a past deed is asked about, or supposed; what is told is read elsewhere."""
    if found["who"] in {"who", "police", "court"}:
        return False
    if clause.speaks is Speaks.TELLS or (clause.supposed and found["who"] not in {"i", "we"}):
        return True
    before = clause.text[max(found.start() - NEAR, 0) : found.start()]
    return "mild" in own(found["done"]) and form("wonders").search(before) is not None


def _of_the_desk(sentence: str, speaks: Speaks) -> Iterator[Doubt]:
    """Yield what no desk that works by telephone and promises nothing can have done."""
    shown = repr(sentence[:60])
    if form("in_person").search(sentence):
        yield partial(_wrong, f"not on the phone: {shown}")
    granted = form("grants").search(sentence)
    if granted and not form("grants_asked").search(sentence, 0, granted.start()):
        yield partial(_wrong, f"nothing was granted: {shown}")
    if speaks is Speaks.TELLS and form("joined").search(sentence):
        yield partial(_wrong, f"no such call: {shown}")
    if form("screening").search(sentence):
        return  # a score is held against what was answered
    for name in ("from_number", "a_week"):
        for found in form(name).finditer(sentence):
            yield partial(_unsaid, found["number"])


def _named(sentence: str) -> Iterator[Doubt]:
    """Yield people who are called by a title and a name."""
    for found in form("titled").finditer(sentence):
        yield partial(_nameless, found["name"].casefold().removesuffix("'s"))


def _nameless(name: str, seen: Seen) -> str:
    known = seen.has(name) or all(map(seen.has, name.split("-")))
    return "" if known else f"nowhere named: {name}"


def _wrong(what: str, seen: Seen) -> str:
    return what
