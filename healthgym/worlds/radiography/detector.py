"""From ray paths to a digital radiograph: Beer-Lambert, scatter, quanta, and the display curve."""

from __future__ import annotations

import numpy as np

from healthgym.worlds.imaging.noise import white_noise
from healthgym.worlds.imaging.raster import Image, resize
from healthgym.worlds.radiography.plane import Floats, Plane

#: Attenuation a millimetre at about 80 keV, effective energy of a 120 kVp beam: water and soft
#: tissue; what bone adds to it; what a radiopaque stripe or metal adds.
SOFT, BONE, METAL = 0.0180, 0.046, 0.55
#: Density of aerated lung relative to soft tissue.
LUNG = 0.26
_SCATTER = 0.10
_QUANTA = 5200.0


def radiograph(plane: Plane, soft: Floats, bone: Floats, metal: Floats, seed: int) -> Image:
    """Return the picture of a set of path lengths.

    Args:
        plane: The grid.
        soft: Millimetres of soft tissue, shape (size, size).
        bone: Millimetres of bone, in excess of soft tissue.
        metal: Millimetres of metal.
        seed: Seed of the quantum noise.

    Returns:
        Shape (size, size), uint8; dense tissue is bright.
    """
    integral = np.float32(SOFT) * np.maximum(soft, 0) + np.float32(BONE) * bone
    integral += np.float32(METAL) * metal
    primary = np.exp(-integral)
    # Scattered rays veil the picture with a blurred copy of itself.
    veil = blur(plane, np.minimum(primary, np.float32(0.35)), 42.0)
    signal = primary + np.float32(_SCATTER) * veil
    rows = np.arange(plane.size)
    grain = white_noise(seed, [rows, rows])
    quanta = np.float32(_QUANTA * (plane.pitch / 0.78) ** 2)
    noisy = signal + grain * np.sqrt(signal / quanta) * np.float32(0.55)
    density = -np.log(np.maximum(noisy, np.float32(1e-4)))
    return develop(plane, density)


def develop(plane: Plane, density: Floats) -> Image:
    """Return a density map as a reading station shows it: range compressed, detail kept."""
    wide = blur(plane, density, 36.0)
    middle = np.float32(2.55)
    fine = blur(plane, density, 3.0)
    shaped = middle + np.float32(0.62) * (wide - middle) + (density - wide)
    shaped += np.float32(0.55) * (density - fine)
    curve = 1 / (1 + np.exp(-(shaped - np.float32(2.62)) * np.float32(1.72)))
    shown = np.float32(262) * curve - np.float32(4)
    shown = np.where(density < np.float32(0.32), shown * np.float32(0.4), shown)
    # Leaves of the collimator: nothing is exposed beside the field.
    leaf = max(round(2.0 / plane.pitch), 1)
    shown[:leaf] = shown[-leaf:] = shown[:, :leaf] = shown[:, -leaf:] = 0
    picture: Image = np.rint(np.clip(shown, 0, 255)).astype(np.uint8)
    return picture


def blur(plane: Plane, values: Floats, width: float) -> Floats:
    """Return a smooth copy; ``width`` is the side of the area averaged, in millimetres."""
    small = max(round(4 * plane.size * plane.pitch / width), 4)
    if small >= plane.size:
        return values
    coarse = resize(values, small, small)
    for axis in (0, 1):
        for _ in range(2):
            coarse = _smooth(coarse, axis)
    return np.asarray(resize(coarse, plane.size, plane.size), np.float32)


def _smooth(values: Floats, axis: int) -> Floats:
    wide = np.pad(values, [(1, 1) if place == axis else (0, 0) for place in (0, 1)], mode="edge")
    size = values.shape[axis]
    low, middle, high = (
        wide[step : step + size] if axis == 0 else wide[:, step : step + size] for step in range(3)
    )
    smooth: Floats = (low + 2 * middle + high) / np.float32(4)
    return smooth
