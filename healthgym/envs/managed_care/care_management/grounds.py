"""What may be stated about a person: codes, days and values that are on file somewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import date
from functools import cached_property

from healthgym.envs.managed_care.care_management.words import words
from healthgym.envs.managed_care.reading.stated import Stated, shortest, stated
from healthgym.worlds.managed_care.apps.care_management.evidence import same_medicine
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.records.care import CMReferral

_WORD = re.compile(r"[a-z]{4,}")
#: Shortest letters by which two words are taken for one, whatever their endings.
_STEM = 6
#: Numbers below this are counted with, and are no value of anything.
_COUNTED_BELOW = 20


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

    def names_something(self, text: str) -> bool:
        """Return whether a text names something of this person's: what is on file, or an event."""
        said = stated(text)
        if said.codes & self._codes or said.days & self._days:
            return True
        named = {word[:_STEM] for word in _WORD.findall(text.lower())}
        if named & self._names:
            return True
        large = {number for number in said.numbers if not _small(number)}
        return bool(large & self._values)

    def unfounded_codes(self, text: str) -> tuple[str, ...]:
        """Return the codes in a text that nothing on file has."""
        return self._strange_codes(stated(text))

    def unfounded(self, text: str) -> tuple[str, ...]:
        """Return the codes, past days and values in a text that nothing on file has."""
        said = stated(text)
        return (
            *self._strange_codes(said),
            *(str(day) for day in sorted(self._strange_days(said))),
            *sorted(self._strange_numbers(said)),
        )

    def _strange_codes(self, said: Stated) -> tuple[str, ...]:
        left = said.codes - self._codes
        return tuple(sorted(left - self._written.codes)) if left else ()

    def _strange_days(self, said: Stated) -> set[date]:
        first, last = self.today
        asked = {day for day in said.days if day < first}
        left = {day for day in asked - self._days if day <= last} if asked else set()
        left = left - self._in_words.days if left else left
        return left - self._written.days if left else left

    def _strange_numbers(self, said: Stated) -> set[str]:
        left = {
            number
            for number in said.numbers - self._values - self._quoted
            if not _small(number) and not _is_year(number)
        }
        left = left - self._in_words.numbers if left else left
        return left - self._written.numbers if left else left

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
        return frozenset(found)

    @cached_property
    def _values(self) -> frozenset[str]:
        values = {
            f"{each.value_quantity:.10g}"
            for each in self.chart.observations
            if each.value_quantity is not None
        }
        score = self.referral.risk_score
        if score is not None:
            values |= {f"{score:.10g}", f"{score * 100:.10g}"}
        born, now = self.chart.patient.dob, self.today[1]
        age = now.year - born.year - ((now.month, now.day) < (born.month, born.day))
        return frozenset(values) | {str(age)}

    @cached_property
    def _quoted(self) -> frozenset[str]:
        numbers = (getattr(self.operations, each.name) for each in fields(self.operations))
        return frozenset(
            shortest(str(number)) for number in numbers if type(number) in (int, float)
        )

    @cached_property
    def _in_words(self) -> Stated:
        """What the tables of chart and referral say in words; read where their columns lack it."""
        chart, referral = self.chart, self.referral
        rows = [referral.reason, referral.notes or "", *referral.utilization_flags]
        rows += [f"{each.medication_name} {each.dose or ''}" for each in chart.medications]
        rows += [each.summary for each in chart.encounters]
        rows += [each.value_text or "" for each in chart.observations]
        rows += [each.display for each in chart.conditions]
        return stated("\n".join(rows))

    @cached_property
    def _written(self) -> Stated:
        """What the documents state; they are read only where the tables lack something."""
        return stated("\n".join(each.content for each in self.chart.documents))

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(_stems(self.chart, self.referral))


def names_medicine(chart: PatientChart, name: str) -> bool:
    """Return whether a chart has a medicine under a name, with or without its dose."""
    return any(same_medicine(each.medication_name, name) for each in chart.medications)


def _stems(chart: PatientChart, referral: CMReferral) -> Iterator[str]:
    named = [each.display for each in chart.conditions]
    named += [each.medication_name for each in chart.medications]
    named += [each.display for each in chart.observations]
    for text in (*named, referral.reason):
        for word in _WORD.findall(text.lower()):
            if word not in words().common:
                yield word[:_STEM]


def _small(number: str) -> bool:
    return "." not in number and float(number) < _COUNTED_BELOW


def _is_year(number: str) -> bool:
    return len(number) == 4 and number.startswith(("19", "20"))
