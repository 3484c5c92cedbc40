"""Code in a box: Python run by Monty, in a worker process that has nothing of ours.

Monty is an interpreter of its own, written for code by language models. It knows no file, network,
process or environment of the host: what code can reach are the functions it is given. It bounds
time, memory and recursion itself, and the worker that runs it can crash without harm.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import Any

from healthgym.core.borders import Json, JsonObject
from healthgym.errors import InfrastructureError, ToolError
from healthgym.worlds.workspace.optional import require
from healthgym.worlds.workspace.reaper import reaper
from healthgym.worlds.workspace.sql_process import PATIENCE

#: Parts of a second by which the kernel counts a process's time; 0 where it tells nobody.
_TICKS = os.sysconf("SC_CLK_TCK") if sys.platform == "linux" else 0
_TICK = 0.05
#: How many times what is kept code may print before it is stopped: reading it is our own work.
_FLOOD = 100
HostFunction = Callable[..., object]


@dataclass(frozen=True, slots=True)
class CodeLimits:
    """Bounds of a run.

    Attributes:
        seconds: Time of one processor the code itself may take; that of the functions it calls is
            bounded by them. On the clock it may take ten times that, so that a busy machine
            refuses what an idle one does.
        memory: Memory it may use, in bytes.
        output: Characters it may print; what is beyond is dropped.
        calls: Host functions it may call.
    """

    seconds: float = 10.0
    memory: int = 256 << 20
    output: int = 10_000
    calls: int = 200


@dataclass(frozen=True, slots=True)
class CodeResult:
    """What came of a run.

    Attributes:
        output: What was printed.
        value: The value of the last expression, as text; empty if there is none.
        error: Why the run ended early; empty if it did not.
        late: Whether it was ended by a clock, which another machine need not do.
    """

    output: str
    value: str = ""
    error: str = ""
    late: bool = False


def python_available() -> bool:
    """Return whether the sandbox is installed."""
    return find_spec("pydantic_monty") is not None


class SandboxedPython:
    """Runs snippets of Python. Each run starts afresh.

    Args:
        limits: Bounds of a run.
    """

    def __init__(self, limits: CodeLimits | None = None) -> None:
        self.limits = limits or CodeLimits()

    def run(
        self, code: str, functions: Mapping[str, HostFunction], *, now: datetime, seed: int = 0
    ) -> CodeResult:
        """Run code that may call the given functions.

        Args:
            code: The source.
            functions: What it may call, by name. A :class:`ToolError`, and arguments that a
                function does not take, become a ``ValueError`` in the sandbox; any other error is
                ours and is raised here.
            now: What the sandbox's clock shows.
            seed: Seed of its random numbers.

        Raises:
            MissingDependencyError: If the sandbox is not installed.
            InfrastructureError: If it does not start.
            Exception: If a host function fails.
        """
        monty = require("pydantic_monty")
        limits = self.limits
        printed = Printed(limits.output)
        faults: list[Exception] = []
        lookup = {name: partial(_guarded, faults, name, f) for name, f in functions.items()}
        policy = {"datetime": now, "sleep": "zero", "random_start": {"seed": seed}}
        bounds = {
            "max_feed_duration_secs": limits.seconds * (PATIENCE if _TICKS else 1),
            "max_memory": limits.memory,
            "max_suspensions": limits.calls,
            "max_recursion_depth": 400,
        }
        value, error, late = "", "", False
        watch = _Watch(None, limits.seconds)
        try:
            with _pool(monty).checkout(limits=bounds, os_policy=policy) as session:
                if (watcher := reaper()) is not None:
                    watcher.watch_children("monty")
                watch = _Watch(session.worker_pid, limits.seconds)

                def shown(stream: str, text: str) -> None:
                    printed(stream, text)
                    if printed.seen > _FLOOD * limits.output:
                        watch.kill()  # It would not hear of an exception before it is done.

                with watch:
                    found = session.feed_run(code, external_lookup=lookup, print_callback=shown)
                value = "" if found is None else _repr(found, limits.output)
        except monty.MontyCrashedError:
            error, late = "The sandbox was stopped: the code took too long or broke it.", True
            if watch.late:
                error = _late(limits)
            elif printed.seen > _FLOOD * limits.output:
                error = f"The code printed more than {_FLOOD * limits.output} characters."
                late = False
        except monty.MontyError as problem:
            error = _explain(problem, limits)
            late = error.startswith("TimeoutError: the code ran")
        except OSError as problem:
            raise InfrastructureError(f"The Python sandbox does not start: {problem}") from problem
        if faults:
            raise faults[0]
        return CodeResult(printed.text(), value, error, late)


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


def call_host(name: str, function: HostFunction, args: Sequence[Json], kwargs: JsonObject) -> Json:
    """Call a host function for code in a box.

    Raises:
        ToolError: If the code gave arguments that the function does not take or accept.
        Exception: If the failure is ours.
    """
    try:
        signature(function).bind(*args, **kwargs)
    except TypeError as error:
        raise ToolError(f"{name}(): {error}") from None
    return function(*args, **kwargs)


def _guarded(
    faults: list[Exception], name: str, function: HostFunction, *args: object, **kwargs: object
) -> Any:
    """Call a host function; let the sandbox see the agent's mistakes, and us our own."""
    try:
        return call_host(name, function, args, kwargs)
    except ToolError as error:
        raise ValueError(str(error)) from None
    except Exception as error:
        # Ours, of whatever kind. It must not pass through code that could catch it: it is raised
        # once that is over.
        faults.append(error)
        raise RuntimeError("This function is out of order.") from None


def _repr(value: object, limit: int) -> str:
    try:
        text = repr(value)
    except (ValueError, RecursionError, MemoryError) as error:
        # Numbers of too many digits, and structures that are nested too deep, have no text.
        return f"(a value of type {type(value).__name__}: {error})"
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"


def _explain(problem: object, limits: CodeLimits) -> str:
    """Return what went wrong; in the same words each time, though no two clocks agree."""
    text = problem.display() if hasattr(problem, "display") else str(problem)
    if "time limit exceeded" in text:
        return _late(limits)
    if "memory limit exceeded" in text:
        return f"MemoryError: the code needed more than {limits.memory >> 20} MiB."
    return _shorten(text)


def _late(limits: CodeLimits) -> str:
    return f"TimeoutError: the code ran for more than {limits.seconds:g} seconds."


class _Watch:
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
            self._until = _processor_time(self._pid) + self._seconds
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
            if self._pid and _processor_time(self._pid) > self._until:
                self.late = True
                return self.kill()


def _processor_time(pid: int) -> float:
    """Return the seconds of a processor that a process has had; 0 once it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / max(_TICKS, 1)


def _shorten(text: str, limit: int = 3000) -> str:
    return text if len(text) <= limit else f"{text[:1000]}\n…\n{text[-limit + 1000 :]}"


_current: tuple[int, Any] | None = None


def _pool(monty: Any) -> Any:
    # One for each process: a forked child must not share its parent's workers.
    global _current
    if _current is None or _current[0] != os.getpid():
        pool = monty.Monty(min_processes=1, max_checkouts_per_worker=200, checkout_timeout=60)
        _current = (os.getpid(), pool.__enter__())
    return _current[1]
