"""What an agent that knows the answer does, and what ones that do not look closely do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from healthgym.core.family import Script
from healthgym.core.tool import call
from healthgym.envs.tumor_area.task import SlideInstance
from healthgym.worlds.slides.grid import Tile, TileGrid
from healthgym.worlds.slides.measure import Stains
from healthgym.worlds.slides.sampling import survey, tissue_of

#: Tiles that guesses select: about the middle of the range of tumour tiles, at most this share of
#: the tissue.
_GUESS, _SHARE = 57, 0.35


def solve(instance: SlideInstance, rng: np.random.Generator) -> Script:
    """Look at the slide, measure some of the tumour, select it and submit."""
    tiles = [list(tile) for tile in instance.reference.tiles]
    step = max(len(tiles) // 3, 1)
    return [
        call("slide_info"),
        call("view_overview"),
        call("tile_statistics", tiles=tiles[::step][:3]),
        call("select_tiles", tiles=tiles),
        call("submit"),
    ]


def flood(instance: SlideInstance, rng: np.random.Generator) -> Script:
    """Select every tile of the grid."""
    slide = instance.start.slide
    return _select(TileGrid(slide.width, slide.height).tiles())


def all_tissue(instance: SlideInstance, rng: np.random.Generator) -> Script:
    """Select every tile with tissue."""
    return _select(tissue_of(instance.start.slide))


def prior(instance: SlideInstance, rng: np.random.Generator) -> Script:
    """Select a blob of the likeliest size in the middle of the tissue."""
    tissue = np.array(tissue_of(instance.start.slide))
    away = np.hypot(*(tissue - tissue.mean(axis=0)).T)
    return _select(_first(tissue, away))


def darkest(instance: SlideInstance, rng: np.random.Generator) -> Script:
    """Select the tiles that are darkest at low power."""
    return _by_stain(instance, lambda stains: -stains.haematoxylin)


def palest(instance: SlideInstance, rng: np.random.Generator) -> Script:
    """Select the tiles of solid tissue that are palest at low power."""
    return _by_stain(instance, lambda stains: stains.haematoxylin)


def pinkest(instance: SlideInstance, rng: np.random.Generator) -> Script:
    """Select the tiles with most eosin at low power: of rules by one stain the best there is."""
    return _by_stain(instance, lambda stains: -stains.eosin)


def empty(instance: SlideInstance, rng: np.random.Generator) -> Script:
    """Submit an empty selection."""
    return [call("submit")]


def _by_stain(instance: SlideInstance, order: Callable[[Stains], float]) -> Script:
    start = instance.start
    found = survey(start.slide)
    solid = [tile for tile, stains in found.items() if stains.tissue >= 0.7] or tissue_of(
        start.slide
    )
    amounts = np.array([order(found[tile]) for tile in solid])
    return _select(_first(np.array(solid), amounts))


def _first(tiles: np.ndarray, order: np.ndarray) -> list[Tile]:
    count = max(min(_GUESS, round(_SHARE * len(tiles))), 1)
    chosen = tiles[np.argsort(order, kind="stable")[:count]]
    return [(int(x), int(y)) for x, y in chosen]


def _select(tiles: list[Tile]) -> Script:
    return [call("select_tiles", tiles=[list(tile) for tile in tiles]), call("submit")]
