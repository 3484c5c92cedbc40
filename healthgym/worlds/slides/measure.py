"""Measurements on pixels: tissue, stains and nuclei. Nothing here knows where pixels come from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from healthgym.worlds.slides.stain import deconvolve

Pixels = NDArray[np.uint8]
Floats = NDArray[np.float32]
Labels = NDArray[np.int64]

#: HealthAgentBench's helper calls a pixel tissue if its mean is below 0.92 and its channels differ
#: by more than 0.04.
_BRIGHT, _GREY = 0.92 * 255, 0.04 * 255
#: A nucleus this small, in um^2, is debris.
_DEBRIS = 8.0
#: Least step of haematoxylin between nuclei and what lies between them.
_LEAST_STEP = 0.12
#: Nothing has a radius of more pixels than this at the scale nuclei are measured at.
_DEEPEST = 9


@dataclass(frozen=True, slots=True)
class Stains:
    """Stain of a picture.

    Attributes:
        tissue: Share of the pixels that is tissue.
        haematoxylin: Mean amount over tissue, optical density.
        eosin: Likewise.
    """

    tissue: float
    haematoxylin: float
    eosin: float


@dataclass(frozen=True, slots=True)
class Nuclei:
    """Nuclei of a picture; areas in um^2.

    Attributes:
        count: Number of whole nuclei measured.
        field: Area of the field, in um^2.
        area: Mean area; 0 without nuclei.
        spread: Standard deviation of the area, relative to the mean.
        haematoxylin: Mean amount in nuclei, optical density.
    """

    count: int
    field: float
    area: float
    spread: float
    haematoxylin: float

    @property
    def density(self) -> float:
        """Nuclei per mm^2."""
        return self.count / self.field * 1e6 if self.field else 0.0


def tissue_mask(image: Pixels) -> NDArray[np.bool_]:
    """Return which pixels are tissue, by the rule of the source's helper."""
    low = np.minimum(np.minimum(image[..., 0], image[..., 1]), image[..., 2])
    high = np.maximum(np.maximum(image[..., 0], image[..., 1]), image[..., 2])
    mean = image.astype(np.uint16).sum(axis=2, dtype=np.uint16)
    mask: NDArray[np.bool_] = (mean < 3 * _BRIGHT) & (high - low > _GREY)
    return mask


def stains(image: Pixels) -> Stains:
    """Measure the stain of a picture.

    Args:
        image: Shape (h, w, 3), uint8.
    """
    mask = tissue_mask(image)
    if not mask.any():
        return Stains(0.0, 0.0, 0.0)
    blue, pink = deconvolve(image)
    return Stains(
        float(mask.mean()),
        float(blue[mask].mean(dtype=np.float64)),
        float(pink[mask].mean(dtype=np.float64)),
    )


def nuclei(image: Pixels, mpp: float) -> Nuclei:
    """Find and measure the nuclei of a picture.

    Haematoxylin is thresholded where it parts best (Otsu), touching nuclei are parted where they
    are narrow, and those cut by the edge are left out of the mean.

    Args:
        image: Shape (h, w, 3), uint8, at about 1 um per pixel.
        mpp: Micrometres per pixel of the picture.
    """
    blue = _smooth(deconvolve(image)[0])
    field = blue.size * mpp * mpp
    threshold = _otsu(blue)
    if threshold is None:
        return Nuclei(0, field, 0.0, 0.0, 0.0)
    mask = blue > threshold
    labels = _parts(mask)
    areas = np.bincount(labels[mask], minlength=blue.size) * (mpp * mpp)
    edge = np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]])
    cut = np.zeros(blue.size, np.bool_)
    cut[edge[edge >= 0]] = True
    whole = areas[(areas >= _DEBRIS) & ~cut]
    # Of the nuclei at the edge half belong to the field.
    count = len(whole) + int(((areas >= _DEBRIS) & cut).sum()) // 2
    if len(whole) == 0:
        return Nuclei(count, field, 0.0, 0.0, 0.0)
    mean = float(whole.mean())
    held = float(blue[mask].mean(dtype=np.float64))
    return Nuclei(count, field, mean, float(whole.std()) / mean, held)


def _otsu(values: Floats) -> float | None:
    """Return the value that parts two groups best; None where there is but one."""
    counts, borders = np.histogram(values, bins=64, range=(-0.3, 2.0))
    middles = (borders[:-1] + borders[1:]) / 2
    below = np.cumsum(counts)
    above = below[-1] - below
    total = np.cumsum(counts * middles)
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = total / below, (total[-1] - total) / above
        between = np.where((below > 0) & (above > 0), below * above * (high - low) ** 2, 0)
    best = int(between.argmax())
    if not between[best] > 0 or high[best] - low[best] < _LEAST_STEP:
        return None
    # Where the two groups leave a gap, every value in it parts them as well: take the middle.
    ties = np.flatnonzero(between >= between[best] * (1 - 1e-9))
    return float(borders[ties + 1].mean())


def _smooth(values: Floats) -> Floats:
    """Return means over three by three pixels."""
    padded = np.pad(values, 1, mode="edge")
    rows = padded[:-2] + padded[1:-1] + padded[2:]
    mean: Floats = (rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]) / np.float32(9)
    return mean


def _parts(mask: NDArray[np.bool_]) -> Labels:
    """Return the part each pixel of a mask belongs to, -1 outside.

    Every pixel climbs to the deepest point it can reach uphill; those that end at one point are
    one part.
    """
    depth = mask.astype(np.float32)
    eroded = mask
    for number in range(_DEEPEST):
        eroded = _erode(eroded, diagonal=number % 2 == 1)
        if not eroded.any():
            break
        depth += eroded
    height = _smooth(_smooth(depth)) * mask
    rows, columns = mask.shape
    # Ties go to the pixel that comes first, so that a plateau has one top.
    height = height - np.arange(mask.size, dtype=np.float32).reshape(mask.shape) * np.float32(1e-7)
    padded = np.pad(height, 1, constant_values=-1)
    best = height.copy()
    target = np.arange(mask.size).reshape(mask.shape)
    place = target.copy()
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            near = padded[1 + dy : 1 + dy + rows, 1 + dx : 1 + dx + columns]
            higher = near > best
            best = np.where(higher, near, best)
            target = np.where(higher, place + dy * columns + dx, target)
    flat = target.ravel()
    for _ in range(12):
        further = flat[flat]
        if np.array_equal(further, flat):
            break
        flat = further
    labels: Labels = np.where(mask, flat.reshape(mask.shape), -1)
    return labels


def _erode(mask: NDArray[np.bool_], diagonal: bool) -> NDArray[np.bool_]:
    inner = mask.copy()
    inner[1:] &= mask[:-1]
    inner[:-1] &= mask[1:]
    inner[:, 1:] &= mask[:, :-1]
    inner[:, :-1] &= mask[:, 1:]
    if diagonal:
        inner[1:, 1:] &= mask[:-1, :-1]
        inner[:-1, :-1] &= mask[1:, 1:]
        inner[1:, :-1] &= mask[:-1, 1:]
        inner[:-1, 1:] &= mask[1:, :-1]
    return inner
