"""What every world promises the engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

from healthgym.core.clock import Clock


class World(ABC):
    """Mutable state of one episode, over immutable data shared between episodes.

    A world knows no task, no reward and no tool. It holds a clock, can be cloned cheaply and can
    say in one string what its contents are.
    """

    clock: Clock

    @abstractmethod
    def digest(self) -> str:
        """Return a hex digest of the mutable contents.

        The clock is left out: it moves with every call, and reading must leave the digest as it
        was.
        """

    @abstractmethod
    def clone(self) -> Self:
        """Return an independent world with the same contents, clock and counters."""
