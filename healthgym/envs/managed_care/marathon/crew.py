"""Several pieces of work at one desk, each resting while it waits for something.

A case is worked as if it were alone, from its beginning to its end. Where it waits, another one is
gone on with, and the clock moves only when all of them wait. The people who know the answer of one
case are written as plain procedures, so each case has a thread, of which exactly one runs at any
time: what is done, and when, follows from the order of the cases alone.

Generators would do without threads, but a generator can rest only in its own frame: every procedure
between a desk and where it waits, of three oracles and all that they share, would have to be one,
and the environments of a single case, in which nobody rests, would have to drive them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from healthgym.core.episode import Episode, StepOutcome
from healthgym.core.task import Task
from healthgym.core.tool import ToolCall, call
from healthgym.envs.managed_care.marathon.task import MarathonReference
from healthgym.worlds.managed_care.queue import QueueOffices, QueueStart
from healthgym.worlds.managed_care.world import ManagedCareWorld

MarathonEpisode = Episode[Task, MarathonReference, QueueStart, QueueOffices]
#: Tells whether what is waited for is there.
Holds = Callable[[ManagedCareWorld], bool]
_NO_LIMIT = 1 << 30


class _Stopped(BaseException):
    """Ends the work of a crew that is broken up."""


class Crew:
    """Takes up pieces of work one after the other, and goes on with those that can be.

    Args:
        episode: Where calls are carried out.

    Attributes:
        calls: The calls so far.
        refused: Why calls were refused.
    """

    def __init__(self, episode: MarathonEpisode) -> None:
        self.episode = episode
        self.calls: list[ToolCall] = []
        self.refused: list[str] = []
        self._members: list[_Member] = []
        self._failure: BaseException | None = None

    @property
    def world(self) -> QueueOffices:
        """The world as it is now."""
        return self.episode.world

    @property
    def now(self) -> datetime:
        """The time."""
        return self.world.clock.now

    def step(self, made: ToolCall) -> StepOutcome:
        """Make a call, if any can be made still, and whoever makes it has not made enough."""
        me = threading.current_thread()
        member = next((one for one in self._members if one.thread is me), None)
        if member is not None:
            member.count()
        if self.episode.done():
            return StepOutcome("", (), 0.0, False, False, ("The episode is over.",))
        self.calls.append(made)
        outcome = self.episode.step(made)
        if outcome.errors:
            self.refused.append(f"{made.name}: {outcome.observation[-200:]}")
        return outcome

    def work(
        self, jobs: Sequence[Callable[[], None]], most: Sequence[int] | None = None
    ) -> list[int]:
        """Do all of some work; of what can be gone on with, the first goes on first.

        Args:
            jobs: What to do; within each, :meth:`rest` lets the others go on.
            most: After how many calls each is left as it is; done to the end if None.

        Returns:
            The number of calls of each.

        Raises:
            Exception: What went wrong in one of them.
        """
        limits = most or [_NO_LIMIT] * len(jobs)
        self._members = [_Member(job, self, calls) for job, calls in zip(jobs, limits, strict=True)]
        try:
            while any(not member.done for member in self._members):
                ready = next((one for one in self._members if one.ready()), None)
                if ready is None:
                    if not self._pass_time():
                        break
                    continue
                ready.go_on()
                if self._failure is not None:
                    raise self._failure
        finally:
            for member in self._members:
                member.stop()
        return [member.calls for member in self._members]

    def rest(self, holds: Holds, until: datetime) -> None:
        """Let the others go on until something holds, or a time has come.

        Args:
            holds: What is waited for.
            until: How long, at most.
        """
        me = threading.current_thread()
        member = next(one for one in self._members if one.thread is me)
        member.pause(holds, until)

    def fail(self, error: BaseException) -> None:
        """Note what went wrong in a piece of work."""
        self._failure = error

    def _pass_time(self) -> bool:
        """Wait for what comes first; return whether time has passed."""
        times = [one.until for one in self._members if not one.done]
        until = min(times).replace(second=0, microsecond=0) + timedelta(minutes=1)
        outcome = self.step(call("wait", until=f"{until:%Y-%m-%dT%H:%M}"))
        return not outcome.errors and not self.episode.done()


class _Member:
    """One piece of work, in a thread that runs only when it is told to."""

    def __init__(self, job: Callable[[], None], crew: Crew, most: int) -> None:
        self._job, self._crew, self._most = job, crew, most
        self.calls = 0
        self._mine, self._theirs = threading.Semaphore(0), threading.Semaphore(0)
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.done = self._stopping = False
        self._holds: Holds = _always
        self.until = datetime.max

    def count(self) -> None:
        """Count a call; called in its own thread."""
        if self.calls >= self._most:
            raise _Stopped
        self.calls += 1

    def ready(self) -> bool:
        """Return whether it can be gone on with."""
        if self.done:
            return False
        if not self.thread.ident:
            return True
        crew = self._crew
        return crew.now >= self.until or self._holds(crew.world)

    def go_on(self) -> None:
        """Go on until it rests or is done."""
        if self.thread.ident:
            self._mine.release()
        else:
            self.thread.start()
        self._theirs.acquire()

    def pause(self, holds: Holds, until: datetime) -> None:
        """Rest; called in its own thread."""
        self._holds, self.until = holds, until
        self._theirs.release()
        self._mine.acquire()
        if self._stopping:
            raise _Stopped

    def stop(self) -> None:
        """Give the work up, if it is not done."""
        if self.thread.ident and not self.done:
            self._stopping = True
            self.go_on()
        if self.thread.ident:
            self.thread.join()

    def _run(self) -> None:
        try:
            self._job()
        except _Stopped:
            pass
        except BaseException as error:
            self._crew.fail(error)
        finally:
            self.done = True
            self._theirs.release()


def _always(world: ManagedCareWorld) -> bool:
    return True
