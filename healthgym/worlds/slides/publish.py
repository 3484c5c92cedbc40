"""Writing slides and masks as files that OpenSlide reads."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from healthgym.worlds.imaging.raster import require
from healthgym.worlds.slides import tiff
from healthgym.worlds.slides.grid import ANALYSIS_DOWNSAMPLE
from healthgym.worlds.slides.source import Slide

#: Rows and columns rendered at a time: what is held in memory is one strip of a level.
_STRIP, _CHUNK = 1024, 1024
_QUALITY = 88

Compression = Literal["deflate", "jpeg"]


def write_slide(path: Path, slide: Slide, compression: Compression = "jpeg") -> None:
    """Write a slide, all levels, strip by strip.

    Args:
        path: The file, ending in ``.tif``.
        slide: The slide.
        compression: ``"deflate"`` keeps every pixel; ``"jpeg"`` is smaller, as scanners write,
            and needs pillow.

    Raises:
        MissingDependencyError: If pillow is needed and not installed.
    """
    lossy = compression == "jpeg"
    encode = _jpeg if lossy else _deflate
    with tiff.TiffWriter(path) as file:
        for level, downsample in enumerate(slide.downsamples):
            width, height = round(slide.width / downsample), round(slide.height / downsample)
            file.page(
                map(encode, _tiles(slide, level, width, height)),
                width,
                height,
                compression=tiff.JPEG if lossy else tiff.DEFLATE,
                mpp=slide.mpp * downsample if slide.mpp else None,
                reduced=level > 0,
            )


def write_mask(path: Path, mask: NDArray[np.uint8], step: int) -> None:
    """Write a mask at downsample 16, where the grid of tiles looks for it.

    Args:
        path: The file, ending in ``.tif``.
        mask: Values of squares: 0 or 1, and 2 for tumour.
        step: Side of a square in level-0 pixels, a multiple of 16.
    """
    factor = step // ANALYSIS_DOWNSAMPLE
    fine = np.repeat(np.repeat(mask, factor, axis=0), factor, axis=1)
    height, width = fine.shape
    with tiff.TiffWriter(path) as file:
        tiles = map(_deflate, _cut(fine))
        file.page(tiles, width, height, compression=tiff.DEFLATE, samples=1)


def _tiles(slide: Slide, level: int, width: int, height: int) -> Iterator[NDArray[np.uint8]]:
    """Yield the tiles of a level row by row."""
    for top in range(0, height, _STRIP):
        rows = min(_STRIP, height - top)
        strip = np.empty((rows, width, 3), np.uint8)
        for left in range(0, width, _CHUNK):
            columns = min(_CHUNK, width - left)
            strip[:, left : left + columns] = slide.read(level, left, top, columns, rows)
        yield from _cut(strip)


def _cut(picture: NDArray[np.uint8]) -> Iterator[NDArray[np.uint8]]:
    """Yield tiles row by row; those at the edge are filled up with white."""
    height, width = picture.shape[:2]
    for top in range(0, height, tiff.TILE):
        for left in range(0, width, tiff.TILE):
            part = picture[top : top + tiff.TILE, left : left + tiff.TILE]
            if part.shape[:2] != (tiff.TILE, tiff.TILE):
                whole = np.full((tiff.TILE, tiff.TILE, *picture.shape[2:]), 255, np.uint8)
                whole[: part.shape[0], : part.shape[1]] = part
                part = whole
            yield part


def _deflate(tile: NDArray[np.uint8]) -> bytes:
    return zlib.compress(tile.tobytes(), 1)


def _jpeg(tile: NDArray[np.uint8]) -> bytes:
    held = io.BytesIO()
    picture = require("PIL.Image").fromarray(np.ascontiguousarray(tile))
    picture.save(held, "JPEG", quality=_QUALITY, subsampling=2)
    return held.getvalue()
