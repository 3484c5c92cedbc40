"""Files of data sets, read within bounds: no pipe that hangs a reader, no archive without an end.

A file that has changed is told from what stood there before, so that none is served stale.

What is found here is raised as an OSError, which every loader names in its own words, with the
file and how to get the data set.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Protocol

#: Most bytes that a file may unpack to where it is read whole, and where it is read as a table.
MOST_WHOLE = 512 << 20
MOST_TABLE = 4 << 30
_CHUNK = 1 << 20
#: What some programs put before a text that they save; it says nothing.
BYTE_ORDER_MARK: Final = "\ufeff"


class Readable(Protocol):
    """An open file, or a member of an archive."""

    def read(self, size: int, /) -> bytes:
        """Return at most so many bytes; none at the end."""


def require_file(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file that can be read to its end.

    Whoever opens a pipe waits until somebody writes to it, which may be for ever.

    Raises:
        FileNotFoundError: If there is nothing there.
        OSError: If it is a pipe, a socket, a device or a folder.
    """
    found = Path(path)
    if not stat.S_ISREG(found.stat().st_mode):
        raise OSError("it is a pipe, a socket, a device or a folder, and no file")
    return found


def marks_of(paths: Iterable[str | os.PathLike[str]]) -> str:
    """Return a text for the key of a cache, which is another one once a file is another.

    It is made of paths, sizes, times of change and inodes. A file that is not there counts too.
    """
    found = hashlib.sha256()
    for path in paths:
        try:
            state = os.stat(path)
            mark = (os.fspath(path), state.st_size, state.st_mtime_ns, state.st_ino)
        except OSError:
            mark = (os.fspath(path), -1, -1, -1)
        found.update(repr(mark).encode("utf-8", "surrogateescape"))
    return found.hexdigest()


def read_whole(path: Path, most: int = MOST_WHOLE) -> bytes:
    """Return the contents of a file; those of a ``.gz`` file unpacked.

    Args:
        path: The file.
        most: Most bytes of the contents.

    Raises:
        OSError: If it cannot be read, is no regular file, or holds more.
        EOFError: If it is cut short.
        zlib.error: If it is damaged.
    """
    require_file(path)
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        return read_within(file, most)


def read_plain(path: str | os.PathLike[str], most: int = MOST_WHOLE) -> bytes:
    """Return the bytes of a file as they are, packed or not.

    Raises:
        OSError: If it cannot be read, is no regular file, or is longer.
    """
    with require_file(path).open("rb") as file:
        return read_within(file, most)


def unpack(data: bytes, most: int = MOST_WHOLE) -> bytes:
    """Return gzipped data unpacked; see :func:`read_whole` for what is raised."""
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        return read_within(file, most)


def read_within(file: Readable, most: int = MOST_WHOLE) -> bytes:
    """Return what is left of an open file, or of a member of an archive.

    Raises:
        OSError: If that is more than so many bytes.
    """
    parts: list[bytes] = []
    room = most
    while part := file.read(min(_CHUNK, room + 1)):
        room -= len(part)
        if room < 0:
            raise OSError(f"it unpacks to more than {most >> 20} MiB, which is not read")
        parts.append(part)
    return b"".join(parts)


def table_file(path: Path, most: int = MOST_TABLE) -> Path | Bounded:
    """Return what a reader of tables may open: the path, or for a ``.gz`` file a bounded stream.

    Raises:
        OSError: If it is no regular file.
    """
    require_file(path)
    return Bounded(path, most) if path.suffix == ".gz" else path


class Bounded(io.RawIOBase):
    """The contents of a gzipped file, up to a bound.

    Args:
        path: The file.
        most: Most bytes it may unpack to; reading on raises OSError.
    """

    def __init__(self, path: Path, most: int) -> None:
        self._file = gzip.open(path)  # noqa: SIM115 - closed with this one
        self._most = most
        self._room = most

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: object) -> int:
        """Read the next bytes into a buffer, and return how many they are."""
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        part = self._file.read(len(view))
        self._room -= len(part)
        if self._room < 0:
            raise OSError(f"it unpacks to more than {self._most >> 20} MiB, which is not read")
        view[: len(part)] = part
        return len(part)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()
