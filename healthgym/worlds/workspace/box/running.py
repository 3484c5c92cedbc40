"""One run in a box: starts it, answers what it asks, and stops what has had enough."""

from __future__ import annotations

import codecs
import json
import os
import pickle
import selectors
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import IO, Any

from healthgym.core.borders import JsonDict
from healthgym.errors import InfrastructureError, ToolError
from healthgym.worlds.workspace.box.command import PATIENCE, PROGRAMS, BoxLimits, Identity, command
from healthgym.worlds.workspace.box.runtime import Runtime
from healthgym.worlds.workspace.box.seccomp import seccomp_filter
from healthgym.worlds.workspace.box.spool import spool
from healthgym.worlds.workspace.python import HostFunction, call_host
from healthgym.worlds.workspace.python_worker import Printed
from healthgym.worlds.workspace.tables import Table

#: Largest request to a host function, in bytes, and seconds a box may take to start and to end.
_MAX_CALL = 1 << 20
_STARTUP = 60.0
_TICK = 0.05


@dataclass(frozen=True, slots=True)
class BoxRun:
    """What came of a run.

    Attributes:
        output: What was printed.
        value: The value of the last expression, as text; empty if there is none.
        error: Why the run ended early; empty if it did not.
        table: Columns of the table that was asked for, as the code gave them: nothing about them
            is checked but that they are lists.
        late: Whether a clock ended it, which another machine's need not do.
    """

    output: str
    value: str = ""
    error: str = ""
    table: Mapping[str, list[Any]] | None = None
    late: bool = False


@dataclass
class Running:
    """One run: its process, its channels, and how much of everything it has had.

    Attributes:
        limits: Its bounds.
        functions: What it may call, by name.
        tables: What it may read, by name.
        stack: Closes what it has opened.
        asked: What it has written, as far as that is no whole message yet.
        owed: What it has not taken yet of the answers.
        calls: Host functions it called.
        begun: When the code itself began, on a clock that stands while it is not its turn.
        done: What came of it, once it is done.
        error: Why it is to end early; empty if it is not.
        late: Whether a clock says so.
        pid: Its process id.
    """

    limits: BoxLimits
    functions: dict[str, HostFunction]
    tables: dict[str, Table]
    stack: ExitStack
    asked: bytearray = field(default_factory=bytearray)
    owed: bytearray = field(default_factory=bytearray)
    calls: int = 0
    begun: float = 0.0
    done: JsonDict | None = None
    error: str = ""
    late: bool = False
    pid: int = 0

    def start(self, bwrap: str, runtime: Runtime, identity: Identity) -> None:
        """Start the box, and the runner in it.

        Args:
            bwrap: Path of bubblewrap.
            runtime: The interpreter's files.
            identity: How the code becomes nobody.

        Raises:
            InfrastructureError: If it does not start.
        """
        stack = self.stack
        (ask, asks), (answers, answer), (info, tells) = (_pipe(stack) for _ in range(3))
        mapped, maps = _pipe(stack)
        self.hand, hands = (stack.enter_context(end) for end in socket.socketpair())
        self.hand.shutdown(socket.SHUT_RD)  # tables go one way
        filter_at = _holding(seccomp_filter(), stack)
        programs = {name: _holding(_program(name), stack) for name in PROGRAMS}
        theirs = [asks, answers, tells, mapped, filter_at, *programs.values()]
        line = command(
            bwrap,
            runtime,
            identity,
            descriptors=(asks.fileno(), answers.fileno(), hands.fileno()),
            filter_at=filter_at.fileno(),
            programs={name: file.fileno() for name, file in programs.items()},
            info_at=tells.fileno(),
            mapped_at=mapped.fileno(),
            limits=self.limits,
        )
        self.child = _started(line, [hands.fileno(), *(file.fileno() for file in theirs)])
        stack.callback(self.stop)
        hands.close()
        for file in theirs:
            file.close()
        self._introduce(info, maps, identity)
        assert self.child.stdout is not None
        self.printed = Printed(self.limits.output)
        # One decoder for all: a character may come in two parts.
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.ask, self.answer = (f.fileno() for f in (ask, answer))
        self.out = self.child.stdout.fileno()
        for descriptor in (self.ask, self.answer, self.out):
            os.set_blocking(descriptor, False)

    def _introduce(self, info: IO[bytes], maps: IO[bytes], identity: Identity) -> None:
        """Learn the box's process id, and say who is who in its user namespace."""
        told = b""
        while b"}" not in told and (part := info.read(4096)):
            told += part
        if b"}" not in told:
            return  # It does not start, and says why where its output goes.
        self.pid = int(json.loads(told)["child-pid"])
        if identity.uid_map:
            try:
                for name in ("uid_map", "gid_map"):
                    Path(f"/proc/{self.pid}/{name}").write_text(identity.uid_map, encoding="utf-8")
            except OSError as error:
                raise InfrastructureError(f"The box does not start: {error}") from error
        maps.write(b"1")

    def stop(self) -> None:
        """End the process, if it still runs."""
        self.child.kill()
        self.child.wait()
        if self.child.stdout is not None:
            self.child.stdout.close()

    def send(self, message: object) -> None:
        """Say something to the program, once it takes it."""
        body = pickle.dumps(message, protocol=4)
        self.owed += struct.pack("!I", len(body)) + body

    def serve(self, wants_table: bool) -> BoxRun:
        """Answer until the program is done, has had enough, or is gone."""
        born = time.monotonic()
        watch = _Watch(self.pid, self.limits.files)
        wall = PATIENCE * self.limits.seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self.ask, selectors.EVENT_READ)
            selector.register(self.out, selectors.EVENT_READ)
            while selector.get_map() and not self.error:
                self._offer(selector)
                ready = {key.fd: events for key, events in selector.select(_TICK)}
                if self.out in ready and not self._print():
                    selector.unregister(self.out)
                if self.ask in ready and not self._listen(wants_table):
                    selector.unregister(self.ask)
                if self.done is not None or not self.begun:
                    # It is starting, or ending: that is ours to wait for, within reason.
                    if time.monotonic() > max(born, self.begun) + wall + _STARTUP:
                        break
                elif time.monotonic() > self.begun + wall:
                    self.error, self.late = _late(self.limits), True
                elif watch.exceeded():
                    self.error = f"The code made more than {self.limits.files} files."
        return self._finish(wants_table)

    def _offer(self, selector: selectors.BaseSelector) -> None:
        """Write as much of what is owed as the program takes."""
        try:
            while self.owed:
                count = os.write(self.answer, bytes(self.owed[: 1 << 16]))
                del self.owed[:count]
        except BlockingIOError:
            if self.answer not in selector.get_map():
                selector.register(self.answer, selectors.EVENT_WRITE)
            return
        except BrokenPipeError:
            self.owed.clear()
        if self.answer in selector.get_map():
            selector.unregister(self.answer)

    def _print(self) -> bool:
        data = os.read(self.out, 1 << 16)
        self.printed("stdout", self.decoder.decode(data, final=not data))
        return bool(data)

    def _listen(self, wants_table: bool) -> bool:
        """Take in what the program asks; return whether more may come."""
        data = os.read(self.ask, 1 << 16)
        self.asked += data
        bound = (self.limits.result if wants_table else 0) + _MAX_CALL
        while len(self.asked) >= 4 and self.done is None:
            (size,) = struct.unpack("!I", self.asked[:4])
            if size > bound:
                self.error = f"What the code hands out is larger than {bound >> 20} MiB."
                return False
            if len(self.asked) < 4 + size:
                break
            body = bytes(self.asked[4 : 4 + size])
            del self.asked[: 4 + size]
            self._take(body)
        return bool(data)

    def _take(self, body: bytes) -> None:
        try:
            message = json.loads(body)
            if "begin" in message and not self.begun:
                self.begun = time.monotonic()
                return
            if "done" in message:
                self.done = dict(message["done"])
                # Nothing more is expected of it, whatever it would still do. What it printed
                # remains to be read.
                self.child.kill()
                return
            if "table" in message and not self.owed:
                return self._hand_over(str(message["table"]))
            name = str(message["call"])
            arguments, options = list(message["args"]), dict(message["kwargs"])
        except (ValueError, TypeError, KeyError, RecursionError):
            self.error = "The code broke the channel to its host functions."
            return
        self.calls += 1
        if self.calls > self.limits.calls:
            self.error = f"The code called more than {self.limits.calls} host functions."
        elif self.owed:
            # An honest program waits for one answer before it asks again.
            self.error = "The code broke the channel to its host functions."
        else:
            before = time.monotonic()
            self.send(self._call(name, arguments, options))
            # What our own functions take is not the code's.
            self.begun += time.monotonic() - before

    def _hand_over(self, name: str) -> None:
        """Hand a table to the box: a file that nobody can change, without a name."""
        table = self.tables.get(name)
        if table is None:
            return self.send({"error": f"There is no table {name[:40]!r}."})
        before = time.monotonic()
        descriptor = spool().open(table)
        try:
            self.hand.setblocking(False)
            socket.send_fds(self.hand, [b"t"], [descriptor])
        except BlockingIOError:
            self.error = "The code broke the channel to its host functions."
        finally:
            os.close(descriptor)
        self.send({"value": True})
        self.begun += time.monotonic() - before

    def _call(self, name: str, arguments: list[Any], options: JsonDict) -> JsonDict:
        if name not in self.functions:
            return {"error": f"There is no host function {name[:40]!r}."}
        try:
            return {"value": call_host(name, self.functions[name], arguments, options)}
        except ToolError as error:
            return {"error": str(error)}

    def _had_its_time(self) -> bool:
        """Return whether its threads can have computed as long as they may.

        A program that kills itself before is not late.
        """
        most = (time.monotonic() - self.begun) * (os.cpu_count() or 1)
        return most >= self.limits.seconds

    def _finish(self, wants_table: bool) -> BoxRun:
        if self.error or self.done is not None:
            self.child.kill()
        try:
            code = self.child.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            # It closed its ends and lives on.
            self.child.kill()
            code = self.child.wait()
        output = self.printed.text()
        if self.error:
            return BoxRun(output, error=self.error, late=self.late)
        if self.done is None:
            if not self.begun:
                raise InfrastructureError(f"The box does not start: {output[:500]}")
            number = code - 128 if code > 128 else -code
            if number == signal.SIGXCPU or (number == signal.SIGKILL and self._had_its_time()):
                return BoxRun(output, error=_late(self.limits), late=True)
            return BoxRun(
                output,
                error="The code ended its own process, broke the interpreter or needed more than "
                f"{self.limits.memory >> 20} MiB.",
            )
        table = self.done.get("table")
        if not isinstance(table, dict) or not all(isinstance(c, list) for c in table.values()):
            table = None
        value, error = (_text(self.done.get(key)) for key in ("value", "error"))
        if wants_table and not error and table is None:
            error = "The code handed back no table."
        value = value if len(value) <= self.limits.output else f"{value[: self.limits.output]}…"
        return BoxRun(output, value, error[-3_000:], table)


class _Watch:
    """Counts the files of a running box: a size limits what they hold, not how many there are."""

    def __init__(self, pid: int, most: int) -> None:
        self._folder = f"/proc/{pid}/root/work"
        self._most = most
        self._next = 0.0

    def exceeded(self) -> bool:
        """Return whether there are too many."""
        if time.monotonic() < self._next:
            return False
        self._next = time.monotonic() + _TICK
        try:
            found = os.statvfs(self._folder)
        except OSError:
            return False
        return found.f_files - found.f_ffree > self._most


def _pipe(stack: ExitStack) -> tuple[IO[bytes], IO[bytes]]:
    out, into = os.pipe()
    return (
        stack.enter_context(open(out, "rb", buffering=0)),
        stack.enter_context(open(into, "wb", buffering=0)),
    )


def _holding(data: bytes, stack: ExitStack) -> IO[bytes]:
    """Return an open file without a name that holds the data, from its beginning."""
    # In memory: no full disk keeps a box from starting.
    file = stack.enter_context(os.fdopen(os.memfd_create("part"), "w+b"))
    file.write(data)
    file.flush()
    file.seek(0)
    return file


def _started(line: list[str], descriptors: list[int]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            line, pass_fds=descriptors, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, bufsize=0, env={}, cwd="/", start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise InfrastructureError(f"The box does not start: {error}") from error


def _program(name: str) -> bytes:
    return resources.files(__package__).joinpath(name).read_bytes()


def _text(value: object) -> str:
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _late(limits: BoxLimits) -> str:
    return f"TimeoutError: the code ran for more than {limits.seconds:g} seconds."
