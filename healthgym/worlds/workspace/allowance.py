"""How long queries and code may take where what they did before is done again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_TIMES: ContextVar[float] = ContextVar("times", default=1.0)


@contextmanager
def unhurried(times: float) -> Iterator[None]:
    """Let queries and code take longer: no two machines, or runs, need the same time for one thing.

    Args:
        times: How many times as long they may take.
    """
    token = _TIMES.set(times)
    try:
        yield
    finally:
        _TIMES.reset(token)


def allowed(seconds: float) -> float:
    """Return the seconds that something may take which is granted some."""
    return seconds * _TIMES.get()
