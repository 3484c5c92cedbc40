"""Where things are on a frontal radiograph, found in its pixels.

Works on a copy of 400 by 400 pixels, so one pixel is a quarter of a percent of the picture's
width. Every landmark is the place where a difference of means is largest, summed over both sides
or many rows where both sides or many rows should agree: one diseased side does not mislead it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from healthgym.worlds.imaging.raster import Image, resize

#: Side of the copy that is measured, in pixels.
GRID = 400
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Landmarks:
    """Places on the copy, in its pixels.

    Attributes:
        grid: The copy, shape (400, 400), float32 grey levels.
        middle: Column of the midline.
        half: Half of the inner width of the thorax.
        apex: Row of the lung apices.
        floors: Row at which each lung ends below, two thirds of the way to the chest wall:
            (right, left).
        lateral: Row at which each lung ends beside the chest wall: (right, left).
        carina: Row of the carina.
    """

    grid: Floats
    middle: int
    half: int
    apex: int
    floors: tuple[int, int]
    lateral: tuple[int, int]
    carina: int

    def column(self, side: int, out: float) -> int:
        """Return the column at a distance from the midline.

        Args:
            side: -1 for the left of the picture, the patient's right; 1 for the other.
            out: Distance as a share of the half width.
        """
        return int(np.clip(round(self.middle + side * out * self.half), 0, GRID - 1))

    def lung(self, side: int, columns: tuple[float, float], rows: tuple[int, int]) -> Floats:
        """Return a block of a lung, mirrored for the patient's right: midline first.

        Args:
            side: -1 or 1.
            columns: Nearest and farthest column, as shares of the half width.
            rows: First row and the row after the last.
        """
        near, far = (round(self.middle + side * out * self.half) for out in columns)
        low, high = max(rows[0], 0), min(max(rows[1], rows[0] + 2), GRID)
        step = 1 if side > 0 else -1
        places = np.clip(np.arange(near, far, step), 0, GRID - 1)
        if len(places) == 0:
            places = np.array([np.clip(near, 0, GRID - 1)])
        block: Floats = self.grid[low:high][:, places]
        return block


def find_landmarks(image: Image) -> Landmarks:
    """Return the landmarks of a frontal radiograph.

    Args:
        image: Shape (height, width), uint8; dense tissue bright, patient's right on the left.
    """
    grid = np.asarray(resize(image.astype(np.float32), GRID, GRID), np.float32)
    grid.flags.writeable = False
    middle = _middle(grid)
    half = _half_width(grid, middle)
    apex = _apex(grid, middle, half)
    floors = (_floor(grid, middle, half, apex, -1), _floor(grid, middle, half, apex, 1))
    lateral = tuple(_floor(grid, middle, half, apex, side, (0.84, 0.93), 0.9) for side in (-1, 1))
    carina = _carina(grid, middle, apex)
    return Landmarks(grid, middle, half, apex, floors, (lateral[0], lateral[1]), carina)


def _slide(values: Floats, width: int) -> Floats:
    """Return a running mean along a profile, ends repeated."""
    padded = np.pad(values.astype(np.float64), width, mode="edge")
    total = np.cumsum(np.concatenate([[0.0], padded]))
    mean = (total[2 * width + 1 :] - total[: -2 * width - 1]) / (2 * width + 1)
    smooth: Floats = mean[: len(values)].astype(np.float32)
    return smooth


def _middle(grid: Floats) -> int:
    """Return the column about which the upper half is most alike on both sides, near the spine."""
    upper = grid[80:240].mean(axis=0)
    bright = _slide(upper, 9)
    best, found = -np.inf, GRID // 2
    for column in range(165, 236):
        reach = np.arange(20, 150)
        apart = np.abs(upper[column - reach] - upper[np.minimum(column + reach, GRID - 1)])
        score = float(bright[column]) - 0.8 * float(np.median(apart))
        if score > best:
            best, found = score, column
    return _centred(grid, found)


def _centred(grid: Floats, column: int) -> int:
    """Return the column near another about which neck, spine and shoulders are most alike."""
    profile = np.median(grid[24:118], axis=0)
    reach = np.arange(2, 125)
    scores = []
    places = range(column - 10, column + 11)
    for place in places:
        apart = np.abs(profile[place - reach] - profile[np.minimum(place + reach, GRID - 1)])
        scores.append(float(np.median(apart)) + 0.5 * float(apart[:24].mean()))
    return places[int(np.argmin(scores))]


def _half_width(grid: Floats, middle: int) -> int:
    """Return the half width at which lung turns to chest wall on both sides, low in the chest."""
    rows = grid[175:255]
    scores = []
    reaches = range(95, 172)
    for reach in reaches:
        score = 0.0
        for side in (-1, 1):
            inner = [min(max(middle + side * (reach - k), 0), GRID - 1) for k in (3, 4, 5, 6)]
            outer = [min(max(middle + side * (reach + k), 0), GRID - 1) for k in (1, 2, 3, 4)]
            step = rows[:, outer].mean(axis=1) - rows[:, inner].mean(axis=1)
            score += float(np.percentile(step, 60))
        scores.append(score)
    return reaches[int(np.argmax(scores))]


def _apex(grid: Floats, middle: int, half: int) -> int:
    """Return the row at which the lungs begin: bright shoulder above, dark lung below."""
    profile = np.zeros(GRID, np.float32)
    for side in (-1, 1):
        near, far = sorted((middle + side * round(0.27 * half), middle + side * round(0.5 * half)))
        profile += np.median(grid[:, near:far], axis=1)
    smooth = _slide(profile, 3)
    rows = np.arange(28, 130)
    return int(rows[first_peak((smooth[rows - 7] - smooth[rows + 7]).astype(np.float32), 0.3)])


def _floor(
    grid: Floats,
    middle: int,
    half: int,
    apex: int,
    side: int,
    columns: tuple[float, float] = (0.56, 0.70),
    start: float = 1.15,
) -> int:
    """Return the row at which a lung ends below: the largest step from dark to bright."""
    near, far = sorted(middle + side * round(out * half) for out in columns)
    strip = grid[:, max(near, 0) : max(far, near + 1, 1)]
    smooth = _slide(np.median(strip, axis=1).astype(np.float32), 2)
    rows = np.arange(apex + round(start * half), min(apex + round(2.35 * half), GRID - 12))
    if len(rows) == 0:
        return min(apex + 2 * half, GRID - 12)
    above = np.stack([smooth[rows - k] for k in (5, 8, 12, 16)]).mean(axis=0)
    below = np.stack([smooth[rows + k] for k in (4, 7, 10)]).mean(axis=0)
    return int(rows[first_peak(below - above, 0.62)])


def first_peak(values: Floats, share: float) -> int:
    """Return the first peak that is at least a share of the highest one.

    Below the edge that is looked for there are others like it: clavicles, the gas of the stomach.
    """
    least = share * float(values.max())
    for place, value in enumerate(values):
        if value >= least and value == values[max(place - 6, 0) : place + 7].max():
            return place
    return int(np.argmax(values))


def _carina(grid: Floats, middle: int, apex: int) -> int:
    """Return the row at which the dark column of the trachea ends."""
    near = grid[:, middle - 5 : middle + 6].mean(axis=1)
    beside = (grid[:, middle - 22 : middle - 15].mean(axis=1) + near) / 2
    smooth = _slide((near - beside).astype(np.float32), 4)
    rows = np.arange(apex + 62, apex + 122)
    return int(rows[np.argmax(smooth[rows + 9] - smooth[rows - 9])])
