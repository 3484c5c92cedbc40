"""Tables as files that a box can be handed: in memory, without a name, and never to be changed."""

from __future__ import annotations

import os
import threading
import weakref
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

from healthgym.worlds.workspace.optional import require
from healthgym.worlds.workspace.tables import Table

if TYPE_CHECKING:
    import pyarrow as pa

#: Files kept for the next run, and bytes of all of them.
MAX_FILES = 32
MAX_BYTES = 512 << 20

# linux/fcntl.h. Python names them from 3.8 on where the C library had them when it was built.
_ADD_SEALS = 1033
_SEAL_SEAL, _SEAL_SHRINK, _SEAL_GROW, _SEAL_WRITE = 1, 2, 4, 8


class _Held(NamedTuple):
    """A file: its descriptor, its size, and what closes it when its table is gone."""

    descriptor: int
    size: int
    end: weakref.finalize[[int], Table]


class Spool:
    """Writes tables as Arrow files, and keeps those that were last asked for.

    The files have no name, so they are gone with the processes that hold them, however these end.
    """

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._files: OrderedDict[int, _Held] = OrderedDict()  # by the table's serial number
        self._lock = threading.RLock()

    def open(self, table: Table) -> int:
        """Return a descriptor of the file that holds a table; the caller closes it."""
        with self._lock:
            if table.serial not in self._files:
                made = _sealed(table.data)
                end = weakref.finalize(table, self._forget, table.serial)
                self._files[table.serial] = _Held(made, os.fstat(made).st_size, end)
            self._files.move_to_end(table.serial)
            opened = os.dup(self._files[table.serial].descriptor)
            while len(self._files) > MAX_FILES or self.size > MAX_BYTES:
                self._forget(next(iter(self._files)))
            return opened

    @property
    def size(self) -> int:
        """Bytes of the files that are kept."""
        return sum(held.size for held in self._files.values())

    def _forget(self, serial: int) -> None:
        with self._lock:
            held = self._files.pop(serial, None)
            if held is not None:
                held.end.detach()
                if self.pid == os.getpid():
                    os.close(held.descriptor)


def _sealed(data: pa.Table) -> int:
    import fcntl  # not on Windows, where no box is

    pa = require("pyarrow")
    plain = _plain(data)
    made = os.memfd_create("table", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with (
        open(os.dup(made), "wb") as file,
        pa.ipc.new_file(pa.PythonFile(file, "w"), plain.schema) as writer,
    ):
        writer.write_table(plain)
    # Whoever is handed it, in a box or not, can neither write to it nor cut it short.
    fcntl.fcntl(made, _ADD_SEALS, _SEAL_SEAL | _SEAL_SHRINK | _SEAL_GROW | _SEAL_WRITE)
    return made


def _plain(data: pa.Table) -> pa.Table:
    """Return a table without dictionaries, whose empty cells polars does not read."""
    pa = require("pyarrow")
    fields = [
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in data.schema
    ]
    return data.cast(pa.schema(fields))


_current: Spool | None = None


def spool() -> Spool:
    """Return the spool of this process."""
    global _current
    if _current is None or _current.pid != os.getpid():
        _current = Spool()
    return _current
