"""Medical material: pacemakers, ports and lines, sternal wires, clips."""

from __future__ import annotations

import numpy as np

from healthgym.worlds.volumes.anatomy import Anatomy
from healthgym.worlds.volumes.disease import Line, Solid
from healthgym.worlds.volumes.shapes import Blob, Point

METAL = 3000.0


def draw_devices(
    rng: np.random.Generator, anatomy: Anatomy, level: str
) -> tuple[tuple[Line, ...], tuple[Solid, ...]]:
    """Return the lines and the boxes of one kind of device.

    Args:
        rng: Source of randomness.
        anatomy: Where it is put.
        level: ``"blatant"``, ``"plain"`` or ``"subtle"``; the last is a catheter or a few clips.
    """
    kinds = {
        "blatant": (_pacemaker, _wires),
        "plain": (_pacemaker, _wires, _port, _clips),
        "subtle": (_catheter, _clips, _port),
    }[level]
    return kinds[int(rng.integers(len(kinds)))](rng, anatomy)


def _chest_wall(anatomy: Anatomy, side: float) -> Point:
    _, b, centre = anatomy.cage(46.0)
    return (side * 0.56 * anatomy.patient.width, float(centre + b) + 17.0, 46.0)


def _pacemaker(
    rng: np.random.Generator, anatomy: Anatomy
) -> tuple[tuple[Line, ...], tuple[Solid, ...]]:
    pocket = _chest_wall(anatomy, -1.0)
    heart = anatomy.heart
    apex = (heart.centre[0] - 0.5 * heart.radii[0], heart.centre[1] + 0.3 * heart.radii[1],
            heart.centre[2] - 0.35 * heart.radii[2])  # fmt: skip
    way = (pocket, (-62.0, 18.0, 66.0), (-24.0, 24.0, 56.0), (22.0, 15.0, 44.0), (26.0, 10.0, 0.0))
    leads = [Line((*way, (24.0, 14.0, heart.centre[2] + 14), apex), 1.1, METAL)]
    if rng.random() < 0.6:
        atrial = (30.0, 24.0, heart.centre[2] + 26)
        leads.append(Line((*way[:-1], (27.0, 12.0, 2.0), atrial), 1.1, METAL))
    case = Blob(pocket, (24.0, 5.0, 22.0), power=4.0)
    return tuple(leads), (Solid(case, METAL),)


def _wires(
    rng: np.random.Generator, anatomy: Anatomy
) -> tuple[tuple[Line, ...], tuple[Solid, ...]]:
    lines = []
    for z in np.linspace(36, -82, int(rng.integers(5, 8))):
        _, b, centre = anatomy.cage(min(float(z), anatomy.patient.apex - 30))
        front = float(centre + b) + 8.0
        ring = tuple(
            (float(19 * np.cos(a)), front + 8.5 * float(np.sin(a)), float(z))
            for a in np.linspace(0, 2 * np.pi, 13)
        )
        lines.append(Line(ring, 0.9, METAL))
    return tuple(lines), ()


def _line(anatomy: Anatomy, radius: float, density: float) -> Line:
    top = anatomy.patient.apex + 22
    points = ((52.0, 0.0, top), (44.0, 6.0, 78.0), (28.0, 13.0, 44.0), (26.0, 11.0, 10.0),
              (25.0, 11.0, -14.0))  # fmt: skip
    return Line(points, radius, density)


def _catheter(
    rng: np.random.Generator, anatomy: Anatomy
) -> tuple[tuple[Line, ...], tuple[Solid, ...]]:
    return (_line(anatomy, 1.0, float(rng.uniform(1600, 2400))),), ()


def _port(rng: np.random.Generator, anatomy: Anatomy) -> tuple[tuple[Line, ...], tuple[Solid, ...]]:
    pocket = _chest_wall(anatomy, 1.0)
    way = Line((pocket, (60.0, 24.0, 76.0), (44.0, 6.0, 78.0)), 1.1, 1900.0)
    chamber = Blob(pocket, (11.0, 5.0, 11.0), power=3.0)
    return (way, _line(anatomy, 1.1, 1900.0)), (Solid(chamber, 2600.0),)


def _clips(
    rng: np.random.Generator, anatomy: Anatomy
) -> tuple[tuple[Line, ...], tuple[Solid, ...]]:
    """A few surgical clips in the front of the mediastinum."""
    lines = []
    for _ in range(int(rng.integers(4, 9))):
        at = np.array([rng.uniform(-14, 14), rng.uniform(30, 44), rng.uniform(-20, 36)])
        end = at + rng.normal(0, 1, 3) * 3.0
        lines.append(Line((tuple(map(float, at)), tuple(map(float, end))), 0.9, METAL))  # type: ignore[arg-type]
    return tuple(lines), ()
