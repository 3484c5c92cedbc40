"""Pictures of a slide with its grid: coordinates are written by hand, so that no font is needed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from healthgym.worlds.imaging.raster import contact_sheet
from healthgym.worlds.slides.grid import TILE, Tile
from healthgym.worlds.slides.source import Slide, view

Pixels = NDArray[np.uint8]

#: Digits of three by five pixels, row by row.
_GLYPHS = {
    "0": "111101101101111", "1": "010110010010111", "2": "111001111100111",
    "3": "111001111001111", "4": "101101111001001", "5": "111100111001111",
    "6": "111100111101111", "7": "111001001001001", "8": "111101111101111",
    "9": "111101111001111", ",": "000000000010100", " ": "000000000000000",
}  # fmt: skip
_SCALE, _BORDER = 2, 20
_LINE, _INK, _PAPER = (60, 110, 160), (20, 20, 20), 255
_MARKED = (0, 150, 60)
#: Longest side of an overview, in pixels.
OVERVIEW = 720


def overview(slide: Slide, marked: Iterable[Tile] = ()) -> tuple[Pixels, float]:
    """Return the whole slide with the grid of tiles, and its downsample.

    Numbers of columns are written above, of rows at the left.

    Args:
        slide: The slide.
        marked: Tiles to be shown in green.
    """
    downsample = max(slide.width, slide.height) / OVERVIEW
    nice = next((d for d in slide.downsamples if 0.75 <= d / downsample <= 1.6), None)
    downsample = downsample if nice is None else nice
    width, height = int(-(-slide.width // downsample)), int(-(-slide.height // downsample))
    picture = view(slide, downsample, 0, 0, width, height).copy()
    side = TILE / downsample
    for x, y in marked:
        box = picture[
            round(y * side) : round((y + 1) * side), round(x * side) : round((x + 1) * side)
        ]
        box[:] = np.rint(box * 0.55 + np.array(_MARKED) * 0.45).astype(np.uint8)
    for line in range(1, int(width / side) + 1):
        picture[:, min(round(line * side), width - 1)] = _LINE
    for line in range(1, int(height / side) + 1):
        picture[min(round(line * side), height - 1)] = _LINE
    page = np.full((height + _BORDER, width + _BORDER, 3), _PAPER, np.uint8)
    page[_BORDER:, _BORDER:] = picture
    step = max(int(np.ceil(24 / side)), 1)
    for number in range(0, int(np.ceil(width / side)), step):
        write(page, str(number), _BORDER + round(number * side) + 2, 5)
    for number in range(0, int(np.ceil(height / side)), step):
        write(page, str(number), 2, _BORDER + round(number * side) + 2)
    return page, downsample


def sheet(pictures: Sequence[Pixels], labels: Sequence[str], columns: int) -> Pixels:
    """Return pictures in rows, each with a label in its corner."""
    shown = []
    for picture, label in zip(pictures, labels, strict=True):
        labelled = picture.copy()
        labelled[: 5 * _SCALE + 4, : (4 * len(label)) * _SCALE + 4] = _PAPER
        write(labelled, label, 2, 2)
        shown.append(labelled)
    return contact_sheet(shown, columns)


def write(image: Pixels, text: str, left: int, top: int) -> None:
    """Write digits and commas into a picture; what lies outside is left out."""
    for place, letter in enumerate(text):
        rows = np.array(list(_GLYPHS[letter])).reshape(5, 3) == "1"
        glyph = np.repeat(np.repeat(rows, _SCALE, axis=0), _SCALE, axis=1)
        x = left + place * 4 * _SCALE
        part = image[top : top + glyph.shape[0], x : x + glyph.shape[1]]
        part[glyph[: part.shape[0], : part.shape[1]]] = _INK
