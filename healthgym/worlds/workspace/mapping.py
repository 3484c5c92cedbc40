"""Tables mapped from open files, in this process and in those that run queries.

It imports nothing of the project: see :mod:`healthgym.worlds.workspace.sql_start`.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mmap.restype = ctypes.c_void_p
_LIBC.mmap.argtypes = (
    ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long,
)  # fmt: skip
_LIBC.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_FAILED = ctypes.c_void_p(-1).value


def load_mapped(descriptor: int) -> pa.Table:
    """Map a table from an open file, and close that.

    Raises:
        OSError: If there is no room for the map.
    """
    try:
        return read_mapped(descriptor)
    finally:
        os.close(descriptor)


def read_mapped(descriptor: int) -> pa.Table:
    """Return the table that an open file holds, read from the file's pages.

    The file may be closed: Python's own maps keep a descriptor each, and a process has few.

    Raises:
        OSError: If there is no room for the map.
    """
    import pyarrow as pa

    pages = _Pages(descriptor, os.fstat(descriptor).st_size)
    return pa.ipc.open_file(pa.foreign_buffer(pages.address, pages.size, base=pages)).read_all()


class _Pages:
    """The pages of a file, mapped while somebody holds this."""

    def __init__(self, descriptor: int, size: int) -> None:
        self.size = size
        place = _LIBC.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, 0)
        self.address = place if place not in (None, _FAILED) else 0
        if not self.address:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        self._unmap = _LIBC.munmap

    def __del__(self) -> None:
        if self.address:
            self._unmap(self.address, self.size)
