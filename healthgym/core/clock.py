"""Simulated time and simulated identifiers: the only sources of both in a world."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from healthgym.errors import ConfigurationError


class Clock:
    """A world's clock. It moves only when :meth:`advance` is called.

    Args:
        start: Timezone-aware start of the episode; converted to UTC.
    """

    __slots__ = ("_now",)

    def __init__(self, start: datetime) -> None:
        if start.tzinfo is None:
            raise ConfigurationError("A world's clock needs a timezone-aware start time.")
        self._now = start.astimezone(UTC)

    @property
    def now(self) -> datetime:
        """The current simulated time, timezone-aware, in UTC."""
        return self._now

    def advance(self, amount: timedelta) -> None:
        """Move the clock forward.

        Raises:
            ConfigurationError: If ``amount`` is negative.
        """
        if amount < timedelta(0):
            raise ConfigurationError("A world's clock cannot run backwards.")
        self._now += amount

    def clone(self) -> Clock:
        """Return an independent clock showing the same time."""
        return Clock(self._now)


class Counters:
    """Named counters from which a world draws identifiers, so that ids repeat with the seed."""

    __slots__ = ("_next",)

    def __init__(self, start: dict[str, int] | None = None) -> None:
        self._next = dict(start or {})

    def draw(self, name: str) -> int:
        """Return the next number of ``name``, counting from 1 unless a start was given."""
        value = self._next.get(name, 1)
        self._next[name] = value + 1
        return value

    def state(self) -> dict[str, int]:
        """Return a copy of the next numbers, for digests and snapshots."""
        return dict(self._next)

    def clone(self) -> Counters:
        """Return independent counters in the same state."""
        return Counters(self._next)
