"""The process that runs queries. Started by :mod:`healthgym.worlds.workspace.sql`; no import of it.

It is a program of its own because a query can ask for more memory or time than any setting of a
database bounds: one call of a text function may allocate gigabytes and cannot be interrupted. Here
the kernel bounds memory, and the parent ends a process that is late. It reads one request after
the other: a length, JSON, and for a new table a file descriptor. It answers with two lengths, JSON
and an Arrow stream.
"""

from __future__ import annotations

import json
import mmap
import os
import socket
import struct
import sys
import threading
from collections import OrderedDict
from typing import Any

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


class Refusal(Exception):
    """The query is not one that is run here."""


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
        self.tables: dict[str, int] = {}

    def show(self, wanted: dict[str, int], held: dict[int, Any]) -> None:
        """Make exactly these tables visible."""
        for name in [name for name, key in self.tables.items() if wanted.get(name) != key]:
            self.connection.unregister(name)
            del self.tables[name]
        for name, key in wanted.items():
            if name not in self.tables:
                self.connection.register(name, held[key])
                self.tables[name] = key


class Worker:
    """Holds the tables it was given, and answers queries over them."""

    def __init__(self, channel: socket.socket) -> None:
        self.channel = channel
        self.held: dict[int, Any] = {}
        self.sessions: OrderedDict[int, Session] = OrderedDict()

    def serve(self) -> None:
        """Answer until the parent closes the channel."""
        while True:
            request, descriptors = self.receive()
            if request is None:
                return
            try:
                for key, descriptor in zip(request["load"], descriptors, strict=True):
                    self.held[key] = load(descriptor)
                payload, more = self.query(request) if "sql" in request else (b"", False)
                answer: dict[str, Any] = {"more": more}
            except Refusal as refusal:
                answer, payload = {"refused": str(refusal)}, b""
            except MemoryError:
                answer, payload = {"refused": "The query needs more memory than it may have."}, b""
            except Exception as error:
                answer, payload = {"refused": message(error)}, b""
            head = json.dumps(answer).encode()
            self.channel.sendall(struct.pack("!II", len(head), len(payload)) + head)
            self.channel.sendall(payload)

    def receive(self) -> tuple[dict[str, Any] | None, list[int]]:
        """Return the next request and the descriptors that came with it."""
        data, descriptors, _, _ = socket.recv_fds(self.channel, 4, 64)
        while data and len(data) < 4:
            data += self.channel.recv(4 - len(data))
        if not data:
            return None, []
        (length,) = struct.unpack("!I", data)
        body = bytearray()
        while len(body) < length:
            body += self.channel.recv(length - len(body))
        return json.loads(body), list(descriptors)

    def query(self, request: dict[str, Any]) -> tuple[bytes, bool]:
        """Return the rows of a query as an Arrow stream, and whether there are more."""
        for key in request["drop"]:
            self.held.pop(key, None)
        session = self.sessions.pop(request["session"], None) or Session(request["memory"])
        self.sessions[request["session"]] = session
        if len(self.sessions) > MAX_SESSIONS:
            self.sessions.popitem(last=False)[1].connection.close()
        session.show(request["tables"], self.held)
        timer = threading.Timer(request["seconds"], session.connection.interrupt)
        timer.start()
        try:
            return run(session.connection, request)
        finally:
            timer.cancel()


def load(descriptor: int) -> Any:
    """Map a table from an open file."""
    import pyarrow as pa

    try:
        mapped = mmap.mmap(descriptor, 0, prot=mmap.PROT_READ)
    finally:
        os.close(descriptor)
    return pa.ipc.open_file(pa.py_buffer(mapped)).read_all()


def run(connection: Any, request: dict[str, Any]) -> tuple[bytes, bool]:
    """Run one read-only statement and return its first rows."""
    import duckdb
    import pyarrow as pa

    statements = connection.extract_statements(request["sql"])
    if len(statements) != 1:
        raise Refusal("Give one statement.")
    if statements[0].type not in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN):
        raise Refusal("Only queries are run here: SELECT, WITH, DESCRIBE, SUMMARIZE, EXPLAIN.")
    reader = connection.execute(statements[0]).to_arrow_reader(2048)
    batches: list[Any] = []
    rows, size, more = 0, 0, False
    for batch in reader:
        room = request["rows"] - rows
        size += batch.nbytes
        if size > request["bytes"] and batches:
            more = True
            break
        if size > request["bytes"]:
            raise Refusal("The first rows of the result are too large; select less of them.")
        if batch.num_rows > room:
            batches.append(batch.slice(0, room))
            more = True
            break
        batches.append(batch)
        rows += batch.num_rows
    table = pa.Table.from_batches(batches, reader.schema)
    reader.close()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes(), more


def message(error: Exception) -> str:
    """Return what a database error says, without advice on settings that are locked."""
    text = str(error).split("\n\nPossible solutions")[0].strip()
    if "INTERRUPT" in text:
        return "The query took too long and was stopped."
    return text[:1500]


def confine(memory: int) -> None:
    """Give up what a query process has no use for."""
    import resource

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

    confine(int(sys.argv[2]))
    Worker(channel).serve()


if __name__ == "__main__":
    main()
