"""The world: a slide on the stage, and what has been marked on it."""

from __future__ import annotations

from healthgym.core.clock import Clock
from healthgym.core.state import state
from healthgym.core.world import World
from healthgym.errors import ToolError
from healthgym.worlds.slides.grid import Tile, TileGrid
from healthgym.worlds.slides.source import Slide


class SlideWorld(World):
    """A slide that is looked at, and a selection of its tiles.

    The selection is a set of tiles, or a text that says which they are; the text stands until the
    next change of the set. Looks that were taken are counted, but are no content: like the clock
    they move with reading.

    Args:
        slide: The slide; it cannot be changed.
        clock: The world's clock.
        looks: Looks at high power that may be taken.
        name: What a selection written as text calls this slide.
        asked: What such a text may repeat of what is asked.

    Attributes:
        tiles: The selected tiles; those before the text where there is one.
        text: The selection as a text, or None where it is a set.
        taken: Looks that were taken.
    """

    tiles = state[frozenset[Tile]](frozenset())
    text = state[str | None](None)
    taken = state(0, content=False)

    def __init__(
        self, slide: Slide, clock: Clock, looks: int, name: str = "", asked: str = ""
    ) -> None:
        self.slide = slide
        self.clock = clock
        self.looks = looks
        self.name = name
        self.asked = asked
        self.grid = TileGrid(slide.width, slide.height)

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
        self.tiles, self.text = tiles, None

    def write(self, text: str) -> None:
        """Replace the selection by a text."""
        self.text = text
