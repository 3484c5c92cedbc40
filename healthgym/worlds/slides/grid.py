"""The grid of tiles, and which tiles a mask calls tumour.

The rule is HealthAgentBench's: tiles of 256 pixels at downsample 16, the mask page nearest to that
size, rounded windows, and tumour where at least a fifth of a tile's mask pixels have the value 2,
as in CAMELYON16's masks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

TILE_SIZE, ANALYSIS_DOWNSAMPLE = 256, 16
#: Side of a tile at level 0.
TILE = TILE_SIZE * ANALYSIS_DOWNSAMPLE
THRESHOLD = 0.20
#: Value of tumour in a mask.
TUMOR = 2

Tile = tuple[int, int]


@dataclass(frozen=True, slots=True)
class TileGrid:
    """The tiles of a slide: (0, 0) is at the top left, x to the right, y down.

    Attributes:
        width: Width of the slide at level 0, in pixels.
        height: Height.
    """

    width: int
    height: int

    @property
    def columns(self) -> int:
        """Number of tiles in a row, a cut one at the right included."""
        return ceil(self.width / ANALYSIS_DOWNSAMPLE / TILE_SIZE)

    @property
    def rows(self) -> int:
        """Number of rows of tiles."""
        return ceil(self.height / ANALYSIS_DOWNSAMPLE / TILE_SIZE)

    def __contains__(self, tile: object) -> bool:
        return (
            isinstance(tile, tuple)
            and len(tile) == 2
            and 0 <= tile[0] < self.columns
            and 0 <= tile[1] < self.rows
        )

    def tiles(self) -> list[Tile]:
        """Return all tiles, row by row."""
        return [(x, y) for y in range(self.rows) for x in range(self.columns)]

    def box(self, tile: Tile) -> tuple[int, int, int, int]:
        """Return left, top, right and bottom of a tile at level 0, cut at the slide's edge."""
        left, top = tile[0] * TILE, tile[1] * TILE
        return left, top, min(left + TILE, self.width), min(top + TILE, self.height)


class MaskPage(Protocol):
    """One page of a mask: values of pixels, read window by window."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    def read(self, left: int, top: int, right: int, bottom: int) -> NDArray[np.uint8]:
        """Return a window, shape (bottom - top, right - left), uint8."""


@dataclass(frozen=True, slots=True, eq=False)
class ArrayPage:
    """A mask page in memory."""

    values: NDArray[np.uint8]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.values.shape[0], self.values.shape[1]

    def read(self, left: int, top: int, right: int, bottom: int) -> NDArray[np.uint8]:
        """Return a window of the array."""
        return self.values[top:bottom, left:right]


def choose_page(shapes: Sequence[tuple[int, int]], width: int, height: int) -> int:
    """Return which page of a mask is compared with the grid.

    Args:
        shapes: Rows and columns of the pages.
        width: Width of the slide at level 0.
        height: Height.
    """
    wide, tall = width / ANALYSIS_DOWNSAMPLE, height / ANALYSIS_DOWNSAMPLE
    return min(
        range(len(shapes)), key=lambda n: abs(shapes[n][1] - wide) + abs(shapes[n][0] - tall)
    )


def tumor_areas(
    page: MaskPage, width: int, height: int, tiles: Iterable[Tile] | None = None
) -> dict[Tile, tuple[int, int]]:
    """Return tumour pixels and all pixels of the mask under each tile, row by row.

    Args:
        page: The page that :func:`choose_page` names.
        width: Width of the slide at level 0.
        height: Height.
        tiles: Tiles to look at; all of them if None.
    """
    rows, columns = page.shape
    across = columns / (width / ANALYSIS_DOWNSAMPLE) * TILE_SIZE
    down = rows / (height / ANALYSIS_DOWNSAMPLE) * TILE_SIZE
    areas: dict[Tile, tuple[int, int]] = {}
    for x, y in TileGrid(width, height).tiles() if tiles is None else tiles:
        left, right = _window(x, across, columns)
        top, bottom = _window(y, down, rows)
        patch = page.read(left, top, right, bottom)
        areas[x, y] = (int(np.count_nonzero(patch == TUMOR)), int(patch.size))
    return areas


def _window(number: int, size: float, limit: int) -> tuple[int, int]:
    """Return a rounded window of at least one pixel, inside the page."""
    low = min(max(round(number * size), 0), limit - 1)
    high = min(max(round((number + 1) * size), low + 1), limit)
    return low, high


def gold_tiles(areas: dict[Tile, tuple[int, int]]) -> tuple[Tile, ...]:
    """Return the tiles of which at least a fifth is tumour, in the order given."""
    return tuple(tile for tile, (tumor, all_) in areas.items() if tumor / all_ >= THRESHOLD)
