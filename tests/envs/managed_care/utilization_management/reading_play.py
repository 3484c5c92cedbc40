"""Playing reviews by somebody who reads, for several tests."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from healthgym.core.episode import Episode
from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.reading.asking import Play
from healthgym.envs.managed_care.utilization_management import solver
from healthgym.envs.managed_care.utilization_management.family import ReviewFamily
from healthgym.envs.managed_care.utilization_management.task import ReviewInstance
from healthgym.envs.managed_care.utilization_management.working import ReviewEpisode
from healthgym.rewards import SparseReward

Reads = Callable[[str], Play[None]]


@cache
def family(level: str) -> ReviewFamily:
    return ReviewFamily(level)


@cache
def drawn(level: str, index: int, split: Split = Split.TRAIN) -> ReviewInstance:
    return family(level).generator.draw(split, index)


def begun(level: str, instance: ReviewInstance) -> ReviewEpisode:
    made = family(level)
    return Episode(made, instance, SparseReward(), made.rules)


def played(
    level: str, instance: ReviewInstance, play: Reads = solver.solve
) -> tuple[ReviewEpisode, list[ToolCall]]:
    """Play a task to its end; return the episode and the calls."""
    episode = begun(level, instance)
    moves = play(instance.task.instruction)
    calls = [next(moves)]
    while not episode.done():
        observation = episode.step(calls[-1]).observation
        if not episode.done():
            calls.append(moves.send(observation))
    return episode, calls


def wrong(episode: ReviewEpisode) -> list[str]:
    """Return the strict checks that failed."""
    verdict = episode.verdict(profile=Profile.STRICT)
    return [each.check.name for each in verdict.checks if each.passed is False]
