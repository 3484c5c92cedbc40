"""Measurements of frontal radiographs, from pixels alone, as short texts.

Lengths are percent of the inner width of the thorax, for pictures in files have no millimetres.
Densities run from 0, what the clearer third of the lungs has, to 100, the mediastinum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from healthgym.core.cache import BuildCache
from healthgym.core.images import fingerprint
from healthgym.worlds.imaging.raster import Image
from healthgym.worlds.radiography import tracing
from healthgym.worlds.radiography.landmarks import Landmarks, find_landmarks

#: Landmarks of the radiographs that were measured lately, by their pixels.
_FOUND: BuildCache[Landmarks] = BuildCache.pooled()

_NAMES = {-1: "right", 1: "left"}
_SIDES = (-1, 1)
_ZONES = ("upper", "mid", "lower")


def measure(image: Image, what: str) -> str:
    """Return a measurement as text.

    Args:
        image: A frontal radiograph, shape (height, width), uint8.
        what: A key of :data:`MEASURES`.
    """
    return MEASURES[what](_landmarks(image))


def _landmarks(image: Image) -> Landmarks:
    return _FOUND.get(fingerprint(image), lambda: find_landmarks(image))


def compare_studies(before: Image, now: Image, what: str) -> str:
    """Return a measurement of two radiographs, and of their difference where that is a number."""
    lines = [f"prior: {measure(before, what)}", f"last: {measure(now, what)}"]
    old, new = (_landmarks(image) for image in (before, now))
    values = [_COMPARED[what](marks) for marks in (old, new)]
    changes = ", ".join(
        f"{name} {values[1][name] - values[0][name]:+.{digits}f}"
        for name, digits in _digits(what, values[1]).items()
    )
    return "\n".join([*lines, f"change: {changes}"])


def _digits(what: str, values: Mapping[str, float]) -> dict[str, int]:
    return dict.fromkeys(values, 2 if what == "heart" else 0)


# -- heart -----------------------------------------------------------------------------------


def heart_borders(marks: Landmarks) -> tuple[float, float]:
    """Return the farthest reach of the heart to the right and left, as shares of the half width."""
    unit = marks.half / 138
    # Fluid, or a large heart, ends a lung early on one side; hardly on both.
    base = max(marks.floors[0], marks.floors[1] - 9 * unit, marks.apex + 1.5 * marks.half)
    rows = range(round(base - 92 * unit), round(base - 6 * unit), 3)
    dark, bright = _scale(marks)
    dense = dark + 0.55 * (bright - dark)
    reach = []
    for side, (near, far) in zip(_SIDES, ((0.10, 0.66), (0.20, 0.97)), strict=True):
        found = []
        for row in rows:
            line = marks.lung(side, (0.0, 1.0), (row - 2, row + 3)).mean(axis=0)
            places = np.arange(
                max(round(near * marks.half), 13), min(round(far * marks.half), len(line) - 7)
            )
            if len(places) == 0:
                continue
            inner = np.stack([line[places - k] for k in (2, 4, 6, 9, 12)]).mean(axis=0)
            outer = np.stack([line[places + k] for k in (2, 4, 6)]).mean(axis=0)
            # A heart is dense up to its border; behind a pleural line there is lung.
            step = np.where(inner > dense, inner - outer, np.float32(0))
            if step.max() > 0:
                found.append((float(places[int(np.argmax(step))]) + 1) / marks.half)
        reach.append(float(np.percentile(found, 88)) if found else 0.0)
    return reach[0], reach[1]


def _heart_values(marks: Landmarks) -> dict[str, float]:
    right, left = heart_borders(marks)
    return {"ratio": (right + left) / 2}


def _heart(marks: Landmarks) -> str:
    right, left = heart_borders(marks)
    parts = f"right {right / 2:.2f}, left {left / 2:.2f}"
    return f"cardiothoracic ratio {(right + left) / 2:.2f} ({parts})"


# -- lungs -----------------------------------------------------------------------------------


def _scale(marks: Landmarks) -> tuple[float, float]:
    """Return the grey levels of density 0 and 100."""
    low = marks.apex + round(0.3 * marks.half), marks.apex + round(1.5 * marks.half)
    lungs = [marks.lung(side, (0.3, 0.85), low) for side in _SIDES]
    dark = float(np.percentile(np.concatenate([lung.ravel() for lung in lungs]), 30))
    middle = marks.grid[low[0] : low[1], marks.middle - 12 : marks.middle + 13]
    return dark, max(float(np.median(middle)), dark + 10)


def zone_densities(marks: Landmarks) -> dict[tuple[str, str], float]:
    """Return the mean density of each zone of each lung."""
    dark, bright = _scale(marks)
    # By the width of the chest, not by the diaphragm: fluid would move the zones.
    tall = 1.76 * marks.half
    shares = {"upper": (0.12, 0.40), "mid": (0.42, 0.64), "lower": (0.70, 0.94)}
    found = {}
    for zone, (top, foot) in shares.items():
        rows = marks.apex + round(top * tall), marks.apex + round(foot * tall)
        near, far = (0.5, 0.84) if zone == "lower" else (0.38, 0.72)
        for side in _SIDES:
            value = float(marks.lung(side, (near, far), rows).mean())
            found[zone, _NAMES[side]] = 100 * (value - dark) / (bright - dark)
    return found


def _lung_values(marks: Landmarks) -> dict[str, float]:
    values = zone_densities(marks)
    found = {f"{side} {zone}": values[zone, side] for side in ("right", "left") for zone in _ZONES}
    dark, bright = _scale(marks)
    found["hilar"] = 100 * (_hilar(marks) - dark) / (bright - dark)
    return found


def _hilar(marks: Landmarks) -> float:
    """Return the grey level of the lungs around the hila, away from the heart."""
    rows = marks.apex + round(0.75 * marks.half), marks.apex + round(1.05 * marks.half)
    parts = [marks.lung(side, (0.36, 0.62), rows) for side in _SIDES]
    return float(np.mean([np.median(part) for part in parts]))


def _lungs(marks: Landmarks) -> str:
    values = zone_densities(marks)
    zones = "; ".join(
        f"{zone} right {values[zone, 'right']:.0f} left {values[zone, 'left']:.0f}"
        for zone in _ZONES
    )
    hilar = _lung_values(marks)["hilar"]
    tall = (marks.floors[0] - marks.apex) / (2 * marks.half)
    return f"density {zones}; around hila {hilar:.0f}; expansion {100 * tall:.0f}"


# -- bases and pleura ------------------------------------------------------------------------


def _base_values(marks: Landmarks) -> dict[str, float]:
    wide = 2 * marks.half / 100
    return {
        f"{_NAMES[side]}": (marks.lateral[n] - marks.apex) / wide for n, side in enumerate(_SIDES)
    }


def _bases(marks: Landmarks) -> str:
    wide = 2 * marks.half / 100
    reach = _base_values(marks)
    domes = [(floor - marks.apex) / wide for floor in marks.floors]
    return (
        f"at the chest wall the lung reaches down to right {reach['right']:.0f} left "
        f"{reach['left']:.0f}; diaphragm at right {domes[0]:.0f} left {domes[1]:.0f}"
    )


def pleural_lines(marks: Landmarks) -> dict[str, tuple[float, float]]:
    """Return for each side the distance of the best pleural line from the wall, and its strength.

    A line has lung on its inner side and something darker and emptier outside.
    """
    rows = marks.apex + round(0.62 * marks.half), marks.apex + round(1.45 * marks.half)
    found = {}
    for side in _SIDES:
        block = marks.lung(side, (0.30, 1.02), rows)
        profile = np.median(block, axis=0)
        size = len(profile)
        places = np.arange(12, size - 5)
        line = profile[places] - (profile[places - 4] + profile[places + 4]) / 2
        inner = np.stack([profile[places - k] for k in (5, 8, 11)]).mean(axis=0)
        outer = np.stack([profile[places + k] for k in (3, 4, 5)]).mean(axis=0)
        score = np.where(inner - outer > 0, line + 0.6 * (inner - outer), 0.0)
        best = int(np.argmax(score))
        away = (size - 0.02 * marks.half - places[best]) / (2 * marks.half)
        found[_NAMES[side]] = (100 * float(away), float(score[best]))
    return found


def _pleura_values(marks: Landmarks) -> dict[str, float]:
    return {side: away if strength > 0 else 0.0 for side, (away, strength) in
            pleural_lines(marks).items()}  # fmt: skip


def _pleura(marks: Landmarks) -> str:
    lines = pleural_lines(marks)
    parts = [
        f"{side} {lines[side][0]:.0f} (strength {lines[side][1]:.0f})" for side in ("right", "left")
    ]
    return f"best pleural line, distance from the chest wall: {', '.join(parts)}"


# -- small things ----------------------------------------------------------------------------


def _nodules(marks: Landmarks) -> str:
    spots = tracing.round_spots(marks)
    tall = max(marks.floors) - marks.apex
    if not spots:
        return "no round spot"
    named = []
    for side, row, strength in spots:
        share = (row - marks.apex) / max(tall, 1)
        zone = "upper" if share < 0.41 else "mid" if share < 0.69 else "lower"
        named.append(f"{_NAMES[side]} {zone} (strength {strength:.0f})")
    return f"round spots: {', '.join(named)}"


def _bones(marks: Landmarks) -> str:
    steps = tracing.rib_steps(marks)
    return f"largest step in a rib: right {steps[-1]:.0f}, left {steps[1]:.0f}"


def _wall(marks: Landmarks) -> str:
    dark, bright = _scale(marks)
    rows = marks.apex + round(0.4 * marks.half), marks.apex + round(1.5 * marks.half)
    values = []
    for side in _SIDES:
        block = marks.lung(side, (1.06, 1.24), rows)
        values.append(float(100 * block.std() / (bright - dark)))
    return f"unevenness of the chest wall: right {values[0]:.0f}, left {values[1]:.0f}"


def _airway(marks: Landmarks) -> str:
    return tracing.airway_text(marks)


def _tubes(marks: Landmarks) -> str:
    return tracing.tube_text(marks)


def _lines(marks: Landmarks) -> str:
    return tracing.line_text(marks)


def _clips(marks: Landmarks) -> str:
    return tracing.clip_text(marks)


MEASURES: Mapping[str, Callable[[Landmarks], str]] = MappingProxyType(
    {
        "heart": _heart,
        "lungs": _lungs,
        "bases": _bases,
        "pleura": _pleura,
        "nodules": _nodules,
        "bones": _bones,
        "wall": _wall,
        "airway": _airway,
        "tubes": _tubes,
        "lines": _lines,
        "clips": _clips,
    }
)
_COMPARED: Mapping[str, Callable[[Landmarks], dict[str, float]]] = MappingProxyType(
    {"heart": _heart_values, "lungs": _lung_values, "bases": _base_values, "pleura": _pleura_values}
)
