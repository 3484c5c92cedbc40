"""Whether what somebody claims in words of their own is covered by what they could see.

The words of an office are free: its handbook, its letters, and everyday language. What is claimed
beyond them has to be there: a name, a quotation, a test, an illness or a drug, a matter of private
life, somebody else who knows or says something, a conversation, a deed, a day of the week, what a
policy asks; and a word that neither the office nor the file nor everyday language has stands for
something that nobody could know. What is supposed, asked for, offered or said not to be there
claims nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from functools import cached_property

from healthgym.worlds.managed_care.claim_words import (
    STEM,
    contracted,
    desk_stems,
    desk_words,
    everyday,
    free_of_policies,
    inflected,
    kind,
    kinds,
    small,
    stands,
    stems,
)
from healthgym.worlds.managed_care.disguises import disguised, flattened, plain_letters
from healthgym.worlds.managed_care.own_words import presumed
from healthgym.worlds.managed_care.short_forms import short_forms, spelled_out
from healthgym.worlds.managed_care.word_forms import CLAUSE, form, untitled

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“(])|[;\n]+")
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*[A-Za-z]|[A-Za-z]")
_QUOTED = re.compile(r"[\"“]([^\"“”]+)[\"”]")
#: Ids of records and codes: no words.
_ID = re.compile(r"\b[A-Za-z]*\d[\w.-]*|\b[A-Z]+-[A-Z0-9-]+\b")
_NAMES = "|".join((*MONTHS, *(rf"{month[:3]}\b\.?" for month in MONTHS)))
#: A day is judged where days are.
_DAY = re.compile(rf"\b(?:(?:\d+ )?(?:{_NAMES})(?: \d+(?:st|nd|rd|th)?)?,? \d+|\d+ (?:{_NAMES}))\b")
_MONTH = re.compile(rf"\b(?:in|since|last|of|until|early|late) ({_NAMES})\b")
#: Kinds of words of which each sentence is asked how it speaks of them.
_JUDGED = frozenset({"clinical", "conduct", "kin", "others", "private", "times"})
#: The same, with words that join others, where what is said of somebody is looked through.
_PASSED = _JUDGED | {"joining"}
#: Before a part of the body that is on one side.
_SIDE = re.compile(r"\b(left|right)(?:[ -]\w+)?[ -]$")
#: Before a day that is none in particular.
_ANY = re.compile(r"\b(?:an?|any|every|each|most|next|coming) $")
#: What is before a place within a word, compounds being one, and what is after the end of one.
_INSIDE, _ENDED = re.compile(r".?[a-z]|[a-z][-']", re.DOTALL), re.compile(r"(?:'s)?(?![-']?[a-z])")
#: Where a sentence leaves the policy for the request.
_POLICY_ENDS = re.compile(r"\b(?:and|while|whereas|so)\b(?= (?:\d|the (?:request|order)|i\b|we\b))")
#: How far from a word what denies or offers it is looked for, in characters: further away it is
#: about something else, and each word of a very long clause would go through all of it.
_NEAR = 240
_LEAST_QUOTED = 2
_LEAST_LETTERS = 4
#: Who is called by a field of medicine, and those whose field has another name.
_OF_A_FIELD = ("ologist", "ologists")
_FIELDS = {
    "surgeon": "surg", "pediatrician": "pediatric", "psychiatrist": "psychiatr",
    "internist": "internal medicine", "physiatrist": "physical medicine", "podiatrist": "podiatr",
    "obstetrician": "obstetric", "geriatrician": "geriatric",
}  # fmt: skip


@dataclass(frozen=True)
class Seen:
    """What could be seen of a case.

    Words are looked for in its text one by one: most of what is written is of the office or of
    everyday language, and a file is far longer than a note.

    Attributes:
        text: Everything that was sent, recorded, printed in the policy or said.
        policy: What the policy says.
        talked: Whether anybody of the office may have spoken with the other side.
        months: Returns the months of the days that could be seen, in words.
        free: Words for people whom anybody of this desk may bring in.
        pages: Folders of the handbook whose words are the desk's own.
        person: Whom it is about, by name, in small letters.
        sent: Whether documents were sent.
        wrote: Whether those to whom is written wrote something themselves.
        heard: Whether the other side said something on a call.
    """

    text: str
    policy: str
    talked: bool
    months: Callable[[], Set[str]] = lambda: frozenset(MONTHS)
    free: frozenset[str] = frozenset()
    pages: tuple[str, ...] = ("payer-um", "platform", "medical-library/utilization-review")
    person: str = ""
    sent: bool = False
    wrote: bool = False
    heard: bool = False

    @cached_property
    def small(self) -> str:
        """Its text in small letters."""
        return plain_letters(self.text.replace("’", "'")).casefold()

    def has(self, word: str) -> bool:
        """Return whether a word, in small letters, stands in it."""
        return any(_ENDED.match(self.small, end) for end in self._ends(word))

    def stands(self, word: str) -> bool:
        """Return whether a word, or each part of a compound, begins as one does that it has."""
        parts = word.split("-")
        return self._begins(word) or (len(parts) > 1 and all(map(self._begins, parts)))

    def has_form(self, word: str) -> bool:
        """Return whether a word stands in it in any of its forms."""
        return any(map(self.has, sorted(inflected(word))))

    def _begins(self, word: str) -> bool:
        stem = word[:STEM]
        if len(stem) < STEM:  # the whole of a short word
            return self.has(stem)
        return next(self._ends(stem), None) is not None

    def _ends(self, part: str) -> Iterator[int]:
        """Yield where a part of a word ends each time that a word begins with it."""
        at = self.small.find(part) if part else -1
        while at >= 0:
            if not _INSIDE.fullmatch(self.small, max(at - 2, 0), at):
                yield at + len(part)
            at = self.small.find(part, at + 1)

    @cached_property
    def flat(self) -> str:
        """Its letters and digits, with one space between words."""
        return _flat(plain_letters(self.text))

    @cached_property
    def policy_stems(self) -> frozenset[str]:
        """The beginnings of the policy's words."""
        return stems(self.policy)

    def knows(self, person: str) -> bool:
        """Return whether somebody, or a day, is spoken of: the word itself, or a doctor's field."""
        single = person.removesuffix("s")
        if any(each in self.free or self.has(each) for each in (person, single, f"{single}s")):
            return True
        field = _FIELDS.get(single, single.removesuffix("ist"))
        named = single in _FIELDS or person.endswith(_OF_A_FIELD)
        return named and next(self._ends(field), None) is not None


def uncovered(text: str, seen: Seen) -> Iterator[str]:
    """Yield what a text claims that could not be seen.

    Args:
        text: What somebody wrote.
        seen: What could be seen.
    """
    yield from disguised(text, seen.has, seen.pages)
    clean = plain_letters(text.replace("’", "'"))
    for quoted in _QUOTED.findall(clean):
        parts = filter(None, map(_flat, re.split(r"\.{3}|…", quoted)))
        if any(len(part.split()) >= _LEAST_QUOTED and part not in seen.flat for part in parts):
            yield f"nobody wrote or said: {quoted[:60]!r}"
    for sentence in _SENTENCE.split(untitled(clean)):
        told = _DAY.sub("0", " ".join(sentence.split()))
        told = _spelled_out(told, seen)
        plain = _ID.sub("0", told).replace("_", " ")
        if not plain:
            continue
        yield from _names(plain, seen)
        dated = _MONTH.findall(plain)
        yield from (f"nowhere dated: {each}" for each in dated if each not in seen.months())
        plain = _MONTH.sub("", plain).casefold()
        if plain.endswith("?"):  # a question asks, but for what it takes for granted
            plain = presumed(plain) or plain
        yield from _facts(plain, seen)
        yield from _accounts(plain, seen)
        yield from _clauses(told.casefold(), seen)
        yield from _strange(plain, seen)
        yield from _of_person(plain, seen)


def _spelled_out(sentence: str, seen: Seen) -> str:
    """Return a sentence without abbreviations of what stands on file in full."""
    for found in reversed(list(short_forms(sentence))):
        name = found[0].casefold()
        if not seen.has(name) and spelled_out(found[0], seen.small):
            sentence = f"{sentence[: found.start()]}0{sentence[found.end() :]}"
    return sentence


def _names(sentence: str, seen: Seen) -> Iterator[str]:
    """Yield names, and abbreviations in capitals, that stand nowhere."""
    words = list(_WORD.finditer(sentence))
    shouted = sum(word[0].isupper() and len(word[0]) > 1 for word in words) * 2 > len(words)
    for word in words[1:]:
        name = word[0].casefold().removesuffix("'s")
        opens = sentence[max(word.start() - 2, 0) : word.start()].rstrip().endswith((":", "(", '"'))
        own = name.split("'")[0]  # "I'd"
        if not word[0][0].isupper() or opens or shouted or kind("known_names", own):
            continue
        known = name in desk_words(seen.pages) or seen.has(name)
        if not known and not all(map(seen.has, name.split("-"))):
            yield f"nowhere named: {word[0]}"


def _facts(sentence: str, seen: Seen) -> Iterator[str]:
    """Yield tests, illnesses, drugs, deeds and matters of private life that stand nowhere.

    What is said not to be there is no fact.
    """
    if form("not_claimed").search(sentence) or sentence.endswith("?"):
        return
    for clause in CLAUSE.split(sentence):
        for word in _WORD.finditer(clause):
            name = word[0].removesuffix("'s")
            said = kinds(name)
            if not said:
                continue
            side = _SIDE.search(_left(clause, word)) if "parts" in said else None
            if "private" in said:
                there = name in seen.free or seen.has_form(name)
            else:
                named = "clinical" in said or "conduct" in said or side
                there = not named or seen.stands(name) or _wanted(name, sentence)
            there = there and (side is None or seen.has(side[1]))
            if there:
                continue
            after = form("absent_after").search(clause, word.end(), word.end() + _NEAR)
            if not after and not _before("not_there", clause, word.start()):
                yield f"nowhere seen: {name}"


def _accounts(sentence: str, seen: Seen) -> Iterator[str]:
    """Yield other people, conversations and days that an account brings in and nothing shows."""
    if form("not_claimed").search(sentence):
        return
    for clause in CLAUSE.split(sentence):
        for word in _WORD.finditer(clause):
            name = word[0].removesuffix("'s")
            said = kinds(name)
            brought = "kin" in said or "others" in said
            brought = brought or ("times" in said and not _ANY.search(_left(clause, word)))
            if not brought or seen.knows(name):
                continue
            offered = form("offered").match(clause[word.end() : word.end() + _NEAR].lstrip())
            if not offered and not _left_open(clause, word.start()):
                yield f"nowhere mentioned: {name}"
        if form("of_others").search(clause):
            yield f"of somebody else: {clause[:60]!r}"
        if form("blame").search(clause) and not seen.talked:
            yield f"laid to somebody: {clause[:60]!r}"
        for done in form("patient_deeds").finditer(clause):
            deed = done["deed"] or done["done"]
            if not seen.stands(deed.split()[0]) and not _left_open(clause, done.start()):
                yield f"nowhere seen: {done[0]}"
        talked = form("talked_with_member").search(clause)
        if talked and seen.wrote and talked[0].startswith("you "):
            talked = None
        talked = talked or (None if seen.talked else form("talked").search(clause))
        if talked and not _left_open(clause, talked.start()):
            yield f"no conversation is on record: {clause[:60]!r}"


def _wanted(word: str, sentence: str) -> bool:
    """Return whether a word names what a sentence says is needed: nobody has it yet."""
    return any(word in found[0] for found in form("wanted").finditer(sentence))


def _left_open(clause: str, place: int) -> bool:
    """Return whether what stands at a place is offered or denied by what is before it."""
    return any(_before(name, clause, place + 1) for name in ("offered", "not_there"))


def _before(name: str, clause: str, place: int) -> re.Match[str] | None:
    """Return where a form stands near before a place."""
    return form(name).search(clause, max(place - _NEAR, 0), place)


def _left(clause: str, word: re.Match[str]) -> str:
    return clause[max(word.start() - _NEAR, 0) : word.start()]


def _clauses(sentence: str, seen: Seen) -> Iterator[str]:
    """Yield what a policy is said to ask or to allow that its page does not hold."""
    if form("policy_new").search(sentence):
        yield f"not on the policy's page: {sentence[:60]!r}"
    for found in form("policy_says").finditer(sentence):
        asked = _POLICY_ENDS.split(found["what"])[0]
        told = stems(CLAUSE.split(asked)[0]) - free_of_policies()
        if told - seen.policy_stems:
            yield f"not on the policy's page: {found['what'].strip()[:60]!r}"
    endless = form("boundless").search(sentence)
    if endless and _flat(endless[0]) not in seen.flat:
        yield f"without an end: {sentence[:60]!r}"
    if seen.heard and form("no_call").search(sentence):
        yield f"there was a call: {sentence[:60]!r}"
    if seen.sent and form("nothing_sent").search(sentence):
        yield f"documents were sent: {sentence[:60]!r}"
    when = form("another_time").search(sentence)
    if when and _flat(when[0]) not in seen.flat:
        yield f"nowhere dated: {when[0]}"
    late = form("lateness").search(sentence)
    if late and _flat(late[0]) not in seen.flat:
        yield f"nowhere late: {sentence[:60]!r}"
    for found in form("policy_part").finditer(sentence):
        if _flat(found[0]) not in seen.flat:
            yield f"no such part: {found[0]!r}"


def _strange(sentence: str, seen: Seen) -> Iterator[str]:
    """Yield words that stand nowhere: neither on file nor in the office nor in everyday language.

    Where somebody is asked for something, other words are needed than on file.
    """
    if form("not_claimed").search(sentence) or sentence.endswith("?"):
        return
    desk = desk_stems(seen.pages)
    for clause in CLAUSE.split(sentence):
        for word in small(clause):
            if len(word) < _LEAST_LETTERS or stands(word, desk) or everyday(word):
                continue
            if kinds(word) & _JUDGED or _wanted(word, sentence):
                continue
            if seen.stands(word) or seen.has_form(word):
                continue
            if not _before("not_there", clause, clause.casefold().find(word)):
                yield f"nowhere seen: {word}"


def _of_person(sentence: str, seen: Seen) -> Iterator[str]:
    """Yield what is said of the person that stands nowhere, in however common words.

    Everyday language is free where an office speaks of its own work; what somebody does or has is
    on file, or nobody knows it.
    """
    if not seen.person or form("not_claimed").search(sentence):
        return
    desk = desk_stems(seen.pages)
    for clause in CLAUSE.split(sentence.replace(plain_letters(seen.person), "the patient")):
        told = form("of_person").match(clause.strip())
        what = (told["what"] or told["deed"]) if told else ""
        if not what or form("allowed").match(what):
            continue
        for word in small(what):
            if len(word) < _LEAST_LETTERS or contracted(word) or kinds(word) & _PASSED:
                continue
            if not (stands(word, desk) or seen.stands(word) or seen.has_form(word)):
                yield f"nowhere said of the patient: {word}"


def _flat(text: str) -> str:
    return flattened(text.casefold())
