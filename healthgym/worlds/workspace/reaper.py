"""Ends the worker processes of a process that was killed.

A worker that waits notices that its parent is gone; one in the middle of a query or a program does
not, and would go on until it meets its own limits. So each process that has workers has one more
child, which waits for its end and then ends them. It is told of each worker by its number and the
time it was started, so that it never ends a stranger who got the number later.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from multiprocessing import connection
from pathlib import Path

# Its own program, for nothing of this package may be loaded beside each process that has workers.
_PROGRAM = r"""
import os, select, signal, sys
parent = int(sys.argv[1])
def born(pid):
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[19]
try:
    end = os.pidfd_open(parent)
except (AttributeError, OSError):
    end = 0
watched, text = {end, 0}, b""
while os.getppid() == parent:
    ready = select.select(watched, [], [], 60)[0]
    if 0 in ready:
        data = os.read(0, 65536)
        text += data
        if text.endswith(b"end\n"):
            break
        if not data:
            watched.discard(0)
            if not end:
                break
    if end and end in ready:
        break
while 0 in select.select([0], [], [], 0)[0]:
    data = os.read(0, 65536)
    if not data:
        break
    text += data
for line in set(text.decode().splitlines()):
    pid, _, start = line.partition(" ")
    try:
        if born(pid) == start:
            os.kill(int(pid), signal.SIGKILL)
    except OSError:
        pass
"""


class Reaper:
    """The process that ends this one's workers after it."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._known: set[str] = set()
        self._lock = threading.Lock()
        self._child = subprocess.Popen(
            [sys.executable, "-I", "-S", "-W", "ignore", "-c", _PROGRAM, str(self.pid)],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env={}, cwd="/",
            start_new_session=True, bufsize=0,
        )  # fmt: skip

    def stop(self) -> None:
        """End the workers now, and the reaper: this process ends by itself."""
        if self.pid != os.getpid() or self._child.stdin is None:
            return
        with suppress(OSError, subprocess.TimeoutExpired), self._child.stdin as told:
            told.write(b"end\n")
            self._child.wait(timeout=10)

    def watch(self, pid: int) -> None:
        """Have a child ended after this process; known ones are not told again."""
        try:
            text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        except OSError:
            return  # It has ended.
        name = f"{pid} {text.rpartition(')')[2].split()[19]}"
        with self._lock:
            if name in self._known or self._child.stdin is None:
                return
            self._known.add(name)
            with suppress(OSError):
                self._child.stdin.write(f"{name}\n".encode())

    def watch_children(self, name: str) -> None:
        """Have the children of this process ended that run a program; others are left alone.

        Args:
            name: Name of the program, as the kernel shows it.
        """
        for task in Path("/proc/self/task").glob("*/children"):
            with suppress(OSError):
                for pid in task.read_text().split():
                    if Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip() == name:
                        self.watch(int(pid))


def _end_with_parent() -> None:
    """Have this process end with the one that made it as its worker, busy or not.

    A worker of a vector of environments, or a data loader's, hears of its parent's end only when
    it next answers. What the user runs by other means is left alone.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait(sentinel: int) -> None:
        connection.wait([sentinel])
        os.kill(os.getpid(), signal.SIGKILL)

    sentinel: int = parent.sentinel
    threading.Thread(target=wait, args=(sentinel,), daemon=True).start()


_current: Reaper | None = None
_making = threading.Lock()


def reaper() -> Reaper | None:
    """Return the reaper of this process; None where processes cannot be watched."""
    global _current
    if sys.platform != "linux":
        return None
    with _making:
        if _current is None or _current.pid != os.getpid():
            _end_with_parent()
            _current = Reaper()
            atexit.register(_current.stop)
        return _current
