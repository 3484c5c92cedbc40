"""Pictures made smaller, and written as PNG.

Nothing here needs more than numpy, and all of it gives the same bytes on every machine.
"""

from __future__ import annotations

import base64
import io
import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from healthgym.core.borders import AnyArray
from healthgym.core.images import Image, checked
from healthgym.errors import ConfigurationError

#: Picture files up to this size, in bytes, go into a page as they are.
_SMALL = 20_000


def png(image: Image) -> bytes:
    """Return a picture as a PNG file: eight bits a channel, no loss.

    Raises:
        ConfigurationError: If it is no picture.
    """
    image = checked(image)
    height, width = image.shape[:2]
    rows = np.ascontiguousarray(image).reshape(height, -1)
    # Each row begins with the number of its filter; 0 is none (PNG specification, section 9).
    filtered = np.zeros((height, rows.shape[1] + 1), np.uint8)
    filtered[:, 1:] = rows
    colour_type = 0 if image.ndim == 2 else 2
    header = struct.pack(">IIBBBBB", width, height, 8, colour_type, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(filtered.tobytes(), 6))
        + _chunk(b"IEND", b"")
    )


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def data_url(file: bytes, kind: str = "png") -> str:
    """Return the bytes of a picture file as a data URL."""
    return f"data:image/{kind};base64,{base64.b64encode(file).decode('ascii')}"


def inline(file: bytes, max_side: int) -> str:
    """Return a PNG file as a data URL, made smaller where pillow can do so.

    Args:
        file: The PNG.
        max_side: Most pixels of the longer side. A picture of more than 20 kB becomes a JPEG if
            that is shorter.
    """
    if len(file) <= _SMALL:
        return data_url(file)
    try:
        from PIL import Image as Opener
    except ImportError:
        return data_url(file)
    forms = {}
    with Opener.open(io.BytesIO(file), formats=("PNG",)) as picture:
        picture.thumbnail((max_side, max_side))
        for kind, options in (("png", {}), ("jpeg", {"quality": 88})):
            buffer = io.BytesIO()
            picture.save(buffer, kind, **options)
            forms[kind] = buffer.getvalue()
    kind = min(forms, key=lambda name: len(forms[name]))
    return data_url(forms[kind], kind)


def shrink(image: Image, side: int | None) -> Image:
    """Return a picture whose longer side has at most ``side`` pixels; a smaller one as it is.

    A new pixel is the mean of the area it covers, so that fine structures fade instead of
    vanishing. The arithmetic is in whole numbers.

    Args:
        image: The picture.
        side: Most pixels of a side; no limit if None.

    Raises:
        ConfigurationError: If ``side`` is not positive.
    """
    if side is None:
        return image
    if side < 1:
        raise ConfigurationError(f"A picture of {side} pixels has no content.")
    height, width = image.shape[:2]
    longest = max(height, width)
    if longest <= side:
        return image
    return resample(image, max(height * side // longest, 1), max(width * side // longest, 1))


def resample(image: Image, height: int, width: int) -> Image:
    """Return a picture at a size not above its own, each pixel the mean of the area it covers."""
    total = _areas(_areas(image, 0, height), 1, width)
    whole = image.shape[0] * image.shape[1]
    mean: Image = ((2 * total + whole) // (2 * whole)).astype(np.uint8)
    return mean


def _areas(values: AnyArray, axis: int, size: int) -> NDArray[np.int64]:
    """Return sums over ``size`` equal parts of an axis, each times ``size``, as integers.

    A part ends at a multiple of count / size, which lies in a pixel: the whole pixels since the
    last such pixel are summed, and the two pixels cut are counted by their shares, in units of
    1 / size.
    """
    count = values.shape[axis]
    borders = np.arange(size + 1) * count
    pixel, share = borders // size, borders % size
    whole = np.add.reduceat(values, pixel[:-1], axis=axis, dtype=np.int64)
    cut = np.take(values, np.minimum(pixel, count - 1), axis).astype(np.int64)
    cut *= share.reshape([-1 if place == axis else 1 for place in range(values.ndim)])
    sums: NDArray[np.int64] = whole * size + np.diff(cut, axis=axis)
    return sums
