"""Amounts in one unit per dimension, whatever they were written in.

Units are read by their UCUM code or by a name in use. Letter case says nothing: charts write mEq,
MEQ and meq for the same. Source: UCUM's case-sensitive codes of the units that orders here are
written in, and the names that formularies print.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from healthgym.core.borders import Json
from healthgym.envs.fhir_record.orders.tables import read_table

_ROUND = 9


class Dimension(StrEnum):
    """What an amount is an amount of, with the unit it is kept in."""

    MASS = "mass"  #: g
    EQUIVALENTS = "equivalents"  #: mEq
    SUBSTANCE = "substance"  #: mmol
    ACTIVITY = "activity"  #: units
    TIME = "time"  #: h
    VOLUME = "volume"  #: mL
    COUNT = "count"  #: tablets, sprays


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount, or an amount per another.

    Attributes:
        value: The number, in the unit of its dimension.
        of: The dimension.
        per: The dimension of the denominator; None if there is none.
    """

    value: float
    of: Dimension
    per: Dimension | None = None

    def over(self, other: Amount) -> Amount:
        """Return this amount per another one."""
        return Amount(_rounded(self.value / other.value), self.of, other.of)


@cache
def filler(kind: str) -> frozenset[str]:
    """Return words that claim nothing: in a ``"prescription"``, a ``"service"``, a ``"courtesy"``.

    Raises:
        KeyError: If there is no such kind.
    """
    return frozenset(read_table("fillers")[kind])


@cache
def _units() -> Mapping[str, tuple[Dimension, float]]:
    table = read_table("units")
    return {
        name: (Dimension(dimension), factor)
        for dimension, names in table.items()
        for name, factor in names.items()
    }


def unit_names(dimension: Dimension | None = None) -> tuple[str, ...]:
    """Return the names of units that are read in running text, longest first."""
    names = [n for n, (d, _) in _units().items() if dimension in (None, d) and n[0].isalpha()]
    return tuple(sorted(names, key=len, reverse=True))


def amount(value: object, unit: object) -> Amount | None:
    """Return a number of a unit, or of a unit per another; None if it cannot be read.

    Args:
        value: The number; only finite positive ones are amounts.
        unit: The unit's code or name, such as ``"mg"``, ``"[USP'U]"`` or ``"g per hour"``.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not isinstance(unit, str):
        return None
    if not math.isfinite(value) or value <= 0:
        return None
    above, slash, below = squeezed(unit).replace(" per ", "/").partition("/")
    top = _units().get(above.strip())
    bottom = _units().get(below.strip()) if slash else None
    if top is None or (slash and bottom is None):
        return None
    factor = top[1] / bottom[1] if bottom else top[1]
    return Amount(_rounded(value * factor), top[0], bottom[0] if bottom else None)


def read_quantity(quantity: object) -> Amount | None:
    """Return a FHIR Quantity as an amount; None if it is not one whole amount.

    Unit and code are each optional. Where both are given, they must say the same.
    """
    if not isinstance(quantity, dict) or quantity.get("comparator"):
        return None
    value = quantity.get("value")
    said = [quantity[name] for name in ("unit", "code") if quantity.get(name) is not None]
    read = {amount(value, unit) for unit in said}
    return read.pop() if len(read) == 1 else None


def read_ratio(ratio: object) -> Amount | None:
    """Return a FHIR Ratio as an amount per another; None if it is not one."""
    if not isinstance(ratio, dict):
        return None
    above, below = read_quantity(ratio.get("numerator")), read_quantity(ratio.get("denominator"))
    if above is None or below is None or above.per or below.per:
        return None
    return above.over(below)


#: Share by which two amounts may differ that are one, written in two ways.
MOST_DIFFERENT = 1e-6


def same(one: Amount, other: Amount, tolerance: float = 0.0) -> bool:
    """Return whether two amounts are of one dimension and no further apart than a tolerance."""
    slack = max(tolerance, MOST_DIFFERENT * abs(other.value)) + 1e-9 * abs(other.value)
    return (one.of, one.per) == (other.of, other.per) and abs(one.value - other.value) <= slack


def squeezed(text: str) -> str:
    """Return a text in lower case with single spaces, one micro sign and no thousands commas."""
    plain = text.lower().replace("\u00b5", "u").replace("\u03bc", "u").replace("\u00a0", " ")
    return " ".join(plain.split())


def number(value: Json) -> float | None:
    """Return a finite number; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def _rounded(value: float) -> float:
    """Return a number without the noise of its conversion: about nine significant digits."""
    return float(f"{value:.{_ROUND}g}")
