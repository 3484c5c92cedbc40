"""Vessels and airways: great ones by their anatomy, those of the lungs grown to fill them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from healthgym.core.borders import AnyArray
from healthgym.worlds.volumes.anatomy import Anatomy
from healthgym.worlds.volumes.shapes import Floats, Point
from healthgym.worlds.volumes.tubes import Tubes

Inside = Callable[[AnyArray, AnyArray, AnyArray], AnyArray]

#: Divisions of the arteries of a lung, of its veins, and how far airways can be followed.
ARTERY_LEVELS, VEIN_LEVELS, AIRWAY_LEVELS = 10, 9, 6
#: Radius of a daughter relative to its mother (Murray's law gives 0.79 for two of equal size).
SHRINK = 0.80
#: Radii of their first pieces, in mm.
ARTERY, VEIN, AIRWAY = 6.2, 5.2, 4.4
_ROOTS: dict[int, Point] = {1: (34.0, -17.0, -16.0), -1: (-37.0, -19.0, -8.0)}
_VEIN_ROOTS: dict[int, Point] = {1: (27.0, -8.0, -30.0), -1: (-30.0, -12.0, -26.0)}


@dataclass(frozen=True, slots=True)
class Tree:
    """A binary tree of pieces: level n has 2**n of them.

    Attributes:
        nodes: Ends of each level's pieces, shapes (1, 3), (2, 3), (4, 3) ...; the first is the
            root.
    """

    nodes: tuple[Floats, ...]

    def pieces(self, level: int) -> tuple[Floats, Floats]:
        """Return the starts and ends of a level's pieces; levels count from 1."""
        return np.repeat(self.nodes[level - 1], 2, axis=0), self.nodes[level]

    def tubes(self, radius: float, levels: int) -> Tubes:
        """Return the tree as tubes, with the radius of its first pieces in mm."""
        parts = []
        for level in range(1, levels + 1):
            start, end = self.pieces(level)
            wide = radius * SHRINK ** (level - 1)
            radii = np.tile(np.array([wide, wide * SHRINK], np.float32), (len(start), 1))
            parts.append(Tubes(start, end, radii))
        return Tubes.joined(parts)


def grow(
    rng: np.random.Generator, inside: Inside, side: int, box: AnyArray, root: Point, levels: int
) -> Tree:
    """Grow a tree from a root to places spread over a lung.

    Places are halved again and again along their longest extent; a branch point lies on the way
    from the one before to the middle of the places it serves.

    Args:
        rng: Source of the places.
        inside: Distance inside the lungs.
        side: 1 for the right lung, -1 for the left.
        box: Lowest and highest corner of the lung, shape (2, 3).
        root: Where it begins.
        levels: How often it divides.
    """
    count = 2**levels
    places: Floats = np.zeros((0, 3), np.float32)
    while len(places) < count:
        drawn = rng.uniform(box[0], box[1], (3 * count, 3)).astype(np.float32)
        x, y, z = drawn.T
        places = np.concatenate([places, drawn[(inside(x, y, z) > 2.0) & (x * side > 0)]])
    groups = places[None, :count]
    nodes = [np.asarray([root], np.float32)]
    for level in range(levels):
        widest = groups.var(axis=1).argmax(axis=1)
        key = np.take_along_axis(groups, widest[:, None, None], axis=2)
        order = np.argsort(key, axis=1, kind="stable")
        groups = np.take_along_axis(groups, order, axis=1)
        groups = groups.reshape(len(groups) * 2, groups.shape[1] // 2, 3)
        share = np.float32(0.34 + 0.62 * (level / (levels - 1)) ** 2)
        middles = groups.mean(axis=1)
        mothers = np.repeat(nodes[-1], 2, axis=0)
        nodes.append(mothers + (middles - mothers) * share)
    return Tree(tuple(nodes))


class Vasculature:
    """All vessels and airways of one patient.

    Args:
        anatomy: The shapes they run in.
        wall: Thickness of bronchial walls relative to ordinary ones.
        dilated: Width of the airways of one lobe relative to ordinary ones.
        lobe: That lobe: side times (number of a level-2 branch plus one).
    """

    def __init__(
        self, anatomy: Anatomy, wall: float = 1.0, dilated: float = 1.0, lobe: int = 0
    ) -> None:
        self.anatomy = anatomy
        self.wall = wall
        self.dilated = dilated
        self.lobe = lobe
        patient = anatomy.patient
        rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([patient.seed, 11])))
        low = (0.0, -patient.depth - 5, patient.dome - 60)
        high = (patient.width, patient.depth, patient.apex)
        self.arteries: dict[int, Tree] = {}
        self.veins: dict[int, Tree] = {}
        for side in (1, -1):
            box = np.array([low, high])
            box[:, 0] = sorted(box[:, 0] * side)
            root, other = _ROOTS[side], _VEIN_ROOTS[side]
            self.arteries[side] = grow(rng, anatomy.lung, side, box, root, ARTERY_LEVELS)
            self.veins[side] = grow(rng, anatomy.lung, side, box, other, VEIN_LEVELS)

    @cached_property
    def lung_vessels(self) -> Tubes:
        """Arteries and veins within the lungs."""
        parts = [tree.tubes(ARTERY, ARTERY_LEVELS) for tree in self.arteries.values()]
        parts += [tree.tubes(VEIN, VEIN_LEVELS) for tree in self.veins.values()]
        return Tubes.joined(parts)

    @cached_property
    def airways(self) -> tuple[Tubes, Tubes]:
        """Outer walls and lumens of the airways that lie in the lungs."""
        walls, lumens = [], []
        for side, tree in self.arteries.items():
            for level in range(1, AIRWAY_LEVELS + 1):
                start, end = tree.pieces(level)
                near, far = _beside(level - 1, side), _beside(level, side)
                wide = AIRWAY * SHRINK ** (level - 1)
                lumen = np.tile(np.array([wide, wide * SHRINK], np.float32), (len(start), 1))
                thick = 0.24 * lumen + 0.35
                if self.wall > 1.0:
                    thick = thick * np.float32(self.wall)
                if self.lobe * side > 0 and level >= 2:
                    lobes = np.arange(len(start)) >> (level - 2)
                    here = lobes == abs(self.lobe) - 1
                    # The wide part begins beyond the lobar bronchus.
                    factor = np.where(here, self.dilated, 1.0).astype(np.float32)[:, None]
                    thick = thick * np.where(here, 1.25, 1.0).astype(np.float32)[:, None]
                    lumen = lumen * factor
                first, last = start + near, end + far
                walls.append(Tubes(first, last, (lumen + thick).astype(np.float32)))
                lumens.append(Tubes(first, last, lumen.astype(np.float32)))
        return Tubes.joined(walls), Tubes.joined(lumens)

    @cached_property
    def trachea(self) -> tuple[Tubes, Tubes]:
        """Outer walls and lumens of trachea and main bronchi."""
        top = self.anatomy.patient.apex + 40
        points = [(1.0, -16.0 + 0.06 * top, top), (2.0, -14.0, 50.0), (0.0, -20.0, 2.0)]
        lumen = [Tubes.chain(points, [9.0, 9.0, 9.5])]
        for side, wide in ((1, 6.8), (-1, 6.0)):
            place = np.asarray(_ROOTS[side]) + _beside(0, side)
            root = (float(place[0]), float(place[1]), float(place[2]))
            lumen.append(Tubes.chain([points[-1], root], [wide, 5.0]))
        inner = Tubes.joined(lumen)
        return inner.grown(1.0, 1.7), inner

    @cached_property
    def aorta(self) -> Tubes:
        """Ascending aorta, arch and descending aorta."""
        return Tubes.chain(aorta_path(self.anatomy), aorta_radii(self.anatomy))

    @cached_property
    def pulmonary(self) -> Tubes:
        """Pulmonary trunk and its two main branches."""
        heart = self.anatomy.heart
        front = min(heart.centre[1] + 0.25 * heart.radii[1], 34.0)
        trunk = [(-16.0, front, -46.0), (-21.0, 14.0, -20.0), (-20.0, 2.0, -11.0)]
        right = [(-19.0, 2.0, -11.0), (8.0, -4.0, -14.0), _ROOTS[1]]
        left = [(-21.0, 2.0, -11.0), (-29.0, -10.0, -3.0), _ROOTS[-1]]
        chains = [
            Tubes.chain(trunk, [13.5, 13.0, 12.0]),
            Tubes.chain(right, [10.0, 9.0, 6.5]),
            Tubes.chain(left, [10.0, 9.0, 6.5]),
        ]
        atrium = (-2.0, -14.0, -36.0)
        chains += [Tubes.chain([atrium, root], [8.0, 5.0]) for root in _VEIN_ROOTS.values()]
        return Tubes.joined(chains)

    @cached_property
    def other_vessels(self) -> Tubes:
        """Caval and brachiocephalic veins, azygos, and the branches of the arch."""
        bottom = self.anatomy.patient.dome - 90
        spine = self.anatomy.spine
        atrium = self.anatomy.heart.centre[2] + 20
        top = self.anatomy.patient.apex + 35
        return Tubes.joined(
            [
                Tubes.chain([(24, 12, atrium), (26, 10, 0), (25, 14, 42)], [10, 9.5, 9]),
                Tubes.chain([(25, 14, 42), (40, 8, 75), (52, 0, top)], [8.5, 7, 6.5]),
                Tubes.chain([(25, 15, 43), (-12, 26, 52), (-42, 8, 78), (-54, 0, top)], 7.0),
                Tubes.chain([(24, 2, atrium), (24, -6, bottom)], 12.0),
                Tubes.chain(
                    [(7, spine + 20, bottom), (8, spine + 20, 8), (16, -16, 14), (24, 6, 14)], 4.2
                ),
                Tubes.chain([(9, 12, 30), (17, 2, 60), (26, -4, 84), (30, -4, top)], [7, 6, 4, 4]),
                Tubes.chain([(-3, 4, 34), (-12, -2, 60), (-26, -6, top)], [5, 4.2, 4]),
                Tubes.chain([(-13, -12, 32), (-20, -20, 62), (-46, -18, 96), (-80, 0, 104)], 5.4),
            ]
        )

    @cached_property
    def coronaries(self) -> dict[str, Tubes]:
        """The three coronary arteries by name, on the surface of the heart."""
        return {
            name: Tubes.chain(path, np.linspace(2.1, 1.2, len(path)))
            for name, path in coronary_paths(self.anatomy).items()
        }

    @cached_property
    def oesophagus(self) -> Tubes:
        """The oesophagus, down to the diaphragm."""
        return Tubes.chain(oesophagus_path(self.anatomy), 6.8)


def _beside(level: int, side: int) -> Floats:
    """Return how far an airway lies from its artery at the end of a level's pieces, in mm."""
    gap = (0.98 * ARTERY + 1.25 * AIRWAY) * SHRINK**level + 0.4
    way = np.array([-0.35 * side, -0.62, 0.45])
    result: Floats = (way / np.linalg.norm(way) * gap).astype(np.float32)
    return result


def aorta_path(anatomy: Anatomy) -> list[Point]:
    """Return the middle of the aorta from the heart to the abdomen, in mm."""
    spine, bottom = anatomy.spine + 25.0, anatomy.patient.dome - 95
    return [
        (2.0, 8.0, -48.0), (10.0, 18.0, -24.0), (12.0, 20.0, 0.0), (9.0, 16.0, 22.0),
        (0.0, 4.0, 33.0), (-10.0, -10.0, 34.0), (-18.0, -26.0, 26.0), (-21.0, spine + 6, 8.0),
        (-21.0, spine, -20.0), (-19.0, spine, -70.0), (-12.0, spine + 2, bottom),
    ]  # fmt: skip


def aorta_radii(anatomy: Anatomy) -> Floats:
    """Return the radius at each point of the aorta's path, in mm."""
    share = [1.08, 1.0, 1.0, 0.96, 0.9, 0.86, 0.82, 0.8, 0.79, 0.77, 0.74]
    return np.asarray(share, np.float32) * np.float32(anatomy.patient.aorta)


def oesophagus_path(anatomy: Anatomy) -> list[Point]:
    """Return the middle of the oesophagus, in mm."""
    spine = anatomy.spine + 17.0
    dome = anatomy.patient.dome
    return [
        (-2.0, -30.0, anatomy.patient.apex + 30), (-6.0, -36.0, 30.0),
        (-2.0, max(-42.0, spine + 12), 0.0), (-3.0, spine + 16, -40.0),
        (-9.0, spine + 19, dome + 5), (-22.0, spine + 34, dome - 22),
    ]  # fmt: skip


def coronary_paths(anatomy: Anatomy) -> dict[str, list[Point]]:
    """Return the courses of LAD, LCX and RCA over the surface of the heart, in mm."""
    from healthgym.worlds.volumes.anatomy import HEART_TURN

    heart = anatomy.heart
    turn = np.radians(HEART_TURN)
    c, s = float(np.cos(turn)), float(np.sin(turn))

    def on_surface(way: float, tilt: float, depth: float) -> Point:
        """A point by longitude (degrees from the apex to the front) and latitude."""
        a, b = np.radians(way), np.radians(tilt)
        u = -heart.radii[0] * depth * float(np.cos(b) * np.cos(a))
        v = heart.radii[1] * depth * float(np.cos(b) * np.sin(a))
        w = heart.radii[2] * depth * float(np.sin(b))
        x, y = c * u - s * v, s * u + c * v
        return (heart.centre[0] + x, heart.centre[1] + y, heart.centre[2] + w)

    return {
        "LAD": [on_surface(82 - 64 * t, 44 - 40 * t, 0.93) for t in np.linspace(0, 1, 9)],
        "LCX": [on_surface(70 - 175 * t, 46 - 22 * t, 0.9) for t in np.linspace(0, 1, 9)],
        "RCA": [on_surface(105 + 75 * t, 40 - 62 * t, 0.9) for t in np.linspace(0, 1, 9)],
    }
