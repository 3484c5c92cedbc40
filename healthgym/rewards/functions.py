"""Reward functions over verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from healthgym.core.borders import JsonObject
from healthgym.core.reward import RewardFunction, Transition
from healthgym.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Costs:
    """Charges that come on top of a verdict's reward; all zero by default.

    Attributes:
        call: Charge per tool call.
        refused: Charge per refused call: broken format, unknown tool, wrong argument.
        unsubmitted: Charge for an episode that runs out of turns without a submission. Where calls
            are charged it must outweigh them, or a policy learns to hand in nothing.
    """

    call: float = 0.0
    refused: float = 0.0
    unsubmitted: float = 0.0

    def __post_init__(self) -> None:
        if min(self.call, self.refused, self.unsubmitted) < 0:
            raise ConfigurationError(
                "Costs are charges: give them as numbers that are not negative."
            )

    def of(self, transition: Transition) -> float:
        """Return the charge of one step."""
        charge = self.call * transition.calls + self.refused * transition.refused
        return charge + self.unsubmitted * transition.truncated


@dataclass(frozen=True, slots=True)
class SparseReward:
    """1 when the episode's verdict is a success, else 0; nothing before the end.

    Whether success takes a hand-in is for the verdict to say: see
    :class:`~healthgym.core.family.HandIn`.
    """

    costs: Costs = field(default_factory=Costs)
    dense: bool = field(default=False, init=False)

    def __call__(self, transition: Transition) -> float:
        """Return the reward of one step."""
        verdict = transition.verdict
        return float(verdict is not None and verdict.success) - self.costs.of(transition)


@dataclass(frozen=True, slots=True)
class PotentialReward:
    """The change of the progress, which ends at the verdict's.

    The sum over an episode is the final progress minus the progress of the untouched start, which
    is zero, so no detour earns more than the result it leads to (Ng, Harada and Russell, 1999).
    """

    costs: Costs = field(default_factory=Costs)
    dense: bool = field(default=True, init=False)

    def __call__(self, transition: Transition) -> float:
        """Return the reward of one step."""
        return transition.progress - transition.before - self.costs.of(transition)


_NAMED: Mapping[str, type[SparseReward] | type[PotentialReward]] = {
    "sparse": SparseReward,
    "shaped": PotentialReward,
}


def resolve(
    reward: str | RewardFunction, costs: Costs | JsonObject | None = None
) -> RewardFunction:
    """Return the reward function of a name, or the function itself.

    Args:
        reward: ``"sparse"``, ``"shaped"``, or a reward function, which brings its own costs.
        costs: Charges for a named reward; a mapping is read as :class:`Costs`.

    Raises:
        ConfigurationError: If the name or a cost is unknown.
    """
    if not isinstance(reward, str):
        return reward
    if reward not in _NAMED:
        raise ConfigurationError(f"reward {reward!r} is not one of {', '.join(_NAMED)}.")
    if not isinstance(costs, Costs):
        try:
            costs = Costs(**(costs or {}))
        except TypeError:
            raise ConfigurationError("costs are call, refused and unsubmitted.") from None
    return _NAMED[reward](costs)
