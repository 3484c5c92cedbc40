"""Medicines that go with a condition: nobody has coronary disease and not one drug for it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date, timedelta
from functools import cache
from importlib.resources import files

from healthgym.worlds.managed_care.charts.hours import some_business_day
from healthgym.worlds.managed_care.facts import AnyFact, Diagnosis, MedicationCourse
from healthgym.worlds.managed_care.population.conditions import Prescription
from healthgym.worlds.managed_care.population.suitability import closed_by
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind

#: Days from the diagnosis to the prescription.
_SOON = 9


@cache
def _table() -> Mapping[str, tuple[Prescription, ...]]:
    rows = json.loads((files(__package__) / "companions.json").read_text("utf-8"))
    return {code: tuple(Prescription(*each) for each in row) for code, row in rows.items()}


def companions(
    ill: Iterable[Diagnosis],
    known: Iterable[AnyFact],
    never: Collection[str],
    noted_in: tuple[DocumentKind, ...],
    today: date,
) -> Iterator[MedicationCourse]:
    """Yield medicines for conditions that the patient takes none of the usual ones for.

    Args:
        ill: The conditions.
        known: Everything else true of the patient.
        never: Drug classes, drugs and substances of which nothing may be added.
        noted_in: Kinds of documents that tell them.
        today: The day up to which the chart is kept.
    """
    courses = [fact for fact in known if isinstance(fact, MedicationCourse)]
    taken = {each.drug_class for each in courses} | {each.medication for each in courses}
    taken.update(never)
    number = 951
    for each in ill:
        start = some_business_day(each.onset + timedelta(days=_SOON))
        if not each.active or start >= today:
            continue
        for chosen in _usual(each.code):
            if closed_by(taken).isdisjoint((chosen.drug_class, chosen.medication)):
                taken |= {chosen.drug_class, chosen.medication}
                yield MedicationCourse(
                    id=f"B-{number}",
                    noted_in=noted_in,
                    medication=chosen.medication,
                    drug_class=chosen.drug_class,
                    dose=chosen.dose,
                    frequency=chosen.frequency,
                    started=start,
                )
                number += 1


def _usual(code: str) -> tuple[Prescription, ...]:
    return tuple(x for start, row in _table().items() if code.startswith(start) for x in row)
