"""What lies where: the tissue of a scene at the points of a lattice.

Lymph nodes from the outside in: fat, a capsule of collagen, the subcapsular sinus, a cortex with
follicles (a dark mantle around a paler germinal centre), paracortex, and a medulla of cords and
sinuses; trabeculae and vessels run through all of it. Over this the metastases and what resembles
them at low power are painted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import cos, sin

import numpy as np
from numpy.typing import NDArray

from healthgym.worlds.imaging.noise import fractal_noise, grid_noise
from healthgym.worlds.slides.lattice import Floats, Lattice, smoothstep, spots, walls, waves
from healthgym.worlds.slides.nuclei import Kind
from healthgym.worlds.slides.scene import Node, Scene, um

#: What is painted, in this order: amounts of eosin and of diffuse haematoxylin, share of fibres,
#: share of empty space, blood, and how likely a place that can have a nucleus has one of a kind.
_PARTS = ("eosin", "basophil", "fibre", "pale", "blood", *Kind)
_AT = {name: number for number, name in enumerate(_PARTS)}
_SMALL = 128
#: Where less than this share of a lattice is near tissue, only that is painted.
_SPARSE = 0.8
#: Nuclei that are less likely than this are left out.
_RARE = 0.004


def _coat(**amounts: float) -> Floats:
    coat = np.zeros((len(_PARTS), 1), np.float32)
    for name, amount in amounts.items():
        coat[_AT[name]] = amount
    return coat


_PARACORTEX = _coat(eosin=0.26, basophil=0.10, lymphocyte=0.90, spindle=0.04, centroblast=0.05)
_MANTLE = _coat(eosin=0.20, basophil=0.12, lymphocyte=1.0)
_GERMINAL = _coat(
    eosin=0.28, basophil=0.08, lymphocyte=0.10, centroblast=0.62, histiocyte=0.08, pale=0.05
)
_CORD = _coat(eosin=0.30, basophil=0.12, lymphocyte=0.80, spindle=0.06, histiocyte=0.05)
_SINUS = _coat(eosin=0.20, lymphocyte=0.28, histiocyte=0.30, pale=0.25)
_CAPSULE = _coat(eosin=0.50, fibre=1.0, lymphocyte=0.03, spindle=0.40)
_WALL = _coat(eosin=0.50, fibre=0.8, spindle=0.60)
_BLOOD = _coat(eosin=0.7, blood=1.0)
_HISTIOCYTES = _coat(eosin=0.36, basophil=0.03, lymphocyte=0.16, histiocyte=0.92, pale=0.02)
_SCAR = _coat(eosin=0.42, fibre=0.9, lymphocyte=0.14, spindle=0.34)
_STROMA = _coat(eosin=0.42, fibre=0.8, lymphocyte=0.22, spindle=0.42)


@dataclass(frozen=True, slots=True)
class Tissue:
    """A scene at the points of a lattice; each array has the lattice's shape.

    Attributes:
        lattice: The points.
        depth: Depth below the surface of all tissue, fat included; level-0 pixels, negative on
            glass.
        fat: Share of fat.
        hole: Depth in vessels, lumens and clefts, level-0 pixels; negative outside.
        eosin: Amount of eosin.
        basophil: Amount of haematoxylin outside nuclei.
        fibre: Share of fibrous tissue.
        pale: Share of empty space too fine to be drawn.
        blood: Share of blood.
        nuclei: How likely a place for a nucleus of a kind has one.
    """

    lattice: Lattice
    depth: Floats
    fat: Floats
    hole: Floats
    eosin: Floats
    basophil: Floats
    fibre: Floats
    pale: Floats
    blood: Floats
    nuclei: Mapping[Kind, Floats]

    def within(self, lattice: Lattice) -> Tissue:
        """Return the part that lies at the points of another lattice, all of them among these."""
        if lattice is self.lattice:
            return self
        place = tuple(
            slice(int(np.searchsorted(own, part[0])), int(np.searchsorted(own, part[-1])) + 1)
            for own, part in ((self.lattice.ys, lattice.ys), (self.lattice.xs, lattice.xs))
        )
        parts = {name: getattr(self, name)[place] for name in _FIELDS}
        nuclei = {kind: likely[place] for kind, likely in self.nuclei.items()}
        return Tissue(lattice, nuclei=nuclei, **parts)


_FIELDS = ("depth", "fat", "hole", "eosin", "basophil", "fibre", "pale", "blood")


def node_depths(nodes: tuple[Node, ...], xs: NDArray[np.int64], ys: NDArray[np.int64]) -> Floats:
    """Return depth below the nearest surface of a node at the points of a grid.

    Args:
        nodes: The nodes.
        xs: Coordinates of the columns, level-0 pixels.
        ys: Coordinates of the rows.

    Returns:
        Shape (2, len(ys), len(xs)): level-0 pixels, negative outside; and relative to the radius,
        1 in the middle.
    """
    best = np.full((2, len(ys), len(xs)), -1e6, np.float32)
    for node in nodes:
        reach = 1.6 * max(node.a, node.b) + um(2500)
        columns = slice(*np.searchsorted(xs, (node.x - reach, node.x + reach)))
        rows = slice(*np.searchsorted(ys, (node.y - reach, node.y + reach)))
        dx = (xs[columns].astype(np.float32) - np.float32(node.x))[None, :]
        dy = (ys[rows].astype(np.float32) - np.float32(node.y))[:, None]
        if dx.size == 0 or dy.size == 0:
            continue
        turn = (np.float32(cos(node.angle)), np.float32(sin(node.angle)))
        u = (dx * turn[0] + dy * turn[1]) / np.float32(node.a)
        v = (dy * turn[0] - dx * turn[1]) / np.float32(node.b)
        radius = np.sqrt(u * u + v * v)
        angle = np.arctan2(v, u)
        edge = np.ones_like(radius)
        for number, (amplitude, phase) in enumerate(node.waves, 1):
            edge += np.float32(amplitude) * np.cos(number * angle + np.float32(phase))
        relative = 1 - radius / edge
        depth = relative * edge * np.float32(min(node.a, node.b))
        here = best[:, rows, columns]
        nearer = depth > here[0]
        here[0] = np.where(nearer, depth, here[0])
        here[1] = np.where(nearer, relative, here[1])
    return best


def tissue(scene: Scene, lattice: Lattice, downsample: int) -> Tissue:
    """Return the tissue of a scene at the points of a lattice.

    Args:
        scene: The slide.
        lattice: The points.
        downsample: Of the level that is rendered; structures below its resolution become shares.
    """
    return _Painter(scene, lattice, downsample).paint()


class _Painter:
    """Paints one coat over the other."""

    def __init__(
        self, scene: Scene, lattice: Lattice, downsample: int, whole: bool = False
    ) -> None:
        self._whole = whole
        self._scene, self._lattice, self._downsample = scene, lattice, downsample
        self._axes = (lattice.ys, lattice.xs)
        self._parts = np.zeros((len(_PARTS), len(lattice.ys), len(lattice.xs)), np.float32)
        self._hole = np.full(self._parts.shape[1:], -1e4, np.float32)
        self._fine = lattice.step <= _SMALL

    def paint(self) -> Tissue:
        scene, lattice = self._scene, self._lattice
        depth, relative = node_depths(scene.nodes, lattice.xs, lattice.ys)
        if float(depth.min()) < um(2500):
            depth = depth + self._ragged(depth)
        surface, fat = depth, np.zeros_like(depth)
        if float(depth.min()) < um(20):
            reach = np.float32(scene.fat) * (np.float32(0.35) + self._noise(2, um(1400), 2) * 2)
            surface = np.maximum(depth, reach + depth)
            fat = smoothstep(depth, um(12), -um(12))
        rows, columns = ((surface > -8 * lattice.step).any(axis=axis) for axis in (1, 0))
        if not self._whole and rows.any() and rows.mean() * columns.mean() < _SPARSE:
            return self._amid_glass(surface, _span(rows), _span(columns))
        if rows.any():
            self._node(depth, relative)
            if float(relative.max()) > 0.58:
                fatty = smoothstep(relative + 0.35 * self._noise(3, um(700), 3), 0.93, 0.97)
                fat = np.maximum(fat, fatty * (depth > 0))
            self._trabeculae(depth)
            self._lesions(depth)
            self._vessels(fat)
        named = {name: self._parts[number] for name, number in _AT.items()}
        bare = 1 - fat
        nuclei = {kind: named.pop(kind) * bare for kind in Kind}
        for likely in nuclei.values():
            likely[likely < _RARE] = 0
        return Tissue(lattice, surface, fat, self._hole, nuclei=nuclei, **named)

    def _amid_glass(self, surface: Floats, rows: slice, columns: slice) -> Tissue:
        """Paint a part of the lattice: all the rest is glass, of which only the depth matters."""
        lattice = self._lattice
        part = Lattice(lattice.step, lattice.xs[columns], lattice.ys[rows])
        painted = _Painter(self._scene, part, self._downsample, whole=True).paint()

        def framed(values: Floats) -> Floats:
            field = np.zeros_like(surface)
            field[rows, columns] = values
            return field

        parts = {name: framed(getattr(painted, name)) for name in _FIELDS}
        nuclei = {kind: framed(likely) for kind, likely in painted.nuclei.items()}
        parts["depth"] = surface
        self._hole[rows, columns] = painted.hole
        return Tissue(lattice, nuclei=nuclei, **parts | {"hole": self._hole})

    def _noise(self, number: int, cell: float, octaves: int) -> Floats:
        """Return noise, without octaves finer than the lattice: they would be chance."""
        seen = [octave for octave in range(octaves) if cell / 2**octave >= self._lattice.step]
        if not seen:
            return np.zeros(self._hole.shape, np.float32)
        share = sum(0.5**octave for octave in seen) / sum(0.5**octave for octave in range(octaves))
        noise = fractal_noise(self._scene.seed + 1000 * number, self._axes, cell, len(seen))
        return noise if share == 1 else noise * np.float32(share)

    def _waves(self, number: int, length: float) -> Floats:
        lattice = self._lattice
        return waves(self._scene.seed + 1000 * number, lattice.xs, lattice.ys, length)

    def _ragged(self, depth: Floats) -> Floats:
        """Return how much the surface of a node is moved; nothing far below it."""
        wave = self._noise(1, um(500), 2) * np.float32(um(110))
        return wave * smoothstep(depth, um(2400), um(1600))

    def _coat(self, share: Floats, coat: Floats) -> None:
        """Replace a share of what is there."""
        rows, columns = (np.flatnonzero(share.any(axis=axis)) for axis in (1, 0))
        if len(rows) == 0:
            return
        box = (slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1))
        share = share[box]
        there = self._parts[:, box[0], box[1]]
        there *= 1 - share
        for number in np.flatnonzero(coat):
            there[number] += share * coat[number]

    def _node(self, depth: Floats, relative: Floats) -> None:
        scene = self._scene
        self._parts += _PARACORTEX[:, :, None]
        uneven = self._noise(10, um(700), 2)
        self._parts[_AT["lymphocyte"]] *= 1 - np.float32(0.22) * smoothstep(uneven, -0.1, 0.4)
        inner = smoothstep(relative, scene.medulla - 0.08, scene.medulla + 0.12)
        edge = smoothstep(depth, um(60), um(75)) * smoothstep(depth, um(135), um(105))
        sinus = edge
        if inner.any():
            ridge = np.abs(self._waves(4, um(420)) + 0.3 * self._noise(4, um(80), 1))
            sinus = np.maximum(edge, smoothstep(ridge, 0.16, 0.05) * inner)
            self._coat(inner, _CORD)
        cortex = smoothstep(depth, um(160), um(240)) * (1 - inner)
        if cortex.any():
            self._follicles(cortex)
        self._coat(sinus, _SINUS)
        if self._fine:
            self._clefts(sinus)
        if float(depth.min()) > um(150):
            return
        thick = um(45) * (1 + 1.4 * self._noise(7, um(1200), 2))
        capsule = smoothstep(depth - thick, um(10), -um(10))
        self._coat(capsule, _CAPSULE)
        self._hole = np.where(capsule > 0.5, np.float32(-1e4), self._hole)

    def _follicles(self, cortex: Floats) -> None:
        scene, lattice = self._scene, self._lattice
        inside, label = spots(
            scene.seed + 17, lattice.xs, lattice.ys, um(780), (um(110), um(230)), scene.follicles
        )
        if float(inside.max()) < -um(120):
            return
        inside = inside + self._noise(5, um(160), 2) * np.float32(um(55))
        self._coat(smoothstep(inside, -um(60), -um(25)) * cortex, _MANTLE)
        centre = smoothstep(inside, um(22), um(50)) * (label < 0.75)
        self._coat(centre * cortex, _GERMINAL)

    def _clefts(self, sinus: Floats) -> None:
        """Open the sinuses: what is empty space on average above becomes clefts."""
        pale = self._parts[_AT["pale"]]
        pale *= 1 - 0.85 * (sinus > 0)
        if sinus.any():
            cleft = self._noise(6, um(60), 2)
            open_ = (cleft - (0.8 - 0.65 * sinus)) * np.float32(um(30))
            self._hole = np.maximum(self._hole, np.where(sinus > 0, open_, np.float32(-1e4)))

    def _trabeculae(self, depth: Floats) -> None:
        ridge = np.abs(self._waves(8, um(2600)) + 0.15 * self._noise(8, um(300), 1))
        band = smoothstep(ridge, 0.022, 0.012) * smoothstep(depth, um(-10), um(40))
        if band.any():
            self._coat(band * smoothstep(self._noise(9, um(1700), 1), 0.05, 0.2), _CAPSULE)

    def _vessels(self, fat: Floats) -> None:
        scene, lattice = self._scene, self._lattice
        inside, label = spots(
            scene.seed + 29, lattice.xs, lattice.ys, um(900), (um(14), um(95)), 0.4
        )
        if float(inside.max()) < -um(50):
            return
        inside = inside + self._noise(11, um(90), 2) * np.float32(um(16))
        thick = um(7) + um(22) * label
        self._coat(smoothstep(inside, -um(4), um(4)) * (inside > -um(30)), _WALL)
        fat *= smoothstep(inside, um(4), -um(4))
        lumen = inside - thick
        self._coat(smoothstep(lumen, -um(3), um(3)) * (label < 0.6), _BLOOD)
        self._hole = np.where(inside > -um(10), np.float32(-1e4), self._hole)
        empty = np.where(label >= 0.6, lumen, np.float32(-1e4))
        self._hole = np.maximum(self._hole, empty)

    def _lesions(self, depth: Floats) -> None:
        """Paint what the slide is about, and what only looks like it from afar."""
        scene, lattice, look = self._scene, self._lattice, self._scene.look
        within = smoothstep(depth, um(5), um(25))
        scar, sheet, tumor = (
            field.at(lattice.xs, lattice.ys)
            for field in (scene.sclerosis, scene.histiocytes, scene.tumor)
        )
        if max(float(field.max()) for field in (scar, sheet, tumor)) < -um(60):
            return
        rough = self._noise(12, um(90), 2) * np.float32(um(45))
        scar_share, sheet_share, share = (
            smoothstep(field + rough, -um(14), um(14)) * within for field in (scar, sheet, tumor)
        )
        self._cover(scar_share, _SCAR)
        if sheet_share.any():
            # Histiocytes lie in sheets with bands of lymphocytes between them, at the scale and
            # in the amount in which stroma runs through a tumour.
            band = self._band(13, look.nest, look.stroma)
            self._cover(sheet_share * (1 - band), _HISTIOCYTES)
        if share.any():
            self._metastasis(share)

    def _metastasis(self, share: Floats) -> None:
        scene, lattice, look = self._scene, self._lattice, self._scene.look
        cells = _coat(
            eosin=look.cytoplasm,
            basophil=0.12,
            lymphocyte=look.lymphocytes,
            tumor=0.94,
            spindle=0.03,
        )
        self._cover(share, cells)
        band = self._band(14, look.nest, look.stroma)
        # Some regions have more stroma than others.
        fibrous = 0.55 * smoothstep(self._waves(15, um(1800)), 0.1, 0.6)
        self._coat(share * np.maximum(band, fibrous), _STROMA)
        if look.lumens == 0:
            return
        if not self._fine:
            self._parts[_AT["pale"]] += share * np.float32(0.09 * look.lumens)
            return
        pitch = look.nest * 1.1
        inside, _ = spots(
            scene.seed + 37, lattice.xs, lattice.ys, pitch, (0.1 * pitch, 0.24 * pitch), look.lumens
        )
        lumen = np.where((share > 0.5) & (band < 0.3), inside, np.float32(-1e4))
        self._hole = np.maximum(self._hole, lumen)

    def _cover(self, share: Floats, coat: Floats) -> None:
        self._coat(share, coat)
        self._hole = np.where(share > 0.5, np.float32(-1e4), self._hole)

    def _band(self, number: int, cell: float, share: float) -> Floats:
        """Return bands that take up about a share of the area, between blobs of a size."""
        if not self._fine:
            return np.full(self._hole.shape, np.float32(share))
        ridge = np.abs(fractal_noise(self._scene.seed + 1000 * number, self._axes, cell, 2))
        # |noise| lies below 0.39 * share for about that share of the places.
        return smoothstep(ridge, 0.31 * share + 0.02, 0.31 * share - 0.02)


def _span(flags: NDArray[np.bool_]) -> slice:
    places = np.flatnonzero(flags)
    return slice(int(places[0]), int(places[-1]) + 1)


def fat_walls(scene: Scene, lattice: Lattice) -> Floats:
    """Return the distance from walls between fat cells, on a lattice finer than the tissue's."""
    return walls(scene.seed + 41, lattice.xs, lattice.ys, um(75))


def hue(scene: Scene, xs: NDArray[np.int64], ys: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return how much more haematoxylin and eosin than the mean there is, as factors.

    Args:
        scene: The slide.
        xs: Coordinates of the columns, level-0 pixels.
        ys: Coordinates of the rows.
    """
    across = (xs / scene.width - 0.5).astype(np.float32)[None, :]
    down = (ys / scene.height - 0.5).astype(np.float32)[:, None]
    lean: Floats = (across + down) * np.float32(scene.stain.drift)
    patch: Floats = grid_noise(scene.seed + 43, (ys, xs), um(3500)) * np.float32(0.10)
    one = np.float32(1)
    return one + lean + patch, one - lean - patch * np.float32(0.5)
