"""The nuclei of a region: drawn one by one where they can be seen, and as a mean where not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from healthgym.worlds.imaging.noise import hash_lattice
from healthgym.worlds.slides.anatomy import Tissue
from healthgym.worlds.slides.lattice import Floats, halves
from healthgym.worlds.slides.nuclei import Kind, mean_sums, stamps
from healthgym.worlds.slides.scene import Scene

#: A nucleus reaches at most so far beyond the place it belongs to, in level-0 pixels.
MARGIN = 80
#: Downsamples at which nuclei are dots, and from which on they are a mean.
_DOTS, MEANS = 8, 16

Places = tuple[NDArray[np.int64], NDArray[np.int64], Floats, Floats]


@dataclass(frozen=True, slots=True)
class _Population:
    """Nuclei of one kind: a place for one in each cell of a grid."""

    kind: Kind
    seed: int
    pitch: float
    low: float = 0.0
    high: float = 1.0
    density: float = 1.0
    jitter: float = 0.8


def _populations(scene: Scene) -> tuple[_Population, ...]:
    look = scene.look
    return (
        _Population(Kind.SPINDLE, scene.seed + 51, 50.0),
        _Population(Kind.HISTIOCYTE, scene.seed + 52, 47.0, jitter=0.7),
        _Population(Kind.CENTROBLAST, scene.seed + 53, 42.0, jitter=0.7),
        _Population(Kind.LYMPHOCYTE, scene.seed + 54, 28.0, jitter=0.8),
        _Population(
            Kind.TUMOR, scene.seed + 55, look.pitch, look.size[0], look.size[1], look.density, 0.6
        ),
    )


class NuclearLayer:
    """The nuclei of one region.

    Args:
        scene: The slide.
        tissue: What lies where, over the region and :data:`MARGIN` around it.
        downsample: Of the level.
        x: Left column, in pixels of the level.
        y: Top row.
        width: Columns.
        height: Rows.
    """

    def __init__(
        self,
        scene: Scene,
        tissue: Tissue,
        downsample: int,
        x: int,
        y: int,
        width: int,
        height: int,
    ) -> None:
        self._scene, self._tissue, self._downsample = scene, tissue, downsample
        self._x, self._y, self._width, self._height = x, y, width, height
        self._box = (
            x * downsample - MARGIN,
            y * downsample - MARGIN,
            (x + width) * downsample + MARGIN,
            (y + height) * downsample + MARGIN,
        )

    def draw(self) -> tuple[Floats, Floats] | None:
        """Return the share of each pixel that nuclei cover, and the haematoxylin they hold."""
        shape = (self._height, self._width)
        cover, stain = _pad(shape, self._downsample), _pad(shape, self._downsample)
        drops: dict[int, tuple[Floats, Floats]] = {}
        found = False
        for population in _populations(self._scene):
            places = self._places(population)
            if places is None:
                continue
            found = True
            if self._downsample == _DOTS:
                # A nucleus is spread over a square of about its area.
                large = mean_sums(population.kind, population.low, population.high)[0] > 9.5 * 64
                blank = (np.zeros_like(cover), np.zeros_like(stain))
                held = drops.setdefault(5 if large else 3, blank)
                self._drop(held, population, *places)
            else:
                self._stamp(cover, stain, population, *places)
        if not found:
            return None
        for side, dropped in drops.items():
            cover, stain = (
                whole + _spread(part, side)
                for whole, part in zip((cover, stain), dropped, strict=True)
            )
        edge = _edge(self._downsample)
        inner = (slice(edge, edge + shape[0]), slice(edge, edge + shape[1]))
        return cover[inner], stain[inner]

    def _places(self, population: _Population) -> Places | None:
        """Return centres of the nuclei near the region, their order by size and their density."""
        likely = self._tissue.nuclei[population.kind]
        if not likely.any():
            return None
        left, top, right, bottom = self._box
        pitch, slack = population.pitch, MARGIN - 8
        columns = np.arange(
            int((left + MARGIN - slack) // pitch), int((right - MARGIN + slack) // pitch) + 1
        )
        rows = np.arange(
            int((top + MARGIN - slack) // pitch), int((bottom - MARGIN + slack) // pitch) + 1
        )
        bits = hash_lattice(population.seed, (rows, columns)).ravel()
        more = hash_lattice(population.seed + 7, (rows, columns)).ravel()
        (across, down), (chance, which) = halves(bits), halves(more)
        jitter = population.jitter
        # Every other row is shifted by half a place, so that no columns show.
        across += np.repeat((rows % 2).astype(np.float32) / np.float32(2 * jitter), len(columns))
        xs = ((np.tile(columns, len(rows)) + 0.25 + jitter * (across - 0.5)) * pitch).astype(
            np.int64
        )
        ys = ((np.repeat(rows, len(columns)) + 0.5 + jitter * (down - 0.5)) * pitch).astype(
            np.int64
        )
        lattice = self._tissue.lattice
        inside = (xs > left) & (xs < right) & (ys > top) & (ys < bottom)
        xs, ys, chance, which = xs[inside], ys[inside], chance[inside], which[inside]
        kept = np.flatnonzero(chance < lattice.points(likely, xs, ys))
        if len(kept) == 0:
            return None
        density = population.density * (0.82 + 0.36 * np.mod(which[kept] * 37, 1))
        return xs[kept], ys[kept], which[kept], density.astype(np.float32)

    def _stamp(
        self,
        cover: Floats,
        stain: Floats,
        population: _Population,
        xs: NDArray[np.int64],
        ys: NDArray[np.int64],
        which: Floats,
        density: Floats,
    ) -> None:
        downsample = self._downsample
        library = stamps(population.kind, downsample)
        span = (population.high - population.low) * library.variants
        variant = (population.low * library.variants + which * span).astype(np.int64)
        variant = np.minimum(variant, library.variants - 1)
        edge = _edge(downsample)
        left, top = xs - library.box // 2, ys - library.box // 2
        column, row = left // downsample - self._x + edge, top // downsample - self._y + edge
        offset = (top % downsample) * downsample + left % downsample
        side = library.cover.shape[2]
        fits = (
            (column >= 0)
            & (row >= 0)
            & (column + side <= cover.shape[1])
            & (row + side <= cover.shape[0])
        )
        count, add = library.variants, np.add
        look = (offset[fits] * count + variant[fits]).tolist()
        places = zip(row[fits].tolist(), column[fits].tolist(), look, strict=True)
        both = library.both
        if both is not None:
            # Too small to show that nuclei are stained unevenly: one addition for both.
            held = np.zeros(cover.shape, np.complex64)
            for r, c, shape in places:
                spot = held[r : r + side, c : c + side]
                add(spot, both[shape], spot)
            cover += held.real
            stain += held.imag * np.float32(population.density)
            return
        covers = library.cover.reshape(-1, side, side)
        stains = library.stain.reshape(-1, side, side)
        for (r, c, shape), tint in zip(places, density[fits], strict=True):
            place = (slice(r, r + side), slice(c, c + side))
            add(cover[place], covers[shape], cover[place])
            add(stain[place], stains[shape] * tint, stain[place])

    def _drop(
        self,
        held: tuple[Floats, Floats],
        population: _Population,
        xs: NDArray[np.int64],
        ys: NDArray[np.int64],
        which: Floats,
        density: Floats,
    ) -> None:
        area, amount = mean_sums(population.kind, population.low, population.high)
        cover, stain = held
        edge, width = _edge(_DOTS), cover.shape[1]
        across, down = (xs - 3.5) / 8 - self._x + edge, (ys - 3.5) / 8 - self._y + edge
        column, row = np.floor(across).astype(np.int64), np.floor(down).astype(np.int64)
        fits = (column >= 0) & (row >= 0) & (column < width - 1) & (row < cover.shape[0] - 1)
        column, row = column[fits], row[fits]
        u, v = across[fits] - column, down[fits] - row
        place = row * width + column
        index = np.concatenate([place, place + 1, place + width, place + width + 1])
        weight = np.concatenate([(1 - u) * (1 - v), u * (1 - v), (1 - u) * v, u * v])
        # Too small to show that nuclei are stained unevenly.
        counts = np.bincount(index, weight, cover.size).astype(np.float32).reshape(cover.shape)
        stain += counts * np.float32(amount * population.density / 64)
        counts *= np.float32(area / 64)
        cover += counts


def expected(scene: Scene, tissue: Tissue) -> tuple[Floats, Floats]:
    """Return the mean cover and stain of nuclei, for levels that show no single one.

    Args:
        scene: The slide.
        tissue: What lies where; the results belong to the points of its lattice.
    """
    cover, stain = np.zeros_like(tissue.depth), np.zeros_like(tissue.depth)
    for population in _populations(scene):
        area, amount = mean_sums(population.kind, population.low, population.high)
        share = tissue.nuclei[population.kind] / np.float32(population.pitch**2)
        cover += share * np.float32(area)
        stain += share * np.float32(amount * population.density)
    return cover, stain


def _edge(downsample: int) -> int:
    return MARGIN // downsample + 2


def _pad(shape: tuple[int, int], downsample: int) -> Floats:
    edge = _edge(downsample)
    return np.zeros((shape[0] + 2 * edge, shape[1] + 2 * edge), np.float32)


def _spread(field: Floats, side: int) -> Floats:
    """Spread each value evenly over a square of an odd number of pixels, 5 without corners."""
    half = side // 2
    down = _run(field, side)
    across = np.zeros_like(field)
    inner = across[half:-half, half:-half]
    inner[:] = _run(down.T, side).T
    if side == 5:
        for y in (0, 2 * half):
            for x in (0, 2 * half):
                inner -= field[y : y + inner.shape[0], x : x + inner.shape[1]]
    across *= np.float32(1 / 9 if side == 3 else 1 / (side**2 - 4))
    return across


def _run(field: Floats, side: int) -> Floats:
    """Return sums of 3 or 5 rows."""
    pairs = field[:-1] + field[1:]
    if side == 5:
        pairs = pairs[:-2] + pairs[2:]
    pairs = pairs[:-1] + field[side - 1 :]
    return pairs
