"""Scores a policy on a fixed set of tasks."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import replace
from typing import Protocol, cast, runtime_checkable

from healthgym.core.action import text_of
from healthgym.core.borders import AnyEnv, JsonDict, JsonObject, Settings
from healthgym.core.env import parse_split
from healthgym.core.faults import FaultLedger
from healthgym.core.images import Image
from healthgym.core.redaction import kept_settings
from healthgym.core.seeding import Split
from healthgym.core.spending import Metered, Usage
from healthgym.core.task import TaskKey
from healthgym.core.trajectory import TrajectoryWriter
from healthgym.core.unwrapping import health_env
from healthgym.core.verdict import Profile
from healthgym.errors import (
    BudgetExceededError,
    ConfigurationError,
    EndpointAbsentError,
    HealthGymError,
    InfrastructureError,
    SeatCrashedError,
)
from healthgym.policies.base import Policy
from healthgym.policies.results import EpisodeResult, Evaluation
from healthgym.policies.resuming import Done, Marking
from healthgym.policies.scripted import NopPolicy, resolve
from healthgym.presentation.pictures import png
from healthgym.registration import make

#: Interrupted episodes in a row after which a run gives up.
MAX_ERRORS_IN_A_ROW = 5

#: What a policy thought is kept under this name beside the result of an episode.
REASONING = "reasoning"

PolicyFactory = Callable[[], Policy]
_Env = AnyEnv


@runtime_checkable
class Sighted(Protocol):
    """A policy that looks at pictures."""

    def see(self, images: Sequence[Image]) -> None:
        """Take the pictures that come with the next observation."""


@runtime_checkable
class Thinking(Protocol):
    """A policy that tells what it thought, apart from what it did."""

    @property
    def reasoning(self) -> Sequence[str]:
        """What was thought before each action of the current episode."""


@runtime_checkable
class Numbering(Protocol):
    """A policy that acts otherwise at each attempt at a task, by the attempt's number."""

    def take_up(self, task_id: str, attempt: int) -> None:
        """Take the next attempt at a task for the one of this number, from 0."""


def evaluate(
    env: str | _Env,
    policy: str | Policy | PolicyFactory,
    *,
    episodes: int = 200,
    first: int = 0,
    split: str = "test",
    seed: int = 0,
    env_kwargs: Settings | None = None,
    samples_per_task: int = 1,
    workers: int = 1,
    record: str | os.PathLike[str] | None = None,
    pictures: bool = False,
    floor: bool = True,
    faults: int = 0,
    resume: JsonObject | None = None,
    on_result: Callable[[EpisodeResult], None] | None = None,
) -> Evaluation:
    """Score a policy on the first tasks of a split.

    The tasks are those of index ``first`` to ``first + episodes - 1``, whatever the seed, so that
    two runs compare task by task. What a model thinks apart from its answers is kept beside the
    result in the record. An episode interrupted by an infrastructure failure is counted apart and
    never as a failure of the policy; so is one that a failure of ours ended, as long as there are
    no more of these than ``faults`` allows. After five of either in a row, or once a budget is
    spent, the run stops and returns what it has.

    Args:
        env: A registered id, or an environment, wrapped or not.
        policy: Name of a scripted policy, a policy, or a function that makes one for each worker.
        episodes: Number of tasks.
        first: Index of the first of them.
        split: The split the tasks are taken from.
        seed: Seed of a policy given by name, and of the resampling.
        env_kwargs: Arguments for an environment given by id.
        samples_per_task: Attempts at each task, for pass@k and pass^k.
        workers: Tasks played at the same time, in threads: worth it where a policy waits for an
            endpoint. More than one needs an id, and a name or a function for the policy.
        record: File to which every finished episode is appended as JSON Lines.
        pictures: Whether the pictures shown are kept beside that file; see
            :func:`healthgym.core.trajectory.picture_folder`.
        faults: Episodes that may be lost to failures of ours, each logged whole; the next one is
            raised.
        resume: Tells this evaluation from others in the record, such as by the settings of the
            policy. Episodes that were recorded under the same, in the same environment, are not
            played again; their results are taken from there. None plays everything.
        floor: Whether to run the policy that does nothing on the same tasks, for comparison.
        on_result: Called with each result as it comes in; never from two threads at once.

    Raises:
        ConfigurationError: If an argument is not accepted, or the split has fewer tasks.
        SeatCrashedError: If the policy fails; the record so far is written.
        EndpointAbsentError: If nobody takes a connection at an endpoint, and never has.
        EvaluationInterrupted: If it is interrupted from the keyboard; it holds what was scored.
    """
    tasks = parse_split(split)
    if min(episodes, samples_per_task, workers) < 1:
        raise ConfigurationError("episodes, samples_per_task and workers are at least 1.")
    if first < 0:
        raise ConfigurationError("first is at least 0.")
    if not isinstance(env, str) and (env_kwargs or workers > 1):
        raise ConfigurationError("env_kwargs and workers > 1 need an environment given by id.")
    if resume is not None and record is None:
        raise ConfigurationError("What is recorded nowhere cannot be resumed: give a record.")
    make_policy = _factory(policy, seed, workers)
    end = first + episodes
    ledger = FaultLedger(faults)
    with ExitStack() as stack:

        def seat() -> _Player:
            if not isinstance(env, str):
                return _Player(env, make_policy(), ledger)
            made = make(env, env_kwargs)
            stack.callback(made.close)
            return _Player(made, make_policy(), ledger)

        player = seat()
        size = player.inner.family.generator.size(tasks)
        if end > size:
            raise ConfigurationError(f"The {split} split has {size} tasks, fewer than {end}.")
        spec = player.env.spec
        env_id = spec.id if spec else type(player.inner).__name__
        made_with = kept_settings(spec.kwargs if spec else {})
        marking = Marking(env_id if spec else "", made_with, tasks, resume or {})
        done = marking.done(record) if record is not None and resume is not None else {}
        writer = None
        if record is not None:
            writer = stack.enter_context(TrajectoryWriter(record, png=png if pictures else None))
        run = _Run(tasks, samples_per_task, writer, on_result, marking, done)

        def measured(
            results: tuple[EpisodeResult, ...], idle: tuple[EpisodeResult, ...] = ()
        ) -> Evaluation:
            return Evaluation(
                env_id=env_id,
                env_kwargs=made_with,
                policy=player.policy.name,
                split=str(tasks),
                profile=str(player.inner.config.profile),
                samples_per_task=samples_per_task,
                seed=seed,
                results=results,
                floor=idle,
                stopped=run.stopped,
            )

        idle: tuple[EpisodeResult, ...] = ()
        try:
            results = run.play(range(first, end), player, seat, workers)
            if floor and player.policy.name != NopPolicy.name:
                played = sorted({result.index for result in results})
                nop = _Player(player.env, NopPolicy(), ledger)
                idle = _Run(tasks, 1).play(played, nop, seat, 1)
        except KeyboardInterrupt:
            run.stopped = "interrupted"
            raise EvaluationInterrupted(measured(run.results)) from None
        return measured(results, idle)


class EvaluationInterrupted(KeyboardInterrupt):
    """An evaluation was interrupted from the keyboard.

    Args:
        evaluation: What was scored until then.
    """

    def __init__(self, evaluation: Evaluation) -> None:
        super().__init__("The evaluation was interrupted.")
        self.evaluation = evaluation


def _factory(policy: str | Policy | PolicyFactory, seed: int, workers: int) -> PolicyFactory:
    if isinstance(policy, str):
        name = policy
        return lambda: resolve(name, seed)
    if hasattr(policy, "act") and not isinstance(policy, type):
        player = cast(Policy, policy)
        if workers > 1:
            raise ConfigurationError(
                "One policy plays one episode at a time; for workers > 1 give a function that "
                "makes policies."
            )
        return lambda: player
    return policy


class _Player:
    """A policy at an environment.

    It is ``exhausted`` once its budget is spent, and ``crashed`` where a policy in a seat ended the
    last episode by failing; ``failed`` if that was this one.
    """

    def __init__(self, env: _Env, policy: Policy, faults: FaultLedger) -> None:
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
        """Play one episode; where something outside it fails, the result has no score."""
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
        except Exception as error:
            self.failed = True
            raise self.inner.episode.fail(self.inner.role, error) from error

    def _usage(self) -> Usage:
        return self.policy.usage if isinstance(self.policy, Metered) else Usage()


def _never_there(error: InfrastructureError) -> bool:
    return isinstance(error, EndpointAbsentError) and error.never


def _thoughts(policy: Policy) -> JsonDict:
    thought = list(policy.reasoning) if isinstance(policy, Thinking) else []
    return {REASONING: thought} if any(thought) else {}


class _Run:
    """The attempts at a set of tasks, in one thread or several."""

    def __init__(
        self,
        split: Split,
        samples: int,
        writer: TrajectoryWriter | None = None,
        on_result: Callable[[EpisodeResult], None] | None = None,
        marking: Marking | None = None,
        done: Done | None = None,
    ) -> None:
        self.stopped = ""
        self._marking, self._done = marking, done or {}
        self._split = split
        self._samples = samples
        self._writer = writer
        self._on_result = on_result
        self._in_a_row = 0
        self._results: list[EpisodeResult] = []
        self._lock = threading.Lock()
        self._halted = threading.Event()

    def _keep(self, images: Sequence[Image]) -> None:
        if images and self._writer is not None:
            self._writer.keep(images)

    @property
    def results(self) -> tuple[EpisodeResult, ...]:
        """What came in so far, by task and attempt."""
        with self._lock:
            return tuple(sorted(self._results, key=lambda each: (each.index, each.attempt)))

    def play(
        self, indices: Iterable[int], first: _Player, seat: Callable[[], _Player], workers: int
    ) -> tuple[EpisodeResult, ...]:
        """Play all tasks; return the results by task and attempt, however they came in."""
        queue = iter(indices)
        if workers == 1:
            self._work(first, queue)
        else:
            players = [first, *(seat() for _ in range(workers - 1))]
            with ThreadPoolExecutor(workers) as pool:
                jobs = [pool.submit(self._work, player, queue) for player in players]
                try:
                    for job in as_completed(jobs):
                        job.result()
                except BaseException:
                    # The pool waits for its workers, so they are told to leave their episodes.
                    self.stopped = "interrupted"
                    self._halted.set()
                    raise
        return self.results

    def _work(self, player: _Player, queue: Iterator[int]) -> None:
        while True:
            with self._lock:
                index = None if self.stopped else next(queue, None)
            if index is None:
                return
            # One worker makes all attempts at a task, so that a seeded policy can number them.
            for attempt in range(self._samples):
                known = self._done.get((index, attempt))
                if known is not None:
                    self._take(known)
                elif not self.stopped:
                    self._attempt(player, index, attempt)

    def _take(self, known: EpisodeResult) -> None:
        """Take a result from the record of an earlier run."""
        with self._lock:
            self._results.append(known)
            if self._on_result is not None:
                self._on_result(known)

    def _attempt(self, player: _Player, index: int, attempt: int) -> None:
        if attempt and isinstance(player.policy, Numbering):
            key = TaskKey(player.inner.family.generator.name, self._split, index)
            player.policy.take_up(str(key), attempt)
        try:
            result = player.play(self._split, index, attempt, self._halted, self._keep)
        except SeatCrashedError:
            if self._writer is not None:
                self._writer.write(player.inner.trajectory())
            raise
        with self._lock:
            if result.error and self._halted.is_set():
                return  # It was left where it was, and says nothing of the policy.
            if player.exhausted:
                self.stopped = result.error
                if not result.usage.requests:
                    return
            self._results.append(result)
            self._in_a_row = self._in_a_row + 1 if result.error else 0
            if self._in_a_row >= MAX_ERRORS_IN_A_ROW:
                self.stopped = f"{self._in_a_row} episodes failed in a row; {result.error}"
            if self._writer is not None and (not result.error or player.crashed):
                record = player.inner.trajectory()
                if self._marking is not None and not result.error:
                    mark = self._marking.mark(result) | _thoughts(player.policy)
                    record = replace(record, run=mark)
                self._writer.write(record)
            if self._on_result is not None:
                self._on_result(result)
