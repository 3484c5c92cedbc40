"""Time and chance of the code in a box, which its runner takes from here.

They are the episode's wherever code meets them through Python: the clocks of the standard library,
dates and files, ``os.urandom`` and what is seeded from it, polars. What C code reads by itself is
the machine's, for nothing here stands between it and the kernel: ``numpy.datetime64("now")``,
SQLite's ``datetime('now')`` and ``random()``, /dev/urandom, functions called through ctypes,
modules made anew by ``_imp``, addresses (``id``, the ``repr`` of plain objects, the order of sets
of them) and memory that nobody has written to (``numpy.empty``). A program that shows any of these
need not show the same in a replay; no answer depends on them.
"""

from __future__ import annotations

import datetime
import gc
import os
import queue
import selectors
import sys
import threading
import time
from collections.abc import Callable
from importlib import machinery
from typing import Any


def steady(seed: int) -> None:
    """Draw what would be the machine's own randomness from a seed."""
    import hashlib

    count = 0

    def urandom(size: int) -> bytes:
        nonlocal count
        count += 1
        return hashlib.shake_128(b"%d %d" % (seed, count)).digest(size)

    os.urandom = urandom
    import random  # noqa: TID251 - the code's own, seeded here

    random.seed(seed)
    sow = random.Random.seed

    def sowing(self: random.Random, a: Any = None, version: int = 2) -> None:
        # Left to itself it asks the kernel, past os.urandom.
        sow(self, int.from_bytes(urandom(32), "big") if a is None else a, version)

    setattr(random.Random, "seed", sowing)  # noqa: B010 -- to a type checker it is fixed
    import uuid

    for name in ("_generate_time_safe", "_UuidCreate"):
        setattr(uuid, name, None)  # so that its clock is Python's
    setattr(uuid, "_node", 0x020000000000)  # noqa: B010 -- a local address, as RFC 9562 has them
    sys.meta_path.insert(0, Finder(seed))


class Finder:
    """Finds modules that must not be made anew, or need a seed once they are made.

    Args:
        seed: Seed of what they draw.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._kept = {"time": time}

    def find_spec(
        self, name: str, path: object = None, target: object = None
    ) -> machinery.ModuleSpec | None:
        """Return how a module comes to be; None if as everywhere."""
        if name in self._kept:
            return machinery.ModuleSpec(name, self)  # type: ignore[arg-type]
        if name != "polars":
            return None
        spec = machinery.PathFinder.find_spec(name)
        loader: Any = spec and spec.loader
        if loader is not None:
            execute = loader.exec_module

            def seeded(module: Any) -> None:
                execute(module)
                module.set_random_seed(self._seed)

            loader.exec_module = seeded
        return spec

    def create_module(self, spec: machinery.ModuleSpec) -> object:
        """Return the module that there is."""
        return self._kept[spec.name]

    def exec_module(self, module: object) -> None:
        """Leave it as it is."""


class Clock:
    """The only clock there is: it begins when the episode says, and moves by being used.

    Each look at it takes a microsecond, so that who waits for a moment by looking gets there. A
    wait that nothing ended takes as long as it was to take.
    """

    def __init__(self, now: float) -> None:
        self._start = round(now * 1e6)
        self._passed = 0

    def look(self) -> int:
        """Return microseconds since 1970."""
        self._passed += 1
        return self._start + self._passed

    def passed(self) -> int:
        """Return microseconds since the start."""
        return self.look() - self._start

    def pass_by(self, seconds: object) -> None:
        """Let time pass."""
        if isinstance(seconds, int | float) and 0 < seconds < 1e9:
            self._passed += round(seconds * 1e6)


class Unbound:
    """A function that is no method where a class holds it, as functions written in C are none."""

    def __init__(self, function: Callable[..., object]) -> None:
        self._function = function

    def __call__(self, *args: object) -> object:
        """Call it."""
        return self._function(*args)


def set_clocks(clock: Clock) -> None:
    """Have all of the standard library's clocks show one that is simulated."""
    local, utc, fill = time.localtime, time.gmtime, time.strftime

    def now(seconds: float | None = None) -> float:
        return clock.look() / 1e6 if seconds is None else seconds

    def sleep(seconds: float) -> None:
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        clock.pass_by(seconds)

    def kind_of(kind: int) -> int:
        return clock.passed() if kind else clock.look()

    shown: dict[str, Callable[..., object]] = {
        "sleep": sleep,
        "clock_gettime": lambda kind: kind_of(kind) / 1e6,
        "clock_gettime_ns": lambda kind: kind_of(kind) * 1_000,
        "localtime": lambda seconds=None: local(now(seconds)),
        "gmtime": lambda seconds=None: utc(now(seconds)),
        "ctime": lambda seconds=None: time.asctime(local(now(seconds))),
        "asctime": lambda when=None: fill("%a %b %e %H:%M:%S %Y", when or time.localtime()),
        "strftime": lambda form, when=None: fill(form, when or time.localtime()),
    }
    for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
        count = clock.look if name == "time" else clock.passed
        shown[name] = lambda count=count: count() / 1e6
        shown[f"{name}_ns"] = lambda count=count: count() * 1_000
    for name, function in shown.items():
        setattr(time, name, Unbound(function))
    os.times = lambda: os.times_result((clock.passed() / 1e6, 0.0, 0.0, 0.0, clock.passed() / 1e6))
    _set_dates(clock)
    _set_waits(clock)
    _set_stamps(clock)


def _set_dates(clock: Clock) -> None:
    whole, day = datetime.datetime, datetime.date
    _teach(
        whole,
        now=classmethod(lambda kind, tz=None: kind.fromtimestamp(clock.look() / 1e6, tz)),
        utcnow=classmethod(
            lambda kind: kind.fromtimestamp(clock.look() / 1e6, datetime.UTC).replace(tzinfo=None)
        ),
        today=classmethod(lambda kind: kind.fromtimestamp(clock.look() / 1e6)),
    )
    _teach(day, today=classmethod(lambda kind: kind.fromtimestamp(clock.look() / 1e6)))


def _set_waits(clock: Clock) -> None:
    """Let a wait that ran out take as long as it was to take; what waits so finds it is over."""
    wait, acquire = threading.Condition.wait, threading.Thread.join

    def waiting(self: threading.Condition, timeout: float | None = None) -> bool:
        met = wait(self, timeout)
        if not met:
            clock.pass_by(timeout)
        return met

    def joining(self: threading.Thread, timeout: float | None = None) -> None:
        acquire(self, timeout)
        if self.is_alive():
            clock.pass_by(timeout)

    setattr(threading.Condition, "wait", waiting)  # noqa: B010 -- to a type checker it is fixed
    setattr(threading.Thread, "join", joining)  # noqa: B010
    for module, name in ((threading, "_time"), (queue, "time")):
        setattr(module, name, time.monotonic)
    for name in ("SelectSelector", "PollSelector", "EpollSelector"):
        _set_selector(getattr(selectors, name), clock)


def _set_selector(kind: Any, clock: Clock) -> None:
    select = kind.select

    def selecting(self: Any, timeout: float | None = None) -> object:
        found = select(self, timeout)
        if not found:
            clock.pass_by(timeout)
        return found

    kind.select = selecting


def _set_stamps(clock: Clock) -> None:
    """Have files say that they are as old as the run."""
    stamp = clock.look() // 1_000_000

    def stamped(look: Callable[..., os.stat_result]) -> Callable[..., os.stat_result]:
        def function(*args: object, **kwargs: object) -> os.stat_result:
            kept = look(*args, **kwargs)
            times = dict.fromkeys(("st_atime", "st_mtime", "st_ctime"), float(stamp))
            exact = {f"{name}_ns": stamp * 10**9 for name in times}
            return os.stat_result((*kept[:7], stamp, stamp, stamp), times | exact)

        return function

    for name in ("stat", "lstat", "fstat"):
        setattr(os, name, stamped(getattr(os, name)))
    _teach(type(next(os.scandir("/box"))), stat=lambda entry, **kwargs: os.stat(entry, **kwargs))


def _teach(kind: type, **methods: object) -> None:
    """Replace methods of a type that is written in C, wherever it is known already."""
    (held,) = gc.get_referents(kind.__dict__)
    held.update(methods)
    # Nothing else makes the interpreter forget what it has looked up before.
    _ctypes_api().PyType_Modified(kind)


def _ctypes_api() -> Any:
    """Return the interpreter's own functions."""
    import ctypes

    api = ctypes.pythonapi
    api.PyType_Modified.argtypes = [ctypes.py_object]
    api.PyType_Modified.restype = None
    return api
