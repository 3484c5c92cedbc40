"""Episodes of the arena, played by workers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np

from healthgym.core.episode import Episode
from healthgym.core.players import Player
from healthgym.core.seeding import Split
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.prior_auth_arena.family import ArenaFamily
from healthgym.envs.managed_care.prior_auth_arena.oracle import ProviderOracle
from healthgym.envs.managed_care.prior_auth_arena.payer import PayerOracle
from healthgym.envs.managed_care.prior_auth_arena.task import ArenaInstance
from healthgym.envs.managed_care.prior_auth_arena.working import ArenaEpisode, Seat, Table, Worker
from healthgym.rewards import SparseReward
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER

FAMILY = ArenaFamily("medium")
#: Makes somebody who sits at a desk.
Making = Callable[[Seat, ArenaInstance], Worker]
ORACLES: Mapping[str, Making] = {PROVIDER: ProviderOracle, PAYER: PayerOracle}


@cache
def instance(index: int, split: Split = Split.TEST) -> ArenaInstance:
    """A task."""
    return FAMILY.generator.generate(split, index)


@cache
def first(ending: str) -> ArenaInstance:
    """The first test task with an ending."""
    kinds = (index for index in range(400) if instance(index).task.kind.endswith(f"-{ending}"))
    return instance(next(kinds))


class Puppet(Worker):
    """Somebody who plays what a player says, in a seat that is played from outside."""

    def __init__(self, seat: Seat, player: Player) -> None:
        super().__init__(seat)
        self._player, self._shown = player, ""

    def turn(self) -> None:
        """Act until it is somebody else's turn."""
        episode, role = self.seat.table, self.seat.role
        while not episode.done(role) and episode.to_act() == role:
            action = self._player.act(self._shown)
            if action is None:
                episode.stop(role)
                return
            self._shown = episode.step(action, role).observation


def seated(
    task: ArenaInstance, provider: str | Making = "oracle", payer: str | Making = "oracle"
) -> Table:
    """A table with somebody on each side, nothing played.

    A name other than the oracle's fills its seat; where both sides have one, the provider's is
    played from outside.
    """
    chosen = {PROVIDER: provider, PAYER: payer}
    named = {
        role: FAMILY.player(who, task, np.random.default_rng(0), role)
        for role, who in chosen.items()
        if isinstance(who, str) and who != "oracle"
    }
    puppet = named.pop(PROVIDER) if len(named) == len(chosen) else None
    episode = Episode(FAMILY, task, SparseReward(), FAMILY.rules, named)
    table = Table(episode)
    for role, who in chosen.items():
        if role in named:
            continue
        seat = Seat(episode, np.random.default_rng(0), role, table.others)
        if puppet is not None and role == PROVIDER:
            table.workers[role] = Puppet(seat, puppet)
        else:
            make = ORACLES[role] if isinstance(who, str) else who
            table.workers[role] = make(seat, task)
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
