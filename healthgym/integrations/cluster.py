"""Evaluations and demonstrations on many cores or machines, by Ray.

Blocks of whole episodes travel, never single steps: those are shorter than the way to another
process. Each process has one block at a time, so nothing piles up before a slow one. A process that
dies is replaced, and its block is played once more; episodes that are lost twice are told apart as
having no score. What comes back is what one process would have measured.

    from healthgym.integrations.cluster import Cluster, evaluate_on

    evaluate_on(Cluster(), "HealthAgent/TrialMatching-v1", "oracle", episodes=2000)

Whatever a policy is made of has to be there on every machine, healthgym in the same version among
it; a cluster of Ray's has means for that (``runtime_env``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from healthgym.core.borders import JsonDict, Settings
from healthgym.core.env import parse_split
from healthgym.core.redaction import kept_settings
from healthgym.core.task import TaskKey
from healthgym.core.trajectory import Trajectory, TrajectoryWriter, read_trajectories
from healthgym.core.unwrapping import health_env
from healthgym.errors import ConfigurationError
from healthgym.integrations.spreading import Cluster as Cluster
from healthgym.integrations.spreading import blocks_of, spread
from healthgym.integrations.trl.demonstrations import Demonstration, demonstrations
from healthgym.policies.evaluation import (
    EvaluationInterrupted,
    PolicyFactory,
    evaluate,
)
from healthgym.policies.results import EpisodeResult, Evaluation
from healthgym.policies.resuming import Done, Marking
from healthgym.registration import make, make_health_env

#: Makes a policy, or what makes policies; called once in each process.
PolicySource = Callable[[], str | PolicyFactory]
#: What a lost episode has in place of a score.
LOST = "LostProcess"
_LOST_TWICE = "The process that played it died, and so did the one that played it again."


# -- evaluations -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Playing:
    """What is to be played, as it travels: arguments of ``evaluate``, but for those of a block."""

    env_id: str
    policy: str | PolicySource
    records: bool
    how: Settings

    def __call__(self) -> Callable[[range], tuple[Evaluation, tuple[Trajectory, ...]]]:
        policy = self.policy if isinstance(self.policy, str) else self.policy()

        def play(block: range) -> tuple[Evaluation, tuple[Trajectory, ...]]:
            with TemporaryDirectory() as folder:
                record = Path(folder) / "episodes.jsonl" if self.records else None
                found = evaluate(
                    self.env_id,
                    policy,
                    episodes=len(block),
                    first=block.start,
                    record=record,
                    **self.how,
                )
                kept = tuple(read_trajectories(record)) if record and record.exists() else ()
            return found, kept

        return play


def evaluate_on(
    cluster: Cluster,
    env_id: str,
    policy: str | PolicySource,
    *,
    episodes: int = 200,
    split: str = "test",
    seed: int = 0,
    env_kwargs: Settings | None = None,
    samples_per_task: int = 1,
    workers: int = 1,
    record: str | os.PathLike[str] | None = None,
    floor: bool = True,
    faults: int = 0,
    resume: Settings | None = None,
    on_result: Callable[[EpisodeResult], None] | None = None,
) -> Evaluation:
    """Score a policy as :func:`healthgym.policies.evaluation.evaluate` does, on a cluster.

    The result is the same for the same seeds, in any number of processes. A run ends early where
    one block does (a budget, five failures in a row); what came in by then is kept.

    Args:
        cluster: Where it is played.
        env_id: A registered id, with its module (``module:Id-v0``) where healthgym does not
            register it.
        policy: Name of a scripted policy, or what makes a policy or a function that makes policies;
            it is called once in each process, and so are budgets counted.
        episodes: Number of tasks.
        split: The split the tasks are taken from.
        seed: Seed of a policy given by name, and of the resampling.
        env_kwargs: Arguments for the environment.
        samples_per_task: Attempts at each task.
        workers: Tasks played at the same time in each process, in threads.
        record: File on this machine to which finished episodes are appended, block by block.
        floor: Whether to run the policy that does nothing on the same tasks.
        faults: Episodes that may be lost to failures of ours, in each block.
        resume: As in ``evaluate``: tells this evaluation from others in the record.
        on_result: Called with each result as it comes in.

    Raises:
        ConfigurationError: If an argument is not accepted, or there is no such cluster.
        EvaluationInterrupted: If it is interrupted from the keyboard; it holds what came in.
    """
    settings, tasks = dict(env_kwargs or {}), parse_split(split)
    if resume is not None and record is None:
        raise ConfigurationError("What is recorded nowhere cannot be resumed: give a record.")
    made = make(env_id, settings)
    generator, spec = health_env(made).family.generator, made.spec
    name, size = generator.name, generator.size(tasks)
    if not 1 <= episodes <= size:
        raise ConfigurationError(f"The {split} split has {size} tasks, and {episodes} are asked.")
    how: JsonDict = {
        "split": split,
        "seed": seed,
        "env_kwargs": settings,
        "samples_per_task": samples_per_task,
        "workers": workers,
        "floor": floor,
        "faults": faults,
        "resume": resume,
    }
    job = _Playing(env_id, policy, record is not None, how)
    named = (spec.id, kept_settings(spec.kwargs)) if spec else ("", {})
    marking = Marking(*named, tasks, resume or {})
    known = marking.done(record) if record is not None and resume is not None else {}
    done = _whole(known, samples_per_task)
    results: list[EpisodeResult] = list(done.values())
    idle: list[EpisodeResult] = []
    told: Evaluation | None = None
    stopped = ""
    for result in results:
        if on_result is not None:
            on_result(result)
    missing = [index for index in range(episodes) if (index, 0) not in done]
    if floor:
        # Of what is known already, doing nothing is told here.
        for block in blocks_of(sorted({index for index, _ in done}), episodes):
            nothing = evaluate(
                env_id, "nop", episodes=len(block), first=block.start, env_kwargs=settings,
                split=split,
            )  # fmt: skip
            idle += nothing.results
    work = spread(cluster, job, blocks_of(missing, cluster.block))

    def measured() -> Evaluation:
        if told is None:
            # Nothing was left to play, or nothing came back: a run of one idle task has the frame.
            frame = evaluate(env_id, "nop", episodes=1, env_kwargs=settings, split=split, seed=seed)
            base = replace(frame, policy=_name_of(policy))
        else:
            base = told
        return replace(
            base,
            samples_per_task=samples_per_task,
            results=tuple(sorted(results, key=_place)),
            floor=tuple(sorted(idle, key=_place)),
            stopped=stopped,
        )

    try:
        with TrajectoryWriter(record) if record is not None else nullcontext() as writer:
            for block, found in work:
                if found is None:
                    came: Sequence[EpisodeResult] = [
                        EpisodeResult(
                            str(TaskKey(name, tasks, index)), "", index, attempt,
                            error=_LOST_TWICE, cause=LOST,
                        )
                        for index in block
                        for attempt in range(samples_per_task)
                    ]  # fmt: skip
                else:
                    told, kept = found
                    came, stopped = told.results, told.stopped
                    idle += told.floor
                    if writer is not None:
                        for episode in kept:
                            writer.write(episode)
                results += came
                for result in came:
                    if on_result is not None:
                        on_result(result)
                if stopped:
                    break
    except KeyboardInterrupt:
        stopped = "interrupted"
        raise EvaluationInterrupted(measured()) from None
    finally:
        work.close()
    return measured()


def _name_of(policy: str | PolicySource) -> str:
    made = policy if isinstance(policy, str) else policy()
    return made if isinstance(made, str) else made().name


def _place(result: EpisodeResult) -> tuple[int, int]:
    return result.index, result.attempt


def _whole(done: Done, samples: int) -> dict[tuple[int, int], EpisodeResult]:
    """Return the results of the tasks of which all attempts are known."""
    wanted = range(samples)
    return {
        (index, attempt): done[index, attempt]
        for index in {index for index, _ in done}
        for attempt in wanted
        if all((index, each) in done for each in wanted)
    }


# -- demonstrations --------------------------------------------------------------------------------


def demonstrations_on(
    cluster: Cluster,
    env_id: str,
    split: str = "train",
    size: int = 1000,
    *,
    first: int = 0,
    env_kwargs: Settings | None = None,
    how: Settings | None = None,
) -> Iterator[Demonstration]:
    """Yield what :func:`healthgym.integrations.trl.demonstrations` yields, made on a cluster.

    In the same order: blocks that end early wait for their turn.

    Args:
        cluster: Where they are made.
        env_id: A registered id, with its module where healthgym does not register it.
        split: The split.
        size: Number of tasks.
        first: Index of the first.
        env_kwargs: Arguments of the environment.
        how: Further arguments of ``demonstrations``, by name.

    Raises:
        ConfigurationError: If an argument is not accepted, there is no such cluster, or a process
            died twice over the same block.
    """
    settings, further = dict(env_kwargs or {}), dict(how or {})

    def begin() -> Callable[[range], list[Demonstration]]:
        env = make_health_env(env_id, settings)

        def show(block: range) -> list[Demonstration]:
            return list(demonstrations(env, split, len(block), first=block.start, **further))

        return show

    waiting: dict[int, tuple[range, list[Demonstration]]] = {}
    blocks = blocks_of(range(first, first + size), cluster.block)
    work = spread(cluster, begin, blocks)
    try:
        for block, shown in work:
            if shown is None:
                raise ConfigurationError(
                    f"The processes that showed tasks {block.start} to {block.stop - 1} died twice."
                )
            waiting[block.start] = block, shown
            while first in waiting:
                block, ready = waiting.pop(first)
                first = block.stop
                yield from ready
    finally:
        work.close()
