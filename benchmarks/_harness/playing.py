"""Environments as the benchmarks make them, and the scores of policies that play them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np


def make(env_id: str, **kwargs: Any) -> Any:
    """Make an environment without Gymnasium's per-step checks."""
    import gymnasium as gym

    import healthgym  # noqa: F401 - registers the ids

    return gym.make(env_id, disable_env_checker=True, **kwargs)


def play(env: Any, policy: Any, split: str, index: int) -> Any:
    """Play a task to its end and return the episode.

    Args:
        env: A healthgym environment without wrappers.
        policy: A policy, or the name of a scripted one.
        split: Split of the task.
        index: Index of the task.
    """
    from healthgym.core.seeding import Split
    from healthgym.policies.scripted import resolve
    from healthgym.testing.play import actions_of

    player = resolve(policy) if isinstance(policy, str) else policy
    for action in actions_of(env, player, Split(split), index):
        env.step(action)
    return env.episode


def play_script(
    env: Any, script: Callable[..., Iterable[Any]], index: int, *, split: str | None = None
) -> dict[str, Any]:
    """Reset to a task and play a script of it with nothing around it, to be timed.

    Args:
        env: The environment.
        script: From an instance and randomness to actions, as the baselines of a family are.
        index: Index of the task.
        split: Split of the task; the environment's if None.

    Returns:
        The info of the last step.
    """
    env.reset(options={"index": index} | ({"split": split} if split else {}))
    instance = env.unwrapped.episode._instance
    info: dict[str, Any] = {}
    for action in script(instance, np.random.default_rng(index)):
        *_, info = env.step(action)
    return info


def profile_scores(episode: Any, metric: str = "progress") -> dict[str, float]:
    """Return success and one more part of an episode's verdicts, by profile."""
    from healthgym.core.verdict import Profile

    scores = {}
    for profile in Profile:
        verdict = episode.verdict(profile=profile)
        # What is not handed in is not judged and has no metrics.
        value = verdict.progress if metric == "progress" else verdict.metrics.get(metric, 0.0)
        scores[f"{profile}.success"] = float(verdict.success)
        scores[f"{profile}.{metric}"] = value
    return scores


def mean_scores(
    env: Any,
    policies: Iterable[str],
    tasks: int,
    read: Callable[[Any], Mapping[str, float]] = profile_scores,
    split: str = "test",
) -> dict[str, float]:
    """Play policies on the first tasks of a split; return the means of what is read off.

    All policies play one task before the next: what one has looked at need not be drawn again.

    Args:
        env: A healthgym environment without wrappers.
        policies: Names of scripted policies.
        tasks: How many tasks each plays.
        read: From a played episode to scores by name.
        split: Split of the tasks.
    """
    from healthgym.policies.scripted import resolve

    players = [resolve(name) for name in policies]
    totals: dict[str, float] = {}
    for index in range(tasks):
        for player in players:
            for name, value in read(play(env, player, split, index)).items():
                key = f"{player.name}.{name}"
                totals[key] = totals.get(key, 0.0) + value
    return {key: round(value / tasks, 4) for key, value in totals.items()}


def with_prefix(prefix: str, figures: Mapping[str, Any]) -> dict[str, Any]:
    """Return figures under names that begin with a prefix and a dot."""
    return {f"{prefix}.{name}": value for name, value in figures.items()}
