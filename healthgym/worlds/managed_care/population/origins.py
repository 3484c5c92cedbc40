"""Names, race, ethnicity and language, which go together."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np


@dataclass(frozen=True, slots=True)
class Origin:
    """People whose names, and what registration asks of them, go together.

    Attributes:
        name: Its name in the table.
        weight: How many there are, in relation to the others.
        last: Last names.
        female: First names of women.
        male: First names of men.
        races: What is registered as race, as often as it stands here; empty where it is declined.
        ethnicity: What is registered as ethnicity.
        languages: Preferred languages, as often as they stand here.
    """

    name: str
    weight: int
    last: tuple[str, ...]
    female: tuple[str, ...]
    male: tuple[str, ...]
    races: tuple[str, ...]
    ethnicity: str
    languages: tuple[str, ...]

    def first_names(self, sex: str) -> tuple[str, ...]:
        """Return the first names of a sex."""
        return self.female if sex == "F" else self.male


@cache
def origins() -> tuple[Origin, ...]:
    """Return all origins."""
    rows = json.loads((files(__package__) / "origins.json").read_text("utf-8"))
    return tuple(
        Origin(
            row["name"],
            row["weight"],
            tuple(row["last"].split()),
            tuple(row["female"].split()),
            tuple(row["male"].split()),
            tuple(row["race"]),
            row["ethnicity"],
            tuple(row["languages"]),
        )
        for row in rows
    )


def draw_origin(rng: np.random.Generator) -> Origin:
    """Draw where somebody's names come from."""
    left = int(rng.integers(sum(each.weight for each in origins())))
    for each in origins():
        left -= each.weight
        if left < 0:
            return each
    return origins()[-1]


def origin_of(last_name: str) -> Origin:
    """Return the origin of a last name; the most common one if none has it."""
    known = (each for each in origins() if last_name in each.last)
    return next(known, max(origins(), key=lambda each: each.weight))
