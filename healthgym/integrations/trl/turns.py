"""A reward for each turn, for trainers that take more than one number of an episode."""

from __future__ import annotations

import math

from healthgym.core.episode import AnyEpisode
from healthgym.core.trajectory import Trajectory


def turn_rewards(run: Trajectory | AnyEpisode, role: str = "") -> tuple[float, ...]:
    """Return what each action of a role earned; the sum is the role's return.

    With ``reward="shaped"`` an action earns the change of the progress, with ``"sparse"`` the last
    one earns everything. What is paid when nobody acts (a part that was ended from outside, or a
    role that is scored when the others are done) is added to the role's last action.

    Args:
        run: A settled episode, or its record.
        role: Whose actions; those of the role that is played from outside if empty.

    Returns:
        One number for each of the role's turns, in their order; of a role that never acted a
        single one, its return.
    """
    role = role or run.role
    total = run.rewards[role] if isinstance(run, Trajectory) else run.total_reward(role)
    earned = [turn.reward for turn in run.turns if turn.role == role] or [0.0]
    # By what is missing after all but the last, so that the sum is the return up to rounding.
    return (*earned[:-1], total - math.fsum(earned[:-1]))


def by_reply(rewards: tuple[float, ...], turns: tuple[int, ...]) -> tuple[float, ...]:
    """Return what each reply of a model earned, of which one may be several turns, or none.

    Args:
        rewards: As :func:`turn_rewards` returns them.
        turns: How many turns the role had taken after each reply, by reply; at least one.

    Returns:
        One number for each reply. Its turns are summed; what no reply made a turn for belongs to
        the last one.
    """
    begun = (0, *turns[:-1])
    told = [math.fsum(rewards[a:b]) for a, b in zip(begun, turns, strict=True)]
    told[-1] += math.fsum(rewards[turns[-1] :])
    return tuple(told)
