"""The world of a reader: one volume, and the calls that were written down."""

from __future__ import annotations

from healthgym.core.clock import Clock
from healthgym.core.state import state
from healthgym.core.world import World
from healthgym.worlds.volumes.grid import VolumeSource


class VolumeWorld(World):
    """A volume to look at, a list of things to decide, and a text of decisions.

    Args:
        source: The volume; shared, never changed.
        items: What is to be decided, in the order asked.
        clock: Start of the episode; the world keeps this object and advances it.
    """

    lines = state[tuple[str, ...]](())

    def __init__(self, source: VolumeSource, items: tuple[str, ...], clock: Clock) -> None:
        self.source = source
        self.items = items
        self.clock = clock

    def write(self, lines: tuple[str, ...]) -> None:
        """Replace the text of decisions."""
        self.lines = lines
