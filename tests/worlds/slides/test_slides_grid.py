"""The grid of tiles, and the published rule of which tiles are tumour."""

import numpy as np
import pytest

from healthgym.worlds.slides.grid import ArrayPage, TileGrid, choose_page, gold_tiles, tumor_areas


@pytest.mark.parametrize(
    ("width", "height", "columns", "rows"),
    [(4096, 4096, 1, 1), (4097, 4096, 2, 1), (97_792, 221_184, 24, 54), (2220, 2967, 1, 1)],
)
def test_a_cut_tile_counts(width: int, height: int, columns: int, rows: int) -> None:
    grid = TileGrid(width, height)
    assert (grid.columns, grid.rows) == (columns, rows)
    assert len(grid.tiles()) == columns * rows
    assert grid.box((columns - 1, rows - 1))[2:] == (width, height)


def test_what_is_in_the_grid() -> None:
    grid = TileGrid(8192, 4096)
    assert (1, 0) in grid
    assert not any(tile in grid for tile in [(2, 0), (0, 1), (-1, 0), (0,), "00", None])


def test_the_page_nearest_to_downsample_16_is_taken() -> None:
    shapes = [(4096, 4096), (1024, 1024), (256, 256), (64, 64)]
    assert choose_page(shapes, 4096, 4096) == 2
    assert choose_page(shapes, 16_384, 16_384) == 1
    assert choose_page([(500, 10), (10, 500)], 8000, 160) == 1


def page(values: np.ndarray) -> ArrayPage:
    return ArrayPage(values.astype(np.uint8))


@pytest.mark.parametrize(("squares", "tumor"), [(51, False), (52, True)])
def test_a_fifth_of_a_tile_is_enough(squares: int, tumor: bool) -> None:
    values = np.ones(256)
    values[:squares] = 2
    areas = tumor_areas(page(values.reshape(16, 16)), 4096, 4096)
    assert areas[0, 0] == (squares, 256)
    assert gold_tiles(areas) == (((0, 0),) if tumor else ())


def test_exactly_a_fifth_is_enough() -> None:
    values = np.ones((10, 10))
    values[:2] = 2
    assert gold_tiles(tumor_areas(page(values), 4096, 4096)) == ((0, 0),)


def test_only_the_value_two_is_tumour() -> None:
    assert gold_tiles(tumor_areas(page(np.full((16, 16), 255)), 4096, 4096)) == ()
    assert gold_tiles(tumor_areas(page(np.ones((16, 16))), 4096, 4096)) == ()


def test_windows_are_rounded_and_cut() -> None:
    # 10,000 px are 2.44 tiles; the mask has 7 columns for them, 2.8672 a tile.
    values = np.ones((3, 7))
    values[:, 3:6] = 2
    areas = tumor_areas(page(values), 10_000, 4096)
    assert {tile: pixels for tile, (_, pixels) in areas.items()} == {
        (0, 0): 9,
        (1, 0): 9,
        (2, 0): 3,
    }
    assert gold_tiles(areas) == ((1, 0),)


def test_a_window_has_at_least_one_pixel() -> None:
    areas = tumor_areas(page(np.full((1, 2), 2)), 40_960, 4096)
    assert all(size >= 1 for _, size in areas.values())
    assert len(areas) == 10


def test_tiles_come_row_by_row() -> None:
    assert gold_tiles(tumor_areas(page(np.full((32, 32), 2)), 8192, 8192)) == (
        (0, 0),
        (1, 0),
        (0, 1),
        (1, 1),
    )
