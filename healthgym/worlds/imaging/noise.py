"""Noise as a function of place: any region, at any time, in any order, has the same values.

A stream of random numbers depends on what was drawn before; a picture that is rendered region by
region cannot use one. Here a value is a hash of a seed and of integer coordinates (the finalizer
of MurmurHash3, public domain), so a view shows the same grain whatever was looked at before.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

_MIX_1, _MIX_2 = np.uint32(0x85EBCA6B), np.uint32(0xC2B2AE35)
#: Odd multipliers that keep the axes apart.
_AXES = tuple(map(np.uint32, (0x9E3779B1, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1)))


def hash_lattice(seed: int, axes: Sequence[NDArray[Any]]) -> NDArray[np.uint32]:
    """Return 32 hashed bits for every point of a grid.

    Args:
        seed: Any integer; two seeds give unrelated values.
        axes: One to four 1-d arrays of integer coordinates, negative ones included.

    Returns:
        Shape (len(axes[0]), len(axes[1]), ...), uint32.
    """
    state = np.uint32((seed ^ (seed >> 32)) & 0xFFFFFFFF)
    with np.errstate(over="ignore"):
        mixed: NDArray[np.uint32] = np.full((1,) * len(axes), state, np.uint32)
        for number, axis in enumerate(axes):
            shape = [1] * len(axes)
            shape[number] = len(axis)
            word = (np.asarray(axis, np.int64) & 0xFFFFFFFF).astype(np.uint32) * _AXES[number]
            # Mixed after each axis, so that no two points differ in a linear way only.
            mixed = _finalize(mixed ^ _finalize(word).reshape(shape))
    return mixed


def hash_points(seed: int, *coordinates: NDArray[Any]) -> NDArray[np.uint32]:
    """Return 32 hashed bits for each of many points.

    Args:
        seed: Any integer.
        coordinates: Integer arrays of one shape (or broadcastable), one for each axis.

    Returns:
        The common shape, uint32; equal to :func:`hash_lattice` at the same points.
    """
    state = np.uint32((seed ^ (seed >> 32)) & 0xFFFFFFFF)
    with np.errstate(over="ignore"):
        mixed = np.full(np.broadcast_shapes(*(c.shape for c in coordinates)), state, np.uint32)
        for number, values in enumerate(coordinates):
            word = (np.asarray(values, np.int64) & 0xFFFFFFFF).astype(np.uint32) * _AXES[number]
            mixed = _finalize(mixed ^ _finalize(word))
    return mixed


def uniform(bits: NDArray[np.uint32]) -> Floats:
    """Turn hashed bits into numbers in [0, 1)."""
    return ((bits >> np.uint32(8)).astype(np.float32)) * np.float32(2.0**-24)


def white_noise(seed: int, axes: Sequence[NDArray[Any]]) -> Floats:
    """Return independent noise of mean 0 and standard deviation 1 for every point of a grid.

    The sum of the four bytes of a hash: near enough to a normal variable (its tails end at 3.5
    standard deviations), and exact on every machine.

    Args:
        seed: Any integer.
        axes: One to four 1-d arrays of integer coordinates.
    """
    bits = hash_lattice(seed, axes)
    total = np.zeros(bits.shape, np.uint16)
    for shift in (0, 8, 16, 24):
        total += ((bits >> np.uint32(shift)) & np.uint32(0xFF)).astype(np.uint16)
    return (total.astype(np.float32) - np.float32(510.0)) / np.float32(sqrt(4 * (256**2 - 1) / 12))


def grid_noise(seed: int, axes: Sequence[NDArray[Any]], cell: float | Sequence[float]) -> Floats:
    """Return smooth noise of mean 0 on a grid: hashed lattice values, joined by smooth steps.

    Args:
        seed: Any integer.
        axes: One to four 1-d arrays of coordinates, of any spacing, in any unit.
        cell: Distance of lattice points in that unit, for all axes or each; the size of the blobs.

    Returns:
        Shape (len(axes[0]), ...), float32, in (-1, 1); the standard deviation depends on the
        number of axes, about 0.43 for one, 0.32 for two and 0.24 for three.
    """
    cells = [float(cell)] * len(axes) if isinstance(cell, int | float) else [float(c) for c in cell]
    places = [np.asarray(axis, np.float64) / size for axis, size in zip(axes, cells, strict=True)]
    if prod(len(place) for place in places) == 0:
        return np.zeros([len(place) for place in places], np.float32)
    floors = [np.floor(place).astype(np.int64) for place in places]
    lattice = [np.arange(floor.min(), floor.max() + 2) for floor in floors]
    values = uniform(hash_lattice(seed, lattice)) * np.float32(2) - np.float32(1)
    # The axis that shrinks the array most goes first; the sum has the same terms in any order of
    # axes, but rounds differently, so the order is fixed.
    for number, (place, floor, points) in enumerate(zip(places, floors, lattice, strict=True)):
        share = (place - floor).astype(np.float32)
        share = share * share * (3 - 2 * share)
        shape = [1] * values.ndim
        shape[number] = len(share)
        share = share.reshape(shape)
        low = np.take(values, floor - points[0], axis=number)
        high = np.take(values, floor - points[0] + 1, axis=number)
        values = low + (high - low) * share
    return values


def fractal_noise(
    seed: int, axes: Sequence[NDArray[Any]], cell: float, octaves: int = 4, gain: float = 0.5
) -> Floats:
    """Return a sum of smooth noises, each of half the size and ``gain`` times the strength.

    Args:
        seed: Any integer.
        axes: One to four 1-d arrays of coordinates.
        cell: Size of the largest blobs, in the unit of the coordinates.
        octaves: How many noises are added.
        gain: Strength of each relative to the one before.

    Returns:
        Shape (len(axes[0]), ...), float32, in (-1, 1).
    """
    total = np.zeros([len(axis) for axis in axes], np.float32)
    weight, weights = 1.0, 0.0
    for octave in range(octaves):
        total += np.float32(weight) * grid_noise(seed + 7919 * octave, axes, cell / 2**octave)
        weights += weight
        weight *= gain
    return total / np.float32(weights)


def _finalize(word: NDArray[np.uint32]) -> NDArray[np.uint32]:
    word = word ^ (word >> np.uint32(16))
    word = word * _MIX_1
    word = word ^ (word >> np.uint32(13))
    word = word * _MIX_2
    return word ^ (word >> np.uint32(16))
