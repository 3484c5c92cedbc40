"""Nuclei: a library of their shapes, and where they lie.

A nucleus is a stamp: how much of each pixel it covers, and how much haematoxylin it holds there.
Stamps are drawn once, at level 0; those of coarser levels are their exact area means at every
offset, so that a slide has the same nuclei at every magnification.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache

import numpy as np
from numpy.typing import NDArray

from healthgym.core.cache import BuildCache

Floats = NDArray[np.float32]

#: Shapes drawn for each kind, before mirroring.
_SHAPES = 40
_FLIPS = 4


class Kind(StrEnum):
    """Kinds of nuclei."""

    LYMPHOCYTE = "lymphocyte"
    CENTROBLAST = "centroblast"
    HISTIOCYTE = "histiocyte"
    SPINDLE = "spindle"
    TUMOR = "tumor"


@dataclass(frozen=True, slots=True)
class _Look:
    """What nuclei of a kind look like; lengths in level-0 pixels of 0.25 um.

    Attributes:
        box: Side of the stamp, a multiple of 8.
        radius: Least and greatest mean radius.
        stretch: Least and greatest ratio of length to width.
        rough: How irregular outlines are.
        density: Optical density (base e) of the nucleus.
        rim: Share of it that lies at the membrane: vesicular nuclei are pale inside.
        grain: Contrast of the chromatin.
        nucleoli: Most nucleoli.
    """

    box: int
    radius: tuple[float, float]
    stretch: tuple[float, float]
    rough: float
    density: float
    rim: float
    grain: float
    nucleoli: int


_LOOKS: dict[Kind, _Look] = {
    Kind.LYMPHOCYTE: _Look(40, (11.0, 14.0), (1.0, 1.25), 0.05, 1.9, 0.05, 0.25, 0),
    Kind.CENTROBLAST: _Look(56, (15.0, 20.5), (1.0, 1.35), 0.07, 1.2, 0.35, 0.3, 2),
    Kind.HISTIOCYTE: _Look(56, (13.5, 18.0), (1.25, 1.9), 0.08, 1.0, 0.35, 0.2, 1),
    Kind.SPINDLE: _Look(80, (9.5, 13.0), (3.2, 5.5), 0.06, 1.5, 0.05, 0.2, 0),
    Kind.TUMOR: _Look(72, (15.0, 26.0), (1.0, 1.6), 0.12, 1.25, 0.35, 0.4, 2),
}


@dataclass(frozen=True)
class Stamps:
    """The stamps of a kind at one downsample.

    Attributes:
        cover: Shape (offsets, variants, side, side): share of each pixel covered. Offsets are the
            level-0 places of the box's corner within a pixel, row by row.
        stain: The same shape: haematoxylin, as covered share times optical density.
        box: Side of the stamp at level 0.
        both: Shape (offsets * variants, side, side): cover and stain as the parts of complex
            numbers, so that one addition adds both; None where they are not added together.
    """

    cover: Floats
    stain: Floats
    box: int
    both: NDArray[np.complex64] | None = None

    @property
    def variants(self) -> int:
        """Number of variants, ordered by size."""
        return int(self.cover.shape[1])


#: What is drawn of each kind, by downsample; some tenths of a second.
_STAMPS: BuildCache[Stamps] = BuildCache.pooled()


def stamps(kind: Kind, downsample: int) -> Stamps:
    """Return the stamps of a kind; drawn when they are first needed.

    Args:
        kind: The kind.
        downsample: 1, 2 or 4.
    """
    return _STAMPS.get((kind, downsample), lambda: _stamps(kind, downsample))


def _stamps(kind: Kind, downsample: int) -> Stamps:
    if downsample == 1:
        cover, stain = _draw(kind)
        return Stamps(cover[None], stain[None], _LOOKS[kind].box)
    fine = stamps(kind, 1)
    reduced = [_reduce(part[0], downsample) for part in (fine.cover, fine.stain)]
    if downsample == 2:
        return Stamps(reduced[0], reduced[1], fine.box)
    # Held once: cover and stain are the parts of what is added.
    whole: NDArray[np.complex64] = (reduced[0] + 1j * reduced[1]).astype(np.complex64)
    both = whole.reshape(-1, *whole.shape[2:])
    return Stamps(whole.real, whole.imag, fine.box, both)


@cache
def mean_sums(kind: Kind, low: float, high: float) -> tuple[float, float]:
    """Return the mean area and the mean stain of stamps, in level-0 pixels.

    Args:
        kind: The kind.
        low: Share of the variants, by size, that are left out at the lower end.
        high: Share up to which they are taken.
    """
    fine = stamps(kind, 1)
    part = slice(int(low * fine.variants), max(int(high * fine.variants), 1))
    return (
        float(fine.cover[0, part].sum(axis=(1, 2)).mean()),
        float(fine.stain[0, part].sum(axis=(1, 2)).mean()),
    )


def _reduce(fine: Floats, downsample: int) -> Floats:
    """Return the area means at every offset of the grid of pixels."""
    count, box, _ = fine.shape
    side = box // downsample + 1
    means = []
    for top in range(downsample):
        for left in range(downsample):
            padded = np.zeros((count, side * downsample, side * downsample), np.float32)
            padded[:, top : top + box, left : left + box] = fine
            cells = padded.reshape(count, side, downsample, side, downsample)
            means.append(cells.mean(axis=(2, 4)))
    return np.stack(means).astype(np.float32)


def _draw(kind: Kind) -> tuple[Floats, Floats]:
    """Return cover and stain of all variants at level 0, by size; the same in every process."""
    look = _LOOKS[kind]
    rng = np.random.Generator(np.random.PCG64(list(Kind).index(kind) + 20_16))
    drawn = [_shape(look, rng) for _ in range(_SHAPES)]
    drawn.sort(key=lambda pair: float(pair[0].sum()))
    covers, stains = [], []
    for cover, stain in drawn:
        for flip in range(_FLIPS):
            step = (
                slice(None, None, -1 if flip & 1 else 1),
                slice(None, None, -1 if flip & 2 else 1),
            )
            covers.append(cover[step])
            stains.append(stain[step])
    return np.stack(covers).astype(np.float32), np.stack(stains).astype(np.float32)


def _shape(look: _Look, rng: np.random.Generator) -> tuple[Floats, Floats]:
    half = look.box / 2
    y, x = np.mgrid[0 : look.box, 0 : look.box] - half + 0.5
    turn = rng.uniform(0, np.pi)
    stretch = np.sqrt(rng.uniform(*look.stretch))
    u = (x * np.cos(turn) + y * np.sin(turn)) / stretch
    v = (y * np.cos(turn) - x * np.sin(turn)) * stretch
    angle = np.arctan2(v, u)
    radius = np.full_like(x, rng.uniform(*look.radius))
    for wave in range(2, 6):
        radius *= 1 + look.rough * rng.normal() / np.sqrt(wave) * np.cos(
            wave * angle + rng.uniform(0, 2 * np.pi)
        )
    inside = radius - np.hypot(u, v)  # depth below the outline
    cover = np.clip(inside + 0.5, 0, 1)
    rim = np.exp(-((inside / 2.2 - 0.8) ** 2))
    grain = _blotches(look.box, rng)
    density = look.density * (1 - look.rim + 1.6 * look.rim * rim + look.grain * grain)
    for _ in range(int(rng.integers(look.nucleoli + 1))):
        away, where = rng.uniform(0, 0.45) * radius.mean(), rng.uniform(0, 2 * np.pi)
        distance = np.hypot(u - away * np.cos(where), v - away * np.sin(where))
        density += 1.1 * look.density * np.clip(rng.uniform(2.4, 4.2) - distance, 0, 1)
    return cover, cover * np.maximum(density, 0.2 * look.density)


def _blotches(box: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return chromatin: noise of about 0.7 um, in (-1, 1)."""
    coarse = rng.uniform(-1, 1, (box // 4 + 2, box // 4 + 2))
    place = np.arange(box) / 4
    floor = place.astype(int)
    share = place - floor
    rows = coarse[floor] * (1 - share[:, None]) + coarse[floor + 1] * share[:, None]
    blotches: NDArray[np.float64] = rows[:, floor] * (1 - share) + rows[:, floor + 1] * share
    return blotches
