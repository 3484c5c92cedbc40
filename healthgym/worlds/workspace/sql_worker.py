"""The process that runs queries, started by :mod:`healthgym.worlds.workspace.sql_start`.

It is a program of its own because a query can ask for more memory or time than any setting of a
database bounds: one call of a text function may allocate gigabytes and cannot be interrupted. Here
the kernel bounds memory, and the parent ends a process that is late. It reads one request after
the other: a length, JSON, and for a new table a file descriptor. It answers with two lengths, JSON
and an Arrow stream.
"""

from __future__ import annotations

import json
import mmap
import resource
import signal
import socket
import struct
import sys
import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, TypeAlias

from healthgym.worlds.workspace.mapping import load_mapped
from healthgym.worlds.workspace.sql_running import Refusal, message, run

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

#: An object of JSON.
Message: TypeAlias = dict[str, Any]
#: Connections kept; an episode that has been idle for long gets a new one.
MAX_SESSIONS = 48
SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    # Eight for each connection otherwise, for files and sockets that are out of reach here.
    "async_threads": 0,
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_unsigned_extensions": "false",
    "python_enable_replacements": "false",
    "python_scan_all_frames": "false",
}
#: Functions that would show the machine's time; each session has macros of these names instead.
CLOCK = {
    "TIMESTAMPTZ": ("now", "current_timestamp", "get_current_timestamp", "transaction_timestamp"),
    "TIMESTAMP": ("localtimestamp", "current_localtimestamp"),
    "DATE": ("today", "current_date"),
    "TIME": ("current_time", "get_current_time", "localtime", "current_localtime"),
}
#: Others of which the answer depends on the time, or on what this process did before.
STEADY = (
    "age(a) AS system.main.age(CAST(CAST(getvariable('episode_clock') AS DATE) AS TIMESTAMP), a), "
    "(a, b) AS system.main.age(a, b)",
    "uuidv7() AS uuid()",
)
#: Functions that have no place in a query: they tell of this process, wait, change its settings, or
#: run text as a query that nobody has looked at.
WITHHELD = (
    "txid_current", "current_connection_id", "current_query_id", "current_transaction_id",
    "sleep_ms", "write_log", "setval", "nextval", "currval", "pg_postmaster_start_time",
    "pg_conf_load_time",
)  # fmt: skip
WITHHELD_TABLES = (
    "query", "query_table", "json_execute_serialized_sql", "enable_logging", "duckdb_logs",
    "truncate_duckdb_logs", "duckdb_log_contexts", "duckdb_memory", "duckdb_eviction_queues",
    "pragma_database_size", "enable_profiling", "checkpoint", "force_checkpoint",
    "duckdb_prepared_statements",
)  # fmt: skip
_TOO_LARGE = "The query needs more memory than it may have."
_NO = "error('This function is not offered here.')"


class Late(Exception):
    """The query took more of the processor than it may."""


class Watch:
    """Interrupts a query that has had its time of the processor; other processes' is not its."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, seconds: float) -> None:
        self.late = False
        self._over = threading.Event()
        end = time.process_time() + seconds
        # What cannot be interrupted is ended by the kernel, and this process with it. A limit of
        # the process would count ticks instead, which over hours run ahead of the clock.
        self._before = signal.setitimer(signal.ITIMER_PROF, seconds + 2.0)
        args = (connection, end)
        threading.Thread(target=self._look, args=args, daemon=True).start()

    def _look(self, connection: duckdb.DuckDBPyConnection, end: float) -> None:
        while not self._over.wait(0.05):
            if time.process_time() > end:
                self.late = True
                connection.interrupt()
                return

    def end(self) -> None:
        """Stop watching; the process may go on."""
        self._over.set()
        signal.setitimer(signal.ITIMER_PROF, *self._before)


class Session:
    """A connection with the tables of one episode."""

    def __init__(self, memory: int) -> None:
        import duckdb

        self.connection = duckdb.connect(":memory:", config=SETTINGS)
        for setting in (
            f"SET memory_limit='{memory}B'",
            "SET max_temp_directory_size='0B'",
            "SET enable_progress_bar=false",
            "SET TimeZone='UTC'",
            "SET lock_configuration=true",
        ):
            self.connection.execute(setting)
        for kind, names in CLOCK.items():
            for name in names:
                value = "getvariable('episode_clock')"
                if kind != "TIMESTAMPTZ":  # of which there is no direct way to a TIME
                    value = f"CAST(CAST({value} AS TIMESTAMP) AS {kind})"
                self.connection.execute(f"CREATE MACRO {name}() AS {value}")
        # A macro hides the function of its name, whatever that takes.
        for macro in (
            *STEADY,
            *(f"{name}() AS {_NO}" for name in WITHHELD),
            *(f"{name}() AS TABLE SELECT {_NO}" for name in WITHHELD_TABLES),
        ):
            self.connection.execute(f"CREATE MACRO {macro}")
        self.tables: dict[str, int] = {}

    def show(self, wanted: dict[str, int], held: dict[int, pa.Table]) -> None:
        """Make exactly these tables visible."""
        for name in [name for name, key in self.tables.items() if wanted.get(name) != key]:
            self.connection.unregister(name)
            del self.tables[name]
        for name, key in wanted.items():
            if name not in self.tables:
                self.connection.register(name, held[key])
                self.tables[name] = key

    def forget(self, keys: set[int]) -> None:
        """Let go of tables that nobody has any more."""
        for name in [name for name, key in self.tables.items() if key in keys]:
            self.connection.unregister(name)
            del self.tables[name]

    def settle(self, now: str) -> None:
        """Make time and chance of the next query functions of the episode."""
        self.connection.execute(f"SET VARIABLE episode_clock = TIMESTAMPTZ '{now}'")
        self.connection.execute("SELECT setseed(0.5)").fetchall()


class Worker:
    """Holds the tables it was given, and answers queries over them.

    Args:
        channel: On which it is asked.
        room: Bytes of memory it may hold; what queries leave behind counts.
    """

    def __init__(self, channel: socket.socket, room: int = 1 << 62) -> None:
        self.channel = channel
        self.room = room
        self.held: dict[int, pa.Table] = {}
        self.sessions: OrderedDict[int, Session] = OrderedDict()

    def serve(self) -> None:
        """Answer until the parent closes the channel."""
        while True:
            request, descriptors = self.receive()
            if request is None:
                return
            answer, payload = self.answer(request, descriptors)
            head = json.dumps(answer).encode()
            self.channel.sendall(struct.pack("!II", len(head), len(payload)) + head)
            self.channel.sendall(payload)

    def answer(self, request: Message, descriptors: list[int]) -> tuple[Message, bytes]:
        """Return what to say to a request: rows, a refusal of the query, or a fault of ours."""
        try:
            for key, descriptor in zip(request["load"], descriptors, strict=True):
                self.held[key] = load_mapped(descriptor)
            self.drop(set(request["drop"]))
            begun = time.process_time()
            payload, more = self.query(request) if "sql" in request else (b"", False)
        except Late:
            return {"late": True}, b""
        except Refusal as refusal:
            doubtful = refusal.doubtful or self.spent()
            return {"refused": str(refusal), "doubtful": doubtful, "spent": self.spent()}, b""
        except Exception as error:
            # The parent waits for an answer, whatever fails. It is not this query's doing; of those
            # before it, maybe: the parent asks a new process.
            return {"fault": f"{type(error).__name__}: {error}"[:1500]}, b""
        seconds = time.process_time() - begun
        return {"more": more, "seconds": seconds, "spent": self.spent()}, payload

    def spent(self) -> bool:
        """Return whether half of the memory is held: allocators give little of it back."""
        try:
            with open("/proc/self/statm", encoding="utf-8") as file:
                return int(file.read().split()[5]) * mmap.PAGESIZE > self.room // 2
        except OSError:
            return False

    def receive(self) -> tuple[Message | None, list[int]]:
        """Return the next request and the descriptors that came with it."""
        data, descriptors, _, _ = socket.recv_fds(self.channel, 4, 64)
        head = data + self.exactly(4 - len(data)) if data else b""
        if len(head) < 4:
            return None, []
        (length,) = struct.unpack("!I", head)
        body = self.exactly(length)
        return (json.loads(body), list(descriptors)) if len(body) == length else (None, [])

    def exactly(self, size: int) -> bytes:
        """Return so many bytes of the channel; fewer if the parent is gone."""
        data = bytearray()
        while len(data) < size:
            part = self.channel.recv(size - len(data))
            if not part:
                break
            data += part
        return bytes(data)

    def drop(self, keys: set[int]) -> None:
        """Let go of tables."""
        for key in keys:
            self.held.pop(key, None)
        for session in self.sessions.values() if keys else ():
            session.forget(keys)

    def query(self, request: Message) -> tuple[bytes, bool]:
        """Return the rows of a query as an Arrow stream, and whether there are more.

        Raises:
            Refusal: If the query is not accepted, fails, or exceeds its bounds.
            Late: If that is the bound of time.
            Exception: If it does not come to that.
        """
        import duckdb

        session = self.sessions.pop(request["session"], None) or Session(request["memory"])
        self.sessions[request["session"]] = session
        if len(self.sessions) > MAX_SESSIONS:
            self.sessions.popitem(last=False)[1].connection.close()
        session.show(request["tables"], self.held)
        session.settle(request["now"])
        watch = Watch(session.connection, request["seconds"])
        try:
            return run(session.connection, request["sql"], request["rows"], request["bytes"])
        except duckdb.InterruptException:
            raise Late from None
        except (MemoryError, duckdb.OutOfMemoryException):
            raise Refusal(_TOO_LARGE, doubtful=True) from None
        except (duckdb.FatalException, duckdb.InternalException) as error:
            # The connection is of no more use after these.
            del self.sessions[request["session"]]
            raise Refusal(message(error), doubtful=True) from None
        except duckdb.Error as error:
            raise Refusal(message(error)) from None
        except Refusal as error:
            if watch.late:
                raise Late from None
            raise error
        except Exception as error:
            # The tables are there and the database runs: the query alone can have caused it.
            text = f"The result cannot be handed over: {message(error)}"
            raise Refusal(text, doubtful=True) from None
        finally:
            watch.end()


def confine(memory: int) -> None:
    """Give up what a query process has no use for."""
    limits = {
        resource.RLIMIT_DATA: memory,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 0,
    }
    for name, value in limits.items():
        _, hard = resource.getrlimit(name)
        ceiling = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(name, (ceiling, ceiling))


def main() -> None:
    """Serve the channel whose descriptor is the first argument."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    import duckdb  # noqa: F401 - before memory is bounded: its libraries are large
    import pyarrow  # noqa: F401

    room = int(sys.argv[2])
    confine(room)
    # As the kernel delivers it, whatever the parent does with its own.
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGPROF})
    Worker(channel, room).serve()
