"""Tubes, lines, wires and clips, as lengths of rays in metal (radiopaque stripes included)."""

from __future__ import annotations

from collections.abc import Sequence

from healthgym.worlds.radiography.lesions import sides
from healthgym.worlds.radiography.plane import Floats, Plane, curve, ellipsoid, path, tube
from healthgym.worlds.radiography.scene import Scene, Sight
from healthgym.worlds.radiography.thorax import CARINA, SIGN, LungShape

Point = tuple[float, float]

#: Distance of the tip of an endotracheal tube above the carina, by place.
TUBE_TIPS = {"high": 86.0, "appropriate": 42.0, "low": -20.0}
#: Height of the tip of a central line, by place.
LINE_TIPS = {"upper_svc": 112.0, "lower_svc": 172.0, "right_atrium": 216.0}
#: Height of the tip of a balloon pump, by place.
PUMP_TIPS = {"arch": 124.0, "low": 214.0}


def devices(plane: Plane, scene: Scene) -> Floats:
    """Return the length of the rays in metal."""
    total = plane.zeros()
    # The side marker: an L beside the patient's left shoulder.
    corner = (176.0 - scene.shift, 30.0)
    path(plane, total, [(corner[0], 16.0), corner, (corner[0] + 9.0, 30.0)], 1.7, 1.0)
    for sight in scene.sights:
        draw = _DRAWERS.get(sight.kind)
        if draw is not None:
            draw(plane, total, scene, sight)
    return total


def _endotracheal(plane: Plane, total: Floats, scene: Scene, sight: Sight) -> None:
    tip = CARINA - TUBE_TIPS[sight.place]
    if sight.place == "low":
        line = [(2.5, 0.0), (1.5, 70.0), (-1.0, CARINA - 8), (-17.0, tip)]
    else:
        line = [(2.5, 0.0), (1.5, 40.0), (0.0, tip - 12), (-0.5, tip)]
    smooth = curve(line)
    for offset, gain in ((-4.4, 0.95), (4.4, 0.14)):
        path(plane, total, [(x + offset, y) for x, y in smooth], 0.9, gain)


def _enteric(plane: Plane, total: Floats, scene: Scene, sight: Sight) -> None:
    dome = LungShape(scene, "left").dome
    line: list[Point] = [(11.0, 0.0), (10.5, 80.0), (11.0, 150.0), (13.0, 205.0)]
    if sight.place == "stomach":
        line += [(20.0, dome - 12), (40.0, dome + 22), (66.0, dome + 46), (92.0, dome + 58)]
    else:
        line[-1] = (12.0, 196.0)
    path(plane, total, curve(line), 1.35, 0.62)
    if sight.place == "stomach":
        tube(plane, total, (80.0, dome + 52.5), (92.0, dome + 58), 1.8, gain=0.5)


def _central_line(plane: Plane, total: Floats, scene: Scene, sight: Sight) -> None:
    tip = LINE_TIPS[sight.place]
    if sight.side == "right":
        line: list[Point] = [(-46.0, 0.0), (-34.0, 44.0), (-25.0, 80.0), (-21.0, 106.0)]
    else:
        line = [(50.0, 0.0), (42.0, 48.0), (22.0, 82.0), (-4.0, 97.0), (-18.0, 107.0)]
    line += [(-21.0, y) for y in (126.0, 150.0, 172.0, 194.0) if y < tip - 8]
    path(plane, total, curve([*line, (-20.0, tip)]), 1.15, 0.85)


def _picc(plane: Plane, total: Floats, scene: Scene, sight: Sight) -> None:
    sign = SIGN[sight.side]
    tip = LINE_TIPS[sight.place]
    line: list[Point] = [(sign * 199.0, 118.0), (sign * 150.0, 88.0), (sign * 92.0, 80.0)]
    if sign < 0:
        line += [(-45.0, 86.0), (-25.0, 104.0)]
    else:
        line += [(45.0, 84.0), (14.0, 92.0), (-16.0, 106.0)]
    line += [(-21.0, y) for y in (126.0, 150.0, 172.0, 194.0) if y < tip - 8]
    path(plane, total, curve([*line, (-20.0, tip)]), 1.0, 0.9)


def _chest_tube(plane: Plane, total: Floats, scene: Scene, sight: Sight) -> None:
    for side in sides(sight):
        sign, wall = SIGN[side], scene.build.half_width
        for number in range(sight.count):
            low = 252.0 - 34.0 * number
            line = curve(
                [
                    (sign * 199.0, low + 14),
                    (sign * (wall - 4), low - 6),
                    (sign * (wall - 30), low - 40),
                    (sign * (wall - 44 - 4 * number), low - 82),
                    (sign * (wall - 60 - 2 * number), low - 116),
                ]
            )
            for offset, gain in ((-3.4, 0.07), (3.4, 0.07), (0.0, 0.42)):
                path(plane, total, [(x + offset, y) for x, y in line], 1.0, gain)


def _pacemaker(plane: Plane, total: Floats, scene: Scene, sight: Sight) -> None:
    sign = SIGN[sight.side]
    ellipsoid(plane, total, (sign * 112.0, 104.0), (24.0, 21.0, 2.4))
    ellipsoid(plane, total, (sign * 112.0, 106.0), (13.0, 10.0, 1.3))
    ellipsoid(plane, total, (sign * 104.0, 83.0), (10.0, 5.0, 0.7))
    base = scene.build.dome + scene.breath
    entry: list[Point] = [(sign * 100.0, 82.0), (sign * 70.0, 70.0), (sign * 34.0, 84.0)]
    entry += [(-14.0, 104.0)] if sign > 0 else [(-22.0, 104.0)]
    ends: tuple[list[Point], ...] = (
        [(-20.0, 150.0), (-24.0, 204.0), (6.0, base - 26), (40.0, base - 22)],
        [(-18.0, 150.0), (-27.0, 196.0), (-38.0, 190.0), (-34.0, 176.0)],
    )
    for number in range(min(sight.count, 2)):
        moved = [(x + 2.6 * number, y + 3.0 * number) for x, y in entry]
        path(plane, total, curve([*moved, *ends[number]]), 0.95, 0.8)


def _balloon_pump(plane: Plane, total: Floats, scene: Scene, sight: Sight) -> None:
    tip = PUMP_TIPS[sight.place]
    path(plane, total, [(21.0, tip), (20.0, tip + 60), (18.0, 399.0)], 0.8, 0.16)
    tube(plane, total, (21.0, tip), (21.0, tip + 5.0), 1.7, gain=0.9)


def _wires(plane: Plane, total: Floats, scene: Scene, sight: Sight) -> None:
    for number in range(6):
        y = 98.0 + 24.0 * number
        gap = 11.0 if sight.place == "disrupted" and number in (2, 3) else 0.0
        ring: Sequence[Point] = [
            (-7.0, y), (-4.0, y - 5), (3.0, y - 5.5), (7.0, y - 1), (4.0, y + 4), (-3.0, y + 5),
        ]  # fmt: skip
        if gap:
            path(plane, total, curve([(x - gap, v - 2) for x, v in ring[:3]]), 0.95, 1.0)
            path(plane, total, curve([(x + gap, v + 5) for x, v in ring[3:]]), 0.95, 1.0)
        else:
            path(plane, total, curve([*ring, ring[0]]), 0.95, 1.0)


def _clips(plane: Plane, total: Floats, scene: Scene, sight: Sight) -> None:
    sign = SIGN[sight.side]
    spots = ((150, 118), (158, 131), (147, 140), (163, 148), (154, 158))
    for number, (x, y) in enumerate(spots):
        tilt = (-1) ** number * 2.4
        tube(plane, total, (sign * x, y - 3.0), (sign * x + tilt, y + 3.0), 1.0, gain=0.6)


_DRAWERS = {
    "endotracheal_tube": _endotracheal,
    "enteric_tube": _enteric,
    "central_line": _central_line,
    "picc": _picc,
    "chest_tube": _chest_tube,
    "pacemaker": _pacemaker,
    "balloon_pump": _balloon_pump,
    "sternal_wires": _wires,
    "clips": _clips,
}
