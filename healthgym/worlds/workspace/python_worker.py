"""The program that holds the sandbox, started by :mod:`healthgym.worlds.workspace.python_process`.

What code in the sandbox makes is small there and may be endless outside: a list that holds itself
twice, forty times over, is forty lists and a text of 10^12 characters, and a dictionary's keys are
hashed anew by whoever is handed it. Neither can be interrupted, so both happen here, in a process
whose memory the kernel bounds and that its parent ends when it is late. Nothing but text, numbers
and truth values goes on to the parent. It loads nothing of the project.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import socket
import struct
import sys
import threading
from contextlib import suppress
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any, TypeAlias

with suppress(ImportError):  # on Windows, where it is imported for its names, and never run
    import resource

#: An object of JSON, or of what a function returned.
Message: TypeAlias = dict[str, object]
#: Parts of a second by which the kernel counts a process's time; 0 where it tells nobody.
_TICKS = os.sysconf("SC_CLK_TCK") if sys.platform == "linux" else 0
_TICK = 0.05
#: How many times what is kept code may print before it is stopped: reading it is our own work.
_FLOOD = 100
#: Characters of a text that a function is called with: no function takes more.
_LONGEST = 1_000_000
#: A process that has needed so much, in bytes, does not go on: the next run shall have it all.
_SPENT = 512 << 20


class Full(Exception):
    """There is no room for more text."""


class Text:
    """Writes a value as ``repr`` does, up to a bound; sets in an order of their own.

    Python's order of a set follows from where in memory its members lie.

    Args:
        limit: Characters there is room for.
    """

    def __init__(self, limit: int) -> None:
        self._room = limit
        self._parts: list[str] = []
        self._open: set[int] = set()

    def of(self, value: object) -> str:
        """Return the text of a value; how it begins, where it is too long."""
        try:
            self._write(value)
        except Full:
            return "".join(self._parts) + "… (there is more)"
        except (ValueError, RecursionError, MemoryError) as error:
            # Numbers of too many digits, and structures that are nested too deep, have no text.
            return f"(a value of type {type(value).__name__}: {error})"
        return "".join(self._parts)

    def _put(self, text: str) -> None:
        self._parts.append(text[: self._room])
        self._room -= len(text)
        if self._room < 0:
            raise Full

    def _write(self, value: Any) -> None:
        kind = type(value)
        if kind in (str, bytes):
            # Each character takes one at least, and a quote further on may change the marks.
            self._put(repr(value if len(value) <= self._room else value[: self._room + 1]))
        elif kind not in (list, tuple, dict, set, frozenset):
            self._put(repr(value))
        elif id(value) in self._open:
            self._put("{...}" if kind is dict else "(...)" if kind is tuple else "[...]")
        else:
            self._open.add(id(value))
            self._inside(kind, value)
            self._open.discard(id(value))

    def _inside(self, kind: type, value: Any) -> None:
        if kind is dict:
            self._put("{")
            for place, (key, item) in enumerate(value.items()):
                self._put(", " * bool(place))
                self._write(key)
                self._put(": ")
                self._write(item)
            return self._put("}")
        if kind in (set, frozenset):
            texts = sorted((Text(self._room).of(item) for item in value), key=lambda t: (len(t), t))
            inner = "{" + ", ".join(texts) + "}" if texts else ""
            return self._put(inner if inner and kind is set else f"{kind.__name__}({inner})")
        self._put("[" if kind is list else "(")
        for place, item in enumerate(value):
            self._put(", " * bool(place))
            self._write(item)
        self._put("]" if kind is list else ",)" if len(value) == 1 else ")")


class Printed:
    """Collects output up to a bound. What comes after it is not kept.

    Nor is it told: how much code prints until its time is over differs from run to run.

    Attributes:
        seen: Characters that were printed.
    """

    def __init__(self, limit: int) -> None:
        self._parts: list[str] = []
        self.seen = 0
        self._room = limit
        self._dropped = False

    def __call__(self, stream: str, text: str) -> None:
        """Take in a text, whichever stream it was printed to."""
        self.seen += len(text)
        kept = text[: self._room]
        if kept:
            self._parts.append(kept)
        self._room -= len(kept)
        self._dropped = self._dropped or len(kept) < len(text)

    def text(self) -> str:
        """Return what was kept, and whether there was more."""
        return "".join(self._parts) + ("\n(more was printed)" if self._dropped else "")


class Watch:
    """Ends a worker that has had its time of the processor; other processes' is not its.

    Args:
        pid: The worker's; where there is none, or nobody tells its time, nobody looks.
        seconds: What it may have while this context is open.

    Attributes:
        late: Whether it had more.
    """

    def __init__(self, pid: int | None, seconds: float) -> None:
        self.late = False
        self._pid = pid
        self._seconds = seconds
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> None:
        if self._pid and _TICKS:
            self._until = processor_time(self._pid) + self._seconds
            self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()  # before the worker is handed to somebody else

    def kill(self) -> None:
        """End the worker."""
        if self._pid:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)

    def _look(self) -> None:
        while not self._over.wait(_TICK):
            if self._pid and processor_time(self._pid) > self._until:
                self.late = True
                return self.kill()


def counts_time() -> bool:
    """Return whether the kernel tells how much of a processor a process has had."""
    return bool(_TICKS)


def processor_time(pid: int) -> float:
    """Return the seconds of a processor that a process has had; 0 once it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / max(_TICKS, 1)


class Channel:
    """The worker's end: it is told by pickle, and answers in JSON."""

    def __init__(self, number: int) -> None:
        self._socket = socket.socket(fileno=number)

    def send(self, message: Message) -> None:
        """Send a message."""
        body = json.dumps(message).encode()
        self._socket.sendall(struct.pack("!Q", len(body)) + body)

    def receive(self) -> Message:
        """Return the next message; this process ends with its parent."""
        (size,) = struct.unpack("!Q", self._read(8))
        message: Message = pickle.loads(self._read(size))
        return message

    def _read(self, size: int) -> bytes:
        data = bytearray(size)
        view = memoryview(data)
        while view:
            count = self._socket.recv_into(view)
            if not count:
                os._exit(0)
            view = view[count:]
        return bytes(data)


def _serve(channel: Channel, monty: Any, pool: Any) -> None:
    """Run one program after the other."""
    while True:
        asked = channel.receive()
        answer = _run(channel, monty, pool, asked)
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
        channel.send({**answer, "spent": most > _SPENT})


def _run(channel: Channel, monty: Any, pool: Any, asked: Any) -> Message:
    """Run a program, and return what came of it."""
    room, seconds = asked["output"], asked["seconds"]
    printed = Printed(room)
    lookup = {name: partial(call, channel, name) for name in asked["functions"]}
    value, error, late = "", "", False
    watch = Watch(None, seconds)
    try:
        with pool.checkout(limits=asked["bounds"], os_policy=asked["policy"]) as session:
            channel.send({"worker": session.worker_pid})
            watch = Watch(session.worker_pid, seconds)

            def shown(stream: str, text: str) -> None:
                printed(stream, text)
                if printed.seen > _FLOOD * room:
                    watch.kill()  # It would not hear of an exception before it is done.

            with watch:
                found = session.feed_run(
                    asked["code"], external_lookup=lookup, print_callback=shown
                )
            value = "" if found is None else Text(room).of(found)
    except monty.MontyCrashedError:
        error, late = "The sandbox was stopped: the code took too long or broke it.", True
        if watch.late:
            error = too_late(seconds)
        elif printed.seen > _FLOOD * room:
            error = f"The code printed more than {_FLOOD * room} characters."
            late = False
    except monty.MontyError as problem:
        error = explain(problem, seconds, asked["bounds"]["max_memory"])
        late = error.startswith("TimeoutError: the code ran")
    except (TypeError, ValueError, ArithmeticError, RecursionError) as problem:
        # Values that Python has no like of, such as a dictionary by objects of the code's own.
        error = f"The value of the last line cannot be shown ({type(problem).__name__}); print it."
    return {"output": printed.text(), "value": value, "error": error, "late": late}


def call(channel: Channel, name: str, *args: object, **kwargs: object) -> object:
    """Have the parent call a function."""
    handed = {key: _handed(value) for key, value in kwargs.items()}
    channel.send({"call": name, "args": [_handed(value) for value in args], "kwargs": handed})
    answer = channel.receive()
    if "value" in answer:
        return answer["value"]
    raise (ValueError if answer["theirs"] else RuntimeError)(str(answer["error"]))


def _handed(value: object) -> object:
    """Return what a function is called with; it takes an empty list for anything else as ill."""
    if type(value) is str:
        return value[:_LONGEST]
    if value is None or type(value) is bool:
        return value
    if (type(value) is int and abs(value) < 1 << 64) or (type(value) is float and isfinite(value)):
        return value
    return []


def explain(problem: object, seconds: float, memory: int) -> str:
    """Return what went wrong; in the same words each time, though no two clocks agree."""
    text = problem.display() if hasattr(problem, "display") else str(problem)
    if "time limit exceeded" in text:
        return too_late(seconds)
    if "memory limit exceeded" in text:
        return f"MemoryError: the code needed more than {memory >> 20} MiB."
    return text if len(text) <= 3000 else f"{text[:1000]}\n…\n{text[-1999:]}"


def too_late(seconds: float) -> str:
    """Return what code is told that had its time."""
    return f"TimeoutError: the code ran for more than {seconds:g} seconds."


def main() -> None:
    """Serve the channel whose descriptor is the first argument, in the memory of the second."""
    channel = Channel(int(sys.argv[1]))
    try:
        import pydantic_monty as monty

        pool = monty.Monty(min_processes=1, max_checkouts_per_worker=200, checkout_timeout=60)
        pool.__enter__()
    except (OSError, ImportError, RuntimeError) as problem:
        return channel.send({"fault": str(problem)})
    room = int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_AS, (room, room))
    channel.send({"ready": True})
    _serve(channel, monty, pool)


if __name__ == "__main__":
    main()
