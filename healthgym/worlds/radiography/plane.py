"""The plane of the detector: a grid in millimetres, and shapes whose ray paths are added to it.

A shape knows the length of the ray through it in closed form: the chord of an ellipsoid, of a
tube, of a sheet. Only the part of the grid that a shape touches is computed.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from healthgym.worlds.imaging.noise import hash_lattice, uniform

Floats = NDArray[np.float32]

#: Width and height of the field that every radiograph shows, in millimetres.
FIELD = 400.0


class Plane:
    """A square grid over the field, and a map of lengths on it.

    Args:
        size: Pixels on a side.
        shift: Displacement of the patient to the right of the picture, in millimetres.
    """

    def __init__(self, size: int, shift: float = 0.0) -> None:
        self.size = size
        self.pitch = FIELD / size
        centres = (np.arange(size, dtype=np.float32) + np.float32(0.5)) * np.float32(self.pitch)
        self.x: Floats = centres[None, :] - np.float32(FIELD / 2 + shift)
        self.y: Floats = centres[:, None].copy()
        self.left = float(self.x[0, 0]) - self.pitch / 2

    def zeros(self) -> Floats:
        """Return an empty map."""
        return np.zeros((self.size, self.size), np.float32)

    def window(
        self, left: float, top: float, right: float, bottom: float
    ) -> tuple[slice, slice] | None:
        """Return the rows and columns of a box in millimetres; None if it is outside."""
        columns = self._span((left - self.left) / self.pitch, (right - self.left) / self.pitch)
        rows = self._span(top / self.pitch, bottom / self.pitch)
        return (rows, columns) if rows and columns else None

    def noise(
        self,
        seed: int,
        cell: float | tuple[float, float],
        window: tuple[slice, slice] | None = None,
    ) -> Floats:
        """Return smooth noise of mean 0 over the grid, or over a window of it.

        The same field as :func:`~healthgym.worlds.imaging.noise.grid_noise` to a rounding; short
        rows are widened before they are repeated, which is several times faster in a plane.

        Args:
            seed: Any integer.
            cell: Size of the blobs in millimetres, for both axes or (down, across).
            window: Rows and columns; the whole grid if omitted.
        """
        rows, columns = window or (slice(None), slice(None))
        cells = cell if isinstance(cell, tuple) else (cell, cell)
        places = [
            axis.astype(np.float64) / size
            for axis, size in zip((self.y[rows, 0], self.x[0, columns]), cells, strict=True)
        ]
        floors = [np.floor(place).astype(np.int64) for place in places]
        lattice = [np.arange(floor[0], floor[-1] + 2) for floor in floors]
        values = uniform(hash_lattice(seed, lattice)) * np.float32(2) - np.float32(1)
        shares = [(p - f).astype(np.float32) for p, f in zip(places, floors, strict=True)]
        down, across = (share * share * (3 - 2 * share) for share in shares)
        return _between(values, floors[0] - floors[0][0], down, floors[1] - floors[1][0], across)

    def clouds(
        self,
        seed: int,
        cell: float,
        octaves: int,
        gain: float = 0.5,
        window: tuple[slice, slice] | None = None,
    ) -> Floats:
        """Return a sum of smooth noises; see :func:`~healthgym.worlds.imaging.noise.fractal_noise`.

        Args:
            seed: Any integer.
            cell: Size of the largest blobs, in millimetres.
            octaves: How many noises are added, each of half the size.
            gain: Strength of each relative to the one before.
            window: Rows and columns; the whole grid if omitted.
        """
        weights = [gain**octave for octave in range(octaves)]
        total = self.noise(seed, cell, window)
        for octave in range(1, octaves):
            part = self.noise(seed + 7919 * octave, cell / 2**octave, window)
            part *= np.float32(weights[octave])
            total += part
        total /= np.float32(sum(weights))
        return total

    def _span(self, low: float, high: float) -> slice | None:
        start, stop = max(int(low), 0), min(int(high) + 1, self.size)
        return slice(start, stop) if start < stop else None


def enlarge(values: Floats, size: int) -> Floats:
    """Return a small square map in a larger size, linear between the middles of its pixels."""
    count = values.shape[0]
    places = np.clip((np.arange(size) + 0.5) * (count / size) - 0.5, 0, count - 1)
    floor = np.minimum(places.astype(np.int64), count - 2)
    share = (places - floor).astype(np.float32)
    return _between(values, floor, share, floor, share)


def _between(
    values: Floats,
    rows: NDArray[np.int64],
    down: Floats,
    columns: NDArray[np.int64],
    across: Floats,
) -> Floats:
    """Return values between those of a small map.

    Args:
        values: The map.
        rows: The row before each row of the result, never falling.
        down: The share of the way to the next.
        columns: The column before each column.
        across: The share of the way to the next.
    """
    wide = np.diff(values, axis=1)[:, columns] * across
    wide += values[:, columns]
    steps = np.diff(wide, axis=0)
    field = np.empty((len(rows), len(columns)), np.float32)
    # All rows between two of the map in one go: they stay in the processor's cache.
    borders = np.searchsorted(rows, np.arange(len(wide))).tolist()
    for row, (start, stop) in enumerate(itertools.pairwise(borders)):
        part = field[start:stop]
        np.multiply(steps[row], down[start:stop, None], out=part)
        part += wide[row]
    return field


def ellipsoid(
    plane: Plane,
    total: Floats,
    centre: tuple[float, float],
    axes: tuple[float, float, float],
    *,
    turn: float = 0.0,
    sign: float = 1.0,
    merge: bool = False,
) -> None:
    """Add the chord of an ellipsoid to a map.

    Args:
        plane: The grid.
        total: The map.
        centre: Its centre.
        axes: Half axes along x, y and the ray.
        turn: Rotation in the plane, clockwise in the picture, in radians.
        sign: Factor of the length.
        merge: Take the longer of what is there and the chord, not the sum: for bodies that
            are one organ.
    """
    (cx, cy), (a, b, c) = centre, axes
    cos, sin = float(np.cos(turn)), float(np.sin(turn))
    wide, tall = float(np.hypot(a * cos, b * sin)), float(np.hypot(a * sin, b * cos))
    window = plane.window(cx - wide, cy - tall, cx + wide, cy + tall)
    if window is None:
        return
    dx, dy = plane.x[:, window[1]] - np.float32(cx), plane.y[window[0]] - np.float32(cy)
    u, v = dx * np.float32(cos / a) + dy * np.float32(sin / a), None
    v = dy * np.float32(cos / b) - dx * np.float32(sin / b)
    chord = np.float32(2 * c * sign) * np.sqrt(np.maximum(np.float32(1) - u * u - v * v, 0))
    part = total[window]
    np.maximum(part, chord, out=part) if merge else np.add(part, chord, out=part)


def tube(
    plane: Plane,
    total: Floats,
    start: tuple[float, float],
    end: tuple[float, float],
    radius: float,
    *,
    gain: float = 1.0,
    taper: float = 1.0,
) -> None:
    """Add the chord of a straight round tube to a map.

    Args:
        plane: The grid.
        total: The map.
        start: One end.
        end: The other.
        radius: Radius at the start.
        gain: Factor of the length.
        taper: Radius at the end over that at the start.
    """
    tubes(plane, total, [(*start, *end, radius)], gain=gain, taper=taper)


def tubes(
    plane: Plane,
    total: Floats,
    pieces: Sequence[tuple[float, float, float, float, float]],
    *,
    gain: float = 1.0,
    taper: float = 1.0,
) -> None:
    """Add the chords of many straight round tubes to a map, all at once.

    Args:
        plane: The grid.
        total: The map.
        pieces: Both ends and the radius at the first of each: (x0, y0, x1, y1, radius).
        gain: Factor of the lengths.
        taper: Radius at the second end over that at the first.
    """
    table = np.array(pieces, np.float64).reshape(-1, 5)
    touched = _near(plane, table[:, :4], np.maximum(table[:, 4], 0.6 * plane.pitch))
    if touched is None:
        return
    wide = table[:, 4].astype(np.float32)[touched.piece]
    if taper != 1.0:
        wide *= 1 + touched.along * np.float32(taper - 1)
    # Thinner than a pixel is fainter, not narrower: the chord is spread over at least a pixel.
    seen = np.maximum(wide, np.float32(0.6 * plane.pitch))
    chord = np.sqrt(np.maximum(1 - touched.distance2 / (seen * seen), 0))
    chord *= np.float32(2 * gain) * wide * wide / seen
    np.add.at(total.reshape(-1), touched.pixel, chord)


def path(
    plane: Plane,
    total: Floats,
    points: Sequence[tuple[float, float]],
    radius: float,
    gain: float = 1.0,
    core: tuple[float, float] | None = None,
) -> None:
    """Add a tube along a line of points to a map, joints counted once.

    Args:
        plane: The grid.
        total: The map.
        points: The line.
        radius: Radius of the tube.
        gain: Factor of the length.
        core: Radius and gain of a thinner tube along the same line, such as the marrow of a bone.
    """
    if len(points) < 2:
        return
    line = np.array(points, np.float64)
    seen = max(radius, 0.6 * plane.pitch)
    pieces = np.concatenate([line[:-1], line[1:]], axis=1)
    touched = _near(plane, pieces, np.full(len(pieces), seen))
    if touched is None:
        return
    low, high = int(touched.pixel.min()), int(touched.pixel.max()) + 1
    best = np.full(high - low, np.float32(np.inf))
    np.minimum.at(best, touched.pixel - low, touched.distance2)
    at = np.flatnonzero(best < np.float32(seen * seen))
    best, flat = best[at], total.reshape(-1)
    at += low
    for half, factor in ((radius, gain), core or (0.0, 0.0)):
        if half > 0:
            seen = max(half, 0.6 * plane.pitch)
            chord = np.sqrt(np.maximum(1 - best / np.float32(seen * seen), 0))
            chord *= np.float32(2 * factor * half * half / seen)
            flat[at] += chord


@dataclass(frozen=True, slots=True)
class _Touched:
    """Pixels near straight pieces, one entry for each pixel of each piece, pieces in order.

    Attributes:
        pixel: Place in the flat map.
        piece: Number of the piece.
        along: Place on the piece that is nearest, from 0 to 1.
        distance2: Square of the distance to it, in square millimetres.
    """

    pixel: NDArray[np.int64]
    piece: NDArray[np.int64]
    along: Floats
    distance2: Floats


def _near(plane: Plane, ends: NDArray[np.float64], reach: NDArray[np.float64]) -> _Touched | None:
    """Return the pixels within reach of straight pieces, and a few beside them.

    Row by row: in a row, only the columns beside the part of the piece that is within reach of
    the row are taken, so that a slanting piece costs its area and not that of its box.
    """
    real = (ends[:, :2] != ends[:, 2:]).any(axis=1)
    ends, reach = ends[real], reach[real]
    x0, y0, x1, y1 = ends.T
    pitch, left = plane.pitch, plane.left
    first = np.maximum((np.minimum(y0, y1) - reach) / pitch, 0).astype(np.int64)
    last = np.minimum((np.maximum(y0, y1) + reach) / pitch + 1, plane.size).astype(np.int64)
    row, piece = spread(first, last)
    if not len(row):
        return None
    y = (row + 0.5) * pitch - y0[piece]
    dx, dy, wide = (x1 - x0)[piece], (y1 - y0)[piece], reach[piece]
    level = np.abs(dy) < 1e-6
    fall = np.where(level, 1.0, dy)
    here, there = np.where(level, 0.0, (y - wide) / fall), np.where(level, 1.0, (y + wide) / fall)
    here, there = np.clip(here, 0, 1) * dx, np.clip(there, 0, 1) * dx
    start = (x0[piece] - left + np.minimum(here, there) - wide) / pitch
    stop = (x0[piece] - left + np.maximum(here, there) + wide) / pitch + 1
    column, line = spread(
        np.maximum(start, 0).astype(np.int64), np.minimum(stop, plane.size).astype(np.int64)
    )
    if not len(column):
        return None
    # What is the same in a row is computed once a row.
    length2 = dx * dx + dy * dy
    per_x, per_row = (dx / length2).astype(np.float32), (y * dy / length2).astype(np.float32)
    ex = plane.x[0, column] - x0.astype(np.float32)[piece][line]
    along = ex * per_x[line]
    along += per_row[line]
    np.clip(along, 0, 1, out=along)
    ex -= along * dx.astype(np.float32)[line]
    ey = y.astype(np.float32)[line]
    ey -= along * dy.astype(np.float32)[line]
    ex *= ex
    ey *= ey
    ex += ey
    column += (row * plane.size)[line]
    return _Touched(column, piece[line], along, ex)


def spread(
    start: NDArray[np.int64], stop: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the whole numbers of many ranges one after the other, and the range of each.

    Args:
        start: First number of each range.
        stop: The number after the last; a range that ends before it starts is empty.
    """
    count = np.maximum(stop - start, 0)
    which = np.repeat(np.arange(len(count)), count)
    before = np.cumsum(count) - count
    return np.arange(len(which)) + (start - before)[which], which


def curve(points: Sequence[tuple[float, float]], steps: int = 8) -> list[tuple[float, float]]:
    """Return a smooth line through points (Catmull-Rom), in short straight pieces."""
    knots = np.array([points[0], *points, points[-1]], np.float64)
    shares = (np.arange(steps) / steps)[None, :, None]
    p0, p1, p2, p3 = (knots[k : len(knots) - 3 + k, None] for k in range(4))
    pieces = 0.5 * (
        2 * p1
        + (p2 - p0) * shares
        + (2 * p0 - 5 * p1 + 4 * p2 - p3) * shares**2
        + (3 * p1 - p0 - 3 * p2 + p3) * shares**3
    )
    line = [(x, y) for x, y in pieces.reshape(-1, 2).tolist()]
    return [*line, (float(points[-1][0]), float(points[-1][1]))]
