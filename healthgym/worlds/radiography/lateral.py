"""The lateral view of a scene: the same bodies, seen from the side.

The patient faces the left of the picture. Across runs from the front (negative) to the back.
"""

from __future__ import annotations

import numpy as np

from healthgym.worlds.imaging.raster import Image
from healthgym.worlds.radiography.detector import LUNG, radiograph
from healthgym.worlds.radiography.devices import LINE_TIPS, TUBE_TIPS
from healthgym.worlds.radiography.lesions import zone_centre
from healthgym.worlds.radiography.plane import Floats, Plane, curve, ellipsoid, path, tube, tubes
from healthgym.worlds.radiography.scene import Scene
from healthgym.worlds.radiography.skeleton import rib_height, rib_reach, trabeculae
from healthgym.worlds.radiography.thorax import CARINA, SIGN, LungShape, texture

_FRONT, _BACK, _SPINE = -96.0, 98.0, 72.0


def render_lateral(scene: Scene, size: int) -> Image:
    """Return the lateral radiograph of a scene.

    Args:
        scene: The scene.
        size: Pixels on a side.

    Returns:
        Shape (size, size), uint8. The front of the patient is on the left.
    """
    plane = Plane(size, scene.shift)
    soft = _trunk(plane, scene)
    aerated = plane.zeros()
    for side in SIGN:
        _lung(plane, aerated, scene, side)
    aerated -= _heart(plane, scene)
    aerated -= _filled(plane, scene)
    np.maximum(aerated, 0, out=aerated)
    # The share of it that is air: 1 - LUNG (1 + 0.10 texture).
    grain = texture(plane, scene)
    grain *= np.float32(-0.10 * LUNG)
    grain += np.float32(1 - LUNG)
    aerated *= grain
    soft -= aerated
    tube(plane, soft, (-4.0, 0.0), (16.0, CARINA + 18), 8.4, gain=-1.3)
    return radiograph(plane, soft, _bones(plane, scene), _metal(plane, scene), scene.exposure + 1)


def _trunk(plane: Plane, scene: Scene) -> Floats:
    fat = scene.build.fat
    y = plane.y
    full = np.clip((y - 20) / np.float32(120), 0, 1) ** 0.7
    front = np.float32(_FRONT - 8 - 0.8 * fat) * (np.float32(0.45) + np.float32(0.55) * full)
    back = np.float32(_BACK + 12 + 0.8 * fat) * (np.float32(0.75) + np.float32(0.25) * full)
    middle, half = (front + back) / 2, (back - front) / 2
    reach = np.abs(plane.x - middle)
    reach /= half
    square = np.minimum(reach, 1, out=reach) ** 2
    reach *= square
    reach *= square
    # The chest has flat sides, the neck is round.
    total: Floats = np.sqrt(np.subtract(1, reach, out=reach), out=reach)
    total *= np.float32(170 + 1.2 * fat) * full
    neck = slice(0, int(np.count_nonzero(full < 1)))
    round_ = np.sqrt(1 - square[neck])
    round_ *= np.float32(100) * (1 - full[neck])
    total[neck] += round_
    across = np.exp(-(((plane.x - 5) / 62) ** 2))
    total += np.float32(62) * np.exp(-(((y - 62) / np.float32(40)) ** 2)) * across
    if scene.build.breasts:
        ellipsoid(plane, total, (_FRONT - 10.0, 246.0), (34.0, 44.0, 1.1 * scene.build.breasts))
    return total


def _lung(plane: Plane, total: Floats, scene: Scene, side: str) -> None:
    """Add the length of the rays in one lung."""
    build, shape = scene.build, LungShape(scene, side)
    window = plane.window(_FRONT + 8, build.apex, _BACK - 6, shape.dome + 80)
    if window is None:
        return
    x, y = plane.x[:, window[1]], plane.y[window[0]]
    down = np.clip((y - np.float32(build.apex)) / np.float32(120), 0, 1)
    dome = np.sqrt(np.maximum(1 - (1 - down) ** 2, 0))
    front = np.float32(10) + np.float32(_FRONT - 2) * dome
    back = np.float32(16) + np.float32(_BACK - 22) * dome
    half = np.maximum((back - front) / 2, np.float32(0.1))
    reach = np.abs(x - (front + back) / 2)
    reach /= half
    np.minimum(reach, 1, out=reach)
    # To the power of 2 5/8: square roots are fast, and the same on every machine.
    root = np.sqrt(reach)
    depth = reach * reach
    depth *= root
    depth *= np.sqrt(np.sqrt(root, out=root), out=root)
    np.sqrt(np.subtract(1, depth, out=depth), out=depth)
    depth *= np.float32(0.62 * build.half_width) * dome
    # High in front of the middle, deep at the back.
    across = (x - np.float32(-16)) / np.float32(100)
    floor = np.float32(shape.dome) + np.where(across > 0, 66 * across**2, 26 * across**2)
    depth *= y <= floor
    for sight in scene.find("effusion"):
        if sight.on(side):
            top = np.float32(shape.dome + 62 - 34 - 112 * sight.amount)
            depth *= 1 - np.clip((y - top - 14 * np.abs(across)) / 16, 0, 1)
    total[window] += depth


def _heart(plane: Plane, scene: Scene) -> Floats:
    total = plane.zeros()
    base = scene.build.dome + scene.breath
    size = 2 * scene.build.half_width * scene.ratio
    ellipsoid(plane, total, (-34.0, base - 44), (0.36 * size, 50.0, 0.30 * size), turn=0.55)
    tube(plane, total, (-30.0, base - 90), (2.0, 116.0), 17.0, gain=1.2)
    tube(plane, total, (30.0, 118.0), (58.0, 330.0), 13.0, gain=0.9)
    ellipsoid(plane, total, (8.0, 152.0), (17.0, 20.0, 22.0))
    return total


def _filled(plane: Plane, scene: Scene) -> Floats:
    total = plane.zeros()
    for number, sight in enumerate(scene.sights):
        if sight.kind in ("opacity", "consolidation", "atelectasis"):
            side = "right" if sight.side == "bilateral" else sight.side
            _, y = zone_centre(scene, side, sight.place)
            size = 24.0 + 14.0 * sight.amount
            at = {"upper": 14.0, "mid": 4.0, "lower": 34.0}[sight.place]
            window = plane.window(at - size, y - size, at + size, y + size)
            if window is None:
                continue
            part = plane.zeros()
            ellipsoid(plane, part, (at, y), (size, 0.8 * size, 12 + 30 * sight.amount))
            rough = plane.clouds(scene.build.seed + number, 18.0, 3, window=window)
            total[window] += part[window] * (1 + np.float32(0.8) * rough)
        elif sight.kind == "edema":
            across = np.exp(-(((plane.x - 6) / 52) ** 2))
            down = np.exp(-(((plane.y - 180) / np.float32(64)) ** 2))
            total += np.float32(80 * sight.amount) * down * across
        elif sight.kind == "nodule":
            _, y = zone_centre(scene, sight.side, sight.place)
            for place in range(sight.count):
                ellipsoid(plane, total, (-8.0 + 20 * place, y + 11 * place), (6.5, 6.5, 9.0))
    return total


def _bones(plane: Plane, scene: Scene) -> Floats:
    total, processes = plane.zeros(), []
    for level in range(17):
        top = 12.0 + 23.5 * level
        bend = _SPINE + 9.0 * float(np.sin(top / 400 * np.pi)) - 8
        window = plane.window(bend - 17, top, bend + 17, top + 19)
        if window is None:
            continue
        x = np.abs(plane.x[:, window[1]] - np.float32(bend)) / np.float32(15)
        y = np.abs(plane.y[window[0]] - np.float32(top + 9.5)) / np.float32(9)
        inside = np.clip((1 - np.maximum(x, y)) * 9, 0, 1)
        rim = np.clip(np.maximum(x, y) * 8 - 6.6, 0, 1)
        total[window] += inside * (np.float32(9) + np.float32(9) * rim)
        processes.append((bend + 16, top + 10, bend + 34, top + 22, 3.6))
    tubes(plane, total, processes, gain=0.8)
    for number in range(10):
        reach = rib_reach(scene, number)
        half = 0.66 * reach
        angles = np.linspace(0.35, 2.5, 14)
        for offset in (0.0, 5.0):
            heights = rib_height(scene, number, angles.astype(np.float32))
            line = [
                (float(6 + half * np.cos(a)), float(h) + offset)
                for a, h in zip(angles, heights, strict=True)
            ]
            path(plane, total, curve(line, 3), 4.6, 0.36, core=(3.4, -0.2))
    path(plane, total, curve([(-70.0, 86.0), (-88.0, 130.0), (-96.0, 232.0)]), 5.5, 0.8)
    total *= trabeculae(plane, scene)
    return total


def _metal(plane: Plane, scene: Scene) -> Floats:
    total = plane.zeros()
    dome = LungShape(scene, "left").dome
    for sight in scene.sights:
        if sight.kind == "endotracheal_tube":
            tip = CARINA - TUBE_TIPS[sight.place]
            path(plane, total, [(-3.0, 0.0), (14.0, tip)], 1.0, 0.36)
        elif sight.kind == "enteric_tube":
            stomach = [(30.0, 190.0), (24.0, dome), (2.0, dome + 52)]
            end = stomach if sight.place == "stomach" else [(28.0, 196.0)]
            path(plane, total, curve([(14.0, 0.0), (26.0, 110.0), *end]), 1.3, 0.4)
        elif sight.kind in ("central_line", "picc"):
            tip = LINE_TIPS[sight.place]
            path(plane, total, curve([(-8.0, 60.0), (-14.0, 100.0), (-12.0, tip)]), 1.1, 0.42)
        elif sight.kind == "pacemaker":
            ellipsoid(plane, total, (-98.0, 104.0), (5.0, 22.0, 3.0))
            path(plane, total, curve([(-92.0, 88.0), (-20.0, 90.0), (-50.0, dome - 30)]), 1.0, 0.5)
        elif sight.kind == "sternal_wires":
            for number in range(6):
                y = 98.0 + 24 * number
                tube(plane, total, (-84 - 2.0 * number, y), (-76 - 2.0 * number, y + 3), 0.9)
    return total
