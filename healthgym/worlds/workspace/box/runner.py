"""The program inside a box: runs code, and passes its calls out. It imports nothing of the project.

Of that nothing is in the box but this program and ``simulated.py``, which it loads from beside it.
It is started with three descriptors: one on which it asks, one on which it is answered, and one on
which it is handed tables. What it reads was written by the host and is unpickled; what it writes is
JSON, for the host trusts nothing from here. The first answer is the request to run. Nothing in this
program guards anything but itself: the walls are the namespaces, the filter and the limits around
it.
"""

from __future__ import annotations

import array
import ast
import contextlib
import json
import linecache
import mmap
import os
import pickle
import resource
import socket
import struct
import sys
import traceback
from collections.abc import Callable, Mapping
from importlib import machinery
from types import ModuleType
from typing import Any, TypeAlias

Json: TypeAlias = Any
JsonDict: TypeAlias = dict[str, Any]
_SOURCE = "<code>"


class Channel:
    """The runner's end of the two pipes."""

    def __init__(self, ask: int, answer: int) -> None:
        self._ask = ask
        self._answer = answer

    def receive(self) -> Json:
        """Return the host's next message."""
        (size,) = struct.unpack("!I", self._read(4))
        return pickle.loads(self._read(size))

    def send(self, message: object) -> None:
        """Send a message to the host."""
        body = json.dumps(message).encode()
        data = struct.pack("!I", len(body)) + body
        sent = 0
        while sent < len(data):
            sent += os.write(self._ask, data[sent : sent + (1 << 20)])

    def _read(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            part = os.read(self._answer, min(size - len(parts), 1 << 20))
            if not part:
                os._exit(70)
            parts += part
        return bytes(parts)

    def host_function(self, name: str) -> Callable[..., Json]:
        """Return a function that has the host do its work."""

        def function(*args: object, **kwargs: object) -> Json:
            self.send({"call": name, "args": args, "kwargs": kwargs})
            answer = self.receive()
            if "error" in answer:
                raise ValueError(answer["error"])
            return answer["value"]

        function.__name__ = name
        return function


def confine(limits: Mapping[str, int], uid: int) -> None:
    """Take on the limits, and then another identity, from which there is no way back."""
    for name, value in limits.items():
        number = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(number)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(number, (bound, bound))
    if uid:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)


class Tables:
    """The tables of the task, handed over by the host when they are first asked for."""

    def __init__(self, channel: Channel, names: list[str], hand: int) -> None:
        self._channel = channel
        self._names = names
        self._hand = socket.socket(fileno=hand)
        self._mapped: dict[str, mmap.mmap] = {}

    def table(self, name: str) -> Json:
        """Return a table as a polars data frame."""
        import polars

        if name not in self._names:
            raise ValueError(f"There is no table {name!r}. Tables: {', '.join(self._names)}.")
        if name not in self._mapped:
            self._channel.send({"table": name})
            answer = self._channel.receive()
            if "error" in answer:
                raise ValueError(answer["error"])
            _, extra, _, _ = self._hand.recvmsg(1, socket.CMSG_SPACE(4))
            (descriptor,) = array.array("i", extra[0][2])
            self._mapped[name] = mmap.mmap(descriptor, 0, prot=mmap.PROT_READ)
            os.close(descriptor)
        held: Any = self._mapped[name]
        held.seek(0)
        return polars.read_ipc(held)


def columns_of(made: object) -> dict[str, list[Json]]:
    """Return a result as columns of plain cells."""
    if hasattr(made, "get_columns"):
        made = {column.name: column.to_list() for column in made.get_columns()}
    if not isinstance(made, dict):
        raise TypeError("result is a polars data frame, or a dict from column to list.")
    columns = {}
    for name, cells in made.items():
        listed = cells.tolist() if hasattr(cells, "tolist") else list(cells)
        columns[str(name)] = [plain(cell) for cell in listed]
    return columns


def plain(cell: Json) -> Json:
    """Return a cell as JSON has it; times are marked as such."""
    if cell is None or isinstance(cell, bool | int | float | str):
        return cell
    if hasattr(cell, "isoformat"):
        return {"time": cell.isoformat()}
    if hasattr(cell, "item"):
        item = cell.item()
        if type(item) is not type(cell):
            return plain(item)
    if hasattr(cell, "as_tuple"):
        return float(cell)
    raise TypeError(f"A cell of a result is a number, text, time or None, not {type(cell)}.")


def run(code: str, space: JsonDict, wants_table: bool) -> JsonDict:
    """Run code and return what is to be handed back."""
    linecache.cache[_SOURCE] = (len(code), None, code.splitlines(True), _SOURCE)
    done: JsonDict = {"value": "", "error": ""}
    try:
        tree = ast.parse(code, _SOURCE)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, _SOURCE, "exec"), space)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), _SOURCE, "eval"), space)
            done["value"] = "" if value is None else repr(value)[:100_000]
        if wants_table:
            if "result" not in space:
                raise NameError("The code must leave its table in a variable named result.")
            done["table"] = columns_of(space["result"])
    except SystemExit:
        pass
    except BaseException as error:  # code can raise anything, and is told of it
        done["error"] = explain(error)[-20_000:]
    return done


def explain(error: BaseException) -> str:
    """Return an error's traceback, of the code's own lines."""
    shown = traceback.TracebackException.from_exception(error, limit=200)
    shown.stack = traceback.StackSummary.from_list(
        [frame for frame in shown.stack if frame.filename == _SOURCE][-8:]
    )
    shown.__cause__ = shown.__context__ = None
    return "".join(shown.format())


def beside(name: str) -> ModuleType:
    """Return a program that lies beside this one; code can import neither.

    It counts as a part of this one, so that its types say no other home.
    """
    module = ModuleType(__name__)
    path = os.path.join(os.path.dirname(__file__), name)
    machinery.SourceFileLoader(__name__, path).exec_module(module)
    return module


def main() -> None:
    """Serve the one request there is."""
    ask, answer, hand = (int(word) for word in sys.argv[1:4])
    for other in {*range(3, 64)} - {ask, answer, hand}:  # what is left over from making the box
        with contextlib.suppress(OSError):
            os.close(other)
    channel = Channel(ask, answer)
    request = channel.receive()
    for end in (ask, answer, hand):
        os.set_inheritable(end, False)
    simulated = beside("simulated.py")
    confine(request["limits"], request["uid"])
    simulated.steady(request["seed"])
    sys.path.append("/box/packages")
    sys.stdout.reconfigure(line_buffering=True, errors="replace")  # type: ignore[union-attr]
    simulated.set_clocks(simulated.Clock(request["now"]))
    tables = Tables(channel, request["tables"], hand)
    space: JsonDict = {"__name__": "__main__", "table": tables.table}
    space |= {name: channel.host_function(name) for name in request["functions"]}
    channel.send({"begin": True})
    done = run(request["code"], space, request["wants_table"])
    sys.stdout.flush()
    channel.send({"done": done})
    # Not by way of the code's own exit handlers and threads.
    os._exit(0)


if __name__ == "__main__":
    main()
