"""Noise as a function of place: any region, at any time, in any order, has the same values.

A stream of random numbers depends on what was drawn before; a picture that is rendered region by
region cannot use one. Here a value is a hash of a seed and of integer coordinates (the finalizer
of MurmurHash3, public domain), so a view shows the same grain whatever was looked at before.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt

import numpy as np
from numpy.typing import NDArray

from healthgym.core.borders import AnyArray

Floats = NDArray[np.float32]

_MIX_1, _MIX_2 = np.uint32(0x85EBCA6B), np.uint32(0xC2B2AE35)
_EVEN = np.uint32(0x00FF00FF)
#: Odd multipliers that keep the axes apart.
_AXES = tuple(map(np.uint32, (0x9E3779B1, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1)))


def hash_lattice(seed: int, axes: Sequence[AnyArray]) -> NDArray[np.uint32]:
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


def hash_points(seed: int, *coordinates: AnyArray) -> NDArray[np.uint32]:
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


def white_noise(seed: int, axes: Sequence[AnyArray]) -> Floats:
    """Return independent noise of mean 0 and standard deviation 1 for every point of a grid.

    The sum of the four bytes of a hash: near enough to a normal variable (its tails end at 3.5
    standard deviations), and exact on every machine.

    Args:
        seed: Any integer.
        axes: One to four 1-d arrays of integer coordinates.
    """
    total = hash_lattice(seed, axes)
    # Two bytes are added at a time, in the halves of a word: the sums stay below 2**16.
    total = (total & _EVEN) + ((total >> np.uint32(8)) & _EVEN)
    upper = total >> np.uint32(16)
    total &= np.uint32(0xFFFF)
    total += upper
    noise = total.astype(np.float32)
    noise -= np.float32(510.0)
    noise /= np.float32(sqrt(4 * (256**2 - 1) / 12))
    return noise


def grid_noise(seed: int, axes: Sequence[AnyArray], cell: float | Sequence[float]) -> Floats:
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
    # Of three axes the first, which is looked at first, goes last in memory: what is gathered
    # for the others then lies side by side, and a slice across any axis is quick.
    solid = values.ndim == 3
    if solid:
        values = np.ascontiguousarray(values.transpose(1, 2, 0))
    # The axis that shrinks the array most goes first; the sum has the same terms in any order of
    # axes, but rounds differently, so the order is fixed.
    for number, (place, floor, points) in enumerate(zip(places, floors, lattice, strict=True)):
        share = (place - floor).astype(np.float32)
        share = share * share * (3 - 2 * share)
        axis = (number + 2) % 3 if solid else number
        values = between(values, floor - points[0], share, axis)
    return values.transpose(2, 0, 1) if solid else values


def between(values: Floats, index: AnyArray, share: Floats, axis: int) -> Floats:
    """Return values along an axis between those of an index and of the next one.

    Args:
        values: Any array of three axes or another number of them.
        index: Where to look along the axis; the last place is followed by one more.
        share: How far each result is on its way to the next value, 0 to 1, as many as ``index``.
        axis: Which axis.

    Returns:
        An array that has ``len(index)`` along the axis.
    """
    shape = [1] * values.ndim
    shape[axis] = len(share)
    share = share.reshape(shape)
    before: tuple[slice, ...] = (slice(None),) * axis
    if len(index) == 1:  # One slice of a volume: no gathering.
        low = values[(*before, slice(int(index[0]), int(index[0]) + 1))]
        high = values[(*before, slice(int(index[0]) + 1, int(index[0]) + 2))]
        return np.asarray(low + (high - low) * share)
    low = np.take(values, index, axis=axis)
    if values.shape[axis] <= len(index):
        # Differences are taken where there are fewer of them; they are the same.
        rise = values[(*before, slice(1, None))] - values[(*before, slice(None, -1))]
        rise = np.take(rise, index, axis=axis)
    else:
        rise = np.take(values, index + 1, axis=axis)
        rise -= low
    rise *= share
    rise += low
    return rise


def fractal_noise(
    seed: int, axes: Sequence[AnyArray], cell: float, octaves: int = 4, gain: float = 0.5
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
    """Mix the bits of an array in place, and return it."""
    shifted = word >> np.uint32(16)
    word ^= shifted
    word *= _MIX_1
    np.right_shift(word, np.uint32(13), out=shifted)
    word ^= shifted
    word *= _MIX_2
    np.right_shift(word, np.uint32(16), out=shifted)
    word ^= shifted
    return word
