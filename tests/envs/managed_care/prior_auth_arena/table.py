"""Episodes of the arena, played by workers."""

from __future__ import annotations

from functools import cache

import numpy as np

from healthgym.core.episode import Episode
from healthgym.core.seeding import Split
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.prior_auth_arena.family import ArenaFamily
from healthgym.envs.managed_care.prior_auth_arena.opponents import SIDES, Making
from healthgym.envs.managed_care.prior_auth_arena.task import ArenaInstance
from healthgym.envs.managed_care.prior_auth_arena.working import ArenaEpisode, Seat, Table
from healthgym.rewards import SparseReward
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER

FAMILY = ArenaFamily("medium")


@cache
def instance(index: int, split: Split = Split.TEST) -> ArenaInstance:
    """A task."""
    return FAMILY.generator.generate(split, index)


@cache
def first(ending: str) -> ArenaInstance:
    """The first test task with an ending."""
    kinds = (index for index in range(400) if instance(index).task.kind.endswith(f"-{ending}"))
    return instance(next(kinds))


def seated(
    task: ArenaInstance, provider: str | Making = "oracle", payer: str | Making = "oracle"
) -> Table:
    """A table with a worker on each side, nothing played."""
    episode = Episode(FAMILY, task, SparseReward(), FAMILY.rules)
    table = Table(episode)
    for role, who in ((PROVIDER, provider), (PAYER, payer)):
        make: Making = SIDES[role][who] if isinstance(who, str) else who
        table.workers[role] = make(
            Seat(episode, np.random.default_rng(0), role, table.others), task
        )
    return table


def played(
    task: ArenaInstance, provider: str | Making = "oracle", payer: str | Making = "oracle"
) -> ArenaEpisode:
    """An episode played to its end."""
    table = seated(task, provider, payer)
    table.play()
    for role in table.episode.roles:
        if not table.episode.done(role):
            table.episode.stop(role)
    return table.episode


def failed(episode: ArenaEpisode, role: str, profile: Profile = Profile.STRICT) -> set[str]:
    """The checks that a side fails."""
    checks = episode.verdict(role, profile).all_checks()
    return {one.check.name for one in checks if one.passed is False}


def joint(episode: ArenaEpisode, profile: Profile = Profile.STRICT) -> bool:
    """Whether both sides succeed."""
    return all(episode.verdict(role, profile).success for role in episode.roles)
