"""Smooth fields over a slide, known at the points of a lattice, and structures made of spots.

All coordinates are level-0 pixels, x to the right and y down. Lattices are aligned with the origin
of the slide, so that a field has one value at a place whatever region asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from healthgym.core.borders import AnyArray
from healthgym.worlds.imaging.noise import hash_lattice, uniform

Floats = NDArray[np.float32]
Axis = AnyArray


class ScalarField:
    """A field over the whole slide: one value for each square of ``step`` pixels.

    Args:
        step: Side of a square, in level-0 pixels.
        values: Shape (rows, columns), float32; a value belongs to the middle of its square. Or
            what returns them, called when they are first looked at.
    """

    def __init__(self, step: int, values: Floats | Callable[[], Floats]) -> None:
        self.step = step
        self._values = values

    @property
    def values(self) -> Floats:
        """The values."""
        if callable(self._values):
            self._values = self._values()
        return self._values

    def at(self, xs: Axis, ys: Axis) -> Floats:
        """Return the field at the points of a grid, shape (len(ys), len(xs)), bilinear."""
        rows, columns = self.values.shape
        top, down = _between(np.asarray(ys, np.float64) / self.step - 0.5, rows)
        left, right = _between(np.asarray(xs, np.float64) / self.step - 0.5, columns)
        upper = (
            self.values[top]
            + (self.values[np.minimum(top + 1, rows - 1)] - self.values[top]) * (down[:, None])
        )
        first = np.take(upper, left, axis=1)
        found: Floats = np.take(upper, np.minimum(left + 1, columns - 1), axis=1)
        found -= first
        found *= right
        found += first
        return found


def _between(places: Axis, count: int) -> tuple[NDArray[np.int64], Floats]:
    places = np.clip(places, 0, count - 1)
    floor = places.astype(np.int64)
    return floor, (places - floor).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Lattice:
    """The lattice points around a region.

    Attributes:
        step: Distance of points, in level-0 pixels.
        xs: Coordinates of the columns, multiples of the step.
        ys: Coordinates of the rows.
    """

    step: int
    xs: NDArray[np.int64]
    ys: NDArray[np.int64]

    @classmethod
    def around(cls, step: int, left: int, top: int, right: int, bottom: int) -> Lattice:
        """Return the lattice that encloses a region."""

        def axis(low: int, high: int) -> NDArray[np.int64]:
            return np.arange(low // step, -(-high // step) + 2, dtype=np.int64) * step

        return cls(step, axis(left, right), axis(top, bottom))

    @classmethod
    def union(cls, lattices: Sequence[Lattice]) -> Lattice:
        """Return a lattice that has all points of others; it may have gaps."""
        if len(lattices) == 1:
            return lattices[0]
        xs = np.unique(np.concatenate([lattice.xs for lattice in lattices]))
        ys = np.unique(np.concatenate([lattice.ys for lattice in lattices]))
        return cls(lattices[0].step, xs, ys)

    def grow(self, fields: Floats, xs: Axis, ys: Axis) -> Floats:
        """Return fields of the lattice at the points of a finer grid, bilinear.

        Args:
            fields: Shape (fields, rows, columns).
            xs: Coordinates of the columns, ascending.
            ys: Coordinates of the rows, ascending.

        Returns:
            Shape (fields, len(ys), len(xs)).
        """
        floor, share = self._between(ys, self.ys)
        low = int(floor[0])
        fields = fields[:, low : int(floor[-1]) + 2]
        column, across = self._between(xs, self.xs)
        wide = np.take(fields[..., 1:] - fields[..., :-1], column, axis=2)
        wide *= across
        wide += np.take(fields, column, axis=2)
        found = np.empty((len(fields), len(floor), len(column)), np.float32)
        # All rows between two points of the lattice at once: no copies of either.
        starts = np.searchsorted(floor, np.arange(low, int(floor[-1]) + 2)).tolist()
        for number, (start, stop) in enumerate(pairwise(starts)):
            first, part = wide[:, number, None], found[:, start:stop]
            np.multiply(wide[:, number + 1, None] - first, share[start:stop, None], out=part)
            part += first
        return found

    def _between(self, places: Axis, axis: NDArray[np.int64]) -> tuple[NDArray[np.int64], Floats]:
        """Return the points before places, and how far the places are beyond them."""
        exact = (np.asarray(places, np.float64) - axis[0]) / self.step
        floor = exact.astype(np.int64)
        return floor, (exact - floor).astype(np.float32)

    def span(self, wanted: NDArray[np.bool_], xs: Axis, ys: Axis) -> tuple[int, int]:
        """Return the first of the columns, and the one after the last, next to wanted points.

        Args:
            wanted: Which points of the lattice are wanted.
            xs: Coordinates of the columns, ascending.
            ys: Coordinates of the rows, ascending.
        """
        top, bottom = (int(y - self.ys[0]) // self.step for y in (ys[0], ys[-1]))
        found = np.flatnonzero(wanted[top : bottom + 2].any(axis=0))
        if len(found) == 0:
            return 0, 0
        floor = self._between(xs, self.xs)[0]
        left = int(np.searchsorted(floor, found[0] - 1, "left"))
        return left, int(np.searchsorted(floor, found[-1], "right"))

    def points(self, field: Floats, xs: Axis, ys: Axis) -> Floats:
        """Return a field of the lattice at many points, the shape of ``xs``."""
        across, down = (xs - self.xs[0]) / self.step, (ys - self.ys[0]) / self.step
        left, top = across.astype(np.int64), down.astype(np.int64)
        u, v = (across - left).astype(np.float32), (down - top).astype(np.float32)
        flat, width = field.ravel(), field.shape[1]
        corner = top * width + left
        upper = flat[corner] * (1 - u) + flat[corner + 1] * u
        lower = flat[corner + width] * (1 - u) + flat[corner + width + 1] * u
        blended: Floats = upper + (lower - upper) * v
        return blended


def smoothstep(values: Floats, low: float, high: float) -> Floats:
    """Return 0 below ``low``, 1 above ``high`` and a smooth rise between; either way round."""
    share: Floats = values - np.float32(low)
    share *= np.float32(1 / (high - low))
    np.clip(share, 0, 1, out=share)
    risen = share * np.float32(-2)
    risen += 3
    share *= share
    risen *= share
    return risen


def waves(seed: int, xs: Axis, ys: Axis, length: float, count: int = 12) -> Floats:
    """Return smooth noise without a preferred direction: a sum of plane waves.

    Noise on a grid shows the grid where it is cut at a value; this does not.

    Args:
        seed: Any integer.
        xs: Coordinates of the columns.
        ys: Coordinates of the rows.
        length: Mean wave length, in the unit of the coordinates.
        count: Number of waves.

    Returns:
        Shape (len(ys), len(xs)), of mean 0 and standard deviation about 0.32, as the noise on a
        grid has.
    """
    draws = uniform(hash_lattice(seed, (np.arange(count), np.arange(3)))).astype(np.float64)
    total = np.zeros((len(ys), len(xs)), np.float32)
    product = np.empty_like(total)
    for number in range(count):
        turn = np.pi * (number + draws[number, 0]) / count
        size = 2 * np.pi / (length * (0.6 + 0.9 * draws[number, 1]))
        across = np.asarray(xs, np.float64) * (size * np.cos(turn))
        down = np.asarray(ys, np.float64) * (size * np.sin(turn)) + 2 * np.pi * draws[number, 2]
        # The cosine of a sum, as products of what depends on one axis only.
        for turned, sign in ((np.cos, 1), (np.sin, -1)):
            one, other = turned(down).astype(np.float32), sign * turned(across).astype(np.float32)
            total += np.multiply(one[:, None], other, out=product)
    total *= np.float32(0.45 / np.sqrt(count))
    return total


def spots(
    seed: int, xs: Axis, ys: Axis, pitch: float, radii: tuple[float, float], share: float
) -> tuple[Floats, Floats]:
    """Return round spots, at most one in each cell of a grid.

    Args:
        seed: Any integer.
        xs: Coordinates of the columns.
        ys: Coordinates of the rows.
        pitch: Side of a cell.
        radii: Least and greatest radius; at most 0.3 of the pitch.
        share: Share of the cells that have a spot.

    Returns:
        How deep each point lies in the nearest spot, in the unit of the coordinates (negative
        outside, ``-pitch`` far from all), and a number in [0, 1) that belongs to that spot.
    """
    best = np.full((len(ys), len(xs)), -pitch, np.float32)
    label = np.zeros_like(best)
    across, down = np.asarray(xs, np.float64) / pitch, np.asarray(ys, np.float64) / pitch
    row, column = np.floor(down + 0.5).astype(np.int64), np.floor(across + 0.5).astype(np.int64)
    cells = _Cells.around(seed, row, column, 1)
    radius = radii[0] + (radii[1] - radii[0]) * np.mod(cells.third * np.float32(97), 1)
    # A cell without a spot has one that is nowhere deep.
    radius = np.where(cells.fourth < share, radius, -2 * pitch).astype(np.float32)
    right, below = (
        np.float32(0.4 * pitch) * (c - np.float32(0.5)) for c in (cells.first, cells.second)
    )
    for offset_y in (-1, 0):
        for offset_x in (-1, 0):
            place = cells.place(row + offset_y, column + offset_x)
            x = ((across - column - offset_x - 0.5) * pitch).astype(np.float32)[None, :]
            y = ((down - row - offset_y - 0.5) * pitch).astype(np.float32)[:, None]
            dx = x - at(right, place)
            dy = y - at(below, place)
            dx *= dx
            dy *= dy
            dx += dy
            depth = np.subtract(at(radius, place), np.sqrt(dx, out=dx), out=dx)
            nearer = depth > best
            np.copyto(best, depth, where=nearer)
            np.copyto(label, at(cells.third, place), where=nearer)
    return best, label


@dataclass(frozen=True, slots=True)
class _Cells:
    """Four numbers in [0, 1) for each cell of a grid."""

    top: int
    left: int
    first: Floats
    second: Floats
    third: Floats
    fourth: Floats

    @classmethod
    def around(
        cls, seed: int, rows: NDArray[np.int64], columns: NDArray[np.int64], reach: int
    ) -> _Cells:
        """Draw the cells of these rows and columns, and so many beyond them."""
        top, left = int(rows[0]) - reach, int(columns[0]) - reach
        axes = (
            np.arange(top, int(rows[-1]) + reach + 1),
            np.arange(left, int(columns[-1]) + reach + 1),
        )
        bits, more = hash_lattice(seed, axes), hash_lattice(seed + 101, axes)
        return cls(top, left, *halves(bits), *halves(more))

    def place(
        self, rows: NDArray[np.int64], columns: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where rows and columns lie in the arrays of this one."""
        return rows - self.top, columns - self.left


def at(values: Floats, place: tuple[NDArray[np.int64], NDArray[np.int64]]) -> Floats:
    """Return the values at every pair of a row and a column."""
    found: Floats = np.take(np.take(values, place[0], axis=0), place[1], axis=1)
    return found


def halves(bits: NDArray[np.uint32]) -> tuple[Floats, Floats]:
    """Return two numbers in [0, 1) from hashed bits, sixteen each."""
    unit = np.float32(2.0**-16)
    return (
        (bits >> np.uint32(16)).astype(np.float32) * unit,
        (bits & np.uint32(0xFFFF)).astype(np.float32) * unit,
    )


def walls(seed: int, xs: Axis, ys: Axis, pitch: float) -> Floats:
    """Return how far each point is from the wall between its cell and the next, roughly.

    Args:
        seed: Any integer.
        xs: Coordinates of the columns.
        ys: Coordinates of the rows.
        pitch: Mean diameter of a cell.

    Returns:
        Shape (len(ys), len(xs)): half the difference of the distances to the nearest and the
        second nearest cell centre, in the unit of the coordinates.
    """
    across, down = np.asarray(xs, np.float64) / pitch, np.asarray(ys, np.float64) / pitch
    row, column = np.floor(down).astype(np.int64), np.floor(across).astype(np.int64)
    cells = _Cells.around(seed, row, column, 1)
    right, below = np.float32(0.7) * cells.first, np.float32(0.7) * cells.second
    nearest = np.full((len(ys), len(xs)), np.float32(9))
    second = nearest.copy()
    for offset_y in (-1, 0, 1):
        for offset_x in (-1, 0, 1):
            place = cells.place(row + offset_y, column + offset_x)
            x = (across - column - offset_x - 0.15).astype(np.float32)[None, :]
            y = (down - row - offset_y - 0.15).astype(np.float32)[:, None]
            dx = x - at(right, place)
            dy = y - at(below, place)
            dx *= dx
            dy *= dy
            dx += dy
            distance = np.sqrt(dx, out=dx)
            np.minimum(second, np.maximum(nearest, distance), out=second)
            np.minimum(nearest, distance, out=nearest)
    return (second - nearest) * np.float32(0.5 * pitch)
