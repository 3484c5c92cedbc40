"""Outlines of lesions: how many foci, how large, and how rough their edges are.

The shapes follow what was measured on 22 tumour slides of CAMELYON16 (outlines of the NCRF
project): 10 of 22 have one focus, half have two or more, up to 13; where there are several the
largest has nearly all of the area (median 98 %). The largest focus is longer than wide by a factor
of 2.1 in the median (quartiles 1.4 and 2.5); its outline is 1.7 times as long as that of a circle
of its area (quartiles 1.4 and 2.0), with a box-counting dimension of about 1.14.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, cos, exp, pi, sin, sqrt

import numpy as np
from numpy.typing import NDArray

from healthgym.worlds.imaging.noise import fractal_noise
from healthgym.worlds.slides.grid import TILE, TUMOR, ArrayPage
from healthgym.worlds.slides.lattice import Floats, ScalarField, waves

#: Outlines are known at squares of this side, level-0 pixels: 64 um, finer than they were drawn
#: by the people who outlined CAMELYON16.
STEP = 256
_PER_TILE = TILE // STEP
_OUTSIDE = np.float32(-30_000)
#: Squares of a tile that must be tumour: a fifth of them.
_ENOUGH = ceil(0.20 * _PER_TILE**2)
#: How rough outlines are, the size of their largest waves relative to the radius, and how strong
#: fine waves are beside them. Chosen so that outlines measure like those of CAMELYON16.
_ROUGH, _WAVE, _FINE = 0.85, 0.9, 0.65


@dataclass(frozen=True, slots=True)
class Focus:
    """One focus: an ellipse before its edge is made rough.

    Attributes:
        x: Centre, level-0 pixels.
        y: Centre.
        radius: Radius of a circle of its area.
        stretch: Length by width.
        angle: Direction of its length, in radians.
    """

    x: float
    y: float
    radius: float
    stretch: float
    angle: float


def draw_foci(
    rng: np.random.Generator, tiles: int, centres: NDArray[np.float64]
) -> tuple[Focus, ...]:
    """Draw foci that have about the area of a number of tiles.

    Args:
        rng: Source of chance.
        tiles: Area, in tiles.
        centres: Places where a focus may lie, shape (n, 2) as x and y.
    """
    number = max(min(_count(rng), tiles // 3), 1)
    weights = rng.dirichlet(np.full(number, 0.8)) + 0.02
    if number > 1 and rng.uniform() < 0.6:
        weights[0] += 4.0
    weights = weights / weights.sum()
    foci = []
    for weight in weights:
        x, y = centres[int(rng.integers(len(centres)))]
        stretch = min(max(2.0 * exp(0.4 * rng.normal()), 1.05), 4.0)
        radius = sqrt(weight * tiles * TILE**2 / pi)
        foci.append(Focus(float(x), float(y), radius, stretch, float(rng.uniform(0, pi))))
    return tuple(foci)


def _count(rng: np.random.Generator) -> int:
    draw = rng.uniform()
    if draw < 0.45:
        return 1
    if draw < 0.68:
        return 2
    return int(rng.integers(3, 6)) if draw < 0.85 else int(rng.integers(6, 11))


def axes(width: int, height: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the middles of the squares of a slide, columns and rows."""
    xs = np.arange(ceil(width / STEP), dtype=np.int64) * STEP + STEP // 2
    ys = np.arange(ceil(height / STEP), dtype=np.int64) * STEP + STEP // 2
    return xs, ys


def outline(
    seed: int, foci: tuple[Focus, ...], xs: NDArray[np.int64], ys: NDArray[np.int64]
) -> Floats:
    """Return the depth of each square in the nearest focus, before its size is settled.

    Args:
        seed: Seed of the edges.
        foci: The foci.
        xs: Middles of the columns.
        ys: Middles of the rows.

    Returns:
        Shape (len(ys), len(xs)), level-0 pixels; far below 0 away from all foci.
    """
    field = np.full((len(ys), len(xs)), _OUTSIDE, np.float32)
    for number, focus in enumerate(foci):
        reach = 2.5 * focus.radius * sqrt(focus.stretch) + 1.5 * TILE
        columns = slice(*np.searchsorted(xs, (focus.x - reach, focus.x + reach)))
        rows = slice(*np.searchsorted(ys, (focus.y - reach, focus.y + reach)))
        dx = (xs[columns] - focus.x).astype(np.float32)[None, :]
        dy = (ys[rows] - focus.y).astype(np.float32)[:, None]
        turn = np.float32(cos(focus.angle)), np.float32(sin(focus.angle))
        u = (dx * turn[0] + dy * turn[1]) / np.float32(sqrt(focus.stretch))
        v = (dy * turn[0] - dx * turn[1]) * np.float32(sqrt(focus.stretch))
        place, own = (ys[rows], xs[columns]), seed + 131 * number
        wave = waves(own, place[1], place[0], 2 * _WAVE * focus.radius, 9) + np.float32(
            _FINE
        ) * fractal_noise(own + 1, place, 0.3 * focus.radius, 2)
        radius = np.float32(focus.radius)
        away = np.sqrt(u * u + v * v)
        # Waves die out away from the focus, or they would make islands of their own.
        wave *= np.clip(2 - away / radius, 0, 1)
        inside = radius - away + wave * (np.float32(_ROUGH) * radius)
        field[rows, columns] = np.maximum(field[rows, columns], inside)
    return field


def settle(field: Floats, depth: Floats, tiles: int) -> tuple[ScalarField, int]:
    """Shift outlines so that they make a number of tiles tumour.

    A tile is tumour if a fifth of its squares lie inside. Which value its fifth highest square has
    is known, so the shift that takes in the wanted number of tiles is, too.

    Args:
        field: Result of :func:`outline`.
        depth: Depth of each square below the surface of the tissue, which lesions do not leave.
        tiles: Number of tumour tiles.

    Returns:
        The settled field, and how many tiles it makes tumour: fewer where there is no more room.
    """
    rows, columns = field.shape
    tall, wide = ceil(rows / _PER_TILE), ceil(columns / _PER_TILE)
    padded = np.full((tall * _PER_TILE, wide * _PER_TILE), _OUTSIDE, np.float32)
    padded[:rows, :columns] = np.where(depth > 0, field, _OUTSIDE)
    cells = padded.reshape(tall, _PER_TILE, wide, _PER_TILE).transpose(0, 2, 1, 3)
    flat = cells.reshape(tall * wide, -1)
    flat = flat[flat.max(axis=1) > _OUTSIDE / 2]
    place = flat.shape[1] - _ENOUGH
    levels = np.sort(np.partition(flat, place, axis=1)[:, place])[::-1]
    levels = levels[levels > _OUTSIDE / 2]
    if len(levels) == 0:
        return ScalarField(STEP, np.full_like(field, _OUTSIDE)), 0
    levels = np.append(levels, levels[-1] - np.float32(STEP))
    count = min(tiles, len(levels) - 1)
    shift = (levels[count - 1] + levels[count]) / 2
    return ScalarField(STEP, np.minimum(field - shift, depth)), count


def blob(
    rng: np.random.Generator,
    seed: int,
    tiles: int,
    depth: Floats,
    xs: NDArray[np.int64],
    ys: NDArray[np.int64],
) -> ScalarField:
    """Return one focus that fills whole tiles and hardly touches their neighbours.

    It leaves no tile in doubt, which is what makes a slide easy.

    Args:
        rng: Source of chance.
        seed: Seed of the edge.
        tiles: Number of tiles; fewer where there is no room.
        depth: Depth of each square below the surface of the tissue.
        xs: Middles of the columns.
        ys: Middles of the rows.
    """
    rows, columns = len(ys) // _PER_TILE, len(xs) // _PER_TILE
    whole = depth[: rows * _PER_TILE, : columns * _PER_TILE]
    least = whole.reshape(rows, _PER_TILE, columns, _PER_TILE)[:, 3:-3, :, 3:-3].min(axis=(1, 3))
    free = {(int(x), int(y)) for y, x in np.argwhere(least > 0)}
    chosen: list[tuple[int, int]] = []
    edge = sorted(free)
    while edge and len(chosen) < tiles:
        chosen.append(edge[int(rng.integers(len(edge)))])
        free.discard(chosen[-1])
        edge = sorted(t for t in free if any(abs(t[0] - x) + abs(t[1] - y) == 1 for x, y in chosen))
    field = np.full((len(ys), len(xs)), _OUTSIDE, np.float32)
    for x, y in chosen:
        dx = (xs - (x + 0.5) * TILE).astype(np.float32)[None, :]
        dy = (ys - (y + 0.5) * TILE).astype(np.float32)[:, None]
        inside = np.float32(0.57 * TILE) - np.sqrt(dx * dx + dy * dy)
        field = np.maximum(field, inside)
    wave = fractal_noise(seed, (ys, xs), TILE / 3, 2) * np.float32(0.05 * TILE)
    return ScalarField(STEP, np.minimum(field + wave, depth))


def mask(field: ScalarField) -> ArrayPage:
    """Return outlines as a page of a mask: the value 2 inside, 1 elsewhere."""
    inside = field.values > 0
    return ArrayPage(np.where(inside, np.uint8(TUMOR), np.uint8(1)))


def nowhere(width: int, height: int) -> ScalarField:
    """Return the outline of a lesion that is not there."""
    xs, ys = axes(width, height)
    return ScalarField(STEP, np.full((len(ys), len(xs)), _OUTSIDE, np.float32))
