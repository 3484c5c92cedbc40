"""Processes that work for this one: as many as it has work at a time, and none of its parent's."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar

#: Processes that wait for work; more of them only run while there is more of it.
_KEPT = 2


class Ending(Protocol):
    """What has to be ended."""

    def stop(self) -> None:
        """End it; where work comes again, it starts anew."""


P = TypeVar("P", bound=Ending)
E = TypeVar("E", bound=Ending)


class Pool(Generic[P]):
    """Processes that work, one piece of work at a time each.

    Args:
        make: Makes one.
    """

    def __init__(self, make: Callable[[], P]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self.idle: list[P] = []

    @contextmanager
    def lent(self, prefers: Callable[[P], bool] = lambda one: False) -> Iterator[P]:
        """Lend a process to whoever has work for it.

        Args:
            prefers: Whether the work has been begun by a process that waits.
        """
        with self._lock:
            process = self.taken(prefers)
        try:
            yield process
        finally:
            with self._lock:
                self.idle.append(process)
                spare = self.idle[:-_KEPT]
                del self.idle[:-_KEPT]
            for one in spare:
                one.stop()

    def taken(self, prefers: Callable[[P], bool]) -> P:
        """Take a process that waits, or a new one; the pool is locked meanwhile."""
        if not self.idle:
            return self._make()
        places = [place for place, one in enumerate(self.idle) if prefers(one)]
        return self.idle.pop(places[-1] if places else -1)

    def stop(self) -> None:
        """End the processes that wait; where work comes again, they start anew."""
        with self._lock:
            for process in self.idle:
                process.stop()


class Own(Generic[E]):
    """What each process has one of, and ends with itself.

    A fork must not talk over its parent's channels, nor end what its parent still uses.

    Args:
        make: Makes it.
    """

    def __init__(self, make: Callable[[], E]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._pid = 0
        self._held: list[E] = []

    def get(self) -> E:
        """Return it; it is made where this process has none."""
        with self._lock:
            if self._pid != os.getpid():
                # What was inherited is kept: collecting it would close its parent's channels.
                self._held.append(self._make())
                self._pid = os.getpid()
                atexit.register(self._end, self._pid)
            return self._held[-1]

    def _end(self, pid: int) -> None:
        if pid == os.getpid():
            self._held[-1].stop()
