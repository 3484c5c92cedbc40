"""Whether a box holds, found out by trying to break it."""

from __future__ import annotations

import json
import os
import platform
import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import resources
from pathlib import Path

from healthgym.errors import InfrastructureError, SandboxUnavailableError
from healthgym.worlds.workspace.box.box import Box
from healthgym.worlds.workspace.box.command import BoxLimits, Identity
from healthgym.worlds.workspace.box.runtime import find_runtime
from healthgym.worlds.workspace.box.seccomp import call_numbers

_ADVICE = (
    "Full Python needs bubblewrap 0.7 or later (Debian, Ubuntu: apt-get install bubblewrap) on "
    "Linux, user namespaces that bubblewrap may make (or root that is not itself confined), and a "
    "kernel of 5.14 or later. Without them use python='sandbox'."
)
#: Bounds for the attempts: small, so that reaching them is quick.
TRIAL = BoxLimits(seconds=20.0, memory=1 << 30, disk=8 << 20, files=300, threads=12)


def probe(box: Box) -> list[str]:
    """Try to break out of a box and return what succeeded; nothing if it holds.

    Args:
        box: The box; its limits are replaced by those of the trial.
    """
    found = make_attempts(Box(box.bwrap, box.runtime, box.identity, TRIAL))
    return [f"{name}: {what}" for name, what in found.items() if what] + _overruns(box)


def make_attempts(box: Box, only: Sequence[str] = ()) -> dict[str, str]:
    """Return by attempt what it got hold of; an empty text if nothing.

    Args:
        box: The box.
        only: Names of the attempts to make; all if empty.
    """
    with _canary() as canary, _listener() as port:
        aims = {
            "only": list(only),
            "calls": call_numbers(),
            "canary": str(canary),
            "port": port,
            "threads": box.limits.threads,
            "memory": box.limits.memory,
            "disk": box.limits.disk,
            "folders": [str(canary.parent), *_FOLDERS],
        }
        text = resources.files(__package__).joinpath("attempts.py.txt").read_text(encoding="utf-8")
        made = box.run(f"AIMS = {aims!r}\n{text}", {"echo": lambda said: said})
    try:
        found: dict[str, str] = json.loads(made.output.strip().splitlines()[-1])
    except (ValueError, IndexError):
        found = {"controls": f"the attempts did not end: {(made.error or made.output)[-300:]}"}
    return found


_FOLDERS = ("/", "/box", "/box/lib", "/box/packages", "/box/shared", "/data", "/dev", "/dev/shm")


def _overruns(box: Box) -> list[str]:
    """Return what is not stopped of code that does not end, floods, or fills a folder."""
    short = Box(box.bwrap, box.runtime, box.identity, replace(TRIAL, seconds=0.1))
    got = []
    if "TimeoutError" not in short.run("while True: pass", {}).error:
        got.append("time: an endless loop ran on")
    waiting = "import signal\nprint('on')\nsignal.pause()"
    if "TimeoutError" not in short.run(waiting, {}).error:
        got.append("time: a waiting program was left alone")
    many = "import signal\nfor n in range(9_000): open(f'/work/{n}', 'w').close()\nsignal.pause()"
    if not short.run(many, {}).error:
        got.append("files: any number of them can be made")
    flood = short.run("while True: print('x' * 10_000)", {})
    if len(flood.output) > 2 * TRIAL.output:
        got.append("output: it is not bounded")
    return got


@contextmanager
def _canary() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        # Anybody may write there, so that only the box can be what stops it.
        os.chmod(folder, 0o777)
        path = Path(folder, "canary.txt")
        path.write_text("canary", encoding="utf-8")
        os.environ["HEALTHGYM_CANARY"] = "canary"
        try:
            yield path
        finally:
            del os.environ["HEALTHGYM_CANARY"]


@contextmanager
def _listener() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


_opened: tuple[int, Box | SandboxUnavailableError] | None = None
_lock = threading.Lock()


def open_box(limits: BoxLimits | None = None) -> Box:
    """Return a box that was found to hold on this machine; tried once in each process.

    Args:
        limits: Bounds of a run.

    Raises:
        SandboxUnavailableError: If none does, saying what succeeded and what is needed.
        MissingDependencyError: If numpy or polars is not installed.
    """
    global _opened
    with _lock:
        if _opened is None or _opened[0] != os.getpid():
            try:
                _opened = (os.getpid(), _find())
            except SandboxUnavailableError as error:
                _opened = (os.getpid(), error)
        found = _opened[1]
    if isinstance(found, SandboxUnavailableError):
        raise SandboxUnavailableError(str(found))
    return Box(found.bwrap, found.runtime, found.identity, limits)


def _find() -> Box:
    bwrap = shutil.which("bwrap")
    if sys.platform != "linux" or bwrap is None:
        raise SandboxUnavailableError(f"There is no bubblewrap on this machine. {_ADVICE}")
    kinds = [Identity.DROPPED, Identity.MAPPED] if os.geteuid() == 0 else [Identity.MAPPED]
    reasons = []
    for kind in kinds:
        box = Box(bwrap, find_runtime(), kind)
        try:
            got = probe(box)
        except InfrastructureError as error:
            got = [str(error)]
        if not got:
            return box
        reasons.append(f"{kind}: {'; '.join(got)}")
    raise SandboxUnavailableError(
        f"Boxes do not hold on this machine (Linux {platform.release()}): {' | '.join(reasons)}. "
        + _ADVICE
    )
