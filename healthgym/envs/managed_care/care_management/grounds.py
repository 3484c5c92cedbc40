"""What may be stated about a person: codes, days and values that are on file somewhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Set
from dataclasses import dataclass, fields, replace
from datetime import date
from functools import cache, cached_property
from operator import attrgetter
from typing import TypeVar

from healthgym.envs.managed_care.care_management.reckoned import reckoned
from healthgym.worlds.managed_care.apps.care_management.evidence import same_medicine
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.control import controls
from healthgym.worlds.managed_care.conversation.ears.grammar import grammar
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.policies.dates import months_before
from healthgym.worlds.managed_care.policies.keeping import kept
from healthgym.worlds.managed_care.records.care import CMReferral
from healthgym.worlds.managed_care.stated import Stated, shortest, stated, unknown

Stray = TypeVar("Stray", str, date)

_WORD = re.compile(r"[a-z]{4,}")
#: Numbers below this are counted with, and are no value of anything.
_COUNTED_BELOW = 20
#: Whom anybody may be told to call, and of how many points the risk score is, which are no values.
_STANDING = frozenset({"211", "911", "988", "100"})


@dataclass(frozen=True)
class Grounds:
    """What is on file about a person.

    Attributes:
        chart: The chart.
        referral: The referral.
        operations: The handbook's numbers, which may be quoted.
        today: The days of the work, the earliest and the latest.
    """

    chart: PatientChart
    referral: CMReferral
    operations: OperatingRules
    today: tuple[date, date]

    def adds_something(self, text: str) -> bool:
        """Return whether a text names something of the chart that the referral does not tell.

        A code, a day or a value does; one that is guessed is not in the chart, which is looked for
        besides. A medicine does if no other is named that is nowhere in the chart: a list of those
        that most people take names one of anybody's.
        """
        # A medicine is named by nearly every review, and found without reading the referral.
        if self._names_medicines(text):
            return True
        said = stated(text)
        codes = said.codes and said.codes & self._codes
        days = said.days and said.days & self._days
        if (codes and codes - self._referred.codes) or (days and days - self._referred.days):
            return True
        large = {number for number in said.numbers if not _small(number)}
        large = large and large & self._measured
        return bool(large and large - self._referred.numbers)

    def _names_medicines(self, text: str) -> bool:
        said, told = _words(text), _words(_told_by(self.referral))
        # The first word is the name; those behind it are salts, and in many names.
        listed = " ".join(each.medication_name.split()[0] for each in self.chart.medications)
        own = said & _words(listed)
        strange = (said & _medicine_words()) - own
        if not own - told or not strange:
            return bool(own - told)
        strange -= _words(" ".join(each.medication_name for each in self.chart.medications))
        if not strange:
            return True
        return strange <= _words(" ".join(each.content for each in self.chart.documents))

    def unfounded_codes(self, text: str) -> tuple[str, ...]:
        """Return the codes in a text that nothing on file has."""
        return self._strange_codes(stated(text))

    def unfounded(self, text: str) -> tuple[str, ...]:
        """Return the codes, past days and values in a text that nothing on file has."""
        said = stated(text)
        return (
            *self._strange_codes(said),
            *(str(day) for day in sorted(self._strange_days(said))),
            *sorted(self._strange_numbers(said, text)),
        )

    def _strange_codes(self, said: Stated) -> tuple[str, ...]:
        strange = said.codes and unknown(said.codes, self._codes)
        return tuple(sorted(self._unwritten(strange, attrgetter("codes"))))

    def _strange_days(self, said: Stated) -> set[date]:
        first, last = self.today
        asked = {day for day in said.days if day < first}
        left = {day for day in asked - self._days if day <= last} if asked else set()
        left = left - self._in_words.days if left else left
        left = left - self._reckoned_days if left else left
        return self._unwritten(left, attrgetter("days"))

    def _strange_numbers(self, said: Stated, text: str) -> set[str]:
        left = {each for each in said.numbers if not _small(each) and not _is_year(each)}
        left = left - self._values - _STANDING if left else left
        left = left - _quoted(self.operations) if left else left
        left = left - _of_control() if left else left
        left = left - self._in_words.numbers if left else left
        left = {each for each in left if not self._is_rough(each, text)} if left else left
        left = self._unwritten(left, attrgetter("numbers"))
        return left - reckoned(text, self._series, self.today[1]) if left else left

    def _is_rough(self, number: str, text: str) -> bool:
        """Return whether a number is told as one that a value on file is near: "just under 140"."""
        told = re.search(_ROUGHLY % re.escape(number), text, re.IGNORECASE)
        if told is None:
            return False
        bound, near = float(number), _NEAR * float(number)
        least = bound if told["over"] else bound - near
        most = bound if told["under"] else bound + near
        return any(least <= value <= most for _, values in self._series for value in values)

    @cached_property
    def _series(self) -> tuple[tuple[str, tuple[float, ...]], ...]:
        """What was measured, each with all its values."""
        values: dict[str, list[float]] = {}
        for each in self.chart.observations:
            if each.value_quantity is not None:
                values.setdefault(each.display, []).append(each.value_quantity)
        return tuple((name, tuple(several)) for name, several in values.items())

    @cached_property
    def _codes(self) -> frozenset[str]:
        chart = self.chart
        rows = (*chart.conditions, *chart.observations, *chart.procedures)
        return frozenset(str(getattr(row, "code", "")) for row in rows) | frozenset(
            self.referral.diagnosis_codes
        )

    @cached_property
    def _days(self) -> frozenset[date]:
        chart = self.chart
        found = {chart.patient.dob, self.referral.referral_date}
        found |= {each.occurred_at.date() for each in chart.encounters}
        found |= {each.observed_at.date() for each in chart.observations}
        found |= {each.authored_on.date() for each in chart.medications}
        found |= {each.created_at.date() for each in chart.documents}
        found |= {each.onset_date for each in chart.conditions if each.onset_date}
        found |= {each.effective_date for each in chart.coverages if each.effective_date}
        return frozenset(found)

    @cached_property
    def _reckoned_days(self) -> frozenset[date]:
        """Days from which on is counted: months before the work and before the referral."""
        bases = {*self.today, self.referral.referral_date}
        return frozenset(months_before(base, each) for base in bases for each in _LOOKED_BACK)

    @cached_property
    def _measured(self) -> frozenset[str]:
        found = (each.value_quantity for each in self.chart.observations)
        return frozenset(f"{value:.10g}" for value in found if value is not None)

    @cached_property
    def _values(self) -> frozenset[str]:
        return self._measured | self._claimed

    @cached_property
    def _claimed(self) -> frozenset[str]:
        """The score of the referral, in both scales, and the age that the queue shows."""
        score = self.referral.risk_score
        scores = set() if score is None else {f"{score:.10g}", f"{score * 100:.10g}"}
        born, now = self.chart.patient.dob, self.today[1]
        age = now.year - born.year - ((now.month, now.day) < (born.month, born.day))
        return frozenset(scores) | {str(age)}

    @cached_property
    def _in_words(self) -> Stated:
        """What the tables of chart and referral say in words; read where their columns lack it."""
        chart, referral = self.chart, self.referral
        rows = [_told_by(referral)]
        rows += [f"{each.medication_name} {each.dose or ''}" for each in chart.medications]
        rows += [each.summary for each in chart.encounters]
        rows += [f"{each.display} {each.value_text or ''}" for each in chart.observations]
        rows += [each.display for each in chart.conditions]
        rows += [f"{each.display} {each.notes or ''}" for each in chart.procedures]
        return stated("\n".join(rows))

    @cached_property
    def _referred(self) -> Stated:
        """What the referral tells, as the queue and the instruction show it."""
        referral = self.referral
        told = stated(_told_by(referral))
        return replace(
            told,
            codes=told.codes | frozenset(referral.diagnosis_codes),
            days=told.days | {referral.referral_date},
            numbers=told.numbers | self._claimed,
        )

    def _unwritten(
        self, wanted: Set[Stray], part: Callable[[Stated], frozenset[Stray]]
    ) -> set[Stray]:
        """Return what no document states; no more of them are read than it takes to find it."""
        left = set(wanted)
        for each in self.chart.documents if left else ():
            left -= part(stated(each.content))
            if not left:
                break
        return left


#: How a number is told that a value lies near, and how near it has to be, as a share.
_ROUGHLY = (
    r"(?:(?P<over>\b(?:over|above|(?:more|higher|greater) than|at least)|[>\u2265])|"
    r"(?P<under>\b(?:under|below|(?:less|lower|fewer) than|at most|nearly|almost)|[<\u2264])|"
    r"\b(?:around|about|near|roughly|some)|[~\u2248]) ?%s(?![\d.]*\d)"
)
_NEAR = 0.05
#: Months for which somebody looks back.
_LOOKED_BACK = (1, 2, 3, 6, 9, 12, 18, 24)


@kept
def _quoted(operations: OperatingRules) -> frozenset[str]:
    """Return the numbers of the handbook's rules."""
    numbers = (getattr(operations, each.name) for each in fields(operations))
    return frozenset(shortest(str(number)) for number in numbers if type(number) in (int, float))


@cache
def _of_control() -> frozenset[str]:
    """Return the numbers of the handbook's table of control."""
    bounds = (bound for row in controls() for bound in (row.controlled, row.uncontrolled))
    return frozenset(shortest(f"{bound:g}") for bound in bounds if not isinstance(bound, str))


def names_medicine(chart: PatientChart, name: str) -> bool:
    """Return whether a chart has a medicine under a name, with or without its dose."""
    return any(same_medicine(each.medication_name, name) for each in chart.medications)


def _told_by(referral: CMReferral) -> str:
    """Return what a referral tells in words."""
    return "\n".join((referral.reason, referral.notes or "", *referral.utilization_flags))


def _words(text: str, word: re.Pattern[str] = _WORD) -> frozenset[str]:
    """Return the longer words of a text, in small letters."""
    return frozenset(word.findall(text.lower()))


@cache
def _medicine_words() -> frozenset[str]:
    """Return the words that are names of medicines, or parts of them."""
    return _words(" ".join(grammar().medicines))


def _small(number: str) -> bool:
    return "." not in number and float(number) < _COUNTED_BELOW


def _is_year(number: str) -> bool:
    return len(number) == 4 and number.startswith(("19", "20"))
