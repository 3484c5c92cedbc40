"""What a reviewer enters as a value: a number with its unit, in whichever of two places."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TypeGuard

from healthgym.core.borders import Json
from healthgym.envs.managed_care.checks.normalize import plain
from healthgym.worlds.managed_care.policies.units import printed_units
from healthgym.worlds.managed_care.records.review import ClinicalEvidenceItemObservation

#: One number and, after it, what reads as a unit: nothing with a second number or a choice in it.
_QUANTITY = re.compile(r"(?P<number>[-+]?\d+(?:\.\d+)?)\s*(?P<unit>[^\d\s,;|]\S*(?: \S+){0,2})")
_NO_UNIT = re.compile(r"\b(?:or|to|and|not?|vs)\b|[-–—~?]$")
#: Weeks of one unit of time, as durations are counted.
_WEEKS = {"day": 1 / 7, "d": 1 / 7, "month": 30.44 / 7, "mo": 30.44 / 7, "year": 365.25 / 7}


@dataclass(frozen=True, slots=True)
class Entered:
    """A value as it was entered.

    Attributes:
        value: The value, without its disguise; what is no single number or yes as it is.
        unit: Its unit, in small letters; blank where none is named.
    """

    value: Json
    unit: str = ""

    @property
    def measured_in(self) -> str | None:
        """The UCUM unit that is named; None where none is, or it is no unit of a measurement."""
        return _units().get(self.unit)


def entered(seen: ClinicalEvidenceItemObservation) -> Entered:
    """Return the value of an item, and its unit from where it stands: "25 kg" is 25, in kg."""
    value, unit = plain(seen.observed_value), seen.observed_unit
    if isinstance(value, str) and (found := _QUANTITY.fullmatch(value)) is not None:
        named = found["unit"]
        if not _NO_UNIT.search(named.lower()):
            value, unit = plain(found["number"]), unit or named
    return Entered(value, " ".join(unit.lower().split()))


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a number, and no yes or no."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def weeks_of(unit: str) -> float:
    """Return how many weeks one of a unit is; 1 where the unit is none of time."""
    return _WEEKS.get(unit if unit in _WEEKS else unit.removesuffix("s"), 1.0)


@cache
def _units() -> dict[str, str]:
    """Return UCUM units by how they are written, in small letters."""
    known: dict[str, set[str]] = {}
    for unit, shown in printed_units().items():
        for form in (unit, shown):
            known.setdefault(" ".join(form.lower().split()), set()).add(unit)
    # What two units share in small letters says neither.
    return {form: next(iter(units)) for form, units in known.items() if len(units) == 1}
