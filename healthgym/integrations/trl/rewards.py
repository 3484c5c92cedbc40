"""The reward function for TRL's trainers, and the figures it logs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from healthgym.integrations.trl.environment import RolloutOutcome, TrlEnvironment
from healthgym.integrations.trl.mixture import Mixture


def episode_reward(
    environments: Sequence[TrlEnvironment],
    log_metric: Callable[[str, float], None] | None = None,
    **_columns: object,
) -> list[float | None]:
    """Return the reward of each rollout; None where something outside the episode failed.

    TRL leaves a completion without any reward out of its group's baseline and gives it no
    advantage. Logged beside the reward, as means over a batch: success, submission, progress,
    calls and refused calls, each check, the success of each task type, the share of masked
    rollouts with that of each reason, and the success of all with masked ones as failures.
    """
    outcomes = [environment._outcome() for environment in environments]
    if log_metric is not None:
        for name, values in sorted(figures_of(outcomes).items()):
            log_metric(name, sum(values) / len(values))
    return [outcome.reward for outcome in outcomes]


def figures_of(outcomes: Sequence[RolloutOutcome]) -> dict[str, list[float]]:
    """Return the figures of rollouts that are logged, by name, a value for each that has one."""
    figures: defaultdict[str, list[float]] = defaultdict(list)
    reasons = sorted({outcome.masked for outcome in outcomes if outcome.masked})
    for outcome in outcomes:
        figures["env/masked"].append(float(outcome.reward is None))
        for reason in reasons:
            figures[f"masked/{reason}"].append(float(outcome.masked == reason))
        verdict = outcome.verdict
        if verdict is None:
            figures["env/success_of_all"].append(0.0)
            continue
        success = float(verdict.success and outcome.submitted)
        figures["env/success"].append(success)
        figures["env/success_of_all"].append(success)
        figures["env/submitted"].append(float(outcome.submitted))
        figures["env/progress"].append(verdict.progress)
        figures["env/calls"].append(outcome.calls)
        figures["env/refused"].append(outcome.refused)
        figures[f"task/{outcome.kind}"].append(success)
        for result in verdict.checks:
            if result.passed is not None:
                figures[f"check/{result.check.name}"].append(float(result.passed))
    return dict(figures)


def noted(
    mixture: Mixture, slots: Sequence[int], outcomes: Sequence[RolloutOutcome]
) -> dict[str, float]:
    """Tell a mixture what became of a batch, group by group; return what is logged of it.

    Args:
        mixture: The mixture.
        slots: The slot of each rollout.
        outcomes: What became of each.

    Returns:
        The weight of each part, as ``mixture/NAME``; nothing if weights are fixed.
    """
    if mixture.adaptive is None:
        return {}
    won: dict[int, list[bool]] = {}
    for slot, outcome in zip(slots, outcomes, strict=True):
        group = won.setdefault(slot, [])
        if outcome.verdict is not None:
            group.append(outcome.verdict.success and outcome.submitted)
    for slot, group in won.items():
        mixture.note(slot, group)
    return {f"mixture/{name}": weight for name, weight in mixture.weights().items()}


@dataclass(frozen=True, slots=True)
class Noting:
    """The reward function of an adaptive mixture.

    Attributes:
        mixture: What is told of each group of rollouts.
    """

    mixture: Mixture

    def episode_reward(
        self,
        environments: Sequence[TrlEnvironment],
        slot: Sequence[int],
        log_metric: Callable[[str, float], None] | None = None,
        **_columns: object,
    ) -> list[float | None]:
        """Return and log what :func:`episode_reward` does, and the weights of the parts."""
        rewards = episode_reward(environments, log_metric)
        outcomes = [environment._outcome() for environment in environments]
        for name, weight in noted(self.mixture, slot, outcomes).items():
            if log_metric is not None:
                log_metric(name, weight)
        return rewards
