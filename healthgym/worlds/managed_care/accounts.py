"""What an office tells of its own work on a case, looked up: amounts, money, who else decided.

Facts of a patient stand in documents, and words that stand nowhere are found by themselves
(:mod:`.covered`). Of its own work an office speaks in everyday words, each of which is free; what
they say together is not: so many visits, a cost, an opinion from outside, a way to decide that is
none. Each is looked up where it would stand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from functools import cache, cached_property

from healthgym.core.cache import short_text_cache
from healthgym.worlds.managed_care.claim_words import all_of, stems
from healthgym.worlds.managed_care.disguises import plain_letters
from healthgym.worlds.managed_care.numerals import SMALL_NUMBERS, in_digits
from healthgym.worlds.managed_care.texts import Texts
from healthgym.worlds.managed_care.word_forms import CLAUSE, form, untitled

#: Looked for by the space, which is sooner found than the sign before it.
_SENTENCE = re.compile(r"\s(?<=[.!?]\s)\s*|[;\n]+")
#: What ends a line of a file: of a table, or of prose.
_LINE_ENDS = ("\n", ". ", "; ")
_LINE = re.compile("|".join(map(re.escape, _LINE_ENDS)))
#: Words that stand near everything.
_NEAR_ALL = (
    "the and for was were are has had been not with from that this which patient member she her he "
    "his they their you your request service approved denied days weeks months years visits units "
    "within after before over least most more than less about all per each other policy criterion "
    "version finding but yet nor may can now any its ask asks require requires "
    "want wants need needs call calls minimum maximum"
)
#: Ids, which say where something stands and not what it is about.
_ID = re.compile(r"\b[a-z]+(?:-[a-z]+)*-\d[\w-]*")
_LEAST_LETTERS = 3
#: Days of the units that time is told in.
_DAYS = {"hour": 1 / 24, "day": 1.0, "week": 7.0, "month": 30.44, "year": 365.25}
#: How far one time may be from another that is said in other units: 8 weeks are 2 months.
_ROUNDED = 0.1
_COUNTED = (
    "visit", "session", "treatment", "unit", "dose", "tablet", "capsule", "injection", "infusion",
    "course", "trial", "drug", "medication", "attempt",
)  # fmt: skip
#: What a course of treatment is called.
_TRIED = ("course", "trial", "drug", "medication", "attempt", "treatment", "injection")
#: Words behind a number after which nothing is what it counts: "5 without a unit".
_APART = r"(?:without|with|no|not|an?|is|was|for|that|this|on|in|from|to|at|by)\b"
#: What a number counts, with two words between at most, none of them a time; what is before it.
_UNIT = re.compile(
    rf"(?:[ -](?!{'|'.join(_DAYS)}|{_APART})[a-z-]+){{0,2}}?[ -](?!{_APART})"
    rf"(?P<unit>{'|'.join((*_DAYS, *_COUNTED))})s?\b(?! (?:notes?|records?|reports?|summar|pages?))"
)
#: So many visits stand on file by no chance, whatever they stand beside.
_MANY = 4
_INSIDE = re.compile(r"[\w.,/-]")
#: Five digits are a procedure's code, "92507 treatment of speech disorder", and four a year.
_AMOUNT = re.compile(
    rf"(?<!{_INSIDE.pattern})(?P<number>(?!\d{{5}}\b|(?:19|20)\d\d\b)\d+(?:\.\d+)?){_UNIT.pattern}"
)
#: What may not be told unless the file has it, by the name of its expression, each with why not.
TOPICS = {
    "money": "no matter of money",
    "costs": "no matter of money",
    "outside": "nobody else was asked",
    "unfair": "no way to decide",
    "standing": "nothing like that was decided",
    "turned_away": "coverage is not in doubt",
}
#: Topics of money, which may be told where a page says that something cost too much.
_OF_MONEY = frozenset({"money", "costs"})
_COSTLY = ("cost", "costs", "too expensive", "copay", "could not afford")
#: What may be told of an appeal, or offered: somebody else hears it.
_OF_APPEALS = "outside"


@dataclass(frozen=True)
class Account:
    """What is on record of the work on a case.

    Attributes:
        texts: What could be seen: documents, records, the policy's page, calls.
        other: Who requested it, by name.
        spans: Returns the times that lie between days on file, in any unit.
        rules: Returns the numbers of the office's rules.
        found: Returns amounts of the request, and those that the policy's criteria come to.
        service: Returns what is printed of the service: its description, and its policy.
        free: Topics that may be told, for it was so.
        courses: How many courses of treatment the file has; as many or fewer may be told of.
    """

    texts: Texts
    other: str = ""
    spans: Callable[[], Set[int]] = frozenset
    rules: Callable[[], Set[float]] = frozenset
    found: Callable[[], Set[float]] = frozenset
    service: Callable[[], str] = str
    free: frozenset[str] = frozenset()
    courses: int = 0

    @cached_property
    def _found(self) -> Set[float]:
        return self.found()

    @cached_property
    def _times(self) -> tuple[tuple[float, frozenset[str]], ...]:
        """How long anything on file takes, in days, with the words of its line."""
        return tuple(
            (number * _DAYS[unit], stems(line))
            for text in self.texts
            for line in _LINE.split(text)
            for number, unit in amounts(line)
            if unit in _DAYS
        )

    def counts(self, number: float, unit: str, about: Set[str]) -> bool:
        """Return whether an amount stands on file, or follows from days or rules.

        Args:
            number: How many.
            unit: Of what.
            about: Beginnings of the words that it stands with; one of them has to be near.
        """
        # What is known by its number alone is told sooner than what stands somewhere on file.
        timed = unit in _DAYS
        if number in self._found or (timed and number in self.rules()):
            return True
        if unit in _TRIED and number <= self.courses:
            return True
        near = about if timed or number < _MANY else frozenset[str]()
        if any(not near or near & each for each in self._beside(number, unit)):
            return True
        if not timed:
            return False
        if number in self.spans():
            return True
        days = number * _DAYS[unit]
        return any(
            abs(known - days) <= _ROUNDED * days and (not about or about & stems)
            for known, stems in self._times
        )

    def _beside(self, number: float, unit: str) -> Iterator[frozenset[str]]:
        """Yield the words of each line where an amount stands."""
        written = [f"{number:g}"]
        if number.is_integer() and number < len(SMALL_NUMBERS):
            written.append(SMALL_NUMBERS[int(number)])
        for text, each in ((text, each) for text in self.texts for each in written):
            at = text.find(each)
            while at >= 0:
                counted = _UNIT.match(text, at + len(each))
                if counted and counted["unit"] == unit and not _INSIDE.match(text[at - 1 : at]):
                    yield stems(_line(text, at, counted.end()))
                at = text.find(each, at + 1)

    def has(self, words: str) -> bool:
        """Return whether words, in small letters, stand on file side by side."""
        whole = re.compile(rf"(?<!\w){re.escape(words)}(?!\w)")
        return any(map(whole.search, self.texts))

    def printed(self, words: str) -> bool:
        """Return whether one line of the service's own description, or policy, has all words."""
        told = stems(words)
        return any(told <= stems(line) for line in _LINE.split(self.service().casefold()))


@short_text_cache(256, 20_000)
def amounts(text: str) -> tuple[tuple[float, str], ...]:
    """Return the numbers of a text that count something, each with what it counts.

    Args:
        text: The text, in small letters.
    """
    told = in_digits(text, small=True)
    return tuple((float(each["number"]), each["unit"]) for each in _AMOUNT.finditer(told))


def unaccounted(text: str, known: Account) -> Iterator[str]:
    """Yield what a text tells of the work on a case that is not on record.

    Args:
        text: What somebody wrote.
        known: What is on record.
    """
    plain = plain_letters(text.replace("’", "'"))
    small = untitled(" ".join(plain.casefold().split()))
    if known.other:
        small = small.replace(untitled(known.other.casefold()), "the doctor")
    for sentence in _SENTENCE.split(small):
        if not sentence or sentence.endswith("?"):
            continue
        told = _told(sentence)
        for number, unit in told.amounts:
            if not known.counts(number, unit, told.about):
                yield f"nowhere counted: {number:g} {unit}"
        for name, words in told.topics:
            if not (
                name in known.free
                or known.has(words)
                or known.printed(words)
                or (name in _OF_MONEY and any(map(known.has, _COSTLY)))
            ):
                yield f"{TOPICS[name]}: {words!r}"


@dataclass(frozen=True, slots=True)
class _Told:
    """What a sentence tells of the work on a case.

    Attributes:
        about: Beginnings of its words.
        amounts: How many of what.
        topics: What may not be told unless it is so, by its name, with the words for it.
    """

    about: frozenset[str]
    amounts: tuple[tuple[float, str], ...]
    topics: tuple[tuple[str, str], ...]


@short_text_cache(2048, 400)  # as of the doubts of a sentence: it says the same on any file
def _told(sentence: str) -> _Told:
    """Return what a sentence, in small letters, tells."""
    said = stems(_ID.sub(" ", sentence)) - _general()
    return _Told(
        frozenset(one for one in said if len(one) >= _LEAST_LETTERS),
        amounts(sentence),
        tuple(_topics(sentence)),
    )


def _topics(sentence: str) -> Iterator[tuple[str, str]]:
    of_appeals = form("appeals_about").search(sentence) is not None
    for name in TOPICS:
        for found in form(name).finditer(sentence):
            offered = of_appeals or form("offered").search(_clause(found))
            if not (name == _OF_APPEALS and offered) and not _denied(found):
                yield name, found[0]


def _denied(found: re.Match[str]) -> bool:
    """Return whether what was found is denied."""
    denied = form("not_there").search(_before(found))
    return bool(denied or form("denied_after").match(found.string, found.end()))


def _before(found: re.Match[str]) -> str:
    """Return what is before something in its clause."""
    return CLAUSE.split(found.string[: found.start()])[-1]


def _clause(found: re.Match[str]) -> str:
    """Return the clause in which something was found."""
    return _before(found) + CLAUSE.split(found.string[found.start() :])[0]


def _line(text: str, start: int, end: int) -> str:
    """Return the line of a text in which something stands."""
    ends = (text.find(each, end) for each in _LINE_ENDS)
    last = min((each for each in ends if each >= 0), default=len(text))
    return text[max(text.rfind(each, 0, start) + 1 for each in _LINE_ENDS) : last]


@cache
def _general() -> frozenset[str]:
    """Return the beginnings of words that are near everything."""
    told = (*all_of("joining"), *_DAYS, *_COUNTED)
    return stems(" ".join((*told, _NEAR_ALL)))
