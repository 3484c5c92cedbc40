"""Textures: disease that is spread through the lungs, and the noise of a scan."""

from __future__ import annotations

import numpy as np

from healthgym.core.borders import AnyArray
from healthgym.worlds.imaging.noise import between, hash_lattice, uniform, white_noise
from healthgym.worlds.volumes.patient import Acquisition
from healthgym.worlds.volumes.shapes import Floats, Lattice, blobs, ramp, smooth

#: Distance of the centres of destroyed lobules, in mm.
LOBULE = 13.0
#: Density of the air in them, in HU.
BULLA = -988.0
#: Size of the grain of a soft kernel, in voxels.
GRAIN = 2.3


def destroyed(seed: int, lattice: Lattice, share: Floats, soft: float) -> Floats:
    """Return how much of each point is lost to emphysema: holes of two sizes, anywhere.

    Args:
        seed: Of the holes.
        lattice: The points.
        share: Chance of a hole, broadcasting with the lattice.
        soft: Width of the edges, in mm.
    """
    lost = _holes(seed, lattice, share, LOBULE, 0.0, soft)
    return np.maximum(lost, _holes(seed + 9, lattice, share * 0.8, LOBULE * 0.62, 3.7, soft))


def _holes(
    seed: int, lattice: Lattice, share: Floats, size: float, shift: float, soft: float
) -> Floats:
    """Return holes in cells of one size; a cell may hold one, of a random place, that fits."""
    axes = [axis + np.float32(shift) for axis in lattice.axes]
    cells = [np.floor(axis / np.float32(size)).astype(np.int64) for axis in axes]
    lists = [np.arange(cell[0], cell[-1] + 1) for cell in cells]
    take = np.ix_(*(cell - first[0] for cell, first in zip(cells, lists, strict=True)))
    chance, wide, *moves = (uniform(hash_lattice(seed + n, lists)) for n in range(5))
    radius = np.float32(size) * (np.float32(0.2) + np.float32(0.24) * wide)
    room = np.float32(size) * np.float32(0.5) - radius
    squared = np.zeros(lattice.shape, np.float32)
    for axis, (points, move) in enumerate(zip(axes, moves, strict=True)):
        along, grid = [1, 1, 1], [1, 1, 1]
        along[axis], grid[axis] = len(points), len(lists[axis])
        middle = (lists[axis].astype(np.float32) + np.float32(0.5)) * np.float32(size)
        centres = middle.reshape(grid) + (move * 2 - 1) * room
        far = centres[take]
        np.subtract(points.reshape(along), far, out=far)
        far *= far
        squared += far
    np.sqrt(squared, out=squared)
    hole: Floats = ramp(radius[take] - squared, soft * 1.4)
    hole *= chance[take] < share
    return hole


def mosaic(seed: int, lattice: Lattice) -> Floats:
    """Return the pattern of a mosaic, from -0.5 (dark lobules) to 0.5, with sharp borders."""
    pattern = blobs(seed, lattice, 27.0)
    result: Floats = smooth(pattern * np.float32(9.0) + np.float32(0.5)) - np.float32(0.5)
    return result


def septa(seed: int, lattice: Lattice, soft: float) -> Floats:
    """Return how much of each point is a thick septum: a net of sheets, about 14 mm wide."""
    net = np.zeros(lattice.shape, np.float32)
    for number in range(2):
        field = blobs(seed + number, lattice, 15.0)
        # About how fast the field changes per mm, so that sheets are about as thick everywhere.
        far = np.abs(field) * np.float32(15.0 / 0.62)
        np.maximum(net, ramp(np.float32(0.75) - far, soft), out=net)
    return net


def plane_noise(seed: int, x: AnyArray, y: AnyArray, z: AnyArray) -> Floats:
    """Return noise that is smooth within axial slices and unrelated between them.

    As :func:`healthgym.worlds.imaging.noise.grid_noise`, but looks only at the lattice points it
    needs: a coarse look at a volume passes most of them over.

    Args:
        seed: Any integer.
        x: Indices of voxels, ascending; likewise ``y`` and ``z``.
        y: See ``x``.
        z: See ``x``.

    Returns:
        Shape (len(x), len(y), len(z)), float32, in (-1, 1).
    """
    places = [np.asarray(axis, np.float64) / GRAIN for axis in (x, y)]
    floors = [np.floor(place).astype(np.int64) for place in places]
    points = [np.unique(np.concatenate([floor, floor + 1])) for floor in floors]
    values = uniform(hash_lattice(seed, (z, *points))) * np.float32(2) - np.float32(1)
    thin = len(y) == 1  # As in grid_noise.
    if thin:
        values = np.ascontiguousarray(values.transpose(2, 0, 1))
    for axis in (1, 2):
        floor = floors[axis - 1]
        share = (places[axis - 1] - floor).astype(np.float32)
        share = share * share * (3 - 2 * share)
        # The next known point is the next lattice point, for each is taken with its successor.
        values = between(
            values,
            np.searchsorted(points[axis - 1], floor),
            share,
            (axis + 1) % 3 if thin else axis,
        )
    return values.transpose(2, 0, 1) if thin else values.transpose(1, 2, 0)


def scan_noise(scan: Acquisition, x: AnyArray, y: AnyArray, z: AnyArray) -> Floats:
    """Return the noise at voxels, in HU: fine grain for a sharp kernel, blobs for a soft one.

    Args:
        scan: How the scan was made.
        x: Indices of voxels, ascending; likewise ``y`` and ``z``.
        y: See ``x``.
        z: See ``x``.
    """
    fine, coarse = scan.sharp, 1.0 - scan.sharp
    # 0.32 is the standard deviation of smooth noise in two dimensions.
    total = plane_noise(scan.seed + 1, x, y, z)
    total *= np.float32(coarse / 0.32)
    if fine:
        grain = white_noise(scan.seed, (z, x, y)).transpose(1, 2, 0)
        grain *= np.float32(fine)
        total += grain
    total = np.ascontiguousarray(total)
    scale = scan.noise / float(np.hypot(fine, coarse))
    grid = scan.grid
    far = (grid.positions(0, x) / 190.0)[:, None, None] ** 2
    far = far + (grid.positions(1, y) / 150.0)[None, :, None] ** 2
    # Less noise near the surface, more between the shoulders.
    high = smooth((grid.positions(2, z) - 40.0) / 70.0)[None, None, :]
    level = np.clip(1.1 - 0.45 * far, 0.5, 1.1) * (1.0 + 0.5 * high)
    total *= np.float32(scale) * level.astype(np.float32)
    return total
