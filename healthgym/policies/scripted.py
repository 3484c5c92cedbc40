"""Policies that need no model: bounds on what an environment's score means."""

from __future__ import annotations

from collections import Counter

import numpy as np

from healthgym.core.borders import Info
from healthgym.core.env import HealthEnv
from healthgym.core.players import Player
from healthgym.core.random_calls import SUBMIT_RATE, RandomCalls
from healthgym.core.seeding import stable_hash
from healthgym.core.tool import ToolCall
from healthgym.errors import ConfigurationError
from healthgym.policies.base import Policy


class NopPolicy:
    """Does nothing: sends empty text until the environment runs out of turns."""

    name = "nop"

    def begin(self, env: HealthEnv, observation: str, info: Info) -> None:
        """Do nothing."""

    def act(self, observation: str) -> str:
        """Return no call at all."""
        return ""


class _Streams:
    """Randomness by task and attempt, the same whatever was played before."""

    def __init__(self, name: str, seed: int) -> None:
        self._name = name
        self._seed = seed
        self._attempts: Counter[str] = Counter()

    def take_up(self, task_id: str, attempt: int) -> None:
        """Go on with an attempt at a task."""
        self._attempts[task_id] = attempt

    def next(self, task_id: str) -> np.random.Generator:
        attempt = self._attempts[task_id]
        self._attempts[task_id] += 1
        entropy = stable_hash(f"{self._name}/{self._seed}/{task_id}")
        return np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(attempt,)))


class RandomPolicy:
    """Makes well-formed calls of random tools with random arguments, and submits in time.

    Arguments follow the tools' JSON Schemas; text and numbers are taken from what was read, so
    that calls hit something now and then.

    Args:
        seed: Seed of the choices; each task and attempt has its own stream.
        submit_rate: Chance of handing in an answer, each turn.
    """

    name = "random"

    def __init__(self, seed: int = 0, *, submit_rate: float = SUBMIT_RATE) -> None:
        if not 0.0 <= submit_rate <= 1.0:
            raise ConfigurationError(f"submit_rate is a probability, not {submit_rate}.")
        self._streams = _Streams(self.name, seed)
        self._submit_rate = submit_rate

    def begin(self, env: HealthEnv, observation: str, info: Info) -> None:
        """Forget the last episode."""
        self._env = env
        self._calls = RandomCalls(
            env.episode.seat(env.role).catalog.specs,
            self._streams.next(info["task_id"]),
            self._submit_rate,
        )

    def take_up(self, task_id: str, attempt: int) -> None:
        """Take the next attempt at a task for the one of this number, from 0."""
        self._streams.take_up(task_id, attempt)

    def act(self, observation: str) -> ToolCall:
        """Return a random call."""
        last = self._env.episode.turns_left(self._env.role) <= 1
        return self._calls.call(observation, last=last)


class ScriptPolicy:
    """Plays one of the family's scripted policies.

    A baseline may know the answer and plays its actions whatever comes back; a solver is sent
    each observation, as an agent is.

    Args:
        name: Name of the baseline or solver, such as ``"oracle"`` or ``"flood"``.
        seed: Seed of what a baseline leaves to chance.
    """

    def __init__(self, name: str, seed: int = 0) -> None:
        self._name = name
        self._streams = _Streams(name, seed)
        self._player = Player.of_script(())

    @property
    def name(self) -> str:
        """Name of the baseline or solver."""
        return self._name

    def begin(self, env: HealthEnv, observation: str, info: Info) -> None:
        """Take up the episode's task.

        Raises:
            ConfigurationError: If the family has no scripted policy of that name.
        """
        key = env.episode.task.key
        instance = env.family.generator.generate(key.split, key.index)
        rng = self._streams.next(info["task_id"])
        self._player = env.family.player(self._name, instance, rng, env.role)

    def take_up(self, task_id: str, attempt: int) -> None:
        """Take the next attempt at a task for the one of this number, from 0."""
        self._streams.take_up(task_id, attempt)

    def act(self, observation: str) -> object:
        """Return the next action, and nothing once the script is over."""
        action = self._player.act(observation)
        return "" if action is None else action


def resolve(name: str, seed: int = 0) -> Policy:
    """Return the scripted policy of a name: ``nop``, ``random``, a family's baseline or solver.

    Whether a family has one of that name is known when the first episode begins.
    """
    if name == NopPolicy.name:
        return NopPolicy()
    if name == RandomPolicy.name:
        return RandomPolicy(seed)
    return ScriptPolicy(name, seed)
