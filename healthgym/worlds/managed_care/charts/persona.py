"""A patient's life besides medicine, told alike in every note: work, pastimes, family."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from healthgym.worlds.managed_care.charts.phrases import Chooser, seeded
from healthgym.worlds.managed_care.records.chart import Patient

#: Entropy of personas, apart from that of documents.
_PERSONAS = 70_000_001
#: Who was born by this year is retired: at 67 in 2026, when the worlds begin. Notes of other years
#: say the same, so that nobody is at work in one note and long retired in the next.
_RETIRED_BORN = 1959
#: Years of age until which people are children, and the youngest of them infants.
_CHILD = 18
_INFANT = 2


@dataclass(frozen=True, slots=True)
class Persona:
    """A patient's life besides medicine.

    Attributes:
        work: What they do, or did, for a living, as a predicate.
        hobby: How they pass the time.
        family: Illnesses in the family, none of which a policy asks for.
        food: How they eat, as a predicate.
        group: ``child``, ``worker`` or ``retired``.
    """

    work: str
    hobby: str
    family: tuple[str, ...]
    food: str
    group: str


@cache
def pastimes() -> Mapping[str, tuple[str, ...]]:
    """Return what a life may be made of, by its part."""
    rows = json.loads((files(__package__) / "persona.json").read_text("utf-8"))
    return {key: tuple(values) for key, values in rows.items()}


def persona_of(patient: Patient, year: int) -> Persona:
    """Return a patient's life in a year.

    Args:
        patient: Who it is; the same person has the same life.
        year: The year, from which follows whether they are a child still.
    """
    number = int("".join(sign for sign in patient.id if sign.isdigit()) or "0")
    chooser, table = seeded(_PERSONAS + number), pastimes()
    work, former = _one(chooser, table["work"]), _one(chooser, table["former"])
    hobby, food, child = (_one(chooser, table[key]) for key in ("hobby", "food", "child"))
    family = (_one(chooser, table["family"][::2]), _one(chooser, table["family"][1::2]))
    age = year - patient.dob.year
    if age < _INFANT:
        life = (_one(chooser, table[key]) for key in ("infant", "infant_play", "infant_food"))
        child, hobby, food = life
        return Persona(child, hobby, family, food, "child")
    if age < _CHILD:
        return Persona(child, _one(chooser, table["play"]), family, food, "child")
    if patient.dob.year <= _RETIRED_BORN:
        return Persona(former, hobby, family, food, "retired")
    return Persona(work, hobby, family, food, "worker")


def _one(chooser: Chooser, options: tuple[str, ...]) -> str:
    return options[chooser.below(len(options))]
