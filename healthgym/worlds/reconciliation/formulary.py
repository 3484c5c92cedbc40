"""The medicines there are: class, usual daily doses, and what kidneys allow.

The renal limits are rules of this world, in the spirit of common references and rounder than
these. They are stated to the agent and are no guidance for care.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from healthgym.core.borders import JsonObject


@dataclass(frozen=True, slots=True)
class RenalLimit:
    """What a medicine's dose may be where the kidneys are weak.

    Attributes:
        below: The limit holds for an eGFR below this, in mL/min/1.73 m².
        most: Highest daily dose there, in mg; 0 if the medicine is to be avoided.
    """

    below: int
    most: float


@dataclass(frozen=True, slots=True)
class Medicine:
    """A medicine.

    Attributes:
        name: Generic name.
        group: Its class; two medicines of one class are a duplicate.
        allergy: The group of an allergy that covers it; empty if none does here.
        doses: Usual daily doses in mg, ascending.
        counter: Whether it is sold without a prescription.
        renal: Its renal limit, if it has one.
    """

    name: str
    group: str
    allergy: str
    doses: tuple[float, ...]
    counter: bool
    renal: RenalLimit | None

    def allowed(self, dose: float, egfr: int) -> float:
        """Return the daily dose in mg that the kidneys allow: ``dose``, or less."""
        if self.renal is None or egfr >= self.renal.below:
            return dose
        return min(dose, self.renal.most)


@cache
def formulary() -> dict[str, Medicine]:
    """Return all medicines by name, in alphabetical order."""
    text = (files(__package__) / "data" / "formulary.json").read_text("utf-8")
    found = [_medicine(row) for row in json.loads(text)]
    return {medicine.name: medicine for medicine in sorted(found, key=lambda each: each.name)}


def _medicine(row: JsonObject) -> Medicine:
    limit = row["renal"]
    return Medicine(
        row["name"],
        row["class"],
        row["allergy"],
        tuple(map(float, row["doses"])),
        row["otc"],
        RenalLimit(limit["below"], float(limit["most"])) if limit else None,
    )


def find(name: str) -> Medicine | None:
    """Return the medicine of a name, whatever its case and spacing."""
    return formulary().get(" ".join(name.split()).lower())
