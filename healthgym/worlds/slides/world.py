"""The world: a slide on the stage, and what has been marked on it."""

from __future__ import annotations

from typing import Self

from healthgym.core.clock import Clock
from healthgym.core.seeding import content_hash
from healthgym.core.world import World
from healthgym.errors import ToolError
from healthgym.worlds.slides.grid import Tile, TileGrid
from healthgym.worlds.slides.source import Slide


class SlideWorld(World):
    """A slide that is looked at, and a selection of its tiles.

    The selection is a set of tiles, or a text that says which they are; the text stands until the
    next change of the set. Looks that were taken are counted, but are no part of the digest: like
    the clock they move with reading.

    Args:
        slide: The slide; it cannot be changed.
        clock: The world's clock.
        looks: Looks at high power that may be taken.
        name: What a selection written as text calls this slide.
    """

    def __init__(self, slide: Slide, clock: Clock, looks: int, name: str = "") -> None:
        self.slide = slide
        self.clock = clock
        self.looks = looks
        self.name = name
        self.taken = 0
        self.grid = TileGrid(slide.width, slide.height)
        self._tiles: frozenset[Tile] = frozenset()
        self._text: str | None = None

    @property
    def tiles(self) -> frozenset[Tile]:
        """The selected tiles; those before the text where there is one."""
        return self._tiles

    @property
    def text(self) -> str | None:
        """The selection as a text, or None where it is a set."""
        return self._text

    @property
    def looks_left(self) -> int:
        """Looks that may still be taken."""
        return self.looks - self.taken

    def look(self) -> None:
        """Take a look.

        Raises:
            ToolError: If none is left.
        """
        if self.looks_left < 1:
            raise ToolError(
                f"All {self.looks} looks are taken. The overview, the survey and the selection "
                "can still be seen; select and submit."
            )
        self.taken += 1

    def mark(self, tiles: frozenset[Tile]) -> None:
        """Replace the selection by a set of tiles."""
        self._tiles, self._text = tiles, None

    def write(self, text: str) -> None:
        """Replace the selection by a text."""
        self._text = text

    def digest(self) -> str:
        """Return a hash of the selection."""
        return content_hash([sorted(self._tiles), self._text])

    def clone(self) -> Self:
        """Return an independent world with the same selection, over the same slide."""
        twin = type(self)(self.slide, self.clock.clone(), self.looks, self.name)
        twin.taken, twin._tiles, twin._text = self.taken, self._tiles, self._text
        return twin
