"""Many tapered tubes at once: vessels, airways, ribs, leads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from healthgym.worlds.volumes.shapes import Floats, Lattice, Point, Slices

#: Points that are worked on at one time.
_CHUNK = 1_500_000


@dataclass(frozen=True, slots=True)
class Tubes:
    """Straight pieces with round ends, in mm.

    Attributes:
        start: First ends, shape (n, 3), float32.
        end: Second ends, shape (n, 3).
        radii: Radii at both ends, shape (n, 2).
    """

    start: Floats
    end: Floats
    radii: Floats

    @staticmethod
    def chain(points: Sequence[Sequence[float]] | NDArray[np.floating], radii: object) -> Tubes:
        """Return the pieces between points in a row.

        Args:
            points: At least two, in mm.
            radii: One radius, or one for each point.
        """
        at = np.asarray(points, np.float32)
        wide = np.broadcast_to(np.asarray(radii, np.float32), (len(at),))
        return Tubes(at[:-1], at[1:], np.stack([wide[:-1], wide[1:]], axis=1))

    @staticmethod
    def joined(parts: Sequence[Tubes]) -> Tubes:
        """Return several sets as one."""
        if not parts:
            none = np.zeros((0, 3), np.float32)
            return Tubes(none, none, np.zeros((0, 2), np.float32))
        return Tubes(
            np.concatenate([part.start for part in parts]),
            np.concatenate([part.end for part in parts]),
            np.concatenate([part.radii for part in parts]),
        )

    def grown(self, scale: float, add: float) -> Tubes:
        """Return the same with other radii."""
        return Tubes(self.start, self.end, self.radii * np.float32(scale) + np.float32(add))

    def moved(self, by: Point) -> Tubes:
        """Return the same elsewhere."""
        step = np.asarray(by, np.float32)
        return Tubes(self.start + step, self.end + step, self.radii)

    def cover(self, lattice: Lattice, soft: float) -> tuple[Slices, Floats] | None:
        """Return how much of each point of a lattice the tubes cover, 0 to 1.

        Args:
            lattice: The points.
            soft: Width of the edges, in mm. Tubes thinner than that fade.

        Returns:
            The part of the lattice they touch, and the cover there; None if they touch none.
        """
        if not len(self.start):
            return None
        kept, low, high = self._touching(lattice, soft)
        if not len(kept):
            return None
        first, last = low.min(axis=0), high.max(axis=0)
        shape = last - first
        cover = np.zeros(int(shape.prod()), np.float32)
        sizes = high - low
        counts = sizes.prod(axis=1)
        bounds = np.concatenate([[0], np.cumsum(counts)])
        begin = 0
        while begin < len(kept):
            end = int(np.searchsorted(bounds, bounds[begin] + _CHUNK, side="right")) - 1
            end = min(max(end, begin + 1), len(kept))
            rows = slice(begin, end)
            self._add(cover, lattice, kept[rows], low[rows], sizes[rows], first, shape, soft)
            begin = end
        slices = tuple(slice(int(a), int(b)) for a, b in zip(first, last, strict=True))
        return (slices[0], slices[1], slices[2]), cover.reshape(shape)

    def _touching(
        self, lattice: Lattice, soft: float
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the tubes that may touch a lattice, and the index boxes they may touch."""
        reach = self.radii.max(axis=1) + np.float32(soft)
        way = self.end - self.start
        near, far = np.zeros(len(way), np.float32), np.ones(len(way), np.float32)
        for axis in range(3):
            points = lattice.axes[axis]
            flat = np.abs(way[:, axis]) < 1e-4
            slope = np.where(flat, np.float32(1), way[:, axis])
            one = (points[0] - reach - self.start[:, axis]) / slope
            two = (points[-1] + reach - self.start[:, axis]) / slope
            inside = (self.start[:, axis] >= points[0] - reach) & (
                self.start[:, axis] <= points[-1] + reach
            )
            near = np.where(flat, near, np.maximum(near, np.minimum(one, two)))
            far = np.where(flat, np.where(inside, far, -1), np.minimum(far, np.maximum(one, two)))
        kept = np.flatnonzero(near <= far)
        a = self.start[kept] + way[kept] * near[kept, None]
        b = self.start[kept] + way[kept] * far[kept, None]
        room = reach[kept, None]
        low, high = np.minimum(a, b) - room, np.maximum(a, b) + room
        lows = [np.searchsorted(axis, low[:, n]) for n, axis in enumerate(lattice.axes)]
        highs = [
            np.searchsorted(axis, high[:, n], side="right") for n, axis in enumerate(lattice.axes)
        ]
        low_index, high_index = np.stack(lows, axis=1), np.stack(highs, axis=1)
        some = (high_index > low_index).all(axis=1)
        return kept[some], low_index[some], high_index[some]

    def _add(
        self,
        cover: Floats,
        lattice: Lattice,
        kept: NDArray[np.int64],
        low: NDArray[np.int64],
        sizes: NDArray[np.int64],
        first: NDArray[np.int64],
        shape: NDArray[np.int64],
        soft: float,
    ) -> None:
        counts = sizes.prod(axis=1)
        owner = np.repeat(np.arange(len(kept)), counts)
        place = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
        deep, wide = sizes[owner, 2], sizes[owner, 1]
        i = place // (wide * deep) + low[owner, 0]
        j = place // deep % wide + low[owner, 1]
        k = place % deep + low[owner, 2]
        start, way = self.start[kept], self.end[kept] - self.start[kept]
        length = np.maximum((way * way).sum(axis=1), np.float32(1e-6))
        dx = lattice.axes[0][i] - start[owner, 0]
        dy = lattice.axes[1][j] - start[owner, 1]
        dz = lattice.axes[2][k] - start[owner, 2]
        wx, wy, wz = way[owner, 0], way[owner, 1], way[owner, 2]
        along = np.clip((dx * wx + dy * wy + dz * wz) / length[owner], 0, 1)
        dx, dy, dz = dx - along * wx, dy - along * wy, dz - along * wz
        radii = self.radii[kept][owner]
        radius = radii[:, 0] + (radii[:, 1] - radii[:, 0]) * along
        share = (radius - np.sqrt(dx * dx + dy * dy + dz * dz)) * np.float32(1 / soft)
        share = np.clip(share + np.float32(0.5), 0, 1)
        # What is thinner than the blur of the scanner is averaged with its surroundings.
        share *= np.minimum(radius * np.float32(2.0 / soft), 1)
        seen = np.flatnonzero(share > 0)
        flat = ((i - first[0]) * shape[1] + (j - first[1])) * shape[2] + (k - first[2])
        np.maximum.at(cover, flat[seen], share[seen])


def paint_tubes(target: Floats, lattice: Lattice, tubes: Tubes, value: float, soft: float) -> None:
    """Paint tubes over an array of values on a lattice."""
    found = tubes.cover(lattice, soft)
    if found is not None:
        slices, cover = found
        view = target[slices]
        view += (np.float32(value) - view) * cover
