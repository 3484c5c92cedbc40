"""Episodes of the ledger, ready to be played."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from healthgym.core.episode import AnyEpisode, Episode, StepOutcome
from healthgym.core.family import AGENT, EpisodeConfig
from healthgym.core.reward import RewardFunction
from healthgym.core.seeding import Split
from healthgym.core.tool import call
from healthgym.rewards import SparseReward
from tests.core.toys import Ledger, LedgerInstance

FAMILY = Ledger()
CONFIG = EpisodeConfig(max_turns=5)
READ = call("list_accounts")
WRITE = call("annotate", tags=["a"])


def instance_of(kind: str) -> LedgerInstance:
    """The first test task of a kind."""
    generator = FAMILY.generator
    index = next(i for i in range(100) if generator.kind(Split.TEST, i) == kind)
    return generator.generate(Split.TEST, index)


MOVE, REPORT = instance_of("transfer"), instance_of("report")


def open_episode(
    instance: LedgerInstance = MOVE,
    reward: RewardFunction | None = None,
    config: EpisodeConfig = CONFIG,
    family: Ledger = FAMILY,
) -> AnyEpisode:
    return Episode(family, instance, reward or SparseReward(), config)


def play(episode: AnyEpisode, actions: Iterable[Any], role: str = AGENT) -> list[StepOutcome]:
    return [episode.step(action, role) for action in actions]


def oracle(instance: LedgerInstance = MOVE) -> list[Any]:
    return list(FAMILY.oracle(instance, np.random.default_rng(0)))


def snapshot_of(episode: AnyEpisode) -> tuple[Any, ...]:
    """All that can be seen of an episode."""
    roles = episode.roles
    return (
        episode.world.digest(),
        episode.world.content_digest(),
        episode.world.clock.now,
        episode.turns,
        episode.events,
        {role: episode.turns_left(role) for role in roles},
        {role: episode.total_reward(role) for role in roles},
        {role: (episode.submitted(role), episode.stopped(role)) for role in roles},
        {role: episode.verdicts(role) for role in roles} if episode.settled else None,
        episode.done(),
        episode.to_act(),
    )
