"""Pictures as arrays: grey levels, sizes, sheets, marks and files.

Rows come first: an image has the shape (height, width) or (height, width, 3), a box is
(left, top, right, bottom) in pixels, right and bottom excluded.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from pathlib import Path
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from healthgym.core import optional
from healthgym.core.borders import AnyArray
from healthgym.core.files import require_file
from healthgym.errors import DamagedDataError, MissingDataError

Image = NDArray[np.uint8]
Floats = NDArray[np.float32]
Box = tuple[int, int, int, int]
Colour = tuple[int, int, int]

#: Between the pictures of a sheet, in pixels, and the grey of what is not picture.
_GAP, _GROUND = 4, 24
_LABEL = 14
#: What is read as a picture, whatever the file is called. Pillow has other programs run for some
#: of the others.
_FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "PPM")
#: Most pixels of a picture file; the largest published radiographs have 17 million.
MOST_PIXELS = 50_000_000


def require(module: str) -> ModuleType:
    """Return an optional module.

    Raises:
        MissingDependencyError: If it is not installed, naming the extra that brings it.
    """
    return optional.require(module, extra="imaging", purpose="Imaging")


def display(values: AnyArray, low: float, high: float) -> Image:
    """Map values linearly to grey levels: ``low`` and below black, ``high`` and above white.

    Args:
        values: Any shape.
        low: Value shown as 0.
        high: Value shown as 255; below ``low`` it shows a negative.

    Returns:
        The same shape, uint8.
    """
    scale = np.float32(255.0 / (high - low)) if high != low else np.float32(0)
    shown = (np.asarray(values, np.float32) - np.float32(low)) * scale
    levels: Image = np.rint(np.clip(shown, 0, 255)).astype(np.uint8)
    return levels


def resize(image: AnyArray, height: int, width: int) -> AnyArray:
    """Scale an image: the mean of each pixel's area when shrinking, linear when enlarging.

    Args:
        image: Shape (h, w) or (h, w, channels).
        height: New height, in pixels.
        width: New width, in pixels.

    Returns:
        Shape (height, width[, channels]); uint8 stays uint8, all else becomes float32.
    """
    values = np.asarray(image, np.float32)
    for axis, size in ((0, height), (1, width)):
        values = _resample(values, axis, size)
    return np.rint(values).astype(np.uint8) if image.dtype == np.uint8 else values


def _resample(values: Floats, axis: int, size: int) -> Floats:
    count = values.shape[axis]
    if size == count:
        return values
    column = [1] * values.ndim
    column[axis] = size
    if size < count:
        # The integral up to each border, borders lying within pixels: float64, because differences
        # of long sums are taken.
        total = np.cumsum(values, axis=axis, dtype=np.float64)
        total = np.concatenate([np.zeros_like(np.take(total, [0], axis)), total], axis=axis)
        borders = np.arange(size + 1) * (count / size)
        floor = np.minimum(borders.astype(np.int64), count - 1)
        shape = [1] * values.ndim
        shape[axis] = size + 1
        share = (borders - floor).reshape(shape)
        low, high = np.take(total, floor, axis), np.take(total, floor + 1, axis)
        integral = low + (high - low) * share
        means: Floats = (np.diff(integral, axis=axis) * (size / count)).astype(np.float32)
        return means
    places = np.clip((np.arange(size) + 0.5) * (count / size) - 0.5, 0, count - 1)
    floor = np.minimum(places.astype(np.int64), max(count - 2, 0))
    share = (places - floor).astype(np.float32).reshape(column)
    first = np.take(values, floor, axis)
    enlarged: Floats = (
        first + (np.take(values, np.minimum(floor + 1, count - 1), axis) - first) * share
    )
    return enlarged


def clip_box(box: Sequence[float], height: int, width: int) -> Box:
    """Return a box cut to an image, in whole pixels; empty boxes keep one pixel."""
    left, top, right, bottom = (round(value) for value in box)
    left, top = min(max(left, 0), width - 1), min(max(top, 0), height - 1)
    return left, top, min(max(right, left + 1), width), min(max(bottom, top + 1), height)


def rgb(image: Image) -> Image:
    """Return a colour copy, shape (height, width, 3)."""
    return image.copy() if image.ndim == 3 else np.repeat(image[:, :, None], 3, axis=2)


def contact_sheet(images: Sequence[Image], columns: int, labels: Sequence[str] = ()) -> Image:
    """Lay pictures out in rows, each with its label above it.

    Args:
        images: Pictures of any sizes; a cell is as large as the largest.
        columns: Pictures in a row.
        labels: One short text a picture, or none at all. Needs pillow.

    Returns:
        Shape (height, width, 3), uint8.

    Raises:
        ValueError: If there is no picture.
    """
    if not images:
        raise ValueError("A contact sheet needs at least one picture.")
    columns = max(min(columns, len(images)), 1)
    head = _LABEL if labels else 0
    tall = max(image.shape[0] for image in images) + head + _GAP
    wide = max(image.shape[1] for image in images) + _GAP
    rows = ceil(len(images) / columns)
    sheet = np.full((rows * tall + _GAP, columns * wide + _GAP, 3), _GROUND, np.uint8)
    places = []
    for number, image in enumerate(images):
        top = _GAP + number // columns * tall
        left = _GAP + number % columns * wide
        places.append((left, top))
        height, width = image.shape[:2]
        sheet[top + head : top + head + height, left : left + width] = rgb(image)
    return write_labels(sheet, list(zip(places, labels, strict=True))) if labels else sheet


def write_labels(
    image: Image,
    labels: Sequence[tuple[tuple[int, int], str]],
    colour: Colour = (255, 230, 120),
    size: int = 11,
) -> Image:
    """Write short texts into a copy of a picture.

    Args:
        image: Shape (h, w) or (h, w, 3).
        labels: The left upper corner, as (left, top), and the text of each.
        colour: Colour of the text.
        size: Height of the letters, in pixels.

    Returns:
        Shape (h, w, 3), uint8.
    """
    pil, draw_on = require("PIL.Image"), require("PIL.ImageDraw")
    page = pil.fromarray(rgb(image))
    pen = draw_on.Draw(page)
    font = require("PIL.ImageFont").load_default(size=size)
    for place, text in labels:
        pen.text(place, text, fill=colour, font=font)
    return np.asarray(page, np.uint8).copy()


def draw_lines(
    image: Image, across: Sequence[float], down: Sequence[float], colour: Colour = (0, 130, 200)
) -> Image:
    """Draw a grid into a copy of a picture.

    Args:
        image: Shape (h, w) or (h, w, 3).
        across: Rows of the horizontal lines, in pixels; those outside are left out.
        down: Columns of the vertical lines.
        colour: Colour of the lines.
    """
    shown = rgb(image)
    for row in across:
        if 0 <= round(row) < shown.shape[0]:
            shown[round(row)] = colour
    for column in down:
        if 0 <= round(column) < shown.shape[1]:
            shown[:, round(column)] = colour
    return shown


def draw_box(image: Image, box: Box, colour: Colour = (255, 200, 0), width: int = 1) -> Image:
    """Draw the outline of a box into a copy of a picture; parts outside are left out."""
    shown = rgb(image)
    rows, columns = shown.shape[:2]
    left, top, right, bottom = clip_box(box, rows, columns)
    shown[top : top + width, left:right] = colour
    shown[max(bottom - width, top) : bottom, left:right] = colour
    shown[top:bottom, left : left + width] = colour
    shown[top:bottom, max(right - width, left) : right] = colour
    return shown


def save_image(path: str | Path, image: Image, **options: object) -> None:
    """Write a picture; the ending of the path names the format.

    Args:
        path: Where to, such as ``view.png``.
        image: Shape (h, w) or (h, w, 3), uint8.
        options: Options of pillow's encoder, such as ``quality=95``.
    """
    require("PIL.Image").fromarray(image).save(path, **options)


def load_image(path: str | Path) -> Image:
    """Read a picture file.

    Returns:
        Shape (h, w) for grey pictures, else (h, w, 3); uint8. Sixteen-bit grey is scaled to its
        own range; transparency is laid over black.

    Raises:
        MissingDataError: If there is no such file.
        DamagedDataError: If it is no picture, or one cut short.
    """
    pil = require("PIL.Image")
    try:
        with pil.open(require_file(path), formats=_FORMATS) as file:
            if file.width * file.height > MOST_PIXELS:
                raise ValueError(
                    f"it has {file.width} by {file.height} pixels, and at most "
                    f"{MOST_PIXELS // 10**6} million are read"
                )
            file.load()
            if file.mode.startswith("I") or file.mode == "F":
                values = np.asarray(file, np.float32)
                return display(values, float(values.min()), float(values.max()))
            if file.mode in ("1", "L"):
                return np.asarray(file.convert("L"), np.uint8).copy()
            if "A" in file.mode or "transparency" in file.info:
                file = file.convert("RGBA")
                file = pil.alpha_composite(pil.new("RGBA", file.size, (0, 0, 0, 255)), file)
            return np.asarray(file.convert("RGB"), np.uint8).copy()
    except FileNotFoundError as error:
        raise MissingDataError(f"There is no picture {path}.") from error
    # What pillow raises for files cut short, broken, or made to exhaust memory.
    except (
        OSError,
        SyntaxError,
        ValueError,
        pil.DecompressionBombError,
        pil.DecompressionBombWarning,
    ) as error:
        raise DamagedDataError(f"{path} cannot be read as a picture: {error}.") from error
