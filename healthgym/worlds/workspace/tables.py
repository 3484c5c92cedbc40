"""Tables: immutable Arrow data shared between episodes, and an episode's own results over it."""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import IO, TYPE_CHECKING

from healthgym.core.state import Stateful, table
from healthgym.errors import ToolError
from healthgym.worlds.workspace.mapping import read_mapped
from healthgym.worlds.workspace.optional import require

if TYPE_CHECKING:
    import pyarrow as pa

#: Tables an episode may save, rows of each, and bytes of all of them.
MAX_SAVED = 30
MAX_SAVED_ROWS = 200_000
MAX_SAVED_BYTES = 256 << 20

_NAME = re.compile(r"[a-z][a-z0-9_]{0,40}")
_SERIALS = itertools.count(1)


class Table:
    """An immutable table, and what is said about it.

    Environments that hold the same object share its memory, and so does the process that queries
    it: see :meth:`open_shared`.

    Args:
        data: The columns.
        about: What the table holds, in a sentence.
        columns: What columns hold, by name; for the columns that need it.
    """

    def __init__(
        self, data: pa.Table, *, about: str = "", columns: Mapping[str, str] | None = None
    ) -> None:
        self.data = data
        self.about = about
        self.columns: Mapping[str, str] = dict(columns or {})
        #: Tells tables apart within this process; never shown and never part of a digest.
        self.serial = next(_SERIALS)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.data.num_rows)

    @cached_property
    def fingerprint(self) -> str:
        """Hex digest of schema and content."""
        digest = hashlib.blake2b(digest_size=16)
        pa = require("pyarrow")
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self.data.schema) as writer:
            writer.write_table(self.data.combine_chunks())
        digest.update(sink.getvalue())
        return digest.hexdigest()

    def content_hash(self) -> str:
        """Return the fingerprint: by it worlds and tasks are told apart."""
        return self.fingerprint

    def open_shared(self) -> int:
        """Return a descriptor of a file, without a name, that holds the table; the caller closes.

        From then on the table itself is read from that file's pages, so that this process and the
        one that is handed the descriptor hold it once between them.

        Raises:
            OSError: If there is room for it nowhere.
        """
        pa = require("pyarrow")
        problem = OSError("There is no place for a table.")
        for make in _places(self.data.nbytes):
            try:
                with make() as file:
                    with pa.ipc.new_file(pa.PythonFile(file, "w"), self.data.schema) as writer:
                        writer.write_table(self.data)
                    file.flush()
                    self.data = read_mapped(file.fileno())
                    return os.dup(file.fileno())
            except OSError as error:
                problem = error
        raise problem

    def __getstate__(self) -> dict[str, object]:
        return {"data": self.data, "about": self.about, "columns": self.columns}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state, serial=next(_SERIALS))


def memory_folder(size: int) -> str | None:
    """Return a folder in memory with room for a file of so many bytes; None if there is none.

    Containers often have 64 MB there, less than a large table.
    """
    folder = "/dev/shm"
    if sys.platform != "linux" or not os.path.isdir(folder):
        return None
    return folder if shutil.disk_usage(folder).free > 2 * size + (16 << 20) else None


def _places(size: int) -> Iterator[Callable[[], IO[bytes]]]:
    """Yield what opens a file without a name: in memory where it may, then wherever else.

    The last is bounded by nothing but the machine's memory, so that no table that is kept on a
    small or full disk fails the queries over it.
    """
    if folder := memory_folder(size):
        yield lambda: tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - for who asked
    yield tempfile.TemporaryFile
    if sys.platform == "linux":
        yield lambda: os.fdopen(os.memfd_create("table"), "w+b")


class TableStore(Stateful, Mapping[str, Table]):
    """Tables by name: the task's, which are read-only, and those the episode saved.

    Args:
        base: The task's tables; shared and never changed.
    """

    _saved = table[str, Table]()

    def __init__(self, base: Mapping[str, Table]) -> None:
        self._base = base

    def __getitem__(self, name: str) -> Table:
        return self._saved[name] if name in self._saved else self._base[name]

    def __iter__(self) -> Iterator[str]:
        yield from self._base
        yield from (name for name in self._saved if name not in self._base)

    def __len__(self) -> int:
        return len(self._base.keys() | self._saved.keys())

    @property
    def saved(self) -> Mapping[str, Table]:
        """The tables saved in this episode."""
        return dict(self._saved)

    def find(self, name: str) -> Table:
        """Return a table.

        Raises:
            ToolError: If there is none of that name, listing those there are.
        """
        try:
            return self[name]
        except KeyError:
            raise ToolError(
                f"There is no table {name[:60]!r}. Tables: {', '.join(self) or 'none'}."
            ) from None

    def save(self, name: str, table: Table) -> None:
        """Keep a table for the rest of the episode, in place of an earlier one of that name.

        Raises:
            ToolError: If the name is taken by the task or not a name, or there is no room.
        """
        self.check_name(name)
        if table.rows > MAX_SAVED_ROWS:
            raise ToolError(f"A saved table holds at most {MAX_SAVED_ROWS} rows.")
        others = (old.data.nbytes for key, old in self._saved.items() if key != name)
        if table.data.nbytes + sum(others) > MAX_SAVED_BYTES:
            raise ToolError(f"Saved tables hold at most {MAX_SAVED_BYTES >> 20} MiB in all.")
        try:
            # Its pages are taken now, while there is a call that can be refused.
            os.close(table.open_shared())
        except OSError as error:
            raise ToolError(f"There is no room for the table: {error.strerror}.") from None
        self._saved[name] = table

    def check_name(self, name: str) -> None:
        """Return if a table may be saved under a name.

        Raises:
            ToolError: If the name is taken by the task or not a name, or there are too many.
        """
        if not _NAME.fullmatch(name):
            raise ToolError("A table's name has small letters, digits and _, such as 'my_rows'.")
        if name in self._base:
            raise ToolError(f"{name!r} is one of the task's tables; choose another name.")
        if len(self._saved) >= MAX_SAVED and name not in self._saved:
            raise ToolError(f"At most {MAX_SAVED} tables can be saved.")
