"""Shapes are drawn many at a time and in part of the grid only: the same lengths must come out."""

from __future__ import annotations

import numpy as np
import pytest

from healthgym.worlds.imaging.noise import fractal_noise, grid_noise
from healthgym.worlds.imaging.raster import resize
from healthgym.worlds.radiography.detector import blur
from healthgym.worlds.radiography.plane import (
    Floats,
    Plane,
    curve,
    ellipsoid,
    enlarge,
    path,
    spread,
    tube,
    tubes,
)

PIECES = [
    (-30.0, 40.0, 25.0, 90.0, 6.0),
    (10.0, 200.0, 60.0, 200.0, 3.0),
    (5.0, 120.0, 5.0, 300.0, 9.0),
    (190.0, 380.0, 240.0, 430.0, 12.0),
    (300.0, 500.0, 320.0, 520.0, 4.0),
]


def distances(plane: Plane, x0: float, y0: float, x1: float, y1: float) -> Floats:
    """Distance of every pixel to a straight piece, the slow way."""
    dx, dy = plane.x - x0, plane.y - y0
    along = np.clip((dx * (x1 - x0) + dy * (y1 - y0)) / ((x1 - x0) ** 2 + (y1 - y0) ** 2), 0, 1)
    return np.hypot(dx - along * (x1 - x0), dy - along * (y1 - y0))


@pytest.mark.parametrize("size", [200, 333])
def test_tubes_are_the_chords_of_their_pieces_added_up(size: int) -> None:
    plane = Plane(size, 3.5)
    total, expected = plane.zeros(), plane.zeros()
    tubes(plane, total, PIECES, gain=0.7)
    for *ends, radius in PIECES:
        inside = np.maximum(1 - (distances(plane, *ends) / radius) ** 2, 0)
        expected += 0.7 * 2 * radius * np.sqrt(inside)
    np.testing.assert_allclose(total, expected, atol=2e-2)
    assert total.max() > 10


def test_many_tubes_are_as_one_after_the_other() -> None:
    plane = Plane(256)
    together, apart = plane.zeros(), plane.zeros()
    tubes(plane, together, PIECES, taper=0.5)
    for x0, y0, x1, y1, radius in PIECES:
        tube(plane, apart, (x0, y0), (x1, y1), radius, taper=0.5)
    np.testing.assert_array_equal(together, apart)


def test_the_joints_of_a_path_count_once_and_its_core_is_a_second_path() -> None:
    plane = Plane(256)
    line = curve([(-60.0, 60.0), (0.0, 120.0), (50.0, 90.0)], 6)
    total, twice = plane.zeros(), plane.zeros()
    path(plane, total, line, 7.0, 1.0, core=(4.0, -0.5))
    path(plane, twice, line, 7.0, 1.0)
    assert twice.max() <= 14.0 + 1e-4
    path(plane, twice, line, 4.0, -0.5)
    np.testing.assert_allclose(total, twice, atol=1e-4)


def test_what_is_thinner_than_a_pixel_gets_fainter_but_not_lost() -> None:
    for size in (128, 1024):
        plane = Plane(size)
        one, other = plane.zeros(), plane.zeros()
        path(plane, one, [(-50.0, 50.0), (70.0, 93.0)], 0.8)
        tube(plane, other, (-50.0, 50.0), (70.0, 93.0), 0.8)
        # Its volume: a round rod's.
        volume = np.pi * 0.8**2 * np.hypot(120, 43)
        for total in (one, other):
            assert float(total.sum()) * plane.pitch**2 == pytest.approx(volume, rel=0.15)


def test_nothing_is_drawn_outside_or_for_pieces_without_length() -> None:
    plane = Plane(128)
    total = plane.zeros()
    tubes(plane, total, [(500.0, 500.0, 520.0, 520.0, 3.0), (0.0, 50.0, 0.0, 50.0, 5.0)])
    tubes(plane, total, [])
    path(plane, total, [(-900.0, 0.0), (-800.0, 0.0)], 2.0)
    path(plane, total, [(0.0, 0.0)], 2.0)
    ellipsoid(plane, total, (900.0, 0.0), (5.0, 5.0, 5.0))
    assert not total.any()


def test_noise_is_the_hash_noise_of_all_worlds_in_any_window() -> None:
    plane = Plane(200, -4.0)
    axes = [plane.y[:, 0], plane.x[0]]
    window = (slice(30, 90), slice(100, 170))
    for cell in (2.6, 46.0, (26.0, 5.0)):
        field = plane.noise(9, cell)
        np.testing.assert_allclose(field, grid_noise(9, axes, cell), atol=1e-5)
        np.testing.assert_allclose(plane.noise(9, cell, window), field[window], atol=1e-6)
    clouds = plane.clouds(9, 30.0, 3, 0.6)
    np.testing.assert_allclose(clouds, fractal_noise(9, axes, 30.0, 3, 0.6), atol=1e-5)


def test_enlarging_is_linear() -> None:
    small = np.random.default_rng(0).random((13, 13), np.float32)
    np.testing.assert_allclose(enlarge(small, 90), resize(small, 90, 90), atol=1e-6)


@pytest.mark.parametrize("size", [270, 400, 512])
def test_blurring_keeps_levels_and_takes_detail(size: int) -> None:
    plane = Plane(size)
    flat = np.full((size, size), 3.25, np.float32)
    np.testing.assert_allclose(blur(plane, flat, 40.0), flat, rtol=1e-5)
    grain = np.random.default_rng(1).normal(0, 1, (size, size)).astype(np.float32)
    assert blur(plane, grain, 40.0).std() < 0.1
    assert blur(plane, grain, 4 * plane.pitch) is grain


def test_ranges_are_spread_one_after_the_other() -> None:
    numbers, which = spread(np.array([3, 7, 5]), np.array([6, 7, 4]))
    assert numbers.tolist() == [3, 4, 5]
    assert which.tolist() == [0, 0, 0]
    numbers, which = spread(np.array([0, 9]), np.array([2, 11]))
    assert (numbers.tolist(), which.tolist()) == ([0, 1, 9, 10], [0, 0, 1, 1])
