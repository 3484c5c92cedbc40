"""Pyramidal tiled BigTIFF files, written tile by tile: what OpenSlide calls a generic TIFF."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

from healthgym.core.closing import Closing

DEFLATE, JPEG = 8, 7
TILE = 256

_SHORT, _LONG, _RATIONAL, _LONG8 = 3, 4, 5, 16
_CODES = {_SHORT: "H", _LONG: "I", _RATIONAL: "II", _LONG8: "Q"}
_REDUCED = 1
_GREY, _RGB, _YCBCR = 1, 2, 6
_CENTIMETRE = 3


class TiffWriter(Closing):
    """Writes the pages of a file one after the other; nothing but offsets is kept in memory.

    Args:
        path: The file.
    """

    def __init__(self, path: str | Path) -> None:
        self._file = Path(path).open("wb")  # noqa: SIM115
        # Little-endian BigTIFF, offsets of eight bytes; the first directory comes later.
        self._file.write(struct.pack("<2sHHHQ", b"II", 43, 8, 0, 0))
        self._link = 8

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def page(
        self,
        tiles: Iterable[bytes],
        width: int,
        height: int,
        *,
        compression: int,
        samples: int = 3,
        mpp: float | None = None,
        reduced: bool = False,
    ) -> None:
        """Write a page.

        Args:
            tiles: Encoded tiles of 256 by 256 pixels, row by row.
            width: Columns of the page.
            height: Rows.
            compression: ``DEFLATE`` or ``JPEG``.
            samples: 1 for grey, 3 for colour.
            mpp: Micrometres per pixel of this page.
            reduced: Whether it is a smaller version of the first page.
        """
        offsets, counts = [], []
        for tile in tiles:
            offsets.append(self._file.tell())
            counts.append(len(tile))
            self._file.write(tile)
        light = _GREY if samples == 1 else _YCBCR if compression == JPEG else _RGB
        entries: list[tuple[int, int, list[int]]] = [
            (254, _LONG, [_REDUCED if reduced else 0]),
            (256, _LONG, [width]),
            (257, _LONG, [height]),
            (258, _SHORT, [8] * samples),
            (259, _SHORT, [compression]),
            (262, _SHORT, [light]),
            (277, _SHORT, [samples]),
            (284, _SHORT, [1]),
            (322, _LONG, [TILE]),
            (323, _LONG, [TILE]),
            (324, _LONG8, offsets),
            (325, _LONG8, counts),
        ]
        if mpp is not None:
            per_centimetre = [round(1e4 / mpp * 1000), 1000]
            entries += [
                (282, _RATIONAL, per_centimetre),
                (283, _RATIONAL, per_centimetre),
                (296, _SHORT, [_CENTIMETRE]),
            ]
        if light == _YCBCR:
            entries.append((530, _SHORT, [2, 2]))
        self._directory(sorted(entries))

    def _directory(self, entries: list[tuple[int, int, list[int]]]) -> None:
        packed = []
        for tag, kind, values in entries:
            count = len(values) // len(_CODES[kind])
            data = struct.pack(f"<{len(values)}{_CODES[kind][0]}", *values)
            if len(data) > 8:
                place = self._file.tell()
                self._file.write(data)
                data = struct.pack("<Q", place)
            packed.append(struct.pack("<HHQ", tag, kind, count) + data.ljust(8, b"\0"))
        start = self._file.tell()
        self._file.write(struct.pack("<Q", len(packed)) + b"".join(packed) + struct.pack("<Q", 0))
        end = self._file.tell()
        self._file.seek(self._link)
        self._file.write(struct.pack("<Q", start))
        self._file.seek(end)
        self._link = end - 8
