"""Lungs, heart, great vessels, diaphragm and soft tissue, as lengths of rays from the front."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from healthgym.worlds.imaging.noise import fractal_noise, grid_noise
from healthgym.worlds.radiography.plane import Floats, Plane, ellipsoid, tube
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
        reach = np.abs(out - centre) / half
        build = self.scene.build
        down = np.clip((plane.y - np.float32(build.apex)) / np.float32(200), 0, 1)
        thick = np.float32(70) + np.float32(105) * down**0.7
        chord = thick * np.sqrt(np.maximum(1 - reach * reach * np.sqrt(reach), 0))
        below = np.maximum(plane.y - self.floor(plane)[:, columns], 0)
        behind = np.float32(0.26) * np.maximum(1 - below / np.float32(50), 0)
        depth = plane.zeros()
        depth[:, columns] = np.where(below > 0, chord * behind, chord)
        return depth


def body(plane: Plane, scene: Scene) -> Floats:
    """Return the length of the rays in the whole body: trunk, shoulders, neck, breasts."""
    build = scene.build
    x, y = np.abs(plane.x), plane.y
    low = np.clip((y - 60) / np.float32(90), 0, 1)
    half = np.float32(build.half_width + 22 + build.fat) + np.float32(60) * (1 - low) ** 2
    thick = np.float32(150) + np.float32(70) * np.clip((y - 30) / np.float32(170), 0, 1) ** 0.8
    out = np.minimum(x / half, 1) ** 2
    trunk = (thick + np.float32(1.3 * build.fat)) * np.sqrt(np.maximum(1 - out * out * out, 0))
    # The line of the shoulders: above it there is the neck only.
    shoulder = np.float32(26) + np.float32(0.22) * np.maximum(x - 62, 0)
    over = np.clip((y - shoulder) / np.float32(26), 0, 1)
    neck = np.float32(118) * np.sqrt(np.maximum(1 - (x / np.float32(60)) ** 2, 0))
    total = np.maximum(trunk * np.sqrt(over), neck)
    if build.breasts:
        for sign in (-1, 1):
            _breast(plane, total, (sign * 86.0, 244.0), build.breasts)
    soft = fractal_noise(build.seed + 11, [plane.y[:, 0], plane.x[0]], 46.0, 2)
    uneven: Floats = total * (1 + np.float32(0.03) * soft)
    return uneven


def _breast(plane: Plane, total: Floats, centre: tuple[float, float], thick: float) -> None:
    """Add a breast: no edge above, a soft one below."""
    u = (plane.x - np.float32(centre[0])) / np.float32(66)
    v = (plane.y - np.float32(centre[1])) / np.float32(62)
    v = np.where(v < 0, v * np.float32(0.62), v * np.float32(1.05))
    inside = np.maximum(1 - u * u - v * v, 0)
    total += np.float32(1.6 * thick) * inside * np.sqrt(np.sqrt(inside))


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
    total += np.float32(120) * np.maximum(1 - (plane.x / wide) ** 2, 0) ** np.float32(0.7)
    tube(plane, total, (-13.0, 66.0), (-14.0, 205.0), 13.5, gain=1.9)
    tube(plane, total, (-6.0, 128.0), (-12.0, 196.0), 20.0, gain=1.1)
    ellipsoid(plane, total, (20.0, 121.0), (knob, knob + 1, 26.0), merge=True)
    ellipsoid(plane, total, (21.0, 152.0), (19.0, 17.0, 30.0), merge=True)
    tube(plane, total, (18.0, 128.0), (17.0, 320.0), 12.5, gain=1.0)
    return total


def airways(plane: Plane, scene: Scene) -> Floats:
    """Return the length of the rays in the air of trachea and main bronchi."""
    total = plane.zeros()
    lean = -1.5
    tube(plane, total, (0.0, 0.0), (lean, CARINA - 4), 8.6)
    tube(plane, total, (lean, CARINA - 4), (-27.0, CARINA + 27), 6.8, taper=0.75)
    tube(plane, total, (lean, CARINA - 4), (36.0, CARINA + 25), 6.2, taper=0.75)
    return total


def vessel_tree(scene: Scene, side: str) -> list[tuple[float, float, float, float, float]]:
    """Return the pulmonary vessels of a lung as tubes (x0, y0, x1, y1, radius), hilum first."""
    rng = np.random.Generator(np.random.PCG64([scene.build.seed, 5, int(side == "left")]))
    sign = SIGN[side]
    hilum = (sign * 33.0, 163.0 if side == "right" else 154.0)
    base = scene.build.dome + scene.breath
    grown: list[tuple[float, float, float, float, float]] = []
    angles = np.deg2rad([-78, -52, -25, 0, 24, 46, 62, 74, 84])
    queue = [
        (hilum[0], hilum[1], float(a + rng.normal(0, 0.09)), float(rng.uniform(3.4, 5.4)), 0)
        for a in angles
    ]
    while queue:
        x, y, angle, radius, age = queue.pop(0)
        length = float(rng.uniform(13, 24)) * (1.15 if np.sin(angle) > 0.3 else 0.9)
        nx = x + sign * length * float(np.cos(angle))
        ny = y + length * float(np.sin(angle))
        grown.append((x, y, nx, ny, radius))
        x, y, radius = nx, ny, radius * 0.88
        angle += float(rng.normal(0, 0.14))
        out = abs(x) / scene.build.half_width
        if radius < 0.72 or out > 0.93 or y < scene.build.apex + 8 or y > base + 34:
            continue
        spread = float(rng.uniform(0.25, 0.62))
        queue.append((x, y, angle + 0.45 * spread, radius * 0.84, age + 1))
        if len(grown) < 90:
            queue.append((x, y, angle - spread, radius * float(rng.uniform(0.5, 0.72)), age + 1))
    return grown


def vessels(plane: Plane, scene: Scene) -> Floats:
    """Return the length of the rays in hila and pulmonary vessels."""
    total = plane.zeros()
    for side, sign in SIGN.items():
        y = 164.0 if side == "right" else 155.0
        ellipsoid(plane, total, (sign * 33, y), (11.0, 21.0, 8.0), turn=sign * 0.35)
        ellipsoid(plane, total, (sign * 36, y + 26), (6.5, 24.0, 6.5), turn=sign * -0.18)
        for x0, y0, x1, y1, radius in vessel_tree(scene, side):
            tube(plane, total, (x0, y0), (x1, y1), radius, taper=0.88, gain=1.5)
    return total


def texture(plane: Plane, scene: Scene) -> Floats:
    """Return the grain of lung tissue, about -1 to 1."""
    axes = [plane.y[:, 0], plane.x[0]]
    coarse = grid_noise(scene.build.seed + 3, axes, 7.0)
    fine = grid_noise(scene.build.seed + 4, axes, 2.6)
    return np.float32(0.8) * coarse + np.float32(0.9) * fine
