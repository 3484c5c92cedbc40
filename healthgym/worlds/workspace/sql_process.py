"""A process that runs queries, as its parent sees it, and what it is asked and answers."""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from healthgym.core.borders import Json, JsonDict
from healthgym.errors import InfrastructureError, OutOfTimeError, ToolError
from healthgym.worlds.workspace.optional import require
from healthgym.worlds.workspace.reaper import reaper
from healthgym.worlds.workspace.tables import Table
from healthgym.worlds.workspace.values import values

if TYPE_CHECKING:
    import pyarrow as pa

#: Memory a query process may allocate, in bytes; tables are mapped and do not count.
_PROCESS_MEMORY = 2 << 30
#: Descriptors that go with one message; the kernel's own bound is 253.
_AT_ONCE = 60
#: How many times longer than it may compute a query may take on the clock, and seconds a query
#: process may take to start.
PATIENCE = 10.0
_STARTUP = 60.0
_SESSIONS_KNOWN = 48
#: Arrow's own allocator would claim half of the memory before anything is asked.
_ENVIRONMENT = {"ARROW_DEFAULT_MEMORY_POOL": "system"}


@dataclass(frozen=True, slots=True)
class SqlLimits:
    """Bounds of a query.

    Attributes:
        rows: Rows of a result.
        bytes: Size of a result as Arrow data.
        seconds: Time of one processor it may take. On the clock it may take ten times that, so
            that a busy machine refuses what an idle one does.
        memory: Memory the database may use, in bytes.
    """

    rows: int = 20_000
    bytes: int = 64 << 20
    seconds: float = 10.0
    memory: int = 512 << 20


@dataclass(frozen=True, slots=True)
class SqlResult:
    """Rows of a query.

    Attributes:
        data: The rows, at most as many as the limits allow.
        more: Whether there are more.
        seconds: Time of the processor that the query took.
    """

    data: pa.Table
    more: bool
    seconds: float = 0.0

    @property
    def columns(self) -> list[str]:
        """Names of the columns; two may be the same."""
        return list(self.data.column_names)

    def rows(self) -> list[tuple[Json, ...]]:
        """Return the rows as Python values; what Python has none for is text."""
        columns = [values(column) for column in self.data.columns]
        return list(zip(*columns, strict=True)) if columns else []


@dataclass(frozen=True, slots=True)
class Statement:
    """What a query process is asked.

    Attributes:
        session: Whose connection it is.
        tables: The tables there are, by name.
        sql: The statement.
        rows: Most rows of the result.
        limits: Bounds of the query.
        now: The episode's time.
    """

    session: int
    tables: dict[str, Table]
    sql: str
    rows: int
    limits: SqlLimits
    now: datetime


class DoubtfulRefusal(ToolError):
    """What a query was refused for need not be its own doing, unless the process is new."""


class QueryProcess:
    """The parent's end of a query process, which serves any worlds, one query at a time.

    What a query may use is what a new process has: one that holds much of its memory afterwards is
    ended, and :class:`QueryPool` takes no refusal for want of memory from one that was used.

    Attributes:
        sessions: Whose connections it has.
        used: Whether the process has been asked a query.
    """

    def __init__(self) -> None:
        self.used = False
        self.sessions: set[int] = set()
        self._child: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self._loaded: dict[int, weakref.ref[Table]] = {}

    def query(self, asked: Statement) -> SqlResult:
        """Run a statement; see :meth:`healthgym.worlds.workspace.SqlEngine.query`."""
        limits = asked.limits
        self._prepare(asked.tables)
        request = {
            "load": [],
            "drop": self._forget(),
            "session": asked.session,
            "tables": {name: table.serial for name, table in asked.tables.items()},
            "sql": asked.sql.encode("utf-8", "replace").decode(),
            "rows": asked.rows,
            "bytes": limits.bytes,
            "seconds": limits.seconds,
            "memory": limits.memory,
            "now": asked.now.isoformat(),
        }
        if len(self.sessions) >= _SESSIONS_KNOWN:
            self.sessions.clear()  # they are known again at their next query
        self.sessions.add(asked.session)
        self.used = True
        try:
            answer, payload = self._ask(request, [], PATIENCE * limits.seconds)
        except TimeoutError:
            self.stop()
            raise _late(limits) from None
        except (OSError, EOFError):
            late = self._child is not None and self._child.wait() == -signal.SIGPROF
            self.stop()
            if late:
                raise _late(limits) from None
            raise DoubtfulRefusal(
                "The query needed more memory than it may have, and was stopped."
            ) from None
        if answer.get("spent"):
            self.stop()
        if "late" in answer:
            raise _late(limits)
        if "refused" in answer:
            refusal = DoubtfulRefusal if answer["doubtful"] else ToolError
            raise refusal(str(answer["refused"]))
        pa = require("pyarrow")
        try:
            data = pa.ipc.open_stream(payload).read_all()
        except pa.ArrowException as error:
            raise ToolError(f"The result cannot be read: {str(error)[:300]}") from None
        return SqlResult(data, bool(answer["more"]), float(answer["seconds"]))

    def forget(self) -> None:
        """Let go of tables that nobody has any more."""
        gone = self._forget()
        if gone:
            try:
                self._ask({"load": [], "drop": gone}, [], _STARTUP)
            except (OSError, EOFError, InfrastructureError):
                self.stop()

    def _prepare(self, tables: dict[str, Table]) -> None:
        """Have a process that holds the tables.

        Raises:
            InfrastructureError: If that cannot be had; no query is to blame.
        """
        for last in (False, True):
            if self._child is None or self._child.poll() is not None:
                self._start()
            try:
                return self._load(tables.values())
            except (OSError, EOFError) as error:
                self.stop()
                if last:
                    raise InfrastructureError(f"Tables cannot be loaded: {error!r}") from error
        raise AssertionError("unreachable")

    def stop(self) -> None:
        """End the process, if it runs; the next query starts another."""
        if self._channel is not None:
            self._channel.close()
        if self._child is not None:
            self._child.kill()
            self._child.wait()
        self._channel = self._child = None
        self._loaded = {}
        self.sessions = set()
        self.used = False

    def _start(self) -> None:
        self.stop()
        ours, theirs = socket.socketpair()
        script = Path(__file__).with_name("sql_start.py")
        number = theirs.fileno()
        command = [sys.executable, "-I", "-W", "ignore", str(script)]
        command += [str(number), str(_PROCESS_MEMORY)]
        with theirs:
            self._child = subprocess.Popen(
                command, pass_fds=[number], env=_ENVIRONMENT, cwd="/", stdin=subprocess.DEVNULL
            )
        self._channel = ours
        if (watcher := reaper()) is not None:
            watcher.watch(self._child.pid)
        try:
            self._ask({"load": [], "drop": []}, [], _STARTUP)
        except (OSError, EOFError) as error:
            self.stop()
            raise InfrastructureError("The query process does not start.") from error

    def _load(self, tables: Iterable[Table]) -> None:
        fresh = {table.serial: table for table in tables if table.serial not in self._loaded}
        serials = list(fresh)
        for start in range(0, len(serials), _AT_ONCE):
            part = serials[start : start + _AT_ONCE]
            descriptors: list[int] = []
            try:
                for serial in part:
                    descriptors.append(fresh[serial].open_shared())
                self._ask({"load": part, "drop": []}, descriptors, _STARTUP)
            finally:
                for descriptor in descriptors:
                    os.close(descriptor)
        self._loaded |= {serial: weakref.ref(table) for serial, table in fresh.items()}

    def _forget(self) -> list[int]:
        gone = [serial for serial, table in self._loaded.items() if table() is None]
        for serial in gone:
            del self._loaded[serial]
        return gone

    def _ask(
        self, request: JsonDict, descriptors: list[int], seconds: float
    ) -> tuple[JsonDict, bytes]:
        channel = self._channel
        assert channel is not None
        channel.settimeout(seconds)
        body = json.dumps(request).encode()
        socket.send_fds(channel, [struct.pack("!I", len(body))], descriptors)
        channel.sendall(body)
        head, size = struct.unpack("!II", _receive(channel, 8))
        answer = json.loads(_receive(channel, head))
        payload = _receive(channel, size)
        if "fault" in answer:
            raise InfrastructureError(f"The query process failed: {answer['fault']}")
        return answer, payload


def _receive(channel: socket.socket, size: int) -> bytes:
    data = bytearray(size)
    view = memoryview(data)
    while view:
        count = channel.recv_into(view)
        if not count:
            raise EOFError
        view = view[count:]
    return bytes(data)


def _late(limits: SqlLimits) -> OutOfTimeError:
    return OutOfTimeError(f"The query took more than {limits.seconds:g} seconds and was stopped.")
