"""What every face does with an episode: open one of a task, and keep its record."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Self

from healthgym.core.borders import Settings
from healthgym.core.episode import AnyEpisode, Episode
from healthgym.core.family import AnyFamily, EpisodeConfig
from healthgym.core.occupants import Filler, seated
from healthgym.core.redaction import kept_settings
from healthgym.core.reward import RewardFunction
from healthgym.core.seeding import Split
from healthgym.core.selection import parse_split
from healthgym.core.task import AnyInstance
from healthgym.core.trajectory import Trajectory
from healthgym.errors import EpisodeStateError
from healthgym.version import __version__

_SHARED = frozenset({"family", "reward", "config", "counterparts"})


class Face:
    """A face of the engine: it opens episodes of one family, and one of them is current.

    Attributes:
        family: Generator, world, tools and verifier.
        reward: The reward function.
        config: The rules of an episode.
        counterparts: Who fills other seats, by role.
    """

    family: AnyFamily
    reward: RewardFunction
    config: EpisodeConfig
    counterparts: Mapping[str, Filler]
    _episode: AnyEpisode | None = None

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        """Return a copy in the middle of the same episode; each goes on by itself.

        What no episode changes is shared: the family with its tasks, the reward, the
        rules and whoever fills other seats.
        """
        twin: Self = object.__new__(type(self))
        memo[id(self)] = twin
        for name, value in vars(self).items():
            if name == "_episode":
                vars(twin)[name] = value and value.clone()
            else:
                vars(twin)[name] = value if name in _SHARED else deepcopy(value, memo)
        return twin

    def __copy__(self) -> Self:
        """Return what :meth:`__deepcopy__` does: two environments cannot share one episode."""
        return deepcopy(self)

    @property
    def episode(self) -> AnyEpisode:
        """The current episode.

        Raises:
            EpisodeStateError: Before the first reset.
        """
        if self._episode is None:
            raise EpisodeStateError("Call reset() first.")
        return self._episode

    def open_episode(
        self, split: Split | str, index: int, record: Trajectory | None = None
    ) -> AnyEpisode:
        """Return a new episode of a task; the current one stays what it is.

        Args:
            split: The task's split.
            index: Its index there.
            record: The episode's record, if it is played again: what came from outside then comes
                from there now.

        Raises:
            ConfigurationError: If there is no such task, or no such player.
            InfrastructureError: If a counterpart who begins is out of reach, or fails.
        """
        return self.episode_of(self.family.generator.generate(parse_split(split), index), record)

    def episode_of(self, instance: AnyInstance, record: Trajectory | None = None) -> AnyEpisode:
        """Return a new episode of a task that has been drawn; see :meth:`open_episode`.

        Args:
            instance: The task.
            record: The episode's record, if it is played again.

        Raises:
            ConfigurationError: If there is no such player.
            InfrastructureError: If a counterpart who begins is out of reach, or fails.
        """
        players = seated(self.family, instance, self.counterparts, record)
        tape = None if record is None else record.said
        return Episode(self.family, instance, self.reward, self.config, players, tape)


def record_of(episode: AnyEpisode, env_id: str, env_kwargs: Settings) -> Trajectory:
    """Return the record of an episode so far; one that is not over has no verdicts.

    Args:
        episode: The episode.
        env_id: Registered id of its environment; empty if it was made by hand.
        env_kwargs: The arguments that environment was made with; kept without their secrets.
    """
    roles = (episode.role, *(role for role in episode.roles if role != episode.role))
    return Trajectory(
        env_id=env_id,
        env_kwargs=kept_settings(env_kwargs),
        task_id=episode.task.task_id,
        kind=episode.task.kind,
        instructions={role: episode.instruction(role) for role in roles},
        tools={role: episode.seat(role).catalog.openai() for role in roles},
        turns=episode.turns,
        verdicts={role: episode.verdicts(role) for role in roles if episode.settled},
        rewards={role: episode.total_reward(role) for role in roles},
        stopped=tuple(role for role in roles if episode.stopped(role)),
        said=tuple(episode.world.said),
        fault=str(episode.crash or ""),
        version=__version__,
    )
