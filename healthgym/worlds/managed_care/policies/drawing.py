"""Policies with numbers of their own: for a task, for another plan or state, for a former version.

A number moves by a step or two that a policy could have taken: look-backs along a ladder of usual
lengths, thresholds by round amounts. Criteria that share a subject with another keep their numbers,
so that alternatives such as two thresholds of one value stay in order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import date, timedelta
from functools import partial
from operator import attrgetter

from numpy.random import Generator

from healthgym.core.records import replace
from healthgym.worlds.managed_care.deferred import Deferred, varied
from healthgym.worlds.managed_care.policies.checking import faults
from healthgym.worlds.managed_care.policies.criteria import (
    AnyCriterion,
    CountCriterion,
    MeasurementCriterion,
    ProcedureCriterion,
    QuantityCriterion,
    StepTherapyCriterion,
    TherapyCriterion,
)
from healthgym.worlds.managed_care.policies.keeping import kept
from healthgym.worlds.managed_care.policies.planting import subject
from healthgym.worlds.managed_care.policies.policy import Policy, variant
from healthgym.worlds.managed_care.policies.tree import Node, criteria, transform
from healthgym.worlds.managed_care.policies.units import WHOLE, value_range

_MONTHS = (1, 2, 3, 4, 6, 9, 12, 18, 24, 36, 48, 60, 84, 120, 180, 240)
_WEEKS = (2, 3, 4, 6, 8, 10, 12, 16, 20, 24)
_SESSIONS = (4, 6, 8, 10, 12, 16, 20, 24)
_QUANTITIES = (3, 4, 6, 8, 9, 10, 12, 13, 18, 20, 24, 30, 36, 40, 48, 60)
#: Steps of a threshold, by how large it is: the first whose bound is not above it.
_STEPS = ((100.0, 10.0), (50.0, 5.0), (20.0, 2.0), (6.0, 1.0), (2.0, 0.5), (0.0, 0.1))


def drawn(policy: Policy, rng: Generator, most: int = 4) -> Policy:
    """Return a policy in which numbers of some criteria have moved.

    Args:
        policy: The policy.
        rng: Draws which and how far.
        most: How many criteria may change; at least one does where one can.
    """
    open_ = _open(policy.criteria)
    if not open_:
        return policy
    count = 1 + int(rng.integers(min(most, len(open_))))
    chosen: list[tuple[AnyCriterion, str, float]] = []
    for index in rng.permutation(len(open_))[:count]:
        criterion, able = open_[int(index)]
        name, values = able[int(rng.integers(len(able)))]
        chosen.append((criterion, name, values[int(rng.integers(len(values)))]))
    known = zip(_KNOWN, _known(policy), strict=True)
    return _Drawn.later(partial(_changed, policy, chosen), **dict(known))


class _Drawn(Deferred, Policy):
    """A policy whose criteria are written when somebody reads them: those of rivals few do."""

    __slots__ = ("_write",)

    plain = Policy
    late = ("criteria",)


_KNOWN = tuple(item.name for item in fields(Policy) if item.name not in _Drawn.late)
_known = attrgetter(*_KNOWN)


def _changed(policy: Policy, chosen: Sequence[tuple[AnyCriterion, str, float]]) -> Node:
    """Return the criteria of a policy with the numbers that were drawn, as far as they can be."""
    others = {criterion.id: moved(criterion, name, value) for criterion, name, value in chosen}
    return transform(policy.criteria, lambda item: others.get(item.id) or item)


def with_criteria(policy: Policy, changed: Mapping[str, AnyCriterion]) -> Policy:
    """Return a policy with other criteria in place of those of their ids."""
    tree = transform(policy.criteria, lambda item: changed.get(item.id, item))
    return replace(policy, criteria=tree)


def moved(criterion: AnyCriterion, name: str, value: float) -> AnyCriterion | None:
    """Return a criterion with another number; None if it would contradict itself."""
    # `replace` cannot be typed for names that are known at run time only.
    other: AnyCriterion = replace(criterion, **{name: value})  # type: ignore[arg-type]
    return None if any(faults(other)) else other


def former_version(
    policy: Policy, rng: Generator, *, with_: Mapping[str, AnyCriterion] | None = None
) -> Policy:
    """Return a version that was in force for the year before a policy, with other numbers.

    Args:
        policy: The policy.
        rng: Draws the numbers.
        with_: Its criteria that differ, by id; drawn if None.
    """
    first = policy.effective
    start = date(first.year - 1, first.month, min(first.day, 28))
    old = drawn(policy, rng) if with_ is None else with_criteria(policy, with_)
    return varied(
        old,
        version=f"{start.year}.{1 + int(rng.integers(3))}",
        effective=start,
        terminated=first - timedelta(days=1),
        history=policy.history[1:],
    )


def near_duplicate(
    policy: Policy, suffix: str, rng: Generator, *, plan: str, state: str = ""
) -> Policy:
    """Return a policy for the same service under another plan or state, with other numbers.

    Args:
        policy: The policy it resembles.
        suffix: What its id adds, such as ``TX``.
        rng: Draws the numbers.
        plan: The plan it holds for.
        state: The state it holds in; empty for all.
    """
    twin = variant(policy, f"{policy.id}-{suffix}", plans=(plan,), states=(state,) if state else ())
    return drawn(twin, rng)


def movable(policy: Policy) -> list[AnyCriterion]:
    """Return the criteria whose numbers may move: those that share their subject with no other."""
    return list(_movable(policy.criteria))


@kept
def _movable(tree: Node) -> tuple[AnyCriterion, ...]:
    found = criteria(tree)
    shared = Counter(subject(item) for item in found)
    return tuple(item for item in found if shared[subject(item)] == 1)


@kept
def _open(tree: Node) -> tuple[tuple[AnyCriterion, tuple[tuple[str, tuple[float, ...]], ...]], ...]:
    """Return the criteria whose numbers have somewhere to go, each with its moves."""
    return tuple((item, found) for item in _movable(tree) if (found := moves(item)))


@kept
def moves(criterion: AnyCriterion) -> tuple[tuple[str, tuple[float, ...]], ...]:
    """Return the numbers of a criterion that may move, each with where it may go."""
    found: list[tuple[str, tuple[float, ...]]] = []
    months = getattr(criterion, "months", None)
    if months:
        found.append(("months", _beside(months, _MONTHS)))
    match criterion:
        case MeasurementCriterion() | CountCriterion():
            # Twice: what a reader must get right above all is the threshold.
            found += [("threshold", _thresholds(criterion))] * 2
        case StepTherapyCriterion():
            found.append(("weeks", _beside(criterion.weeks, _WEEKS)))
            other = {1, 2} - {criterion.agents}
            found.append(("agents", tuple(n for n in other if n < len(criterion.drugs))))
        case TherapyCriterion():
            if criterion.weeks:
                found.append(("weeks", _beside(criterion.weeks, _WEEKS)))
            if criterion.sessions:
                found.append(("sessions", _beside(criterion.sessions, _SESSIONS)))
        case QuantityCriterion():
            found.append(("maximum", _beside(criterion.maximum, _QUANTITIES)))
        case ProcedureCriterion():
            pass
    return tuple((name, values) for name, values in found if values)


def _beside(value: int, ladder: tuple[int, ...]) -> tuple[int, ...]:
    """Return the rungs next to a value, two either way, without the value."""
    below = [rung for rung in ladder if rung < value][-2:]
    above = [rung for rung in ladder if rung > value][:2]
    return (*below, *above)


def _thresholds(criterion: MeasurementCriterion | CountCriterion) -> tuple[float, ...]:
    value = criterion.threshold
    whole = criterion.unit in WHOLE
    step = next(step for bound, step in _STEPS if value >= bound)
    step = max(1.0, float(round(step))) if whole else step
    candidates = (round(value + k * step, 2) for k in (-2, -1, 1, 2))
    low, high = value_range(criterion.code, criterion.unit)
    return tuple(new for new in candidates if max(low, 0) < new < high)
