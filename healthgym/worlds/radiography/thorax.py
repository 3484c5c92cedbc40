"""Lungs, heart, great vessels, diaphragm and soft tissue, as lengths of rays from the front."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import numpy as np

from healthgym.worlds.radiography.plane import FIELD, Floats, Plane, ellipsoid, tube, tubes
from healthgym.worlds.radiography.scene import Scene

#: Side of the picture: the patient's right is on the left.
SIGN = {"right": -1.0, "left": 1.0}
#: The carina, and how far the lungs reach below the domes at the sides.
CARINA, RECESS = 138.0, 42.0


@dataclass(frozen=True)
class LungShape:
    """Outline of one lung, row by row.

    Attributes:
        scene: Whose lung.
        side: ``"left"`` or ``"right"``.
    """

    scene: Scene
    side: str

    @property
    def sign(self) -> float:
        """-1 for the right lung, on the left of the picture."""
        return SIGN[self.side]

    @property
    def dome(self) -> float:
        """Height of this side's dome of the diaphragm."""
        scene = self.scene
        raised = sum(38.0 for sight in scene.find("elevation") if sight.side == self.side)
        return scene.build.dome + scene.breath + (12.0 if self.side == "left" else 0.0) - raised

    def edges(self, y: Floats, inset: float = 0.0) -> tuple[Floats, Floats]:
        """Return the outer and inner distance from the midline at each height.

        Args:
            y: Heights.
            inset: How far the lung has come off the chest wall.
        """
        build = self.scene.build
        down = np.maximum((y - np.float32(build.apex + inset)) / np.float32(95), 0)
        dome = np.sqrt(np.maximum(1 - (1 - np.minimum(down, 1)) ** 2, 0))
        long = np.clip((y - np.float32(build.apex)) / np.float32(190), 0, 1)
        wide = np.float32(build.half_width - 96) * np.sin(long * np.float32(np.pi / 2))
        start = np.float32(50.0)
        outer = start + (np.float32(46) + wide) * dome - np.float32(inset)
        inner = start - np.float32(44) * dome
        return np.maximum(outer, inner).astype(np.float32), inner.astype(np.float32)

    def floor(self, plane: Plane) -> Floats:
        """Return the height of the diaphragm at each column."""
        wall = np.float32(self.scene.build.half_width)
        out = np.abs(plane.x) / wall
        away = out - np.float32(0.5)
        flat = 0.45 if self.scene.breath > 14 else 1.0
        lateral = np.float32(RECESS * flat + 8) * np.clip(away / np.float32(0.5), 0, None) ** 2.3
        medial = np.float32(14 * flat) * np.clip(-away / np.float32(0.4), 0, None) ** 2
        return (np.float32(self.dome) + lateral + medial).astype(np.float32)

    def depth(self, plane: Plane, inset: float = 0.0) -> Floats:
        """Return the length of the rays in the lung, above the diaphragm and behind it."""
        outer, inner = self.edges(plane.y, inset)
        # Each lung lies on its side of the midline: the other half of the plane is left out.
        middle = int(np.searchsorted(plane.x[0], 0))
        columns = slice(middle, None) if self.sign > 0 else slice(0, middle)
        out = plane.x[:, columns] * np.float32(self.sign)
        centre, half = (outer + inner) / 2, np.maximum((outer - inner) / 2, np.float32(0.01))
        reach = np.abs(out - centre)
        reach /= half
        build = self.scene.build
        down = np.clip((plane.y - np.float32(build.apex)) / np.float32(200), 0, 1)
        thick = np.float32(70) + np.float32(105) * down**0.7
        chord = np.sqrt(reach)
        chord *= reach
        chord *= reach
        np.subtract(1, chord, out=chord)
        np.sqrt(np.maximum(chord, 0, out=chord), out=chord)
        chord *= thick
        floor = self.floor(plane)[:, columns]
        foot = slice(int(np.clip(float(floor.min()) / plane.pitch - 1, 0, plane.size)), None)
        below = plane.y[foot] - floor
        behind = np.float32(0.26) * np.maximum(1 - below / np.float32(50), 0)
        np.multiply(chord[foot], behind, out=chord[foot], where=below > 0)
        depth = plane.zeros()
        depth[:, columns] = chord
        return depth


def body(plane: Plane, scene: Scene) -> Floats:
    """Return the length of the rays in the whole body: trunk, shoulders, neck, breasts."""
    build = scene.build
    x, y = np.abs(plane.x), plane.y
    low = np.clip((y - 60) / np.float32(90), 0, 1)
    half = np.float32(build.half_width + 22 + build.fat) + np.float32(60) * (1 - low) ** 2
    thick = np.float32(150) + np.float32(70) * np.clip((y - 30) / np.float32(170), 0, 1) ** 0.8
    out = np.minimum(x / half, 1)
    out *= out
    trunk = out * out
    trunk *= out
    np.subtract(1, trunk, out=trunk)
    # The line of the shoulders: above it there is the neck only.
    shoulder = np.float32(26) + np.float32(0.22) * np.maximum(x - 62, 0)
    over = (y - shoulder) / np.float32(26)
    trunk *= np.clip(over, 0, 1, out=over)
    np.sqrt(trunk, out=trunk)
    trunk *= thick + np.float32(1.3 * build.fat)
    neck = np.float32(118) * np.sqrt(np.maximum(1 - (x / np.float32(60)) ** 2, 0))
    total = np.maximum(trunk, neck, out=trunk)
    if build.breasts:
        for sign in (-1, 1):
            _breast(plane, total, (sign * 86.0, 244.0), build.breasts)
    uneven = plane.clouds(build.seed + 11, 46.0, 2)
    uneven *= np.float32(0.03)
    uneven += 1
    uneven *= total
    return uneven


def _breast(plane: Plane, total: Floats, centre: tuple[float, float], thick: float) -> None:
    """Add a breast: no edge above, a soft one below."""
    x, y = centre
    window = plane.window(x - 66, y - 62 / 0.62, x + 66, y + 62 / 1.05)
    if window is None:
        return
    u = (plane.x[:, window[1]] - np.float32(x)) / np.float32(66)
    v = (plane.y[window[0]] - np.float32(y)) / np.float32(62)
    v = np.where(v < 0, v * np.float32(0.62), v * np.float32(1.05))
    inside = np.maximum((1 - v * v) - u * u, 0)
    root = np.sqrt(inside)
    inside *= np.sqrt(root, out=root)
    inside *= np.float32(1.6 * thick)
    total[window] += inside


def heart(plane: Plane, scene: Scene) -> Floats:
    """Return the length of the rays in the heart; its width is the scene's ratio."""
    total = plane.zeros()
    width = 2 * scene.build.half_width * scene.ratio
    left, right = 0.66 * width, 0.34 * width
    base = scene.build.dome + scene.breath
    tall = 46 + 0.20 * width
    turn = 0.62
    long = left * 0.72
    short = 0.36 * tall + 0.10 * width
    reach = float(np.hypot(long * np.cos(turn), short * np.sin(turn)))
    y = base - 0.40 * tall - 8
    ellipsoid(plane, total, (left - reach, y), (long, short, 46 + 0.1 * width), turn=turn)
    right_reach = 0.62 * right + 12
    ellipsoid(
        plane, total, (-right + right_reach, y - 12), (right_reach, 0.62 * tall, 44.0), merge=True
    )
    ellipsoid(plane, total, (10.0, y - 0.52 * tall), (34 + 0.05 * width, 44.0, 40.0), merge=True)
    return total


def mediastinum(plane: Plane, scene: Scene) -> Floats:
    """Return the length of the rays in spine, great vessels and what lies between the lungs."""
    total = plane.zeros()
    build = scene.build
    knob = 15.5 + 0.04 * build.age
    y = plane.y
    narrow = np.clip((y - np.float32(60)) / np.float32(70), 0, 1)
    wide = np.float32(29) - np.float32(9) * narrow
    window = plane.window(-30.0, 0.0, 30.0, FIELD)
    if window is not None:
        out = plane.x[:, window[1]] / wide
        total[window] += np.float32(120) * np.maximum(1 - out * out, 0) ** np.float32(0.7)
    tube(plane, total, (-13.0, 66.0), (-14.0, 205.0), 13.5, gain=1.9)
    tube(plane, total, (-6.0, 128.0), (-12.0, 196.0), 20.0, gain=1.1)
    ellipsoid(plane, total, (20.0, 121.0), (knob, knob + 1, 26.0), merge=True)
    ellipsoid(plane, total, (21.0, 152.0), (19.0, 17.0, 30.0), merge=True)
    tube(plane, total, (18.0, 128.0), (17.0, 320.0), 12.5, gain=1.0)
    return total


def airways(plane: Plane, total: Floats, scene: Scene) -> None:
    """Add what the air of trachea and main bronchi takes from the rays, as soft tissue."""
    lean, gain = -1.5, 1.5
    tube(plane, total, (0.0, 0.0), (lean, CARINA - 4), 8.6, gain=gain)
    bronchi = [
        (lean, CARINA - 4, -27.0, CARINA + 27, 6.8),
        (lean, CARINA - 4, 36.0, CARINA + 25, 6.2),
    ]
    tubes(plane, total, bronchi, gain=gain, taper=0.75)


def vessel_tree(scene: Scene, side: str) -> list[tuple[float, float, float, float, float]]:
    """Return the pulmonary vessels of a lung as tubes (x0, y0, x1, y1, radius), hilum first."""
    rng = np.random.Generator(np.random.PCG64([scene.build.seed, 5, int(side == "left")]))
    sign = SIGN[side]
    hilum = (sign * 33.0, 163.0 if side == "right" else 154.0)
    base = scene.build.dome + scene.breath
    grown: list[tuple[float, float, float, float, float]] = []
    angles = [math.radians(angle) for angle in (-78, -52, -25, 0, 24, 46, 62, 74, 84)]
    # Plain draws, scaled here: a call of `uniform` takes five times as long as one of `random`.
    normal, random = rng.standard_normal, rng.random
    queue = deque(
        (hilum[0], hilum[1], angle + 0.09 * normal(), 3.4 + 2.0 * random()) for angle in angles
    )
    while queue:
        x, y, angle, radius = queue.popleft()
        length = (13 + 11 * random()) * (1.15 if math.sin(angle) > 0.3 else 0.9)
        nx = x + sign * length * math.cos(angle)
        ny = y + length * math.sin(angle)
        grown.append((x, y, nx, ny, radius))
        x, y, radius = nx, ny, radius * 0.88
        angle += 0.14 * normal()
        out = abs(x) / scene.build.half_width
        if radius < 0.72 or out > 0.93 or y < scene.build.apex + 8 or y > base + 34:
            continue
        spread = 0.25 + 0.37 * random()
        queue.append((x, y, angle + 0.45 * spread, radius * 0.84))
        if len(grown) < 90:
            queue.append((x, y, angle - spread, radius * (0.5 + 0.22 * random())))
    return grown


def vessels(plane: Plane, total: Floats, scene: Scene) -> None:
    """Add the length of the rays in hila and pulmonary vessels."""
    for side, sign in SIGN.items():
        y = 164.0 if side == "right" else 155.0
        ellipsoid(plane, total, (sign * 33, y), (11.0, 21.0, 8.0), turn=sign * 0.35)
        ellipsoid(plane, total, (sign * 36, y + 26), (6.5, 24.0, 6.5), turn=sign * -0.18)
        tubes(plane, total, vessel_tree(scene, side), taper=0.88, gain=1.5)


def texture(plane: Plane, scene: Scene) -> Floats:
    """Return the grain of lung tissue, about -1 to 1."""
    grain = plane.noise(scene.build.seed + 3, 7.0)
    grain *= np.float32(0.8)
    fine = plane.noise(scene.build.seed + 4, 2.6)
    fine *= np.float32(0.9)
    grain += fine
    return grain
