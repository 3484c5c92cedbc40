"""Tables as files that a box can be shown."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

from healthgym.worlds.workspace.optional import require
from healthgym.worlds.workspace.tables import Table, memory_folder

if TYPE_CHECKING:
    import pyarrow as pa


class Spool:
    """Writes each table once, as an Arrow file, and deletes it when the table is gone."""

    def __init__(self) -> None:
        # What a process inherits from its parent is not its own to delete.
        self._pid = os.getpid()
        self._folders: dict[str | None, Path] = {}
        self._files: dict[int, Path] = {}
        self._lock = threading.Lock()

    def file_of(self, table: Table) -> Path:
        """Return the file that holds a table; anybody who is shown it may read it."""
        with self._lock:
            found = self._files.get(table.serial)
            if found is None:
                found = self._folder(table.data.nbytes) / f"{table.serial}.arrow"
                pa = require("pyarrow")
                data = _plain(table.data)
                with (
                    pa.OSFile(str(found), "wb") as file,
                    pa.ipc.new_file(file, data.schema) as writer,
                ):
                    writer.write_table(data)
                found.chmod(0o444)
                self._files[table.serial] = found
                weakref.finalize(table, self._forget, table.serial)
            return found

    def _folder(self, size: int) -> Path:
        place = memory_folder(size)
        if place not in self._folders:
            made = tempfile.mkdtemp(prefix="healthgym-", dir=place)
            weakref.finalize(self, _remove, made, self._pid)
            self._folders[place] = Path(made)
        return self._folders[place]

    def _forget(self, serial: int) -> None:
        path = self._files.pop(serial, None)
        if path is not None and os.getpid() == self._pid:
            path.unlink(missing_ok=True)


def _remove(folder: str, pid: int) -> None:
    if os.getpid() == pid:
        shutil.rmtree(folder, ignore_errors=True)


def _plain(data: pa.Table) -> pa.Table:
    """Return a table without dictionaries, whose empty cells polars does not read."""
    pa = require("pyarrow")
    fields = [
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in data.schema
    ]
    return data.cast(pa.schema(fields))


_current: tuple[int, Spool] | None = None


def spool() -> Spool:
    """Return the spool of this process."""
    global _current
    if _current is None or _current[0] != os.getpid():
        _current = (os.getpid(), Spool())
    return _current[1]
