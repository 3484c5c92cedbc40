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
#: Years of age from which people are retired, and until which they are children.
_RETIRED, _CHILD = 67, 18


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
def _table() -> Mapping[str, tuple[str, ...]]:
    rows = json.loads((files(__package__) / "persona.json").read_text("utf-8"))
    return {key: tuple(values) for key, values in rows.items()}


def persona_of(patient: Patient, year: int) -> Persona:
    """Return a patient's life in a year.

    Args:
        patient: Who it is; the same person has the same life.
        year: The year, from which follows whether they still work.
    """
    number = int("".join(sign for sign in patient.id if sign.isdigit()) or "0")
    chooser, table = seeded(_PERSONAS + number), _table()
    age = year - patient.dob.year
    work, former = _one(chooser, table["work"]), _one(chooser, table["former"])
    hobby, food, child = (_one(chooser, table[key]) for key in ("hobby", "food", "child"))
    family = (_one(chooser, table["family"][::2]), _one(chooser, table["family"][1::2]))
    if age < _CHILD:
        return Persona(child, hobby, family, food, "child")
    if age >= _RETIRED:
        return Persona(former, hobby, family, food, "retired")
    return Persona(work, hobby, family, food, "worker")


def _one(chooser: Chooser, options: tuple[str, ...]) -> str:
    return options[chooser.below(len(options))]
