"""Units as pages print them, values carried between units, and values that can be.

Known conversions are in ``data/units.json``: between units of one quantity for any code, and
between mass and substance concentration (or the two scales of hemoglobin A1c) for the codes listed,
since these depend on what is measured. Everything else is not comparable. ``data/ranges.json``
holds the least and greatest value of scores and shares.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

#: Units of what is counted, or scored: there is no half of it.
WHOLE = frozenset({"{score}", "{count}", "d"})


@dataclass(frozen=True, slots=True)
class Conversion:
    """From one unit to another: ``value * factor + offset``.

    Attributes:
        code: LOINC code it holds for; empty for all.
        source: UCUM unit of the value.
        target: UCUM unit wanted.
        factor: What the value is multiplied by.
        offset: What is added then.
        usual: Whether the unit wanted is the usual one of the two.
    """

    code: str
    source: str
    target: str
    factor: float
    offset: float
    usual: bool


@cache
def _table() -> tuple[dict[str, str], dict[tuple[str, str, str], Conversion]]:
    raw = json.loads((files(__package__) / "data" / "units.json").read_text("utf-8"))
    known: dict[tuple[str, str, str], Conversion] = {}
    for row in raw["conversions"]:
        code, factor, offset = row.get("code", ""), row["factor"], row.get("offset", 0.0)
        source, target = row["from"], row["to"]
        there, back = (factor, offset), (1 / factor, -offset / factor)
        known[code, source, target] = Conversion(code, source, target, *there, usual=True)
        known[code, target, source] = Conversion(code, target, source, *back, usual=False)
    return dict(raw["printed"]), known


def convert(value: float, source: str, target: str, code: str) -> float | None:
    """Return a value in another unit; None where no conversion is known.

    Args:
        value: The value, in ``source``.
        source: UCUM unit it has.
        target: UCUM unit wanted.
        code: LOINC code of what was measured.
    """
    if source == target:
        return value
    way = _way(source, target, code)
    return None if way is None else round(value * way.factor + way.offset, 6)


@cache
def other_units(code: str, unit: str) -> tuple[str, ...]:
    """Return the units from which values of a code can be carried into ``unit``."""
    return tuple(
        source for known, source, target in _table()[1] if target == unit and known in ("", code)
    )


def leads_to_usual(source: str, target: str, code: str) -> bool:
    """Return whether a unit is the usual one beside another: conversions are listed towards it."""
    way = _way(source, target, code)
    return way is not None and way.usual


@cache
def usual_unit(unit: str, code: str) -> str:
    """Return the usual unit of what is measured, of a value in this one; itself if none is known.

    Args:
        unit: UCUM unit of the value.
        code: LOINC code of what was measured.
    """
    ways = (way for way in _table()[1].values() if way.source == unit and way.code in ("", code))
    return next((way.target for way in ways if way.usual), unit)


def _way(source: str, target: str, code: str) -> Conversion | None:
    known = _table()[1]
    return known.get((code, source, target)) or known.get(("", source, target))


def printed_units() -> dict[str, str]:
    """Return how pages print UCUM units."""
    return _table()[0]


def printed(unit: str) -> str:
    """Return a UCUM unit as pages print it."""
    return _table()[0][unit]


@cache
def _ranges() -> dict[str, tuple[float, float]]:
    raw = json.loads((files(__package__) / "data" / "ranges.json").read_text("utf-8"))
    return {code: (low, high) for code, (low, high) in raw.items()}


def value_range(code: str, unit: str) -> tuple[float, float]:
    """Return the least and the greatest value that a measurement can have, in its own unit."""
    ranges = _ranges()
    return ranges.get(code) or ranges.get(unit) or (0.0, float("inf"))
