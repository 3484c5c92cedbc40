"""Measurements where one points: regions, connected pieces, lines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from healthgym.errors import ToolError
from healthgym.worlds.imaging.raster import require
from healthgym.worlds.volumes.grid import AXES, Mask, VolumeSource
from healthgym.worlds.volumes.survey import Sample, read_box

#: Longest edge of a region and of a box, in mm, and most voxels read for either.
MOST_REGION, MOST_BOX, MOST_VOXELS = 80.0, 160.0, 2_500_000
_SHOWN = 8
_BINS = (-1024, -950, -700, -500, -200, -30, 15, 70, 130, 400, 1500)


def _point(source: VolumeSource, values: Sequence[float]) -> tuple[float, float, float]:
    """Return a point inside the volume.

    Raises:
        ToolError: If it is none.
    """
    if len(values) != 3:
        raise ToolError(f"A point is [x, y, z] in mm, not {len(values)} numbers.")
    for axis, value in enumerate(values):
        low, high = source.grid.limits(axis)
        if not low - 1 <= value <= high + 1:
            raise ToolError(f"{AXES[axis]} lies between {low:.0f} and {high:.0f} mm.")
    return float(values[0]), float(values[1]), float(values[2])


def region(
    source: VolumeSource, centre: tuple[float, float, float], size: float, shape: str
) -> str:
    """Return the densities in a sphere or a box as text.

    Raises:
        ToolError: If the region is too large, or outside the volume.
    """
    middle = _point(source, centre)
    if not 1 <= size <= MOST_REGION:
        raise ToolError(f"size lies between 1 and {MOST_REGION:.0f} mm.")
    half = size / 2
    sample = _box(source, [c - half for c in middle], [c + half for c in middle])
    values = sample.values.astype(np.float64)
    inside: Mask = np.ones(values.shape, bool)
    if shape == "sphere":
        squared = sum(
            ((axis.astype(np.float64) - c) ** 2).reshape([-1 if n == k else 1 for k in range(3)])
            for n, (axis, c) in enumerate(zip(sample.axes, middle, strict=True))
        )
        inside = np.asarray(squared <= half**2)
        if not inside.any():
            inside = np.asarray(squared == np.min(squared))
    kept = values[inside]
    p5, p50, p95 = np.percentile(kept, [5, 50, 95])
    counts, _ = np.histogram(kept, [*_BINS, 32768])
    parts = [
        f"{low}: {100 * count / len(kept):.0f}%"
        for low, count in zip(_BINS, counts, strict=True)
        if count
    ]
    return (
        f"mean {kept.mean():.0f}, sd {kept.std():.0f}, min {kept.min():.0f}, "
        f"max {kept.max():.0f}, p5 {p5:.0f}, p50 {p50:.0f}, p95 {p95:.0f} HU "
        f"({len(kept)} voxels)\nfrom HU: {', '.join(parts)}"
    )


def components(
    source: VolumeSource,
    low: Sequence[float],
    high: Sequence[float],
    threshold: float,
    side: str,
    least: float,
) -> str:
    """Return the connected pieces on one side of a threshold in a box as text.

    Raises:
        ToolError: If the box is none, or too large.
    """
    ndimage = require("scipy.ndimage")
    first, last = _point(source, low), _point(source, high)
    if any(b <= a or b - a > MOST_BOX for a, b in zip(first, last, strict=True)):
        raise ToolError(f"Each of high is above that of low, by at most {MOST_BOX:.0f} mm.")
    sample = _box(source, first, last)
    mask = sample.values > threshold if side == "above" else sample.values < threshold
    labels, count = ndimage.label(mask)
    volumes = np.bincount(labels.ravel(), minlength=count + 1)[1:] * sample.voxel * 1000.0
    order = [n for n in np.argsort(-volumes, kind="stable") if volumes[n] >= least]
    text = f"{len(order)} pieces {side} {threshold:.0f} HU of at least {least:.0f} mm3"
    lines = [text]
    boxes = ndimage.find_objects(labels)
    for number in order[:_SHOWN]:
        box = boxes[number]
        inside = labels[box] == number + 1
        middle = [
            float(axis[part][where.astype(np.int64)].mean())
            for axis, part, where in zip(sample.axes, box, np.nonzero(inside), strict=True)
        ]
        extent = [
            (part.stop - part.start) * step for part, step in zip(box, sample.spacing, strict=True)
        ]
        lines.append(
            f"{volumes[number]:.0f} mm3, {extent[0]:.0f} x {extent[1]:.0f} x {extent[2]:.0f} mm "
            f"at x={middle[0]:.0f} y={middle[1]:.0f} z={middle[2]:.0f}, "
            f"mean {sample.values[box][inside].mean():.0f} HU"
        )
    if len(order) > _SHOWN:
        lines.append(f"({len(order) - _SHOWN} smaller)")
    return "\n".join(lines)


def line(source: VolumeSource, start: Sequence[float], end: Sequence[float]) -> str:
    """Return the length of a line, and densities along it, as text.

    Raises:
        ToolError: If a point is outside the volume.
    """
    first, last = _point(source, start), _point(source, end)
    length = float(np.linalg.norm(np.subtract(last, first)))
    grid = source.grid
    values = []
    for share in np.linspace(0.0, 1.0, 11):
        place = [a + (b - a) * float(share) for a, b in zip(first, last, strict=True)]
        i, j, k = (np.array([grid.index(n, value)]) for n, value in enumerate(place))
        values.append(str(int(source.read(i, j, k)[0, 0, 0])))
    return f"{length:.1f} mm; HU at every tenth of it: {', '.join(values)}"


def _box(source: VolumeSource, low: Sequence[float], high: Sequence[float]) -> Sample:
    """Return the voxels of a box, thinned where there are too many."""
    spacing = source.grid.spacing
    count = 1.0
    for a, b, step in zip(low, high, spacing, strict=True):
        count *= (b - a) / step + 1
    thin = max((count / MOST_VOXELS) ** (1 / 3), 1.0)
    steps = tuple(0.0 if thin == 1 else step * float(np.ceil(thin)) for step in spacing)
    return read_box(
        source,
        (float(low[0]), float(low[1]), float(low[2])),
        (float(high[0]), float(high[1]), float(high[2])),
        (steps[0], steps[1], steps[2]),
    )
