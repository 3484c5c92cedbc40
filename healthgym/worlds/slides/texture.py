"""Fine grain: periodic pictures drawn once, so that a pixel of it costs no more than a look-up.

Each has a period of 1024 level-0 pixels or more; levels are exact area means of the finest. The
periods of what is added to a picture differ, so that nothing visibly repeats.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from healthgym.core.cache import BuildCache
from healthgym.worlds.imaging.noise import hash_lattice, uniform, white_noise
from healthgym.worlds.slides.lattice import Floats

_PERIOD = 1024
#: Sheets by name and downsample.
_SHEETS: BuildCache[Floats] = BuildCache.pooled()


def grain(name: str, downsample: int, x: int, y: int, width: int, height: int) -> Floats:
    """Return fine noise of a region.

    Args:
        name: ``"white"`` (of the camera: independent pixels of standard deviation 1 at each
            level), ``"cloud"`` (cytoplasm, about 3 um) or ``"cells"`` (red cells, about 7 um).
        downsample: Level-0 pixels to a pixel, a power of two.
        x: Left column, in pixels of the level.
        y: Top row.
        width: Columns.
        height: Rows.

    Returns:
        Shape (height, width), float32; of mean 0.
    """
    return _wrap(_sheet(name, downsample), x, y, width, height)


def fibres(downsample: int, x: int, y: int, width: int, height: int) -> Floats:
    """Return wavy fibres of a region, as :func:`grain` returns noise; in about (-0.5, 0.5)."""
    return _wrap(_sheet("fibres", downsample), x, y, width, height)


def _wrap(sheet: Floats, x: int, y: int, width: int, height: int) -> Floats:
    rows = np.arange(y, y + height) % sheet.shape[0]
    columns = np.arange(x, x + width) % sheet.shape[1]
    # Not sheet[rows][:, columns], which is laid out by columns and slow to add to what is not.
    wrapped: Floats = np.take(sheet[rows], columns, axis=1)
    return wrapped


def _sheet(name: str, downsample: int) -> Floats:
    return _SHEETS.get((name, downsample), lambda: _drawn(name, downsample))


def _drawn(name: str, downsample: int) -> Floats:
    if name == "white":
        side = 509  # prime, and of no relation to the other periods
        return white_noise(97 + downsample, (np.arange(side), np.arange(side)))
    if downsample > 1:
        finer = _sheet(name, downsample // 2)
        if finer.shape[0] < 8:
            return np.zeros_like(finer)
        rows, columns = finer.shape
        halves: Floats = finer.reshape(rows // 2, 2, columns // 2, 2).mean(axis=(1, 3))
        return halves
    if name == "cloud":
        return _periodic(11, 12) * np.float32(0.7) + _periodic(12, 40) * np.float32(0.5)
    if name == "cells":
        return np.where(_periodic(13, 26) > 0.05, np.float32(0.8), np.float32(-0.55))
    return _fibres()


def _periodic(seed: int, cells: float) -> Floats:
    """Return smooth periodic noise whose blobs have about a size in level-0 pixels."""
    count = round(_PERIOD / cells)
    values = uniform(hash_lattice(seed, (np.arange(count), np.arange(count)))) * 2 - 1
    place = np.arange(_PERIOD) * (count / _PERIOD)
    floor = place.astype(np.int64)
    share = (place - floor).astype(np.float32)
    share = share * share * (3 - 2 * share)
    rows = (
        values[floor % count] * (1 - share[:, None])
        + values[(floor + 1) % count] * (share[:, None])
    )
    smooth: Floats = (
        rows[:, floor % count] * (1 - share) + rows[:, (floor + 1) % count] * share
    ).astype(np.float32)
    return smooth


def _fibres() -> Floats:
    """Return strands that run in waves along one direction, bent by smooth noise."""
    y, x = np.mgrid[0:_PERIOD, 0:_PERIOD].astype(np.float32)
    turn = np.float32(2 * np.pi / _PERIOD)
    bend = _periodic(21, 256) * 90 + _periodic(22, 80) * 16
    along = (y + np.float32(0.5) * x + bend) * turn
    strands = np.sin(along * 26 + 2 * _periodic(23, 128)) + np.float32(0.7) * np.sin(along * 58)
    # Half a turn of x is no whole period; a slope of one half over two periods is.
    broken = strands * (np.float32(0.6) + np.float32(0.6) * _periodic(24, 60))
    fine: NDArray[np.float32] = (broken * np.float32(0.3)).astype(np.float32)
    return fine
