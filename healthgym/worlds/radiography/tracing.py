"""Thin and small bright things on a radiograph: tubes, lines, clips, nodules, steps in ribs."""

from __future__ import annotations

import numpy as np

from healthgym.worlds.radiography.landmarks import GRID, Floats, Landmarks

_SIDES = (-1, 1)


def box_mean(values: Floats, reach: int) -> Floats:
    """Return the mean over a square of side ``2 * reach + 1``, edges repeated."""
    padded = np.pad(values.astype(np.float64), reach + 1, mode="edge")
    total = padded.cumsum(0).cumsum(1)
    size = 2 * reach + 1
    high, wide = values.shape
    square = (
        total[size : size + high, size : size + wide]
        - total[:high, size : size + wide]
        - total[size : size + high, :wide]
        + total[:high, :wide]
    )
    mean: Floats = (square / size**2).astype(np.float32)
    return mean


def thin(marks: Landmarks) -> Floats:
    """Return how much each pixel stands out of its neighbourhood of 11 pixels."""
    outstanding: Floats = marks.grid - box_mean(marks.grid, 5)
    return outstanding


def round_spots(marks: Landmarks) -> list[tuple[int, int, float]]:
    """Return round dense spots in the lungs: side, row, strength; strongest first."""
    small, large = box_mean(marks.grid, 5), box_mean(marks.grid, 12)
    contrast = small - large
    found: list[tuple[int, int, float]] = []
    taken: list[tuple[int, int]] = []
    rows = (marks.apex + 24, min(marks.floors) - 18)
    for side in _SIDES:
        near, far = sorted((marks.column(side, 0.34), marks.column(side, 0.86)))
        part = contrast[rows[0] : rows[1], near:far].copy()
        for _ in range(4):
            if part.size == 0:
                break
            row, column = np.unravel_index(int(np.argmax(part)), part.shape)
            strength = float(part[row, column])
            if strength < 7.0:
                break
            found.append((side, rows[0] + int(row), strength))
            taken.append((int(row), int(column)))
            part[max(row - 14, 0) : row + 15, max(column - 14, 0) : column + 15] = -99
    return sorted(found, key=lambda spot: -spot[2])[:6]


def rib_steps(marks: Landmarks) -> dict[int, float]:
    """Return for each side how much the ribs jump at one column of the lateral chest."""
    grid = marks.grid - box_mean(marks.grid, 9)
    rows = slice(marks.apex + 70, marks.apex + 210)
    found = {}
    for side in _SIDES:
        best = 0.0
        for out in np.arange(0.68, 0.92, 0.015):
            inner = grid[rows, marks.column(side, out - 0.03)]
            outer = grid[rows, marks.column(side, out + 0.03)]
            scores = [
                np.convolve(np.abs(inner[8:-8] - outer[8 + k : len(outer) - 8 + k]), np.ones(22))
                for k in (0, 2, 4)
            ]
            best = max(best, float(np.max(np.min(scores, axis=0))) / 22)
        found[side] = best
    return found


def ridge(
    marks: Landmarks,
    columns: tuple[float, float],
    rows: tuple[float, float],
    *,
    level: bool = False,
) -> Floats:
    """Return for each row of a box how bright the best thin line crossing it is.

    Args:
        marks: The radiograph.
        columns: First and last column, in units of 1/138 of the half width from the midline, as
            seen: negative to the left of the picture.
        rows: First and last row, in the same units below the carina.
        level: Look for lines that run across; the answer is then for each column.
    """
    unit = marks.half / 138
    left, right = (marks.middle + round(c * unit) for c in columns)
    top, foot = (marks.carina + round(r * unit) for r in rows)
    left, right = int(np.clip(left, 8, GRID - 12)), int(np.clip(right, left + 3, GRID - 9))
    top, foot = int(np.clip(top, 8, GRID - 12)), int(np.clip(foot, top + 3, GRID - 9))
    part = marks.grid[top - 8 : foot + 8, left - 8 : right + 8]
    if level:
        part = part.T
    core = (part[8:-8, 7:-9] + part[8:-8, 8:-8] + part[8:-8, 9:-7]) / 3
    flank = np.maximum(part[8:-8, 3:-13], part[8:-8, 13:-3])
    strongest: Floats = (core - flank).max(axis=1).astype(np.float32)
    return strongest


def strength(line: Floats) -> float:
    """Return how bright a line is along most of its way."""
    return float(np.percentile(line, 30)) if len(line) else 0.0


def tip_row(line: Floats, least: float, run: int = 9) -> int:
    """Return the place at which a line that starts at the first one ends."""
    smooth = np.convolve(line, np.ones(run) / run, mode="same")
    for place in range(len(smooth)):
        if smooth[place : place + run].max() < least:
            return place
    return len(smooth)


def airway_text(marks: Landmarks) -> str:
    """Return what runs down the midline: tubes in the trachea and the gullet, and their ends."""
    parts = []
    # Disc spaces interrupt any line over the spine, so its brightness is told by stretches.
    stretches = ((-116, -94), (-78, -50), (-36, -6))
    upper, middle, lower = (
        float(np.percentile(ridge(marks, (-8, 1), rows), 55)) for rows in stretches
    )
    parts.append(
        f"line in the trachea: upper third {upper:.0f}, middle {middle:.0f}, "
        f"just above the carina {lower:.0f}"
    )
    gullet = strength(ridge(marks, (7, 15), (-120, -20)))
    below = strength(ridge(marks, (8, 22), (76, 104)))
    parts.append(f"line in the gullet: chest {gullet:.0f}, above the stomach {below:.0f}")
    return "; ".join(parts)


def tube_text(marks: Landmarks) -> str:
    """Return how many tubes come in through each side of the chest wall."""
    parts = []
    for side, name in ((-1, "right"), (1, "left")):
        ends = sorted((side * 142.0, side * 160.0))
        rows = ridge_profile(marks, (ends[0], ends[1]), (20, 150))
        count = count_peaks(rows, 6.0, 16)
        parts.append(f"{name} {count}")
    return f"tubes through the chest wall: {', '.join(parts)}"


def ridge_profile(
    marks: Landmarks, columns: tuple[float, float], rows: tuple[float, float]
) -> Floats:
    """Return for each row of a box how bright a line across the whole box is there."""
    unit = marks.half / 138
    left, right = (int(np.clip(marks.middle + round(c * unit), 2, GRID - 4)) for c in columns)
    top, foot = (marks.carina + round(r * unit) for r in rows)
    part = marks.grid[max(top, 0) : min(foot, GRID), left : max(right, left + 2)]
    # The line may climb through the box: each column is moved by one slope after another.
    best = np.full(part.shape[0], -99.0)
    for slope in np.linspace(-1.2, 1.2, 9):
        moved = np.stack(
            [np.roll(part[:, k], round(-slope * k)) for k in range(part.shape[1])], axis=1
        ).mean(axis=1)
        best = np.maximum(best, moved - np.convolve(moved, np.ones(15) / 15, mode="same"))
    profile: Floats = best[8:-8].astype(np.float32)
    return profile


def count_peaks(profile: Floats, least: float, apart: int) -> int:
    """Return how many peaks of a profile are high enough and apart from each other."""
    rest, count = profile.copy(), 0
    while rest.size and rest.max() >= least and count < 5:
        place = int(np.argmax(rest))
        rest[max(place - apart, 0) : place + apart + 1] = -99
        count += 1
    return count


def line_values(marks: Landmarks) -> dict[str, float]:
    """Return strengths of lines at the places where they come in, and where they end."""
    unit = marks.half / 138
    values = {
        "right neck": strength(ridge(marks, (-48, -26), (-112, -66))),
        "left neck": strength(ridge(marks, (28, 52), (-112, -66))),
        "right arm": strength(ridge(marks, (-146, -98), (-68, -44), level=True)),
        "left arm": strength(ridge(marks, (98, 146), (-68, -44), level=True)),
    }
    cava = ridge(marks, (-27, -14), (-26, 92))
    values["cava"] = strength(cava[: round(14 * unit)])
    ends = tip_row(cava, 0.5 * max(values["cava"], 8.0)) / unit - 26
    values["cava end"] = ends
    box = marks.grid
    for side, name in ((-1, "right"), (1, "left")):
        x, y = marks.middle + round(side * 112 * unit), marks.carina - round(34 * unit)
        around = box[y - 40 : y + 41, max(x - 40, 0) : x + 41]
        core = box[y - 12 : y + 13, x - 14 : x + 15]
        values[f"{name} generator"] = float(np.median(core) - np.median(around)) if core.size else 0
    values["second lead"] = strength(ridge(marks, (-44, -31), (34, 47)))
    x = marks.middle + round(20 * unit)
    for name, row in (("arch", -14), ("low", 76)):
        y = marks.carina + round(row * unit)
        part = thin(marks)[y - 8 : y + 12, x - 6 : x + 8]
        values[f"pump {name}"] = float(part.max()) if part.size else 0.0
    return values


def line_text(marks: Landmarks) -> str:
    """Return lines into the great veins, their tips, a generator, a pump."""
    values = line_values(marks)
    wide = 2 * 138 / 100
    return (
        f"lines: neck right {values['right neck']:.0f} left {values['left neck']:.0f}, arm right "
        f"{values['right arm']:.0f} left {values['left arm']:.0f}; in the cava the line ends "
        f"{values['cava end'] / wide:.0f} below the carina; generator right "
        f"{values['right generator']:.0f} left {values['left generator']:.0f}; atrial lead "
        f"{values['second lead']:.0f}; spot in the aorta: arch {values['pump arch']:.0f} low "
        f"{values['pump low']:.0f}"
    )


def clip_values(marks: Landmarks) -> dict[str, float]:
    """Return how much small metal stands out beside the chest and over the breast bone."""
    unit = marks.half / 138
    fine = thin(marks)
    values = {}
    for side, name in ((-1, "right"), (1, "left")):
        ends = sorted(
            (marks.middle + round(side * 144 * unit), marks.middle + round(side * 170 * unit))
        )
        top, foot = marks.carina - round(26 * unit), marks.carina + round(28 * unit)
        part = fine[top:foot, max(ends[0], 0) : min(ends[1], GRID)]
        values[name] = float(np.percentile(part, 98.5)) if part.size else 0.0
    top, foot = marks.carina - round(2 * unit), marks.carina + round(42 * unit)
    # To the left of the spine, as seen, nothing else runs down here.
    for name, columns in (("inside", (-8, 9)), ("outside", (-18, -10))):
        a, b = (marks.middle + round(c * unit) for c in columns)
        values[name] = float(np.percentile(fine[top:foot, a:b], 97))
    return values


def clip_text(marks: Landmarks) -> str:
    """Return clips beside the chest, and wires over the breast bone."""
    values = clip_values(marks)
    return (
        f"small metal beside the chest: right {values['right']:.0f}, left {values['left']:.0f}; "
        f"over the breast bone: middle {values['inside']:.0f}, beside {values['outside']:.0f}"
    )
