"""The frontal view of a scene."""

from __future__ import annotations

import numpy as np

from healthgym.worlds.imaging.raster import Image
from healthgym.worlds.radiography.detector import LUNG, radiograph
from healthgym.worlds.radiography.devices import devices
from healthgym.worlds.radiography.lesions import drain, filled, stomach, wall_air
from healthgym.worlds.radiography.plane import Floats, Plane
from healthgym.worlds.radiography.scene import Scene
from healthgym.worlds.radiography.skeleton import skeleton
from healthgym.worlds.radiography.thorax import (
    LungShape,
    airways,
    body,
    heart,
    mediastinum,
    texture,
    vessels,
)

_SIDES = ("right", "left")


def render_frontal(scene: Scene, size: int) -> Image:
    """Return the frontal radiograph of a scene.

    Args:
        scene: The scene.
        size: Pixels on a side.

    Returns:
        Shape (size, size), uint8. The patient's right is on the left.
    """
    plane = Plane(size, scene.shift)
    soft = body(plane, scene)
    core = np.maximum(heart(plane, scene), mediastinum(plane, scene))
    depth: dict[str, Floats] = {}
    free = plane.zeros()
    pleura = plane.zeros()
    for side in _SIDES:
        lung = np.maximum(LungShape(scene, side).depth(plane) - core, 0)
        depth[side], air, line = drain(plane, scene, side, lung)
        free += air
        pleura += line
    aerated = depth["right"] + depth["left"]
    grain = np.float32(LUNG) * (1 + np.float32(0.11) * texture(plane, scene))
    tissue = filled(plane, scene, depth) + vessels(plane, scene)
    tissue = np.minimum(tissue, aerated) * (aerated > 0)
    soft -= (aerated - tissue) * (1 - grain)
    soft -= free
    soft += pleura
    soft -= np.float32(1.5) * airways(plane, scene)
    soft -= wall_air(plane, scene)
    soft -= stomach(plane, scene)
    inside = (soft > 12).astype(np.float32)
    return radiograph(
        plane,
        soft,
        skeleton(plane, scene) * inside,
        devices(plane, scene),
        scene.exposure,
    )
