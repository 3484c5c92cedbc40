"""Whether a text gives a known value, or a course, a day that is another fact's.

A day on file may still be the day of something else. Looked at are the forms of :mod:`.ties`, which
tie a day to one name; whatever is told in more words is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from functools import cached_property

from healthgym.worlds.managed_care.charts.prose import names_of
from healthgym.worlds.managed_care.charts.stated import numbers_of
from healthgym.worlds.managed_care.facts import (
    AnyFact,
    Measurement,
    MedicationCourse,
    TherapyCourse,
)
from healthgym.worlds.managed_care.records.chart import DocumentReference
from healthgym.worlds.managed_care.stated import days_in, numbers_after, shortest
from healthgym.worlds.managed_care.ties import Tied

#: A day as clauses have it.
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


class Dated:
    """Knows the days of values and courses.

    Args:
        facts: What is on file.
        pages: Returns the pages that tell of it.
        said: Returns what was said of it on calls, where another day may have been told.
    """

    def __init__(
        self,
        facts: Iterable[AnyFact],
        pages: Callable[[], Iterable[DocumentReference]],
        said: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        self._facts, self._pages, self._said = tuple(facts), pages, said

    @property
    def names(self) -> Iterator[str]:
        """Yield the names of all of which days are known."""
        yield from self._measured
        yield from self.treated

    def misdated(self, clause: str) -> Iterator[str]:
        """Yield what a clause, in small letters and with days as 2026-03-13, dates wrongly."""
        if _DAY.search(clause):
            yield from self._values(clause)
            yield from self._courses(clause)

    def _values(self, clause: str) -> Iterator[str]:
        """Yield values that are given with a day on which something else was measured."""
        for name, facts in self._measured.items():
            if name not in clause:
                continue
            for number, when in Tied(name).values(clause):
                value = shortest(number)
                days = {fact.taken for fact in facts if value in map(shortest, numbers_of(fact))}
                if days and when not in days | self._told and not self._given(name, value, when):
                    yield f"{name} {value} is not of {when or 'any such day'}"

    def _given(self, name: str, value: str, when: date | None) -> bool:
        """Return whether a page of a day gives a value, whenever it was measured."""
        return when is not None and any(
            value == number
            for text in self.pages_of(when)
            for number, _ in numbers_after(name, text)
        )

    def pages_of(self, when: date) -> Iterator[str]:
        """Yield the pages of a day, in small letters."""
        for each in self._pages():
            signed = each.signed_at.date() if each.signed_at else None
            if when in (each.created_at.date(), signed):
                yield each.content.casefold()

    def _courses(self, clause: str) -> Iterator[str]:
        """Yield days on which a course is said to have begun or ended, and did not."""
        for name, facts in self.treated.items():
            if name not in clause:
                continue
            often = (f.frequency for f in facts if isinstance(f, MedicationCourse))
            begun, ended = Tied(name, tuple(often)).course(clause)
            for when, days in (
                (begun, {fact.started for fact in facts}),
                (ended, {fact.ended for fact in facts}),
            ):
                if when and when not in days | self._told:
                    yield f"{name}: not {when}"

    @cached_property
    def _told(self) -> frozenset[date]:
        """The days that were told on calls."""
        return frozenset().union(*map(days_in, self._said()))

    @cached_property
    def _measured(self) -> Mapping[str, list[Measurement]]:
        found: dict[str, list[Measurement]] = {}
        for fact in self._facts:
            if isinstance(fact, Measurement):
                for name in {each.casefold() for each in names_of(fact)}:
                    found.setdefault(name, []).append(fact)
        return found

    @cached_property
    def treated(self) -> Mapping[str, list[MedicationCourse | TherapyCourse]]:
        """The courses of each medicine and therapy, by its name in small letters."""
        found: dict[str, list[MedicationCourse | TherapyCourse]] = {}
        for fact in self._facts:
            if isinstance(fact, MedicationCourse):
                found.setdefault(fact.medication.casefold(), []).append(fact)
            if isinstance(fact, TherapyCourse):
                found.setdefault(fact.display.casefold(), []).append(fact)
        return found
