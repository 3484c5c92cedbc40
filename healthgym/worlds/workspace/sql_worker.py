"""The process that runs queries. Started by :mod:`healthgym.worlds.workspace.sql`; no import of it.

It is a program of its own because a query can ask for more memory or time than any setting of a
database bounds: one call of a text function may allocate gigabytes and cannot be interrupted. Here
the kernel bounds memory, and the parent ends a process that is late. It reads one request after
the other: a length, JSON, and for a new table a file descriptor. It answers with two lengths, JSON
and an Arrow stream.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import re
import resource
import signal
import socket
import struct
import sys
import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, TypeAlias

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
#: Types that Arrow has too, as they are. Others reach it as the database's own bytes, without their
#: zone, cut, or in a form that brings down who asks for its size.
PLAIN = frozenset(
    ("null", "boolean", "varchar", "blob", "uuid", "enum", "float", "double", "decimal", "date",
     "time", "timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns", "timestamp with time zone",
     "tinyint", "smallint", "integer", "bigint", "hugeint", "utinyint", "usmallint", "uinteger",
     "ubigint"),
)  # fmt: skip
NESTED = frozenset(("list", "array", "struct", "tuple", "map"))
_TOO_LARGE = "The query needs more memory than it may have."
_NO = "error('This function is not offered here.')"
#: A function asked for by its home, past the macros: system.main.now(), and any such call.
_PAST_MACROS = re.compile(r'\bsystem"?(?:\.[^.()]{1,200}){1,3}\(')
#: A part of a table drawn without a seed. A number of rows is drawn the same way each time.
_DRAWN = re.compile(
    r"\b(?:using sample|tablesample)[ (]?(?:\w+\()?[^\s()%]+ ?(?:%|percent\b)(?:\)|(?!\)))"
    r"(?! ?repeatable\(|\(\w+ ?, ?\d)"
)
_ANALYZES = re.compile(r"explain\b[^a-z]*(?:analy[sz]e\b|\([^)]*analy[sz]e\b)")


_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mmap.restype = ctypes.c_void_p
_LIBC.mmap.argtypes = (
    ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long,
)  # fmt: skip
_LIBC.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_FAILED = ctypes.c_void_p(-1).value


class Refusal(Exception):
    """The query is not one that is run here, or it fails.

    Args:
        text: What is wrong with it.
        doubtful: Whether a process that has done nothing else yet might have answered it.
    """

    def __init__(self, text: str, *, doubtful: bool = False) -> None:
        super().__init__(text)
        self.doubtful = doubtful


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
                self.held[key] = load(descriptor)
            self.drop(set(request["drop"]))
            begun = time.process_time()
            payload, more = self.query(request) if "sql" in request else (b"", False)
        except Late:
            return {"late": True}, b""
        except Refusal as refusal:
            doubtful = refusal.doubtful or self.spent()
            return {"refused": str(refusal), "doubtful": doubtful, "spent": self.spent()}, b""
        except Exception as error:
            # Not this query's doing; of those before it, maybe: the parent asks a new process.
            return {"fault": f"{type(error).__name__}: {error}"[:1500]}, b""
        seconds = time.process_time() - begun
        return {"more": more, "seconds": seconds, "spent": self.spent()}, payload

    def spent(self) -> bool:
        """Return whether half of the memory is held: allocators give little of it back."""
        try:
            with open("/proc/self/statm") as file:
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
            return run(session.connection, request)
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


def load(descriptor: int) -> pa.Table:
    """Map a table from an open file, and close that."""
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


def run(connection: duckdb.DuckDBPyConnection, request: Message) -> tuple[bytes, bool]:
    """Run one read-only statement and return its first rows."""
    import duckdb
    import pyarrow as pa

    accept(request["sql"])
    statements = connection.extract_statements(request["sql"])
    if len(statements) != 1:
        raise Refusal("Give one statement.")
    if statements[0].type not in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN):
        raise Refusal("Only queries are run here: SELECT, WITH, DESCRIBE, SUMMARIZE, EXPLAIN.")
    # As a relation, not by execute(): rows are made as they are read, and no more of them.
    reader = legible(connection.sql(statements[0])).to_arrow_reader(2048)
    try:
        batches, more = first_rows(reader, request["rows"], request["bytes"])
    finally:
        reader.close()
    table = pa.Table.from_batches(batches, reader.schema)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes(), more


def legible(found: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Return a relation of which the columns that Arrow cannot show as they are are text."""
    if all(map(_shown_as_is, found.types)):
        return found
    columns = []
    for place, (name, kind) in enumerate(zip(found.columns, found.types, strict=True), 1):
        value = f"#{place}" if _shown_as_is(kind) else f"CAST(#{place} AS VARCHAR)"
        quoted = name.replace('"', '""')
        columns.append(f'{value} AS "{quoted}"')
    return found.project(", ".join(columns))


def _shown_as_is(kind: duckdb.sqltypes.DuckDBPyType) -> bool:
    if kind.id in NESTED:
        # The size of an array is among what it is made of.
        parts = (part for _, part in kind.children if not isinstance(part, int | list))
        return all(map(_shown_as_is, parts))
    return kind.id in PLAIN


def accept(sql: str) -> None:
    """Return if a statement asks for nothing past the macros of the session.

    Raises:
        Refusal: If it does. What stands in a text or a comment does not count, nor where somebody
            put spaces.
    """
    import duckdb

    tokens = duckdb.tokenize(sql)
    ends = [*(start for start, _ in tokens), len(sql.encode())][1:]
    held = sql.encode()
    words = [
        held[start:end].decode("utf-8", "replace").strip().lower()
        for (start, kind), end in zip(tokens, ends, strict=True)
        if kind not in (duckdb.token_type.string_const, duckdb.token_type.comment)
    ]
    text = re.sub(r"\s*([.()\"])\s*", r"\1", " ".join(words))
    if _PAST_MACROS.search(text):
        raise Refusal("Call functions by their name alone, without 'system'.")
    if _DRAWN.search(text):
        raise Refusal(
            "A sample by percent needs a seed: TABLESAMPLE bernoulli(20%) REPEATABLE (1)."
        )
    if text.startswith("explain") and _ANALYZES.match(text):
        raise Refusal("EXPLAIN ANALYZE shows the machine's time; EXPLAIN shows the plan.")


def first_rows(
    reader: pa.RecordBatchReader, most: int, room: int
) -> tuple[list[pa.RecordBatch], bool]:
    """Return batches of at most so many rows, and whether there are more."""
    batches: list[pa.RecordBatch] = []
    rows, size = 0, 0
    while True:
        try:
            batch = reader.read_next_batch()
        except StopIteration:
            return batches, False
        except OSError as error:
            # Here the query runs, and this is how Arrow passes on what the database says.
            if "Out of Memory Error" in str(error):
                raise MemoryError from None
            raise Refusal(message(error)) from None
        size += batch.nbytes
        if size > room and batches:
            return batches, True
        if size > room:
            raise Refusal("The first rows of the result are too large; select less of them.")
        if batch.num_rows > most - rows:
            return [*batches, batch.slice(0, most - rows)], True
        batches.append(batch)
        rows += batch.num_rows


def message(error: Exception) -> str:
    """Return what a database error says, without advice on settings and without addresses."""
    text = re.split(r"\n\s*(?:Possible solutions|Stack Trace)", str(error), maxsplit=1)[0].strip()
    return text[:1500]


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


if __name__ == "__main__":
    main()
