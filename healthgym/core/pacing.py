"""How many requests go to an endpoint at the same time: what it bears, found out by asking.

Additive increase, multiplicative decrease, as congestion on a network is met (Chiu and Jain, 1989):
each round of answers allows one request more, and one that is turned away for want of room halves
the number. What was already on its way at a halving says nothing new, and halves nothing again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

#: Requests at the same time before anything is known of the endpoint.
FIRST = 8


class Pace:
    """A limit on requests at the same time, which several threads share.

    Args:
        most: Highest limit.
        sleep: Waits a number of seconds.
    """

    def __init__(self, most: int, sleep: Callable[[float], None] = time.sleep) -> None:
        self._most, self._sleep = most, sleep
        self._limit = float(min(most, FIRST))
        self._busy = self._cuts = 0
        self._quiet_until = 0.0
        self._free = threading.Condition()

    @property
    def limit(self) -> int:
        """Requests that may be on their way at the same time, now."""
        return int(self._limit)

    @property
    def cuts(self) -> int:
        """How often the limit was halved."""
        return self._cuts

    def hold(self, seconds: float) -> None:
        """Begin no request for so long: an endpoint that asks one to wait means all."""
        with self._free:
            self._quiet_until = max(self._quiet_until, time.monotonic() + seconds)

    def turn(self, *, again: bool = False) -> Turn:
        """Return a place for one request, to be entered; entering waits until there is one.

        Args:
            again: Whether the request is a repetition, which has waited by itself.
        """
        return Turn(self, again)

    def _take(self, again: bool) -> int:
        with self._free:
            while self._busy >= int(self._limit):
                self._free.wait()
            self._busy += 1
        try:
            return self._cuts if again else self._wait_out()
        except BaseException:
            self._give(self._cuts, None)
            raise

    def _wait_out(self) -> int:
        """Wait until no request is to be held any more; return the halvings until then."""
        waited_for = 0.0
        while True:
            with self._free:
                until, cuts = self._quiet_until, self._cuts
            # Others may be told to wait longer meanwhile, and that means all, too.
            wait = until - time.monotonic()
            if wait <= 0 or until <= waited_for:
                return cuts
            waited_for = until
            self._sleep(wait)

    def _give(self, cuts: int, crowded: bool | None) -> None:
        with self._free:
            full = self._busy >= int(self._limit)
            self._busy -= 1
            if crowded and cuts == self._cuts:
                self._limit = max(self._limit / 2, 1.0)
                self._cuts += 1
            elif crowded is False and full:
                self._limit = min(self._limit + 1 / self._limit, float(self._most))
            self._free.notify_all()


class Turn:
    """A place for one request.

    Attributes:
        crowded: Set while it is held: whether the endpoint had no room for it. None, as at first,
            says nothing of the endpoint's room.
    """

    def __init__(self, pace: Pace, again: bool) -> None:
        self.crowded: bool | None = None
        self._pace, self._again, self._cuts = pace, again, 0

    def __enter__(self) -> Self:
        self._cuts = self._pace._take(self._again)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pace._give(self._cuts, self.crowded)
