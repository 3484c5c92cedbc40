"""The attempts at a set of tasks: who plays which, what is kept, and when a run gives up."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from typing import Protocol, runtime_checkable

from healthgym.core.borders import JsonDict
from healthgym.core.images import Image
from healthgym.core.seeding import Split
from healthgym.core.task import TaskKey
from healthgym.core.trajectory import TrajectoryWriter
from healthgym.errors import SeatCrashedError
from healthgym.policies.base import Policy
from healthgym.policies.playing import SeatedPolicy
from healthgym.policies.results import EpisodeResult
from healthgym.policies.resuming import Done, Marking

#: Interrupted episodes in a row after which a run gives up.
MAX_ERRORS_IN_A_ROW = 5
#: What a policy thought is kept under this name beside the result of an episode.
REASONING = "reasoning"


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


def _thoughts(policy: Policy) -> JsonDict:
    thought = list(policy.reasoning) if isinstance(policy, Thinking) else []
    return {REASONING: thought} if any(thought) else {}


class Run:
    """The attempts at a set of tasks, in one thread or several.

    Args:
        split: The tasks' split.
        samples: Attempts at each task.
        writer: Where episodes are recorded, if anywhere.
        on_result: Called with each result; never from two threads at once.
        marking: What marks a recorded episode as one of this evaluation.
        done: What was recorded under it before, and is not played again.

    Attributes:
        stopped: Why the run was given up; empty if it was not.
    """

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
        self,
        indices: Iterable[int],
        first: SeatedPolicy,
        seat: Callable[[], SeatedPolicy],
        workers: int,
    ) -> tuple[EpisodeResult, ...]:
        """Play all tasks; return the results by task and attempt, however they came in.

        Args:
            indices: The tasks' indices.
            first: The policy of the first worker.
            seat: Makes those of the others.
            workers: Tasks played at the same time.
        """
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

    def _work(self, player: SeatedPolicy, queue: Iterator[int]) -> None:
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

    def _attempt(self, player: SeatedPolicy, index: int, attempt: int) -> None:
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
