"""Measurements, on pictures whose contents are known."""

import numpy as np
import pytest

from healthgym.worlds.slides.measure import nuclei, stains, tissue_mask
from healthgym.worlds.slides.nuclei import Kind, mean_sums, stamps
from healthgym.worlds.slides.render import render
from healthgym.worlds.slides.sampling import survey, tile_statistics
from healthgym.worlds.slides.stain import EOSIN, HAEMATOXYLIN, deconvolve
from healthgym.worlds.slides.synthetic import SyntheticSlide


def stained(haematoxylin: np.ndarray, eosin: np.ndarray) -> np.ndarray:
    """Return the picture of stains along the published vectors."""
    density = haematoxylin[..., None] * np.array(HAEMATOXYLIN) + eosin[..., None] * np.array(EOSIN)
    return np.rint(255 * 10**-density).astype(np.uint8)


@pytest.mark.parametrize(("blue", "pink"), [(0.5, 0.2), (0.1, 0.4), (0.8, 0.05)])
def test_stains_are_taken_apart(blue: float, pink: float) -> None:
    picture = stained(np.full((4, 4), blue), np.full((4, 4), pink))
    found = deconvolve(picture)
    assert found[0].mean() == pytest.approx(blue, abs=0.01)
    assert found[1].mean() == pytest.approx(pink, abs=0.01)
    measured = stains(picture)
    assert measured.tissue == 1.0
    assert measured.haematoxylin == pytest.approx(blue, abs=0.01)


def test_glass_is_no_tissue() -> None:
    assert stains(np.full((8, 8, 3), 243, np.uint8)).tissue == 0.0
    assert not tissue_mask(np.full((8, 8, 3), 100, np.uint8)).any()  # grey: a shadow, or dirt


def discs(centres: list[tuple[int, int]], radius: float, side: int = 96) -> np.ndarray:
    y, x = np.mgrid[0:side, 0:side]
    blue = np.full((side, side), 0.05)
    for row, column in centres:
        blue[np.hypot(y - row, x - column) <= radius] = 0.7
    return stained(blue, np.full((side, side), 0.15))


@pytest.mark.parametrize("radius", [3.0, 4.5, 6.0])
def test_nuclei_are_counted_and_measured(radius: float) -> None:
    centres = [(row, column) for row in (16, 36, 56, 76) for column in (16, 36, 56, 76)]
    found = nuclei(discs(centres, radius), 1.0)
    assert found.count == 16
    # Smoothing widens a small nucleus by half a pixel.
    assert found.area == pytest.approx(np.pi * (radius + 0.3) ** 2, rel=0.15)
    assert found.spread < 0.1
    assert found.density == pytest.approx(16 / 96**2 * 1e6)


def test_touching_nuclei_are_parted() -> None:
    found = nuclei(discs([(40, 40), (40, 51), (60, 50)], 5.5), 1.0)
    assert found.count == 3
    assert found.area == pytest.approx(np.pi * 5.5**2, rel=0.2)


def test_two_sizes_spread_more_than_one() -> None:
    large = discs([(30, 30), (30, 70)], 7.0)
    both = np.minimum(large, discs([(70, 30), (70, 70)], 3.0))
    assert nuclei(both, 1.0).spread > nuclei(large, 1.0).spread + 0.3


def test_nuclei_at_the_edge_are_not_measured() -> None:
    found = nuclei(discs([(0, 40), (48, 48)], 5.0), 1.0)
    assert found.area == pytest.approx(np.pi * 25, rel=0.2)


def test_nothing_is_found_where_nothing_is() -> None:
    for picture in (np.full((32, 32, 3), 240, np.uint8), discs([], 3.0)):
        found = nuclei(picture, 1.0)
        assert (found.count, found.area, found.spread) == (0, 0.0, 0.0)


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("downsample", [2, 4])
def test_stamps_of_coarser_levels_hold_the_same_stain(kind: Kind, downsample: int) -> None:
    fine, coarse = stamps(kind, 1), stamps(kind, downsample)
    area = coarse.cover.sum(axis=(2, 3)) * downsample**2
    assert np.allclose(area, fine.cover[0].sum(axis=(1, 2))[None], rtol=1e-3)
    assert mean_sums(kind, 0, 1)[0] == pytest.approx(float(area.mean()), rel=1e-3)


def test_tumour_nuclei_are_measured_larger(scenes) -> None:
    """What the scene calls tumour differs on pixels; the measurement never sees the scene."""
    inside, outside = [], []
    for scene in scenes[:4]:
        for field, areas in ((scene.tumor, inside), (scene.histiocytes, outside)):
            values = (
                np.where(scene.tumor.values > -900, -9e9, field.values)
                if areas is outside
                else (field.values)
            )
            row, column = np.unravel_index(values.argmax(), values.shape)
            picture = render(scene, 4, column * 64 - 30, row * 64 - 30, 90, 90)
            areas.append(nuclei(picture, 1.0).area)
    assert np.median(inside) > 1.2 * np.median(outside)


def test_the_survey_finds_the_tissue(scene) -> None:
    slide = SyntheticSlide(scene)
    found = survey(slide)
    node = scene.nodes[0]
    assert found[int(node.x) // 4096, int(node.y) // 4096].tissue > 0.5
    assert min(stains.tissue for stains in found.values()) < 0.2
    tile = max(found, key=lambda tile: found[tile].tissue)
    statistics = tile_statistics(slide, tile)
    assert len(statistics.fields) == 4
    assert any(field is not None and field.count > 10 for field in statistics.fields)
