"""Scores a policy on a fixed set of tasks."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from typing import cast

from healthgym.core.borders import AnyEnv, JsonObject, Settings
from healthgym.core.env import parse_split
from healthgym.core.faults import FaultLedger
from healthgym.core.redaction import kept_settings
from healthgym.core.trajectory import TrajectoryWriter
from healthgym.errors import ConfigurationError
from healthgym.policies.base import Policy
from healthgym.policies.playing import SeatedPolicy
from healthgym.policies.results import EpisodeResult, Evaluation
from healthgym.policies.resuming import Marking
from healthgym.policies.running import Run
from healthgym.policies.scripted import NopPolicy, resolve
from healthgym.presentation.pictures import png
from healthgym.registration import make

PolicyFactory = Callable[[], Policy]


def evaluate(
    env: str | AnyEnv,
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
    _require_counts(episodes, samples_per_task, workers, first)
    if not isinstance(env, str) and (env_kwargs or workers > 1):
        raise ConfigurationError("env_kwargs and workers > 1 need an environment given by id.")
    if resume is not None and record is None:
        raise ConfigurationError("What is recorded nowhere cannot be resumed: give a record.")
    make_policy = _factory(policy, seed, workers)
    end = first + episodes
    ledger = FaultLedger(faults)
    with ExitStack() as stack:

        def seat() -> SeatedPolicy:
            if not isinstance(env, str):
                return SeatedPolicy(env, make_policy(), ledger)
            made = make(env, env_kwargs)
            stack.callback(made.close)
            return SeatedPolicy(made, make_policy(), ledger)

        player = seat()
        size = player.inner.family.generator.size(tasks)
        if end > size:
            raise ConfigurationError(f"The {split} split has {size} tasks, fewer than {end}.")
        spec = player.env.spec
        made_with = kept_settings(spec.kwargs if spec else {})
        marking = Marking(spec.id if spec else "", made_with, tasks, resume or {})
        done = marking.done(record) if record is not None and resume is not None else {}
        writer = None
        if record is not None:
            writer = stack.enter_context(TrajectoryWriter(record, png=png if pictures else None))
        run = Run(tasks, samples_per_task, writer, on_result, marking, done)

        idle: tuple[EpisodeResult, ...] = ()
        interrupted = False
        try:
            results = run.play(range(first, end), player, seat, workers)
            if floor and player.policy.name != NopPolicy.name:
                played = sorted({result.index for result in results})
                nop = SeatedPolicy(player.env, NopPolicy(), ledger)
                idle = Run(tasks, 1).play(played, nop, seat, 1)
        except KeyboardInterrupt:
            run.stopped, interrupted = "interrupted", True
        found = Evaluation(
            env_id=spec.id if spec else type(player.inner).__name__,
            env_kwargs=made_with,
            policy=player.policy.name,
            split=str(tasks),
            profile=str(player.inner.config.profile),
            samples_per_task=samples_per_task,
            seed=seed,
            results=run.results,
            floor=idle,
            stopped=run.stopped,
        )
        if interrupted:
            raise EvaluationInterrupted(found)
        return found


class EvaluationInterrupted(KeyboardInterrupt):
    """An evaluation was interrupted from the keyboard.

    Args:
        evaluation: What was scored until then.
    """

    def __init__(self, evaluation: Evaluation) -> None:
        super().__init__("The evaluation was interrupted.")
        self.evaluation = evaluation


def _require_counts(episodes: int, samples_per_task: int, workers: int, first: int) -> None:
    if min(episodes, samples_per_task, workers) < 1:
        raise ConfigurationError("episodes, samples_per_task and workers are at least 1.")
    if first < 0:
        raise ConfigurationError("first is at least 0.")


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
