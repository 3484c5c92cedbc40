"""What a family declares is what it does: checks, indices, the hand-in."""

from __future__ import annotations

from collections.abc import Callable

from healthgym.core.seeding import INDEX_BOUND, Split
from healthgym.core.task import KindIndex
from healthgym.core.verdict import Profile
from healthgym.errors import ConfigurationError
from healthgym.policies.scripted import NopPolicy
from healthgym.registration import make_health_env
from healthgym.testing.play import actions_of, keeping_env, policies, require


def check_declared_checks(env_id: str, tasks: int = 5) -> int:
    """Play tasks to their end: every check of a verdict is declared, the engine's own first.

    Args:
        env_id: The environment.
        tasks: Number of tasks of each split.

    Returns:
        The number of checks declared, over both profiles.
    """
    env = keeping_env(env_id)
    family = env.family
    declared = {profile: family.checks(profile) for profile in Profile}
    for profile, checks in declared.items():
        names = [check.name for check in checks]
        require(len(set(names)) == len(names), f"{env_id}: {profile} declares a check twice.")
        if family.hand_in.needed(profile):
            require(checks[0] == family.hand_in.check, f"{env_id}: {profile} lacks the hand-in.")
    for split in Split:
        for index in range(min(tasks, family.generator.size(split))):
            for policy in (*policies(index), NopPolicy()):
                for action in actions_of(env, policy, split, index):
                    env.step(action)
                for profile, checks in declared.items():
                    for result in env.episode.verdict(env.role, profile).all_checks():
                        where = f"{env_id}: {env.episode.task.task_id}, {policy.name}"
                        told = f"{where}: {profile} has the check {result.check.name}"
                        require(result.check in checks, f"{told}, which is not declared.")
    return sum(map(len, declared.values()))


def check_indices(env_id: str) -> int:
    """Ask for tasks that are not there: each time the error that says how many there are.

    Args:
        env_id: The environment.

    Returns:
        The number of indices asked for.
    """
    generator = make_health_env(env_id).family.generator
    asked = 0
    for split in Split:
        for index in (-1, -INDEX_BOUND, generator.size(split), 2 * INDEX_BOUND):
            calls: list[Callable[[Split, int], object]] = [generator.generate]
            if isinstance(generator, KindIndex):
                calls.append(generator.kind)
            for call in calls:
                asked += 1
                try:
                    call(split, index)
                except ConfigurationError:
                    continue
                require(False, f"{env_id}: {split} has a task {index}.")
    return asked
