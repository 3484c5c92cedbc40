"""The numbers by which the solver judges measurements, each with its unit and meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from healthgym.envs.xray_correction.claims import load


@dataclass(frozen=True, slots=True)
class Threshold:
    """One number of ``data/thresholds.json``.

    Attributes:
        value: The number.
        unit: Its unit, that of the measurement it is compared with.
        meaning: What it tells apart.
    """

    value: float
    unit: str
    meaning: str


@cache
def thresholds() -> Mapping[str, Threshold]:
    """Return the thresholds by name."""
    return {name: Threshold(**row) for name, row in load("thresholds.json").items()}


def limit(name: str) -> float:
    """Return the value of a threshold."""
    return thresholds()[name].value
