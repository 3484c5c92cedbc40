"""Forms that tie a day, a value, a state or a reason to one name and leave no doubt."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from healthgym.worlds.managed_care.facts import StopReason
from healthgym.worlds.managed_care.stated import days_in
from healthgym.worlds.managed_care.word_forms import untitled

#: What a finding may be, where its values are words.
GRADES = frozenset({"mild", "moderate", "severe", "present", "absent"})
#: What makes of a statement a denial, a condition, a question, or what somebody else wrote.
LEFT_OPEN = re.compile(
    r"\b(?:not?|never|without|neither|nor|none|nothing|cannot|\w+n't|whether|if|unless|when|until|"
    r"polic\w*|requir\w*|asks?|asked|must|would|could|should|may|might|draft\w*|unsigned|wrong\w*|"
    r"errors?|mistak\w*|correct\w*|instead|rather|old|older|earlier|former\w*|previous\w*|once|"
    r"history|had|past|resolved|inactive|absen\w+|ruled|remission|risk|family|says?|said|stat\w+|"
    r"list\w*|possib\w*|question\w*|exclud\w*|denie\w*|deny|was|were|untrue|false|claim\w*)\b|\?"
)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_WRITTEN_DAY = re.compile(
    rf"(?<![\d-])(?:\d{{4}}-\d{{1,2}}-\d{{1,2}}|\d{{1,2}}([/-])\d{{1,2}}\1\d{{4}}|"
    rf"\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH},? \d{{4}}|"
    rf"{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}})(?![\d-])"
)
_CLAUSE = re.compile(r"[;\n]+|[.!?]+(?=\s|$)|,? (?:but|however|while|whereas|although|though) ")
_DAY = r"(\d{4}-\d{2}-\d{2})"
_NUMBER = r"(\d+(?:[.,]\d+)*)"
_UNIT = r"(?: ?[^\s,;()\d]*[/%²°][^\s,;()]*| (?:points?|percent|mm ?hg|kg|cm|mm|events per hour))?"
_IS = r"(?:[:=,]| (?:was|is|of|at|came to|stood at|measured))*"
_DOSE = r"(?: \d+(?:\.\d+)? ?(?:mg|mcg|g|ml|units?|iu))?"
_LINK = r",?(?: and)?(?: (?:was|has been))? "
_BEGUN, _STOPPED = "(?:begun|began|started|initiated)", "(?:stopped|ended|discontinued)"
#: What every form of a course has beside its name, which each name's own forms are made for.
_COURSE = re.compile(rf"{_BEGUN} |{_STOPPED} |from [\d-]+ ")
_ENDED = re.compile(rf"\b(?:{_STOPPED}|given up|withdrawn)\b")
_LISTED = r"(?: \([^()]*\))?(?:, and |, | and | as well as )"
_OFTEN = r"(?:an? |the |also |still |now |currently |active |current |known |both )*"
#: How a reason is joined to an end.
_FOR = r"(?:because(?: of)?|due to|owing to|on account of|for|as|after|:|–|-)"
_SUBJECT = r"(?:she|he|it|the patient|they)"
_WHY: Mapping[StopReason, str] = {
    StopReason.INEFFECTIVE: (
        r"(?:the |its |a )?(?:lack of (?:effect|response|efficacy|benefit)|inadequate response)|"
        rf"{_SUBJECT} (?:did not|didn't) (?:work|help)|(?:{_SUBJECT} was )?(?:not effective|"
        rf"ineffective)|{_SUBJECT} had no effect"
    ),
    StopReason.INTOLERANCE: (
        r"(?:the |its |severe |an? )*(?:side effects?|adverse (?:effects?|reactions?|events?)|"
        rf"intolerance)|(?:{_SUBJECT} was )?(?:not|poorly) tolerated|"
        rf"{_SUBJECT} (?:could|did) not tolerate"
    ),
    StopReason.COST: (
        rf"(?:its |the )?(?:costs?|price)\b|(?:lack|want) of (?:money|funds)|"
        rf"{_SUBJECT} could(?: not|n't) afford"
    ),
    StopReason.PATIENT_CHOICE: (
        r"(?:her|his|the patient's) (?:own )?(?:choice|wish|preference)|"
        rf"{_SUBJECT} (?:chose|preferred|wished|decided) to stop"
    ),
    StopReason.CONTRAINDICATED: (
        r"(?:an? |the )?contraindication|(?:\w+ )?(?:was |is |turned out to be )?contraindicated"
    ),
}
#: What leaves open for which reason something was stopped.
REASON_OPEN = re.compile(
    r"\b(?:never|without|neither|nor|none|nothing|whether|if|unless|must|polic\w*|requir\w*|asks?|"
    r"accept\w*|either|or|before|draft\w*|unsigned|wrong\w*|earlier|instead|rather|denie\w*)\b|\?|"
    r"\b(?:not|no)\b"
)


#: Single criteria that are met; of a row of them the first and last are named alone.
_MET = re.compile(
    r"(?:(?:so|and|thus|therefore|hence|criterion|criteria),? )?(c\d+(?:(?:, and |, | and )c\d+)*)"
    r"(?: \([^()]*\)|, [^,]*,)? (?:is|are) (?:also |clearly |both |all )?"
    r"(?:met|shown|satisfied|fulfilled|documented)\b"
)
#: Where another version is meant, or what the other side grants.
_ELSEWHERE = re.compile(r"\b(?:versions?|\d{4}\.\d|agree\w*|grant\w*|conced\w*|need\w*)\b")


@dataclass(frozen=True)
class Tied:
    """Forms of one name.

    Attributes:
        name: The name, in small letters.
        often: How often it is taken, where it is a medicine.
    """

    name: str
    often: tuple[str, ...] = ()

    def values(self, clause: str) -> Iterator[tuple[str, date | None]]:
        """Yield each number that is given as its value, with its day; None if that is no day."""
        behind = rf"{self._written}{_IS} {_NUMBER}{_UNIT},?(?: on| of| from)? ?[(]?{_DAY}"
        before = rf"{self._written} (?:of |on |from |\(){_DAY}\)?{_IS} {_NUMBER}(?![\d-])"
        for found in re.finditer(behind, clause):
            yield found[1], _day_in(found[2])
        for found in re.finditer(before, clause):
            yield found[2], _day_in(found[1])

    def course(self, clause: str) -> tuple[date | None, date | None]:
        """Return the days on which it is said to have begun and ended; None where none is."""
        if not _COURSE.search(clause):
            return None, None
        times = "|".join(map(re.escape, self.often))
        taken = rf"{self._written}{_DOSE}(?: (?:{times}))?" if times else self._written
        between = rf"{taken}{_LINK}(?:taken |given |used )?\(?from {_DAY} (?:to|until|through) "
        begun = re.search(rf"{taken}{_LINK}{_BEGUN} (?:on )?{_DAY}", clause)
        begun = begun or re.search(between, clause)
        ended = re.search(
            rf"{taken}{_LINK}(?:{_BEGUN} (?:on )?[\d-]+{_LINK})?{_STOPPED} (?:on )?{_DAY}", clause
        ) or re.search(between.replace(_DAY, r"[\d-]+") + _DAY, clause)
        return _day(begun), _day(ended)

    def is_had(self, clause: str, person: Iterable[str], others: Iterable[str]) -> bool:
        """Return whether somebody is said to have it, alone or after other illnesses."""
        whose = _whose(person)
        known = "|".join(sorted(map(re.escape, others), key=len, reverse=True))
        had = (
            rf"\b(?:{whose}) (?:also |still |now |currently )?(?:has|suffers from) {_OFTEN}"
            rf"(?:(?:{known}){_LISTED}{_OFTEN})*{self._written}(?![\w-])"
        )
        there = (
            rf"(?:^|[,:(] ?|\b(?:the|her|his|their) ){self._written},? (?:is|remains) "
            r"(?:still |now )?(?:active|current|ongoing|present)\b"
        )
        return bool(re.search(had, clause) or re.search(there, clause))

    def grades(self, clause: str, person: Iterable[str]) -> set[str]:
        """Return what it is said to be like; it is present where somebody has it or it is shown."""
        whose = _whose(person)
        words = "|".join(sorted(GRADES))
        found = set(re.findall(rf"{self._written},? is (?:now )?({words})\b", clause))
        seen = rf"(?:(?:{whose}) has|shows|there is) (?:an? )?{self._written}(?![\w-])"
        return found | ({"present"} if re.search(seen, clause) else set())

    def found_on(self, clause: str) -> date | None:
        """Return the day on which it is said to have been found."""
        seen = r"(?:noted|documented|found|recorded|seen|present|absent)"
        form = rf"{self._written},? (?:is|was) {seen}(?: as (?:present|absent))? on {_DAY}"
        return _day(re.search(form, clause))

    @property
    def _written(self) -> str:
        return rf"(?<![\w/-]){re.escape(self.name)}"


def clauses(text: str) -> Iterator[str]:
    """Yield the clauses of a text in small letters, with days as 2026-03-13."""
    plain = untitled(text.replace("’", "'").casefold())
    for clause in _CLAUSE.split(_WRITTEN_DAY.sub(_iso, plain)):
        yield " ".join(clause.split())


def ages_in(clause: str, person: Iterable[str]) -> Iterator[int]:
    """Yield how old somebody is said to be.

    Args:
        clause: The clause.
        person: Who, by names in small letters.
    """
    whose = _whose(person)
    form = (
        rf"\b(?:{whose}) is (?:now )?(?:an? )?(\d{{1,3}})(?: years old|[ -]years?[ -]old)\b(?! or)"
    )
    for found in re.finditer(form, clause):
        if not LEFT_OPEN.search(clause.replace(found[0], " ")):
            yield int(found[1])


def met_in(clause: str) -> Iterator[str]:
    """Yield the criteria, as C3, that a clause begins by saying are met."""
    found = _MET.match(clause)
    if found and not _ELSEWHERE.search(clause):
        yield from (name.upper() for name in re.findall(r"\bc\d+\b", found[1]))


def reasons_in(clause: str, name: str) -> set[StopReason]:
    """Return the reasons for which something is said to have been stopped.

    Args:
        clause: A clause that names no other medicine.
        name: What was stopped.
    """
    # Searched from the first name on: each name of a row of them would go through all of it.
    ended = _ENDED.search(clause, clause.find(name))
    if ended is None:
        return set()
    found = {}
    for reason, words in _WHY.items():
        told = re.compile(rf"{_FOR} ?(?:{words})").search(clause, ended.end())
        if told:
            found[reason] = told[0]
    rest = clause
    for words in found.values():
        rest = rest.replace(words, " ")
    return set() if REASON_OPEN.search(rest) else set(found)


def _whose(person: Iterable[str]) -> str:
    return "|".join(("she", "he", "patient", "member", *map(re.escape, person)))


def _iso(found: re.Match[str]) -> str:
    days = days_in(found[0])
    return min(days).isoformat() if days else found[0]


def _day(found: re.Match[str] | None) -> date | None:
    return _day_in(found[1]) if found else None


def _day_in(text: str) -> date | None:
    """Return the day that a text is; None where the calendar has none such, as 2026-02-30."""
    return next(iter(days_in(text)), None)
