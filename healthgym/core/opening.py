"""What every face does with an episode: open one of a task, and keep its record."""

from __future__ import annotations

from collections.abc import Mapping

from healthgym.core.borders import Settings
from healthgym.core.episode import AnyEpisode, Episode
from healthgym.core.family import AnyFamily, EpisodeConfig
from healthgym.core.reward import RewardFunction
from healthgym.core.seeding import Split, player_rng
from healthgym.core.selection import parse_split
from healthgym.core.trajectory import Trajectory
from healthgym.version import __version__


def open_episode(
    family: AnyFamily,
    split: Split | str,
    index: int,
    reward: RewardFunction,
    config: EpisodeConfig,
    counterparts: Mapping[str, str],
) -> AnyEpisode:
    """Return a new episode of a task.

    Args:
        family: The family.
        split: The task's split.
        index: Its index there.
        reward: The reward function.
        config: The rules.
        counterparts: Names of scripted players, by the role they fill.

    Raises:
        ConfigurationError: If there is no such task, or no such player.
    """
    instance = family.generator.generate(parse_split(split), index)
    players = {
        role: family.player(name, instance, player_rng(instance.task.task_id, role), role)
        for role, name in counterparts.items()
    }
    return Episode(family, instance, reward, config, players)


def record_of(episode: AnyEpisode, env_id: str, env_kwargs: Settings) -> Trajectory:
    """Return the record of an episode so far; one that is not over has no verdicts.

    Args:
        episode: The episode.
        env_id: Registered id of its environment; empty if it was made by hand.
        env_kwargs: The arguments that environment was made with.
    """
    roles = (episode.role, *(role for role in episode.roles if role != episode.role))
    return Trajectory(
        env_id=env_id,
        env_kwargs=dict(env_kwargs),
        task_id=episode.task.task_id,
        kind=episode.task.kind,
        instructions={role: episode.instruction(role) for role in roles},
        tools={role: episode.seat(role).catalog.openai() for role in roles},
        turns=episode.turns,
        verdicts={role: episode.verdicts(role) for role in roles if episode.settled},
        rewards={role: episode.total_reward(role) for role in roles},
        stopped=tuple(role for role in roles if episode.stopped(role)),
        said=tuple(episode.world.said),
        version=__version__,
    )
