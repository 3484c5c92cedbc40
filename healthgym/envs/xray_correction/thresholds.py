"""The numbers by which measurements are judged, each with its unit and meaning.

The solver judges by them, and measurements of drawn radiographs state them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from healthgym.envs.xray_correction.claims import load

_LIMIT = re.compile(r"\{([a-z_.]+)(?::([^}]*))?\}")


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


@cache
def stated() -> Mapping[str, str]:
    """Return what to tell of each measurement's limits, and after ``compare`` of a change's."""
    found = {}
    for what, texts in load("limits.json").items():
        found[what] = f"limits: {_filled(texts['measured'])}."
        if "compared" in texts:
            found[f"compare {what}"] = f"limits: {_filled(texts['compared'])}."
    return found


def _filled(text: str) -> str:
    return _LIMIT.sub(lambda match: format(limit(match[1]), match[2] or "g"), text)
