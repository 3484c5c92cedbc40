"""What a text takes for granted, be it that it tells, aims, plans or supposes.

"If the ex-husband comes back drunk" supposes a visit, and takes a marriage, a divorce and a drunk
for granted. Whoever is spoken of as somebody in particular, things of somebody's own that are
called by "the", misdeeds that are to happen again or to stop, and what a bad word says of the
patient have to stand on file or to have been said. What is new, possible or anybody's ("a
neighbor", "any fall", "limit alcohol") is free, and so are other events and deeds: honest people
tell of them in words of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from healthgym.core.cache import short_text_cache
from healthgym.envs.managed_care.care_management.claims import SENTENCE
from healthgym.envs.managed_care.care_management.clauses import (
    Clause,
    Speaks,
    Word,
)
from healthgym.envs.managed_care.care_management.granted_words import (
    LONGEST,
    form,
    is_done,
    is_ill,
    is_person,
    is_plain,
    own,
)
from healthgym.worlds.managed_care.doubts import Doubt
from healthgym.worlds.managed_care.seen import Seen
from healthgym.worlds.managed_care.short_forms import known_short
from healthgym.worlds.managed_care.word_forms import untitled

#: Words for people that are deeds, too, and what follows on a deed.
_DONE = frozenset({"coach", "guard", "guide", "judge", "nurse", "partner"})
_ASKED = re.compile(r" (?:whether|if|how|what)\b")
#: What an illness does, and a person, too, and after what it is the illness.
_FITS, _FIT = frozenset({"attack", "attacks"}), re.compile(r"\b(?:heart|panic|asthma|gout) $")
#: What is measured in two positions, what somebody was by trade, which is looked up itself, what
#: is nobody else's, and what a heart does.
_TERMS = re.compile(
    r"\blying(?= ?(?:/|and|to|-) ?(?:standing|sitting)| down\b| flat\b| bp\b| blood\b)|"
    r"\bex(?=[ -](?:[a-z]+ )?[a-z]*(?:ers?|ors?|ists?|nurses?|clerks?|cooks?|guards?|men|man)\b)|"
    r"(?<=\bown )affairs?\b|"
    r"\bbeats?(?= (?:(?:too|so|very|rather) )?(?:fast|slow|hard|irregular|out of|per |a minute))",
    re.I,
)
#: What is refused in a talk, if anything is named.
_OF_TALK = re.compile(
    r"(?: again)?(?=[:.,;]|$)|"
    r" (?:to (?:answer|talk|go on|say|be asked|discuss)|(?:any |all |the |a |my |our |those |"
    r"these |further |other |last |first |mood |two |screening )*"
    r"(?:questions?|questionnaires?|screen\w*|call|offers?|rest|assessment|program(?:me)?))\b"
)
#: What is no more than a word for what somebody who drinks has told, and what makes it more.
_DRUNK, _DRINKING = ("drunk", "booz"), ("drink", "drinks", "drinking", "beer", "wine", "bottle")
_AT_FAULT = re.compile(r" (?:tank|driv\w+|(?:on|at) (?:the |his |her )?(?:job|work|wheel))\b")
#: What is there for anybody of a kind.
_SERVICE = re.compile(r" (?:help|helpline|hotline|rights|law|laws|unions?|boards?)\b")
#: Words that are the past of themselves.
_SAME_IN_PAST = frozenset({"beat", "cut", "hit", "hurt", "quit"})


#: What nearly all texts take for granted.
NOTHING: tuple[Doubt, ...] = ()


def taken_for_granted(text: str, speaks: Speaks) -> tuple[Doubt, ...]:
    """Return what a text takes for granted, each to be looked up.

    Args:
        text: The text.
        speaks: How it speaks.
    """
    return NOTHING if is_plain(text) else _of_text(text, speaks)  # nearly all are


@short_text_cache(2048, LONGEST)
def _of_text(text: str, speaks: Speaks) -> tuple[Doubt, ...]:
    """Return what the sentences of a text take for granted."""
    clean = _TERMS.sub(" ", untitled(text.replace("’", "'")))
    sentences = SENTENCE.findall(clean)
    return tuple(doubt for each in sentences for doubt in _of_sentence(each.strip(), speaks))


@short_text_cache(4096, LONGEST)
def _of_sentence(sentence: str, speaks: Speaks) -> tuple[Doubt, ...]:
    """Return what a sentence takes for granted."""
    small = " ".join(sentence.casefold().split())
    if is_plain(small):
        return NOTHING
    doubts: list[Doubt] = [*_named(sentence), *_of_the_desk(small, speaks)]
    known: set[str] = set()
    for clause in Clause.all_of(small, speaks):
        doubts += (*_of_words(clause, known), *_of_misdeeds(clause), *_done_already(clause))
    return tuple(doubts)


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
        if name in _DONE and (
            clause.before(word).endswith("to ") or _ASKED.match(clause.behind(word))
        ):
            continue  # "for the prescriber to judge", "judge whether more is needed"
        if name in _FITS and _FIT.search(clause.before(word)):
            continue  # an illness, which is read as one
        if name == "chief" and clause.behind(word).lstrip().startswith(("worry", "concern")):
            continue
        known.add(name)
        if name.startswith(_DRUNK) and _AT_FAULT.match(clause.behind(word)):
            yield partial(_unknown, name)
        elif said & {"trait", "gift"}:
            yield partial(_unsaid, name)
        elif not definite and _SERVICE.match(clause.behind(word)):
            continue  # "tenant help"
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
    """Yield the misdeed that is to happen again, or the thing of somebody's that there is."""
    name, said = word.name, word.own
    counted = "thing" in said and form("counted").search(clause.before(word))
    misdeed = "misdeed" in said and clause.repeated and not _OF_TALK.match(clause.text, word.end)
    if misdeed or ("thing" in said and definite) or counted:
        yield partial(_unsaid, name)


def _possible(clause: Clause, word: Word, following: frozenset[str] = frozenset()) -> bool:
    """Return whether a word for what is bad asks for it, warns of it, or supposes it of anybody."""
    asked = form("asked_of").search(clause.lead + clause.before(word))  # of a list as a whole
    befalls = "befalls" in word.own and (clause.supposed or "topic" in following)
    return asked is not None or befalls


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
    return "" if seen.knows(name) else f"takes for granted: {name}"


def _unsaid(name: str, seen: Seen) -> str:
    # By its beginning an illness is known; "brothel" is not by "brother".
    told = (
        name in seen.free
        or seen.has_form(name)
        or any(map(seen.has, seen.other_words(name)))
        or (name.startswith(_DRUNK) and any(map(seen.has, _DRINKING)))
        or ((is_ill(name) or known_short(name)) and seen.stands(name))
    )
    return "" if told else f"takes for granted: {name}"


# -- deeds -------------------------------------------------------------------------------------


def _of_misdeeds(clause: Clause) -> Iterator[Doubt]:
    """Yield what somebody is said to do, is to stop, or is asked about, that nobody should do."""
    for name in ("misdeeds", "stops", "hidden"):
        for found in form(name).finditer(clause.text):
            if _OF_TALK.match(clause.text, found.end("done")):
                continue  # who refuses a question does nothing wrong
            supposed = name == "misdeeds" and clause.supposed
            if not supposed and own(found["done"]) & {"misdeed", "grave"}:
                yield partial(_unsaid, found["done"])


def _done_already(clause: Clause) -> Iterator[Doubt]:
    """Yield what a plan has done already."""
    if clause.speaks is Speaks.PLANS and clause.sentence.startswith(clause.text):
        deed = form("deeds").match(clause.text)
        if deed and deed["done"] not in _SAME_IN_PAST and is_done(deed["done"]):
            yield partial(_wrong, f"done already: {clause.text[:60]!r}")


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


def _named(sentence: str) -> Iterator[Doubt]:
    """Yield people who are called by a title and a name."""
    for found in form("titled").finditer(sentence):
        yield partial(_nameless, found["name"].casefold().removesuffix("'s"))


def _nameless(name: str, seen: Seen) -> str:
    known = seen.has(name) or all(map(seen.has, name.split("-")))
    return "" if known else f"nowhere named: {name}"


def _wrong(what: str, seen: Seen) -> str:
    return what
