"""What disease does to the lungs, the pleura and the chest wall, as seen from the front."""

from __future__ import annotations

import numpy as np

from healthgym.worlds.imaging.noise import hash_points, uniform
from healthgym.worlds.radiography.plane import Floats, Plane, curve, ellipsoid, path, tube
from healthgym.worlds.radiography.scene import Scene, Sight
from healthgym.worlds.radiography.thorax import RECESS, SIGN, LungShape

#: Height of a lung's zones between apex and dome, as shares.
ZONES = {"upper": 0.26, "mid": 0.55, "lower": 0.83}
_SIDES = ("right", "left")


def sides(sight: Sight) -> tuple[str, ...]:
    """Return the sides that a sight is on."""
    return tuple(side for side in _SIDES if sight.on(side))


def zone_centre(scene: Scene, side: str, zone: str) -> tuple[float, float]:
    """Return the middle of a zone of a lung."""
    lung = LungShape(scene, side)
    y = scene.build.apex + ZONES[zone] * (lung.dome - scene.build.apex)
    outer, inner = lung.edges(np.array([[y]], np.float32))
    share = {"upper": 0.50, "mid": 0.60, "lower": 0.60}[zone]
    edge = float(inner[0, 0]) + 12
    return lung.sign * (edge + share * (float(outer[0, 0]) - edge)), y


def filled(plane: Plane, scene: Scene, depth: dict[str, Floats]) -> Floats:
    """Return the length of the rays in lung that holds fluid or cells instead of air.

    Args:
        plane: The grid.
        scene: The scene.
        depth: Length of the rays in each lung.
    """
    total = plane.zeros()
    for number, sight in enumerate(scene.sights):
        seed = scene.build.seed + 101 + 13 * number
        if sight.kind in ("opacity", "consolidation"):
            for side in sides(sight):
                _patch(plane, total, scene, sight, side, seed)
        elif sight.kind == "atelectasis":
            for side in sides(sight):
                _bands(plane, total, scene, sight, side, seed)
        elif sight.kind == "edema":
            _edema(plane, total, scene, sight, depth, seed)
        elif sight.kind == "nodule":
            for x, y in nodule_sites(scene, sight):
                radius = 7.5 + 2.5 * sight.amount
                ellipsoid(plane, total, (x, y), (radius, radius * 0.94, 2.4 * radius))
    middle = int(np.searchsorted(plane.x[0], 0))
    for side, length in depth.items():
        columns = slice(0, middle) if side == "right" else slice(middle, None)
        np.minimum(total[:, columns], length[:, columns], out=total[:, columns])
    return total


def _patch(plane: Plane, total: Floats, scene: Scene, sight: Sight, side: str, seed: int) -> None:
    x, y = zone_centre(scene, side, sight.place)
    size = 26.0 + 17.0 * sight.amount
    window = plane.window(x - 2.1 * size, y - 1.9 * size, x + 2.1 * size, y + 1.9 * size)
    if window is None:
        return
    rough = plane.clouds(seed, 24.0, 4, 0.6, window)
    dx, dy = plane.x[:, window[1]] - np.float32(x), plane.y[window[0]] - np.float32(y)
    reach = np.sqrt((dx / np.float32(1.1 * size)) ** 2 + (dy / np.float32(0.9 * size)) ** 2)
    edge = 1.05 - reach + np.float32(0.75) * rough
    dense = sight.kind == "consolidation"
    body = np.clip(edge / np.float32(0.5 if dense else 0.9), 0, 1)
    body = body * body * (3 - 2 * body)
    fluid = np.float32((34.0 if dense else 22.0) + 74.0 * sight.amount) * body
    if dense:
        # Airways that stay open in a filled lung.
        branches = np.abs(plane.clouds(seed + 1, 17.0, 2, window=window))
        open_ = np.clip(1 - branches / np.float32(0.05), 0, 1)
        fluid *= 1 - np.float32(0.30) * open_
        fluid *= 1 + np.float32(0.25) * plane.clouds(seed + 2, 12.0, 3, window=window)
    else:
        fluid *= 1 + np.float32(0.5) * plane.clouds(seed + 2, 9.0, 2, window=window)
    total[window] += fluid


def _bands(plane: Plane, total: Floats, scene: Scene, sight: Sight, side: str, seed: int) -> None:
    x, y = zone_centre(scene, side, sight.place)
    shares = uniform(hash_points(seed, np.arange(24)))
    count = 2 + round(4 * sight.amount)
    for number in range(count):
        up, tilt, long = (float(shares[3 * number + k]) - 0.5 for k in range(3))
        cy = y + 15 * (number - (count - 1) / 2) * (0.6 + 0.4 * up) + 4 * up
        half = 30 + 14 * long + 10 * sight.amount
        sag = 5 * tilt
        line = curve([(x - half, cy - 9 * tilt), (x, cy + sag), (x + half * 0.9, cy + 9 * tilt)])
        thick = 2.3 + 2.6 * sight.amount
        path(plane, total, line, thick, 4.2)
    ellipsoid(plane, total, (x, y), (44.0, 22.0 + 14 * sight.amount, 5 + 19 * sight.amount))


def _edema(
    plane: Plane,
    total: Floats,
    scene: Scene,
    sight: Sight,
    depth: dict[str, Floats],
    seed: int,
) -> None:
    rough = plane.clouds(seed, 30.0, 4, 0.62)
    middle = np.float32(0.5 * (scene.build.apex + scene.build.dome) + 22)
    for side, sign in SIGN.items():
        out = plane.x * np.float32(sign)
        bat = np.exp(
            -(((out - 58) / np.float32(46)) ** 2) - ((plane.y - middle) / np.float32(68)) ** 2
        )
        part = (out > 0) & (depth[side] > 0)
        haze = np.float32(86 * sight.amount) * bat * (1 + np.float32(1.1) * rough)
        base = np.float32(20 * sight.amount) * np.clip((plane.y - 90) / np.float32(120), 0, 1)
        total += np.where(part, np.maximum(haze, 0) + base, np.float32(0)).astype(np.float32)
        _septa(plane, total, scene, side, sight.amount, seed)


def _septa(plane: Plane, total: Floats, scene: Scene, side: str, amount: float, seed: int) -> None:
    """Add Kerley's B lines: short, level, at the chest wall of the lower lung."""
    lung = LungShape(scene, side)
    shares = uniform(hash_points(seed + int(side == "left"), np.arange(60)))
    for number in range(round(8 + 14 * amount)):
        y = lung.dome - 84 + 92 * float(shares[2 * number])
        outer = float(lung.edges(np.array([[y]], np.float32))[0][0, 0])
        long = 9 + 9 * float(shares[2 * number + 1])
        ends = (lung.sign * (outer - 1), y), (lung.sign * (outer - 1 - long), y + 1.5)
        tube(plane, total, ends[0], ends[1], 0.8, gain=5.0 + 6 * amount)


def nodule_sites(scene: Scene, sight: Sight) -> list[tuple[float, float]]:
    """Return the middles of the nodules of a sight, well apart from each other."""
    x, y = zone_centre(scene, sight.side, sight.place)
    sign = SIGN[sight.side]
    spots = [(0.0, 0.0), (25.0, 15.0), (-20.0, 21.0), (12.0, -22.0)]
    turn = 1.0 if scene.build.seed % 3 else -1.0
    return [(x + sign * dx * 0.9, y + turn * dy) for dx, dy in spots[: sight.count]]


def drain(
    plane: Plane, scene: Scene, side: str, depth: Floats
) -> tuple[Floats, Floats | None, Floats | None]:
    """Apply what lies in a pleural space to a lung.

    Args:
        plane: The grid.
        scene: The scene.
        side: The side.
        depth: Length of the rays in the expanded lung.

    Returns:
        The length of the rays in lung, in free air, and in the visceral pleura seen edge on; the
        latter two are None where there is no air.
    """
    lung = depth
    air: Floats | None = None
    line: Floats | None = None
    for sight in scene.find("pneumothorax"):
        if not sight.on(side):
            continue
        inset = 9.0 + 36.0 * sight.amount
        shape = LungShape(scene, side)
        # Mostly at the apex and the side; the base stays out where the patient stands.
        collapsed = np.minimum(shape.depth(plane, inset), lung)
        if not lung.any():
            continue
        air = np.where(collapsed > 0, np.float32(0), lung)
        edge = (collapsed > 0).astype(np.float32)
        thick = max(round(1.3 / plane.pitch), 1)
        line = _rim(edge, thick) * np.float32(15.0) * (lung > 0)
        lung = collapsed
    for sight in scene.find("effusion"):
        if sight.on(side):
            keep = 1 - _meniscus(plane, scene, side, sight.amount)
            lung = lung * keep
            air = None if air is None else air * keep
            line = None if line is None else line * keep
    return lung, air, line


def _rim(mask: Floats, thick: int) -> Floats:
    """Return 1 in a band inside the border of a mask, except along its foot."""
    inner = mask.copy()
    for step in range(1, thick + 1):
        inner[:, step:] = np.minimum(inner[:, step:], mask[:, :-step])
        inner[:, :-step] = np.minimum(inner[:, :-step], mask[:, step:])
        inner[step:] = np.minimum(inner[step:], mask[:-step])
    return mask - inner


def _meniscus(plane: Plane, scene: Scene, side: str, amount: float) -> Floats:
    """Return the share of each ray that free fluid takes: level below, climbing at the wall."""
    lung = LungShape(scene, side)
    angle = lung.dome + RECESS
    height = 42.0 + 120.0 * amount
    out = np.abs(plane.x) / np.float32(scene.build.half_width)
    climb = np.float32(0.58) + np.float32(0.42) * np.clip(out, 0, 1) ** 2.4
    if scene.supine:
        climb = np.float32(0.72) + np.float32(0.28) * np.clip(out, 0, 1) ** 2.4
    top = np.float32(angle) - np.float32(height) * climb
    share = np.clip((plane.y - top) / np.float32(10 + 14 * amount), 0, 1)
    filled_share: Floats = (share * share * (3 - 2 * share)).astype(np.float32)
    return filled_share


def wall_air(plane: Plane, scene: Scene) -> Floats:
    """Return the length of the rays in air between the layers of the chest wall."""
    total = plane.zeros()
    for sight in scene.find("subcutaneous_air"):
        for side in sides(sight):
            sign, wide = SIGN[side], np.float32(16 + scene.build.fat)
            # From where the wall is nearest the midline, at the top, to its outer edge.
            ends = sorted((sign * 59.0, sign * (scene.build.half_width + 9 + 1.25 * float(wide))))
            window = plane.window(ends[0], 70.0, ends[1], 300.0)
            if window is None:
                continue
            y = plane.y[window[0]]
            outer, _ = LungShape(scene, side).edges(y)
            place = (plane.x[:, window[1]] * np.float32(sign) - outer - 9) / wide
            tall = np.clip((y - 70) / 40, 0, 1) * np.clip((300 - y) / 60, 0, 1)
            inside = np.clip(place * 6, 0, 1) * np.clip((1.25 - place) * 6, 0, 1) * tall
            streaks = plane.clouds(scene.build.seed + 77, 15.0, 3, 0.7, window)
            stripes = plane.noise(scene.build.seed + 78, (26.0, 5.0), window)
            air = np.clip(streaks + np.float32(0.7) * stripes + np.float32(0.12), 0, 0.5)
            total[window] += np.float32(105) * air * inside
    return total


def stomach(plane: Plane, scene: Scene) -> Floats:
    """Return the length of the rays in the gas of the stomach."""
    total = plane.zeros()
    shape = LungShape(scene, "left")
    ellipsoid(plane, total, (70.0, shape.dome + 27), (29.0, 15.0, 30.0), turn=0.1)
    return total
