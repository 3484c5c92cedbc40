"""Many tapered tubes at once: vessels, airways, ribs, leads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from healthgym.worlds.volumes.shapes import Floats, Lattice, Point, Slices

#: Points that are worked on at one time.
_CHUNK = 400_000


@dataclass(frozen=True)
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
        """Return the same with other radii; kept, for every slice asks for it."""
        known = self._grown.get((scale, add))
        if known is None:
            radii = self.radii * np.float32(scale) + np.float32(add)
            known = self._grown[scale, add] = Tubes(self.start, self.end, radii)
        return known

    @cached_property
    def _grown(self) -> dict[tuple[float, float], Tubes]:
        return {}

    @cached_property
    def _bounds(self) -> tuple[Floats, Floats]:
        """Lowest and highest corners of boxes around the pieces, shape (3, n), a bit too large."""
        room = self.radii.max(axis=1)[:, None] + np.float32(0.02)
        low, high = np.minimum(self.start, self.end) - room, np.maximum(self.start, self.end) + room
        return np.ascontiguousarray(low.T), np.ascontiguousarray(high.T)

    @cached_property
    def _extent(self) -> tuple[list[float], list[float]]:
        """Lowest and highest corner of a box around all of them."""
        low, high = self._bounds
        return low.min(axis=1).tolist(), high.max(axis=1).tolist()

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
        near = self._near(lattice, soft)
        if not len(near):
            return None
        kept, low, high = self._touching(near, lattice, soft)
        if not len(kept):
            return None
        first, last = low.min(axis=0), high.max(axis=0)
        cover = np.zeros(tuple((last - first).tolist()), np.float32)
        bounds = np.concatenate([[0], np.cumsum((high - low).prod(axis=1))])
        begin = 0
        while begin < len(kept):
            end = int(np.searchsorted(bounds, bounds[begin] + _CHUNK, side="right")) - 1
            end = min(max(end, begin + 1), len(kept))
            rows = slice(begin, end)
            self._add(cover, lattice, kept[rows], low[rows], high[rows], first, soft)
            begin = end
        slices = tuple(slice(int(a), int(b)) for a, b in zip(first, last, strict=True))
        return (slices[0], slices[1], slices[2]), cover

    def _touching(
        self, some: NDArray[np.int64], lattice: Lattice, soft: float
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return which of some tubes may touch a lattice, and the index boxes they may touch."""
        origin, way = self.start[some], self.end[some] - self.start[some]
        reach = self.radii[some].max(axis=1) + np.float32(soft)
        near, far = np.zeros(len(way), np.float32), np.ones(len(way), np.float32)
        for axis in range(3):
            points = lattice.axes[axis]
            at, first, last = origin[:, axis], points[0] - reach, points[-1] + reach
            flat = np.abs(way[:, axis]) < 1e-4
            slope = np.where(flat, np.float32(1), way[:, axis])
            one, two = (first - at) / slope, (last - at) / slope
            inside = (at >= first) & (at <= last)
            near = np.where(flat, near, np.maximum(near, np.minimum(one, two)))
            far = np.where(flat, np.where(inside, far, -1), np.minimum(far, np.maximum(one, two)))
        kept = np.flatnonzero(near <= far)
        a = origin[kept] + way[kept] * near[kept, None]
        b = origin[kept] + way[kept] * far[kept, None]
        room = reach[kept, None]
        low, high = np.minimum(a, b) - room, np.maximum(a, b) + room
        lows = [np.searchsorted(axis, low[:, n]) for n, axis in enumerate(lattice.axes)]
        highs = [
            np.searchsorted(axis, high[:, n], side="right") for n, axis in enumerate(lattice.axes)
        ]
        low_index, high_index = np.stack(lows, axis=1), np.stack(highs, axis=1)
        full = (high_index > low_index).all(axis=1)
        return some[kept[full]], low_index[full], high_index[full]

    def _near(self, lattice: Lattice, soft: float) -> NDArray[np.int64]:
        """Return the tubes whose boxes meet that of a lattice: a quick look comes first."""
        if not len(self.start):
            return np.zeros(0, np.int64)
        low, high = self._extent
        ends = [(float(axis[0]) - soft, float(axis[-1]) + soft) for axis in lattice.axes]
        if any(high[n] < a or low[n] > b for n, (a, b) in enumerate(ends)):
            return np.zeros(0, np.int64)
        lows, highs = self._bounds
        seen = np.ones(len(self.start), np.bool_)
        for n, (a, b) in enumerate(ends):
            if low[n] < a or high[n] > b:
                seen &= (highs[n] >= np.float32(a)) & (lows[n] <= np.float32(b))
        return np.flatnonzero(seen)

    def _add(
        self,
        cover: Floats,
        lattice: Lattice,
        kept: NDArray[np.int64],
        low: NDArray[np.int64],
        high: NDArray[np.int64],
        first: NDArray[np.int64],
        soft: float,
    ) -> None:
        """Add tubes to a cover, whose first point is ``first`` of the lattice.

        The points of a tube's box are taken line by line along the lattice's longest axis, of each
        line only what the tube can reach.
        """
        a, b, run = np.argsort(lattice.shape, kind="stable").tolist()
        sizes = high - low
        owner, i, j = _lines(sizes[:, a], sizes[:, b])
        i += low[owner, a]
        j += low[owner, b]
        start, way = self.start[kept], self.end[kept] - self.start[kept]
        length = np.maximum((way * way).sum(axis=1), np.float32(1e-6))
        radii = self.radii[kept]
        # Of each line: from where it starts to the tube's start, but along the line itself.
        gap = np.zeros((3, len(owner)), np.float32)
        gap[a] = lattice.axes[a][i] - start[owner, a]
        gap[b] = lattice.axes[b][j] - start[owner, b]
        reach = radii.max(axis=1) + np.float32(soft)
        begin, stop = _reached(gap, way.T[:, owner], length[owner], reach[owner], run)
        origin = start[owner, run]
        begin = np.searchsorted(lattice.axes[run], origin + begin).clip(low[owner, run])
        stop = np.searchsorted(lattice.axes[run], origin + stop, side="right")
        stop = stop.clip(None, high[owner, run])
        counts = (stop - begin).clip(0)
        total = int(counts.sum())
        if not total:
            return
        line = np.repeat(np.arange(len(owner)), counts)
        k = np.arange(total) + np.repeat(begin - (np.cumsum(counts) - counts), counts)
        tube = owner[line]
        w = [way[:, axis][tube] for axis in range(3)]
        d = [gap[axis][line] for axis in range(3)]
        np.subtract(lattice.axes[run][k], origin[line], out=d[run])
        along = d[0] * w[0]
        along += d[1] * w[1]
        along += d[2] * w[2]
        along /= length[tube]
        _clip(along)
        squares = np.zeros(total, np.float32)
        for axis in range(3):
            w[axis] *= along
            d[axis] -= w[axis]
            d[axis] *= d[axis]
            squares += d[axis]
        radius = (radii[:, 1] - radii[:, 0])[tube]
        radius *= along
        radius += radii[:, 0][tube]
        share = radius - np.sqrt(squares)
        share *= np.float32(1 / soft)
        share += np.float32(0.5)
        _clip(share)
        # What is thinner than the blur of the scanner is averaged with its surroundings.
        radius *= np.float32(2.0 / soft)
        share *= np.minimum(radius, np.float32(1), out=radius)
        steps = [cover.shape[1] * cover.shape[2], cover.shape[2], 1]
        flat = ((i - first[a]) * steps[a] + (j - first[b]) * steps[b])[line]
        flat += (k - first[run]) * steps[run]
        seen = np.flatnonzero(share)
        np.maximum.at(cover.reshape(-1), flat[seen], share[seen])


def _lines(
    tall: NDArray[np.int64], wide: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return box, row and column for every row and column of boxes of these sizes."""
    counts = tall * wide
    owner = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    row = place // wide[owner]
    return owner, row, place - row * wide[owner]


def _reached(
    gap: Floats, way: Floats, length: Floats, reach: Floats, run: int
) -> tuple[Floats, Floats]:
    """Return between which distances from the tube's start lines are near its endless cylinder.

    Args:
        gap: From the tube's start to the line, shape (3, lines), 0 along axis ``run``.
        way: From start to end of the tube, likewise.
        length: Squared length of the tube.
        reach: How far counts as near, more than what is painted, so that rounding does no harm.
        run: Axis of the lines.
    """
    along = (gap * way).sum(axis=0)
    square = np.float32(1) - way[run] * way[run] / length
    slanted = square > 0.02  # Else a line runs along the tube, and is taken whole.
    square = np.where(slanted, square, np.float32(1))
    half = -along * way[run] / length
    rest = (gap * gap).sum(axis=0) - along * along / length - reach * reach
    root = np.sqrt(np.maximum(half * half - square * rest, 0)) / square
    middle = -half / square
    never = half * half < square * rest
    root = np.where(slanted, np.where(never, np.float32(-1), root), np.float32(1e6))
    return middle - root, middle + root


def _clip(share: Floats) -> None:
    """Clip to 0 to 1, in place."""
    np.maximum(share, np.float32(0), out=share)
    np.minimum(share, np.float32(1), out=share)


def paint_tubes(target: Floats, lattice: Lattice, tubes: Tubes, value: float, soft: float) -> None:
    """Paint tubes over an array of values on a lattice."""
    found = tubes.cover(lattice, soft)
    if found is not None:
        slices, cover = found
        view = target[slices]
        share = np.float32(value) - view
        share *= cover
        view += share
