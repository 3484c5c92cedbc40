"""Scenes: outlines that make a given number of tiles tumour, inside of the tissue."""

from dataclasses import replace

import numpy as np
import pytest

from healthgym.worlds.slides import foci
from healthgym.worlds.slides.compose import draw_scene
from healthgym.worlds.slides.grid import TILE, TUMOR, gold_tiles, tumor_areas
from tests.worlds.slides.conftest import SMALL


def tiles_of(scene):
    return gold_tiles(tumor_areas(foci.mask(scene.tumor), scene.width, scene.height))


def test_the_same_seed_draws_the_same_scene() -> None:
    one, two = (draw_scene(np.random.default_rng(3), SMALL) for _ in range(2))
    assert one.content_hash() == two.content_hash()
    assert draw_scene(np.random.default_rng(4), SMALL).content_hash() != one.content_hash()


@pytest.mark.parametrize("tiles", [1, 7, 21, 60])
def test_outlines_settle_on_a_number_of_tiles(tiles: int) -> None:
    rng = np.random.default_rng(tiles)
    xs, ys = foci.axes(20 * TILE, 20 * TILE)
    depth = np.full((len(ys), len(xs)), 9000, np.float32)
    centres = rng.uniform(6 * TILE, 14 * TILE, (50, 2))
    field = foci.outline(5, foci.draw_foci(rng, tiles, centres), xs, ys)
    settled, count = foci.settle(field, depth, tiles)
    assert count == tiles
    page = foci.mask(settled)
    assert len(gold_tiles(tumor_areas(page, 20 * TILE, 20 * TILE))) == tiles


def test_where_there_is_no_room_there_are_fewer() -> None:
    rng = np.random.default_rng(0)
    xs, ys = foci.axes(8 * TILE, 8 * TILE)
    depth = np.full((len(ys), len(xs)), -30_000, np.float32)
    depth[40:80, 40:80] = 1000
    field = foci.outline(1, foci.draw_foci(rng, 40, np.array([[15000.0, 15000.0]])), xs, ys)
    assert foci.settle(field, depth, 40)[1] < 12


def test_tumour_lies_in_tissue(scenes) -> None:
    from healthgym.worlds.slides.anatomy import node_depths

    for scene in scenes:
        xs, ys = foci.axes(scene.width, scene.height)
        inside = foci.mask(scene.tumor).values == TUMOR
        assert inside.any()
        assert node_depths(scene.nodes, xs, ys)[0][inside].min() > -2 * foci.STEP


def test_a_clear_focus_leaves_no_tile_in_doubt() -> None:
    recipe = replace(SMALL, clear=True, mimics=0)
    for seed in range(8):
        scene = draw_scene(np.random.default_rng(seed), recipe)
        areas = tumor_areas(foci.mask(scene.tumor), scene.width, scene.height)
        shares = np.array([tumor / all_ for tumor, all_ in areas.values()])
        assert not ((shares > 0.15) & (shares < 0.6)).any()


def test_outlines_are_as_rough_and_long_as_real_ones() -> None:
    """Against the medians of 22 CAMELYON16 slides: 1.7 times a circle's length, 2.1 times as long
    as wide."""
    lengths, stretches = [], []
    xs, ys = foci.axes(30 * TILE, 30 * TILE)
    depth = np.full((len(ys), len(xs)), 90_000, np.float32)
    for seed in range(16):
        rng = np.random.default_rng(seed)
        drawn = foci.draw_foci(rng, 60, np.array([[15.0 * TILE, 15.0 * TILE]]))[:1]
        inside = foci.settle(foci.outline(seed, drawn, xs, ys), depth, 60)[0].values > 0
        edges = (inside[1:] != inside[:-1]).sum() + (inside[:, 1:] != inside[:, :-1]).sum()
        lengths.append(edges * np.pi / 4 / np.sqrt(4 * np.pi * inside.sum()))
        spread = np.linalg.eigvalsh(np.cov(np.argwhere(inside).T))
        stretches.append(np.sqrt(spread[1] / spread[0]))
    assert 1.3 < np.median(lengths) < 2.2
    assert 1.4 < np.median(stretches) < 2.6
