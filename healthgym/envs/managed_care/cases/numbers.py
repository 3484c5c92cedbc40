"""A policy with numbers of its own: drawn for a task, so that its page must be read.

What is drawn keeps a policy sensible: thresholds on one quantity move together and by at most a
seventh, times and counts go to a neighbour on a scale that such pages use.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from healthgym.worlds.managed_care.policies.criteria import (
    AnyCriterion,
    CountCriterion,
    FindingCriterion,
    MeasurementCriterion,
    ProcedureCriterion,
    QuantityCriterion,
    StepTherapyCriterion,
    TherapyCriterion,
)
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.tree import criteria, transform

#: Relative changes of a threshold.
_SHIFTS = (-0.14, -0.1, -0.06, 0.0, 0.06, 0.1, 0.14)
_MONTHS = (1, 2, 3, 4, 6, 9, 12, 18, 24, 36, 48, 60)
_WEEKS = (2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 36, 52)
_SESSIONS = (4, 6, 8, 10, 12, 16, 18, 20, 24, 30, 36)


def renumbered(policy: Policy, rng: np.random.Generator) -> Policy:
    """Return a policy with other thresholds, windows, durations and limits.

    Args:
        policy: The policy as the library has it.
        rng: Where the numbers come from.
    """
    codes = dict.fromkeys(
        item.code
        for item in criteria(policy.criteria)
        if isinstance(item, MeasurementCriterion | CountCriterion)
    )
    shifts = {code: _SHIFTS[int(rng.integers(len(_SHIFTS)))] for code in codes}
    drawn = {item.id: _drawn(item, shifts, rng) for item in criteria(policy.criteria)}
    return replace(policy, criteria=transform(policy.criteria, lambda item: drawn[item.id]))


def _drawn(item: AnyCriterion, shifts: dict[str, float], rng: np.random.Generator) -> AnyCriterion:
    match item:
        case MeasurementCriterion() | CountCriterion():
            threshold = _shifted(item.threshold, shifts[item.code])
            return replace(item, threshold=threshold, months=_near(_MONTHS, item.months, rng))
        case StepTherapyCriterion():
            return replace(item, weeks=_near(_WEEKS, item.weeks, rng))
        case TherapyCriterion():
            return replace(
                item,
                sessions=_near(_SESSIONS, item.sessions, rng),
                weeks=_near(_WEEKS, item.weeks, rng),
            )
        case FindingCriterion() if item.months is not None:
            return replace(item, months=_near(_MONTHS, item.months, rng))
        case ProcedureCriterion():
            return replace(item, months=_near(_MONTHS, item.months, rng))
        case QuantityCriterion():
            return replace(item, maximum=max(1, item.maximum + int(rng.integers(-2, 3))))
    return item


def _shifted(threshold: float, shift: float) -> float:
    """Return a threshold changed by a share of itself, with as many digits as it had."""
    step = 10.0 ** -_decimals(threshold)
    steps = round(threshold * shift / step)
    if threshold >= 100:  # 126 mg/dL becomes 120 or 132, not 125.9
        step, steps = 2.0, round(threshold * shift / 2.0)
    return round(threshold + steps * step, 6)


def _decimals(value: float) -> int:
    return next(n for n in range(7) if math.isclose(value, round(value, n), abs_tol=1e-9))


def _near(scale: Sequence[int], value: int, rng: np.random.Generator) -> int:
    """Return a value or one of its neighbours on a scale; 0 stays 0."""
    if value == 0:
        return 0
    place = min(range(len(scale)), key=lambda n: abs(scale[n] - value))
    drawn = place + int(rng.integers(-1, 2))
    if drawn == place or not 0 <= drawn < len(scale):
        return value
    return scale[drawn]
