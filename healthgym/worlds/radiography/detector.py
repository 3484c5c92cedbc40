"""From ray paths to a digital radiograph: Beer-Lambert, scatter, quanta, and the display curve."""

from __future__ import annotations

import numpy as np

from healthgym.worlds.imaging.noise import white_noise
from healthgym.worlds.imaging.raster import Image, resize
from healthgym.worlds.radiography.plane import Floats, Plane, enlarge

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
    integral = np.maximum(soft, 0)
    integral *= np.float32(-SOFT)
    for part, weight in ((bone, BONE), (metal, METAL)):
        integral -= np.float32(weight) * part
    primary = np.exp(integral, out=integral)
    # Scattered rays veil the picture with a blurred copy of itself.
    signal = blur(plane, np.minimum(primary, np.float32(0.35)), 42.0)
    signal *= np.float32(_SCATTER)
    signal += primary
    rows = np.arange(plane.size)
    noisy = white_noise(seed, [rows, rows])
    quanta = np.float32(_QUANTA * (plane.pitch / 0.78) ** 2)
    noisy *= np.sqrt(signal * (np.float32(0.55**2) / quanta))
    noisy += signal
    density = np.log(np.maximum(noisy, np.float32(1e-4), out=noisy), out=noisy)
    np.negative(density, out=density)
    return develop(plane, density)


def develop(plane: Plane, density: Floats) -> Image:
    """Return a density map as a reading station shows it: range compressed, detail kept."""
    # middle + 0.62 (wide - middle) + (density - wide) + 0.55 (density - fine), less 2.62.
    middle, whole, sharp = 2.55, 0.62, 0.55
    shaped = blur(plane, density, 36.0)
    shaped *= np.float32(whole - 1)
    shaped += np.float32((1 - whole) * middle - 2.62)
    shaped += density
    fine = blur(plane, density, 3.0)
    if fine is not density:
        shaped += np.float32(sharp) * (density - fine)
    shaped *= np.float32(-1.72)
    np.exp(shaped, out=shaped)
    shaped += 1
    shown = np.divide(np.float32(262), shaped, out=shaped)
    shown -= np.float32(4)
    np.multiply(shown, np.float32(0.4), out=shown, where=density < np.float32(0.32))
    # Leaves of the collimator: nothing is exposed beside the field.
    leaf = max(round(2.0 / plane.pitch), 1)
    shown[:leaf] = shown[-leaf:] = shown[:, :leaf] = shown[:, -leaf:] = 0
    np.clip(shown, 0, 255, out=shown)
    picture: Image = np.rint(shown, out=shown).astype(np.uint8)
    return picture


def blur(plane: Plane, values: Floats, width: float) -> Floats:
    """Return a smooth copy; ``width`` is the side of the area averaged, in millimetres.

    Where the area is smaller than a few pixels, the values themselves are returned.
    """
    small = max(round(4 * plane.size * plane.pitch / width), 4)
    if small >= plane.size:
        return values
    coarse = values
    # Whole blocks first: adding them is much faster than areas that cut pixels.
    for block in (4, 2):
        if plane.size % block == 0 and plane.size // block >= small:
            coarse = _block_means(values, block)
            break
    coarse = resize(coarse, small, small)
    for axis in (0, 1):
        for _ in range(2):
            coarse = _smooth(coarse, axis)
    return enlarge(coarse, plane.size)


def _block_means(values: Floats, block: int) -> Floats:
    rows = values[::block].copy()
    for step in range(1, block):
        rows += values[step::block]
    means = rows[:, ::block].copy()
    for step in range(1, block):
        means += rows[:, step::block]
    means *= np.float32(1 / block**2)
    return means


def _smooth(values: Floats, axis: int) -> Floats:
    wide = np.pad(values, [(1, 1) if place == axis else (0, 0) for place in (0, 1)], mode="edge")
    size = values.shape[axis]
    low, middle, high = (
        wide[step : step + size] if axis == 0 else wide[:, step : step + size] for step in range(3)
    )
    smooth: Floats = (low + 2 * middle + high) / np.float32(4)
    return smooth
