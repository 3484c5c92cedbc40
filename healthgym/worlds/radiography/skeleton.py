"""Ribs, clavicles, scapulae and spine, as lengths of rays in bone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from healthgym.worlds.radiography.plane import (
    Floats,
    Plane,
    curve,
    ellipsoid,
    path,
    spread,
    tube,
    tubes,
)
from healthgym.worlds.radiography.scene import Scene
from healthgym.worlds.radiography.thorax import SIGN

_RIBS = 10
_FIRST, _SPACING = 42.0, 25.5


def rib_reach(scene: Scene, number: int) -> float:
    """Return how far rib ``number``, counted from 0, reaches from the midline."""
    full = scene.build.half_width + 3.0
    return float(full * np.sqrt(1 - (1 - min((number + 2.1) / 8.5, 1.0)) ** 2))


def rib_height(scene: Scene, number: int, angle: Floats | float) -> Floats:
    """Return the height of a rib at an angle around the body: 0 at the back, pi in front."""
    start = _FIRST + _SPACING * number
    drop = scene.build.ribs * (0.55 + 0.05 * number)
    turned = np.asarray(angle, np.float32)
    arch = np.float32(9) * np.sin(np.minimum(turned, np.float32(np.pi / 2)) * 2)
    fall = np.float32(drop) * (1 - np.cos(turned)) / 2
    height: Floats = (np.float32(start) + fall - arch).astype(np.float32)
    return height


def fracture_site(scene: Scene, side: str) -> tuple[int, float]:
    """Return the rib and the distance from the midline at which a fracture is."""
    number = 5 + scene.build.seed % 2
    return number, SIGN[side] * 0.80 * rib_reach(scene, number)


def ribs(plane: Plane, scene: Scene) -> Floats:
    """Return the length of the rays in the ribs."""
    total = plane.zeros()
    broken = {sight.side: fracture_site(scene, sight.side) for sight in scene.find("fracture")}
    limbs = []
    for number in range(_RIBS):
        for side, sign in SIGN.items():
            site = broken.get(side)
            gap = site[1] * sign if site is not None and site[0] == number else 0.0
            limbs.append(_limb(plane, scene, number, sign, gap, front=False))
            if number < 8:
                limbs.append(_limb(plane, scene, number, sign, 0.0, front=True))
    column, height, half, weight = (
        np.concatenate([limb[k] for limb in limbs if limb is not None]) for k in range(4)
    )
    # Each column of each limb is a short run of pixels above and below its middle line.
    first = np.clip((height - half) / plane.pitch - 0.5, 0, plane.size).astype(np.int64)
    last = np.clip((height + half) / plane.pitch + 0.5, 0, plane.size).astype(np.int64)
    row, run = spread(first, last)
    offset2 = plane.y[row, 0] - height[run]
    offset2 /= half[run]
    offset2 *= offset2
    # Cortex along the edges; the lower edge of a rib is sharper and denser than the upper.
    length = np.sqrt(np.maximum(1 - offset2, 0))
    length *= np.float32(8.6)
    offset2 *= np.float32(1 / 0.80**2)
    hollow = np.sqrt(np.maximum(1 - offset2, 0))
    hollow *= np.float32(4.9)
    length -= hollow
    length *= weight[run]
    row *= plane.size
    row += column[run]
    np.add.at(total.reshape(-1), row, length)
    return total


def _limb(
    plane: Plane, scene: Scene, number: int, sign: float, gap: float, *, front: bool
) -> tuple[NDArray[np.int64], Floats, Floats, Floats] | None:
    """Return one side of a rib, at the back or in front, column by column.

    Returns:
        The columns, and in each the height of the middle line, half of the rib's extent along
        the column, and a factor of the length of the ray; None outside the picture.
    """
    reach = rib_reach(scene, number)
    near = 0.58 * reach if front else 14.0
    ends = sorted((sign * near, sign * reach))
    window = plane.window(ends[0], 30.0, ends[1], 398.0)
    if window is None:
        return None
    out = np.clip(plane.x[0, window[1]] * np.float32(sign / reach), 0, 1)
    angle = np.arcsin(out)
    if front:
        angle = np.float32(np.pi) - angle
    height = rib_height(scene, number, angle)
    slope = np.gradient(height) / plane.pitch if len(height) > 1 else np.zeros_like(height)
    lean = np.sqrt(1 + np.minimum(np.abs(slope), 4.0) ** 2).astype(np.float32)
    # At the very side a rib turns forward; its two limbs meet there instead of running off.
    bone = np.clip((np.float32(1) - out) / np.float32(0.03), 0, 1)
    lean = np.minimum(lean, np.float32(3.0))
    if front:
        bone *= np.clip((out - np.float32(near / reach)) / np.float32(0.1), 0, 1)
    if gap:
        away = out * np.float32(reach) - np.float32(gap)
        height = height + np.where(away > 0, np.float32(7.5), np.float32(-1.0))
        bone *= np.clip(np.abs(away) / np.float32(1.5) - np.float32(0.8), 0, 1)
    half = np.float32((5.4 + 0.12 * number) * (0.86 if front else 1.0)) * lean
    # Rays along the chest wall run in the rib for longer.
    bone *= np.minimum(lean, np.float32(1.8)) * np.float32(0.8 if front else 1.0)
    return np.arange(window[1].start, window[1].stop), height, half, bone


def clavicles(plane: Plane, total: Floats, scene: Scene) -> None:
    """Add the length of the rays in clavicles and shoulders."""
    high = -8.0 if scene.supine else 0.0
    for sign in SIGN.values():
        line = curve(
            [
                (sign * 17.0, 84.0 + high),
                (sign * 50.0, 72.0 + high),
                (sign * 95.0, 64.0 + high * 0.6),
                (sign * 140.0, 50.0),
                (sign * 172.0, 46.0),
            ]
        )
        path(plane, total, line, 6.6, 0.95, core=(4.7, -0.62))
        out = -6.0 if scene.supine else 12.0
        blade = [(141 + out, 74), (124 + out, 120), (132 + out, 176), (146 + out, 200)]
        path(plane, total, curve([(sign * x, float(y)) for x, y in blade]), 2.4, 0.6)
        spine = [(186, 66), (150 + out, 84), (128 + out, 96)]
        path(plane, total, curve([(sign * x, float(y)) for x, y in spine]), 3.4, 0.6)
        ellipsoid(plane, total, (sign * 196, 82), (22.0, 24.0, 9.0))
        ellipsoid(plane, total, (sign * (160 + out), 136), (26.0, 62.0, 1.0), turn=sign * 0.12)


def spine(plane: Plane, total: Floats, scene: Scene) -> None:
    """Add the length of the rays in the vertebrae and the breast bone."""
    processes = []
    for level in range(17):
        top = 8.0 + 23.5 * level
        window = plane.window(-16.0, top, 16.0, top + 20.0)
        if window is None:
            continue
        x, y = plane.x[:, window[1]], plane.y[window[0]] - np.float32(top + 10)
        waist = np.float32(13.5) + np.float32(1.8) * (y / np.float32(10)) ** 2
        inside = np.clip(waist - np.abs(x), 0, 1.2) / np.float32(1.2)
        ends = np.float32(4.5) + np.float32(7) * np.clip(np.abs(y) / 10 - np.float32(0.78), 0, 1)
        total[window] += inside * ends
        for sign in (-1, 1):
            ellipsoid(plane, total, (sign * 9.0, top + 8), (3.2, 4.6, 2.4))
            processes.append((sign * 14.0, top + 8, sign * 29.0, top + 3, 3.6))
        ellipsoid(plane, total, (0.0, top + 17), (2.6, 6.5, 3.0))
    tubes(plane, total, processes, gain=0.35)
    tube(plane, total, (0.0, 86.0), (0.0, 240.0), 15.0, gain=0.10)


def trabeculae(plane: Plane, scene: Scene) -> Floats:
    """Return the mottling of bone, around 1."""
    grain = plane.noise(scene.build.seed + 21, 3.2)
    grain *= np.float32(0.22)
    grain += 1
    return grain


def skeleton(plane: Plane, scene: Scene) -> Floats:
    """Return the length of the rays in bone of all kinds."""
    total = ribs(plane, scene)
    clavicles(plane, total, scene)
    spine(plane, total, scene)
    total *= trabeculae(plane, scene)
    total *= np.float32(1.12 - 0.004 * max(scene.build.age - 45, 0))
    return total
