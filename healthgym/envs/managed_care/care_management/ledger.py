"""What becomes true of a member while a history is drawn, and what the calendar has room for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from typing import TypeVar

import numpy as np

from healthgym.envs.managed_care.care_management.panel import KNOWN, Member
from healthgym.worlds.managed_care.charts.prose import begun, day_of
from healthgym.worlds.managed_care.facts import (
    AnyFact,
    Diagnosis,
    Finding,
    Intolerance,
    Measurement,
    MedicationCourse,
)
from healthgym.worlds.managed_care.population.conditions import Prescription
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind

_T = TypeVar("_T")
#: Systolic pressure, which is taken at every visit.
PRESSURE = "8480-6"


class NoRoomError(Exception):
    """The member's calendar has no room for what is to have happened; another draw may have."""


class Ledger:
    """The facts of one member, those of the background and those that are added.

    Args:
        member: Who it is.
        rng: Where chance comes from.

    Attributes:
        facts: Everything true so far.
        patient: Who it is.
        days: Days of the background on which something became true, ascending.
        visits: Of these, days of visits.
        note: Kind of the member's usual note.
    """

    def __init__(self, member: Member, rng: np.random.Generator) -> None:
        home, known = member.background, _before(member)
        self.rng = rng
        self.facts = list(known.facts)
        self.patient = home.patient
        self.note = (home.habits.note,)
        self.state = home.patient.address_state or ""
        self.days, self.visits = known.days, known.visits
        self._recent = home.habits.recent
        self._added = 0

    def new_id(self) -> str:
        """Return the id of the next fact."""
        self._added += 1
        return f"C-{self._added:03d}"

    def active(self) -> list[str]:
        """Return the codes of active conditions."""
        return [x.code for x in self.facts if isinstance(x, Diagnosis) and x.active]

    def one(self, options: Sequence[_T]) -> _T:
        """Draw one of some."""
        return options[int(self.rng.integers(len(options)))]

    def some(self, options: Sequence[_T], count: int) -> list[_T]:
        """Draw so many of some, in any order."""
        return [options[int(place)] for place in self.rng.permutation(len(options))[:count]]

    def measured(self, loinc: str) -> set[date]:
        """Return the days on which something was measured."""
        return {x.taken for x in self._measured(loinc)}

    def _measured(self, loinc: str) -> Iterable[Measurement]:
        return (x for x in self.facts if isinstance(x, Measurement) and x.code == loinc)

    def add_value(self, loinc: str, name: str, value: float, unit: str, day: date) -> None:
        """Add a measurement, under the name that the chart has for it if it has one."""
        display = next((x.display for x in self._measured(loinc)), name)
        self.facts.append(
            Measurement(
                id=self.new_id(),
                noted_in=self.note if day >= self._recent else (),
                code=loinc,
                display=display[:1].upper() + display[1:],
                value=value,
                unit=unit,
                taken=day,
            )
        )

    def going(self) -> list[MedicationCourse]:
        """Return the medicines that are taken."""
        return [x for x in self.facts if isinstance(x, MedicationCourse) and x.ended is None]

    def untaken(self, wanted: Iterable[Prescription]) -> list[Prescription]:
        """Return those of some prescriptions of whose class nothing is taken, and all tolerated."""
        going = self.going()
        taken = {x.drug_class for x in going} | {x.medication for x in going}
        taken |= {x.substance for x in self.facts if isinstance(x, Intolerance)}
        return [x for x in wanted if not taken & {x.drug_class, x.medication}]

    def course(
        self, chosen: Prescription, day: date, noted: tuple[DocumentKind, ...]
    ) -> MedicationCourse:
        """Return a course of a medicine, not added yet."""
        return MedicationCourse(
            id=self.new_id(),
            noted_in=noted,
            medication=chosen.medication,
            drug_class=chosen.drug_class,
            dose=chosen.dose,
            frequency=chosen.frequency,
            started=day,
        )


@dataclass(frozen=True, slots=True)
class _Before:
    """What is true of a member before any history, and on which days it became so.

    Attributes:
        facts: It.
        days: The days, ascending.
        visits: Of these, days of visits.
    """

    facts: tuple[AnyFact, ...]
    days: tuple[date, ...]
    visits: tuple[date, ...]


@lru_cache(maxsize=KNOWN)
def _before(member: Member) -> _Before:
    facts = tuple(_outside(member.background.facts))
    days = {each for fact in facts for each in (begun(fact), day_of(fact))}
    pressures = (x for x in facts if isinstance(x, Measurement) and x.code == PRESSURE)
    return _Before(facts, tuple(sorted(days)), tuple(sorted({x.taken for x in pressures})))


def _outside(facts: Iterable[AnyFact]) -> Iterable[AnyFact]:
    """Yield what is true of a member without the hospital stays of the clinical model."""
    for fact in facts:
        told = tuple(kind for kind in fact.noted_in if kind is not DocumentKind.DISCHARGE_SUMMARY)
        if told == fact.noted_in:
            yield fact
        elif told or not isinstance(fact, Finding):
            yield replace(fact, noted_in=told)
