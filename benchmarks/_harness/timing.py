"""Durations by wall clock and by processor, and the memory of this process."""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

T = TypeVar("T")

#: Units of time, in a second.
PER_SECOND = {"s": 1.0, "ms": 1e3, "us": 1e6}


@dataclass(frozen=True, slots=True)
class Timing:
    """Durations of the repeats of an action, in seconds.

    The two clocks differ where the action waits, and where other programs run beside this one.

    Attributes:
        wall: By the wall clock.
        cpu: By the processor time of this process.
    """

    wall: tuple[float, ...]
    cpu: tuple[float, ...]

    @classmethod
    def join(cls, timings: Iterable[Timing]) -> Timing:
        """Return the repeats of several timings as those of one."""
        parts = list(timings)
        wall = tuple(duration for part in parts for duration in part.wall)
        return cls(wall, tuple(duration for part in parts for duration in part.cpu))

    def median(self, unit: str = "ms") -> float:
        """Return the median duration by the wall clock, in ``s``, ``ms`` or ``us``."""
        return PER_SECOND[unit] * float(np.median(self.wall))

    def median_cpu(self, unit: str = "ms") -> float:
        """Return the median processor time."""
        return PER_SECOND[unit] * float(np.median(self.cpu))

    def mean_cpu(self, unit: str = "ms") -> float:
        """Return the mean processor time, which tells of repeats that differ by their nature."""
        return PER_SECOND[unit] * float(np.mean(self.cpu))

    def p95(self, unit: str = "ms") -> float:
        """Return the duration that 95 % of the repeats stay within, by the wall clock."""
        return PER_SECOND[unit] * float(np.percentile(self.wall, 95))

    def figures(self, name: str, unit: str = "ms") -> dict[str, float]:
        """Return the medians of both clocks under a name."""
        return {f"{name}_{unit}": self.median(unit), f"{name}_cpu_{unit}": self.median_cpu(unit)}

    def spread(self, name: str, unit: str = "ms") -> dict[str, float]:
        """Return median and 95th percentile by the wall clock under a name."""
        return {f"{name}_{unit}": self.median(unit), f"{name}_p95_{unit}": self.p95(unit)}

    def over(self, reference: Timing) -> float:
        """Return how many times as long this takes as a reference timed beside it."""
        return float(np.median(self.wall) / np.median(reference.wall))


def timed(
    action: Callable[[T], object],
    items: Iterable[T],
    *,
    warm_up: Iterable[T] = (),
    before: Callable[[T], object] | None = None,
) -> Timing:
    """Time an action on each of some items.

    Args:
        action: What is timed.
        items: What it is done to; a range where it is merely repeated.
        warm_up: Items it is done to first, untimed.
        before: What is done to an item before each action, untimed.
    """
    wall, cpu = [], []
    for item in warm_up:
        action(item)
    for item in items:
        if before is not None:
            before(item)
        # The processor's clock is the slower one to read, so it encloses the other.
        cpu_start = time.process_time()
        start = time.perf_counter()
        action(item)
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - cpu_start)
    return Timing(tuple(wall), tuple(cpu))


def once(action: Callable[[], T]) -> tuple[T, Timing]:
    """Do something that is too long to repeat; return what came of it, and its duration."""
    results: list[T] = []
    timing = timed(lambda _: results.append(action()), range(1))
    return results[0], timing


def alternate(
    actions: Mapping[str, Callable[[], object]], repeats: int, *, warm_up: int = 0
) -> dict[str, Timing]:
    """Time several actions in turn, so that what disturbs one disturbs all; for ratios."""
    timings: dict[str, list[Timing]] = {name: [] for name in actions}
    for turn in range(-warm_up, repeats):
        for name, action in actions.items():
            timing = timed(lambda _, action=action: action(), range(1))  # type: ignore[misc]
            if turn >= 0:
                timings[name].append(timing)
    return {name: Timing.join(taken) for name, taken in timings.items()}


def reference_work() -> None:
    """Do a fixed piece of plain Python, some 50 us long, to measure short things in.

    On a busy machine it slows down by as much as they do, so ratios to it can be compared.
    """
    for number in range(8):
        text = json.dumps({"name": "reference", "arguments": {"number": number}})
        json.loads(text)


def resident_mib() -> float:
    """Return the resident memory of this process, in MiB (Linux)."""
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    return pages * resource.getpagesize() / 2**20


def peak_mib() -> float:
    """Return the largest resident memory this process has had, in MiB (Linux).

    ``getrusage`` would also count the parent's, which a process has for a moment as it starts.
    """
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024
