"""A policy at an environment, episode by episode."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from healthgym.core.action import text_of
from healthgym.core.borders import AnyEnv
from healthgym.core.faults import FaultLedger
from healthgym.core.images import Image
from healthgym.core.seeding import Split
from healthgym.core.spending import Metered, Usage
from healthgym.core.task import TaskKey
from healthgym.core.unwrapping import health_env
from healthgym.core.verdict import Profile
from healthgym.errors import (
    BudgetExceededError,
    EndpointAbsentError,
    HealthGymError,
    InfrastructureError,
    SeatCrashedError,
)
from healthgym.policies.base import Policy
from healthgym.policies.results import EpisodeResult


@runtime_checkable
class Sighted(Protocol):
    """A policy that looks at pictures."""

    def see(self, images: Sequence[Image]) -> None:
        """Take the pictures that come with the next observation."""


class SeatedPolicy:
    """A policy at an environment.

    It is ``exhausted`` once its budget is spent, and ``crashed`` where a policy in a seat ended the
    last episode by failing; ``failed`` if that was this one.

    Args:
        env: The environment, wrapped or not.
        policy: Who plays.
        faults: How many failures of ours are let pass, and which there were.
    """

    def __init__(self, env: AnyEnv, policy: Policy, faults: FaultLedger) -> None:
        self.env = env
        self.inner = health_env(env)
        self.inner.faults = faults
        self.policy = policy
        self.exhausted = self.crashed = self.failed = False

    def play(
        self,
        split: Split,
        index: int,
        attempt: int,
        halted: threading.Event,
        keep: Callable[[Sequence[Image]], None],
    ) -> EpisodeResult:
        """Play one episode; where something outside it fails, the result has no score.

        Args:
            split: The task's split.
            index: The task's index.
            attempt: Number of the attempt, from 0.
            halted: Set once the episode is to be left.
            keep: Called with the pictures that are shown.

        Raises:
            SeatCrashedError: If this policy fails.
            EndpointAbsentError: If nobody takes a connection at its endpoint, and never has.
        """
        spent = self._usage()
        self.exhausted = self.crashed = self.failed = False
        try:
            characters, fault = self._act_out(split, index, halted, keep)
        except InfrastructureError as error:
            self.exhausted = isinstance(error, BudgetExceededError)
            self.crashed = isinstance(error, SeatCrashedError)
            if self.failed or _never_there(error):  # a bug of the caller's is told at once
                raise
            cause = type(error).__name__
            return self._without_score(split, index, attempt, spent, str(error), cause)
        if fault:
            return self._without_score(split, index, attempt, spent, fault, "a failure of ours")
        episode, role = self.inner.episode, self.inner.role
        events = [event for event in episode.events if event.role == role]
        return EpisodeResult(
            task_id=episode.task.task_id,
            kind=episode.task.kind,
            index=index,
            attempt=attempt,
            success={str(p): episode.verdict(role, p).success for p in Profile},
            reward=episode.total_reward(role),
            calls=len(events),
            refused=sum(bool(event.error) for event in events),
            submitted=episode.submitted(role),
            characters=characters,
            usage=self._usage() - spent,
            failure_modes=episode.verdict(role, self.inner.config.profile).failure_modes,
        )

    def _without_score(
        self, split: Split, index: int, attempt: int, spent: Usage, reason: str, cause: str
    ) -> EpisodeResult:
        key = TaskKey(self.inner.family.generator.name, split, index)
        usage = self._usage() - spent
        return EpisodeResult(str(key), "", index, attempt, usage=usage, error=reason, cause=cause)

    def _act_out(
        self,
        split: Split,
        index: int,
        halted: threading.Event,
        keep: Callable[[Sequence[Image]], None],
    ) -> tuple[int, str]:
        """Play to the end; return the characters read and written, and what failed of ours."""
        options = {"split": split, "index": index}
        observation, info = self.env.reset(seed=index, options=options)
        self.policy.begin(self.inner, observation, info)
        sighted = self.policy if isinstance(self.policy, Sighted) else None
        characters, over = len(observation), False
        while not over:
            if halted.is_set():
                raise InfrastructureError("The run was interrupted.")
            if sighted and info.get("images"):
                sighted.see(info["images"])
            action = self._acts(observation)
            observation, _, terminated, truncated, info = self.env.step(action)
            keep(info.get("images", ()))
            characters += len(text_of(action)) + len(observation)
            over = terminated or truncated
        return characters, str(info.get("fault", ""))

    def _acts(self, observation: str) -> object:
        """Return the policy's next action; where it fails, that ends the episode, and the run."""
        try:
            return self.policy.act(observation)
        except HealthGymError:
            raise
        except Exception as error:  # a policy may be anybody's code
            self.failed = True
            raise self.inner.episode.fail(self.inner.role, error) from error

    def _usage(self) -> Usage:
        return self.policy.usage if isinstance(self.policy, Metered) else Usage()


def _never_there(error: InfrastructureError) -> bool:
    return isinstance(error, EndpointAbsentError) and error.never
