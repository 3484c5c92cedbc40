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
    core = heart(plane, scene)
    np.maximum(core, mediastinum(plane, scene), out=core)
    depth: dict[str, Floats] = {}
    for side in _SIDES:
        lung = LungShape(scene, side).depth(plane)
        lung -= core
        np.maximum(lung, 0, out=lung)
        depth[side], air, line = drain(plane, scene, side, lung)
        if air is not None:
            soft -= air
        if line is not None:
            soft += line
    aerated = depth["right"] + depth["left"]
    air = _air(plane, scene)
    tissue = filled(plane, scene, depth)
    vessels(plane, tissue, scene)
    # Aerated lung is never negative, and holds no more tissue than there is of it.
    aerated -= np.minimum(tissue, aerated, out=tissue)
    aerated *= air
    soft -= aerated
    gas = stomach(plane, scene)
    airways(plane, gas, scene)
    soft -= gas
    if scene.find("subcutaneous_air"):
        soft -= wall_air(plane, scene)
    bone = skeleton(plane, scene)
    bone *= soft > 12
    return radiograph(plane, soft, bone, devices(plane, scene), scene.exposure)


def _air(plane: Plane, scene: Scene) -> Floats:
    """Return the share of aerated lung that is air: 1 - LUNG (1 + 0.11 texture)."""
    grain = texture(plane, scene)
    grain *= np.float32(-0.11 * LUNG)
    grain += np.float32(1 - LUNG)
    return grain
