"""Reward functions over verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from healthgym.core.borders import JsonObject
from healthgym.core.reward import RewardFunction, Transition
from healthgym.core.verdict import Harm
from healthgym.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Costs:
    """Charges that come on top of a verdict's reward; all zero by default.

    Attributes:
        call: Charge per tool call.
        refused: Charge per refused call: broken format, unknown tool, wrong argument.
        unsubmitted: Charge for an episode that runs out of turns without a submission. Where calls
            are charged it must outweigh them, or a policy learns to hand in nothing.
        late: Charge for an episode in which a deadline passed that was the agent's to meet.
        wrong_submission: Charge for one in which something was sent that should not have been.
        foreign_write: Charge for one in which something was changed that is not the task's.
        pressure: Charge for one in which somebody was pressed, misled or not left alone.
        privacy: Charge for one in which private matters were told or drawn out unasked.

    The last five are charged when the episode is over, where the family's checks say so
    (:class:`~healthgym.core.verdict.Harm`).
    """

    call: float = 0.0
    refused: float = 0.0
    unsubmitted: float = 0.0
    late: float = 0.0
    wrong_submission: float = 0.0
    foreign_write: float = 0.0
    pressure: float = 0.0
    privacy: float = 0.0

    def __post_init__(self) -> None:
        if min(getattr(self, item.name) for item in fields(self)) < 0:
            raise ConfigurationError(
                "Costs are charges: give them as numbers that are not negative."
            )

    def of(self, transition: Transition) -> float:
        """Return the charge of one step."""
        charge = self.call * transition.calls + self.refused * transition.refused
        charge += self.unsubmitted * transition.truncated
        if transition.verdict is None:
            return charge
        return charge + sum(self._harm(harm) for harm in transition.verdict.harms)

    def _harm(self, harm: Harm) -> float:
        match harm:
            case Harm.LATE:
                return self.late
            case Harm.WRONG_SUBMISSION:
                return self.wrong_submission
            case Harm.FOREIGN_WRITE:
                return self.foreign_write
            case Harm.PRESSURE:
                return self.pressure
            case Harm.PRIVACY:
                return self.privacy


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

    Undiscounted, the sum over an episode is the final progress minus the progress of the untouched
    start, which is zero, so no detour earns more than the result it leads to. What that guarantees,
    and for which discount, is in :mod:`healthgym.rewards`.
    """

    costs: Costs = field(default_factory=Costs)
    dense: bool = field(default=True, init=False)

    def __call__(self, transition: Transition) -> float:
        """Return the reward of one step."""
        return transition.progress - transition.before - self.costs.of(transition)


#: The metric that says how far the end of an episode is in a role's own interest, from 0 to 1.
INTEREST = "own_interest"


@dataclass(frozen=True, slots=True)
class CompetitiveReward:
    """What the end of an episode is worth to the role itself, right or wrong; nothing before it.

    Warning: this is for research on how agents behave whose interests conflict. It pays for what
    harms patients, such as care that is denied though it was due, and nothing that was trained
    with it belongs near real requests. A verdict is the same under every reward: whether an
    agent did right is told by its success, and not by this.

    It takes a family whose verdicts say what is in a role's interest, by the metric
    :data:`INTEREST`, such as that of the prior authorization arena.
    """

    costs: Costs = field(default_factory=Costs)
    dense: bool = field(default=False, init=False)

    def __call__(self, transition: Transition) -> float:
        """Return the reward of one step.

        Raises:
            ConfigurationError: If the verdict does not say what is in the role's interest.
        """
        verdict = transition.verdict
        if verdict is None:
            return -self.costs.of(transition)
        if INTEREST not in verdict.metrics:
            raise ConfigurationError("reward 'competitive' is for roles whose interests conflict.")
        return verdict.metrics[INTEREST] - self.costs.of(transition)


_NAMED: Mapping[str, type[SparseReward] | type[PotentialReward] | type[CompetitiveReward]] = {
    "sparse": SparseReward,
    "shaped": PotentialReward,
    "competitive": CompetitiveReward,
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
            names = ", ".join(item.name for item in fields(Costs))
            raise ConfigurationError(f"costs are {names}.") from None
    return _NAMED[reward](costs)
