"""Noise is a function of place."""

import numpy as np
import pytest

from healthgym.worlds.imaging import noise

ROWS, COLUMNS = np.arange(-40, 90), np.arange(1000, 1120)


@pytest.mark.parametrize("make", [
    lambda rows, columns: noise.white_noise(3, [rows, columns]),
    lambda rows, columns: noise.grid_noise(3, [rows, columns], 7.5),
    lambda rows, columns: noise.grid_noise(3, [rows, columns], (4, 30)),
    lambda rows, columns: noise.fractal_noise(3, [rows, columns], 16),
], ids=["white", "grid", "grid-anisotropic", "fractal"])  # fmt: skip
def test_a_region_has_the_values_of_the_whole(make: object) -> None:
    whole = make(ROWS, COLUMNS)
    part = make(ROWS[13:57], COLUMNS[8:9])
    assert whole.dtype == np.float32
    np.testing.assert_array_equal(whole[13:57, 8:9], part)
    assert whole.std() > 0.1


def test_lattice_and_points_agree() -> None:
    grid = noise.hash_lattice(5, [ROWS, COLUMNS])
    points = noise.hash_points(5, ROWS[:, None], COLUMNS[None, :])
    np.testing.assert_array_equal(grid, points)


def test_bits_are_well_mixed() -> None:
    bits = noise.hash_lattice(1, [np.arange(300), np.arange(300)])
    assert len(np.unique(bits)) > 89_000
    ones = [(bits >> np.uint32(bit) & 1).mean() for bit in range(32)]
    assert np.abs(np.array(ones) - 0.5).max() < 0.01
    values = noise.white_noise(1, [np.arange(300), np.arange(300)])
    assert abs(values.mean()) < 0.02
    assert abs(values.std() - 1) < 0.02
    # No correlation with the neighbours, along either axis or across.
    for shifted in (values[1:, :-1], values[:-1, 1:], values[1:, 1:]):
        assert abs(np.corrcoef(values[:-1, :-1].ravel(), shifted.ravel())[0, 1]) < 0.02


def test_seeds_and_axes_are_kept_apart() -> None:
    axes = [np.arange(200), np.arange(200)]
    first, second = noise.white_noise(1, axes), noise.white_noise(2, axes)
    assert abs(np.corrcoef(first.ravel(), second.ravel())[0, 1]) < 0.02
    assert abs(np.corrcoef(first.ravel(), first.T.ravel())[0, 1]) < 0.03


def test_smooth_noise_is_smooth_and_passes_through_its_lattice() -> None:
    fine = noise.grid_noise(9, [np.linspace(0, 100, 2001)], 10)
    assert np.abs(np.diff(fine)).max() < 0.02
    lattice = noise.uniform(noise.hash_lattice(9, [np.arange(11)])) * 2 - 1
    np.testing.assert_allclose(fine[::200], lattice, atol=1e-6)


def test_three_axes_and_empty_regions() -> None:
    axes = [np.arange(5), np.arange(6), np.arange(7)]
    assert noise.grid_noise(1, axes, 2.0).shape == (5, 6, 7)
    assert noise.grid_noise(1, [np.arange(0), np.arange(4)], 2.0).shape == (0, 4)


def test_known_values() -> None:
    # The same on every machine, today and tomorrow: pictures of a seed depend on it.
    bits = noise.hash_lattice(2026, [np.array([-1, 0, 7]), np.array([3])])
    assert bits.ravel().tolist() == [1424909723, 4141985565, 1939548459]
