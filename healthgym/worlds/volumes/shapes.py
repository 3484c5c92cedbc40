"""Soft-edged solids on lattices of points: the drawing tools of scenes.

A lattice is three ascending lists of positions in mm; arrays over it broadcast, so that what
depends on one axis only costs no more than a line. Distances are positive inside a solid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, radians, sin
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from healthgym.core.borders import AnyArray
from healthgym.worlds.imaging.noise import grid_noise

Floats = NDArray[np.float32]
#: A number for all points, or one for each.
Amount: TypeAlias = AnyArray | np.floating | float
Point = tuple[float, float, float]
Slices = tuple[slice, slice, slice]


@dataclass(frozen=True, slots=True)
class Lattice:
    """Positions along x, y and z, ascending, in mm, float32."""

    axes: tuple[Floats, Floats, Floats]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Number of points along each axis."""
        return len(self.axes[0]), len(self.axes[1]), len(self.axes[2])

    @property
    def x(self) -> Floats:
        """Positions along x, shape (n, 1, 1)."""
        return self.axes[0][:, None, None]

    @property
    def y(self) -> Floats:
        """Positions along y, shape (1, n, 1)."""
        return self.axes[1][None, :, None]

    @property
    def z(self) -> Floats:
        """Positions along z, shape (1, 1, n)."""
        return self.axes[2][None, None, :]

    def within(self, low: Sequence[float], high: Sequence[float]) -> Slices | None:
        """Return the part of the lattice inside a box, or None if there is none."""
        parts = []
        for axis, first, last in zip(self.axes, low, high, strict=True):
            start = int(np.searchsorted(axis, np.float32(first)))
            stop = int(np.searchsorted(axis, np.float32(last), side="right"))
            if start >= stop:
                return None
            parts.append(slice(start, stop))
        return parts[0], parts[1], parts[2]

    def part(self, slices: Slices) -> Lattice:
        """Return a part of the lattice."""
        x, y, z = (axis[piece] for axis, piece in zip(self.axes, slices, strict=True))
        return Lattice((x, y, z))


def ramp(distance: AnyArray, soft: float) -> AnyArray:
    """Return how much of a point is covered, 0 to 1, by its distance inside an edge, in mm."""
    share = distance * np.float32(1.0 / soft) + np.float32(0.5)
    if not isinstance(share, np.ndarray):
        return np.clip(share, 0.0, 1.0)
    np.maximum(share, 0.0, out=share)
    covered: AnyArray = np.minimum(share, 1.0, out=share)
    return covered


def smooth(share: AnyArray) -> Floats:
    """Return a smooth step of a share, which is clipped to 0 to 1."""
    share = np.clip(share, 0.0, 1.0)
    rest = np.float32(3) - np.float32(2) * share
    share = share * share
    share *= rest
    return share


def blend(target: Floats, alpha: AnyArray, value: Amount) -> None:
    """Paint a value over an array in place, as much as ``alpha`` says."""
    change = value - target
    if getattr(alpha, "dtype", None) == change.dtype:
        change *= alpha
    else:  # In place, what is finer than the target would be rounded too early.
        change = change * alpha
    target += change


def ellipsoid(
    x: Amount,
    y: Amount,
    z: Amount,
    centre: Point,
    radii: Point,
    turn: float = 0.0,
    power: float = 2.0,
) -> AnyArray:
    """Return the approximate distance inside an ellipsoid, in mm.

    Args:
        x: Positions that broadcast with ``y`` and ``z``.
        y: As ``x``.
        z: As ``x``.
        centre: In mm.
        radii: Half axes, in mm.
        turn: Degrees by which the first axis turns from x towards y.
        power: 2 for an ellipsoid, more for a box with rounded corners.
    """
    across, along, up = x - centre[0], y - centre[1], z - centre[2]
    if turn:
        c, s = cos(radians(turn)), sin(radians(turn))
        across, along = c * across + s * along, c * along - s * across
    if power == 2.0:
        q = (across / radii[0]) ** 2 + (along / radii[1]) ** 2 + (up / radii[2]) ** 2
        return (1.0 - np.sqrt(q)) * float(min(radii))
    q = np.abs(across / radii[0]) ** power + np.abs(along / radii[1]) ** power
    q = q + np.abs(up / radii[2]) ** power
    return fourth_root_distance(q, power) * float(min(radii))


def fourth_root_distance(q: AnyArray, power: float) -> AnyArray:
    """Return one minus the ``power``-th root of ``q``, exact to first order where ``q`` is 1.

    Two square roots cost a tenth of a general power, and edges are where ``q`` is 1.
    """
    return (1.0 - np.sqrt(np.sqrt(q))) * np.float32(4.0 / power)


def blobs(seed: int, lattice: Lattice, cell: float | tuple[float, float, float]) -> Floats:
    """Return :func:`grid_noise` on a lattice, with the axes in the order that is quick for slices.

    Args:
        seed: Any integer.
        lattice: The points.
        cell: Size of the blobs in mm, for all axes or each of x, y, z.
    """
    x, y, z = lattice.axes
    sizes = (cell, cell, cell) if isinstance(cell, int | float) else cell
    found = grid_noise(seed, (z, x, y), (sizes[2], sizes[0], sizes[1])).transpose(1, 2, 0)
    # One copy costs less than reading across memory in all that follows.
    return np.ascontiguousarray(found)


@dataclass(frozen=True, slots=True)
class Blob:
    """An ellipsoid with an uneven surface.

    Attributes:
        centre: In mm.
        radii: Half axes, in mm.
        turn: Degrees by which the first axis turns from x towards y.
        rough: How far the surface is displaced at most, in mm.
        cell: Size of the unevenness, in mm.
        seed: Of the unevenness.
        power: As for :func:`ellipsoid`.
    """

    centre: Point
    radii: Point
    turn: float = 0.0
    rough: float = 0.0
    cell: float = 8.0
    seed: int = 0
    power: float = 2.0

    def slices(self, lattice: Lattice, margin: float = 2.0) -> Slices | None:
        """Return the part of a lattice that the blob may touch."""
        flat = max(self.radii[:2]) if self.turn else 0.0
        reach = [
            max(r, flat) + self.rough + margin if n < 2 else r + self.rough + margin
            for n, r in enumerate(self.radii)
        ]
        low = [c - r for c, r in zip(self.centre, reach, strict=True)]
        high = [c + r for c, r in zip(self.centre, reach, strict=True)]
        return lattice.within(low, high)

    def distance(self, part: Lattice) -> AnyArray:
        """Return the distance inside the surface on a part of a lattice, in mm."""
        inside = ellipsoid(part.x, part.y, part.z, self.centre, self.radii, self.turn, self.power)
        if self.rough:
            inside = inside + self.rough * 2.2 * blobs(self.seed, part, self.cell)
        return inside


def paint_blob(target: Floats, lattice: Lattice, blob: Blob, value: float, soft: float) -> None:
    """Paint a blob over an array of values on a lattice."""
    found = blob.slices(lattice)
    if found is not None:
        blend(target[found], ramp(blob.distance(lattice.part(found)), soft), np.float32(value))


def box_of(mask: NDArray[np.bool_]) -> Slices | None:
    """Return the smallest box around the true points of a lattice, or None if there are none."""
    flat: NDArray[np.bool_] = np.any(mask, axis=2)
    spans = [np.flatnonzero(np.any(flat, axis=axis)) for axis in (1, 0)]
    if not len(spans[0]):
        return None
    spans.append(np.flatnonzero(np.any(mask, axis=(0, 1))))
    x, y, z = (slice(int(span[0]), int(span[-1]) + 1) for span in spans)
    return x, y, z
