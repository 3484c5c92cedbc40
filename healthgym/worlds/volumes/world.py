"""The world of a reader: one volume, and the calls that were written down."""

from __future__ import annotations

from typing import Self

from healthgym.core.clock import Clock
from healthgym.core.seeding import content_hash
from healthgym.core.world import World
from healthgym.worlds.volumes.grid import VolumeSource


class VolumeWorld(World):
    """A volume to look at, a list of things to decide, and a text of decisions.

    Args:
        source: The volume; shared, never changed.
        items: What is to be decided, in the order asked.
        clock: Start of the episode; the world keeps this object and advances it.
    """

    def __init__(self, source: VolumeSource, items: tuple[str, ...], clock: Clock) -> None:
        self.source = source
        self.items = items
        self.clock = clock
        self.lines: tuple[str, ...] = ()

    def write(self, lines: tuple[str, ...]) -> None:
        """Replace the text of decisions."""
        self.lines = lines

    def digest(self) -> str:
        """Return a hex digest of the decisions."""
        return content_hash(list(self.lines))

    def clone(self) -> Self:
        """Return an independent world on the same volume."""
        other = type(self)(self.source, self.items, self.clock.clone())
        other.lines = self.lines
        return other
