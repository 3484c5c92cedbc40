"""Pictures made smaller, and written as files."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from healthgym.errors import ConfigurationError
from healthgym.presentation.pictures import data_url, png, resample, shrink

NOISE = np.random.default_rng(0).integers(0, 256, (7, 9, 3), np.uint8)


def test_what_is_no_picture_has_no_file() -> None:
    with pytest.raises(ConfigurationError, match="uint8 array of shape"):
        png(np.zeros((2, 2)))  # type: ignore[arg-type]


@pytest.mark.parametrize("shape", [(1, 1), (7, 9), (7, 9, 3), (1, 40, 3)])
def test_a_png_file_holds_every_pixel(shape: tuple[int, ...]) -> None:
    opener = pytest.importorskip("PIL.Image")
    picture = np.random.default_rng(1).integers(0, 256, shape, np.uint8)
    with opener.open(io.BytesIO(png(picture))) as opened:
        assert opened.format == "PNG"
        assert np.array_equal(np.asarray(opened), picture)
    assert np.array_equal(png(picture), png(np.asfortranarray(picture)))


def test_a_data_url_names_its_kind() -> None:
    assert data_url(b"\x00", "jpeg") == "data:image/jpeg;base64,AA=="


def means(picture: np.ndarray, size: int, axis: int) -> np.ndarray:
    """The plain way: the share of each old pixel in each new one, as a matrix."""
    count = picture.shape[axis]
    shares = [
        [max(0.0, min((new + 1) * count / size, old + 1) - max(new * count / size, old))
         for old in range(count)]
        for new in range(size)
    ]  # fmt: skip
    return np.moveaxis(np.tensordot(np.array(shares) * size / count, picture, (1, axis)), 0, axis)


@given(st.integers(1, 24), st.integers(1, 24), st.data(), st.booleans())
def test_a_new_pixel_is_the_mean_of_its_area(
    height: int, width: int, data: st.DataObject, colour: bool
) -> None:
    rows, columns = data.draw(st.integers(1, height)), data.draw(st.integers(1, width))
    shape = (height, width, 3) if colour else (height, width)
    picture = np.random.default_rng(height).integers(0, 256, shape, np.uint8)
    exact = means(means(picture, rows, 0), columns, 1)
    small = resample(picture, rows, columns)
    assert small.shape == exact.shape
    assert np.abs(small - exact).max() <= 0.5 + 1e-9


@pytest.mark.parametrize(
    ("shape", "side", "expected"),
    [
        ((100, 50), 40, (40, 20)),
        ((50, 100, 3), 40, (20, 40, 3)),
        ((30, 40), 40, (30, 40)),
        ((300, 1), 10, (10, 1)),
        ((30, 40), None, (30, 40)),
    ],
)
def test_shrinking_keeps_proportions_and_never_enlarges(
    shape: tuple[int, ...], side: int | None, expected: tuple[int, ...]
) -> None:
    assert shrink(np.zeros(shape, np.uint8), side).shape == expected


def test_a_picture_without_pixels_is_no_aim() -> None:
    with pytest.raises(ConfigurationError):
        shrink(NOISE, 0)
