"""The plane of the detector: a grid in millimetres, and shapes whose ray paths are added to it.

A shape knows the length of the ray through it in closed form: the chord of an ellipsoid, of a
tube, of a sheet. Only the part of the grid that a shape touches is computed.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

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
        self._first = float(self.x[0, 0]) - self.pitch / 2

    def zeros(self) -> Floats:
        """Return an empty map."""
        return np.zeros((self.size, self.size), np.float32)

    def window(
        self, left: float, top: float, right: float, bottom: float
    ) -> tuple[slice, slice] | None:
        """Return the rows and columns of a box in millimetres; None if it is outside."""
        first = self._first
        columns = self._span((left - first) / self.pitch, (right - first) / self.pitch)
        rows = self._span(top / self.pitch, bottom / self.pitch)
        return (rows, columns) if rows and columns else None

    def _span(self, low: float, high: float) -> slice | None:
        start, stop = max(int(low), 0), min(int(high) + 1, self.size)
        return slice(start, stop) if start < stop else None


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
    (x0, y0), (x1, y1) = start, end
    window = plane.window(
        min(x0, x1) - radius, min(y0, y1) - radius, max(x0, x1) + radius, max(y0, y1) + radius
    )
    length2 = (x1 - x0) ** 2 + (y1 - y0) ** 2
    if window is None or length2 == 0:
        return
    dx, dy = plane.x[:, window[1]] - np.float32(x0), plane.y[window[0]] - np.float32(y0)
    along = dx * np.float32((x1 - x0) / length2) + dy * np.float32((y1 - y0) / length2)
    along = np.minimum(np.maximum(along, np.float32(0)), np.float32(1))
    ex, ey = dx - along * np.float32(x1 - x0), dy - along * np.float32(y1 - y0)
    wide = np.float32(radius) * (1 + along * np.float32(taper - 1))
    # Thinner than a pixel is fainter, not narrower: the chord is spread over at least a pixel.
    seen = np.maximum(wide, np.float32(0.6 * plane.pitch))
    chord = 2 * wide * wide / seen * np.sqrt(np.maximum(1 - (ex * ex + ey * ey) / seen**2, 0))
    total[window] += np.float32(gain) * chord


def path(
    plane: Plane,
    total: Floats,
    points: Sequence[tuple[float, float]],
    radius: float,
    gain: float = 1.0,
) -> None:
    """Add a tube along a line of points to a map, joints counted once."""
    if len(points) < 2:
        return
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    window = plane.window(min(xs) - radius, min(ys) - radius, max(xs) + radius, max(ys) + radius)
    if window is None:
        return
    seen = max(radius, 0.6 * plane.pitch)
    best = np.full(total[window].shape, np.float32(np.inf))
    offset = (window[0].start, window[1].start)
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        part = plane.window(
            min(x0, x1) - seen, min(y0, y1) - seen, max(x0, x1) + seen, max(y0, y1) + seen
        )
        length2 = (x1 - x0) ** 2 + (y1 - y0) ** 2
        if part is None or length2 == 0:
            continue
        dx, dy = plane.x[:, part[1]] - np.float32(x0), plane.y[part[0]] - np.float32(y0)
        along = np.clip(
            dx * np.float32((x1 - x0) / length2) + dy * np.float32((y1 - y0) / length2), 0, 1
        )
        ex, ey = dx - along * np.float32(x1 - x0), dy - along * np.float32(y1 - y0)
        rows = slice(max(part[0].start - offset[0], 0), part[0].stop - offset[0])
        columns = slice(max(part[1].start - offset[1], 0), part[1].stop - offset[1])
        inner = best[rows, columns]
        distance = (ex * ex + ey * ey)[-inner.shape[0] :, -inner.shape[1] :]
        np.minimum(inner, distance, out=inner)
    chord = np.sqrt(np.maximum(1 - best / np.float32(seen * seen), 0))
    total[window] += np.float32(2 * gain * radius * radius / seen) * chord


def curve(points: Sequence[tuple[float, float]], steps: int = 8) -> list[tuple[float, float]]:
    """Return a smooth line through points (Catmull-Rom), in short straight pieces."""
    knots = np.array([points[0], *points, points[-1]], np.float64)
    shares = (np.arange(steps) / steps)[:, None]
    line = []
    for p0, p1, p2, p3 in zip(knots[:-3], knots[1:-2], knots[2:-1], knots[3:], strict=True):
        piece = 0.5 * (
            2 * p1
            + (p2 - p0) * shares
            + (2 * p0 - 5 * p1 + 4 * p2 - p3) * shares**2
            + (3 * p1 - p0 - 3 * p2 + p3) * shares**3
        )
        line += [(float(x), float(y)) for x, y in piece]
    return [*line, (float(points[-1][0]), float(points[-1][1]))]
