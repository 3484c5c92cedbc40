"""A suite of measures: named functions that return figures, each run in a fresh process."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from _harness.timing import reference_work, timed

P = ParamSpec("P")
R = TypeVar("R")

#: What a measure returns: numbers by name, the unit being the name's last word ("reset_ms"), or
#: mappings of such. What has no unit is a count, a share or a yes or no.
Figures = dict[str, Any]

RESULTS = Path(__file__).resolve().parents[1] / "results"
#: Last word of a figure's name -> its unit.
UNITS = {
    "us": "us", "ms": "ms", "s": "s", "seconds": "s", "kib": "KiB", "mib": "MiB", "mb": "MB",
    "ratio": "times",
}  # fmt: skip
#: Repeats, and tasks of a policy, of a run that only shows that the script works.
_QUICK_REPEATS, _QUICK_TASKS = 3, 2


@dataclass(frozen=True, slots=True)
class Bound:
    """What a figure should keep to. A goal: missing one on a slower machine is no failure."""

    limit: float
    least: bool = False

    def holds(self, value: float) -> bool:
        """Return whether a figure keeps to it."""
        return value >= self.limit if self.least else value <= self.limit

    def __str__(self) -> str:
        return f"{'>=' if self.least else '<='} {self.limit:g}"


def at_most(limit: float) -> Bound:
    """Return an upper bound, in the figure's own unit."""
    return Bound(limit)


def at_least(limit: float) -> Bound:
    """Return a lower bound, in the figure's own unit."""
    return Bound(limit, least=True)


@dataclass(frozen=True, slots=True)
class Run:
    """How much is to be measured; every measure is handed it.

    Attributes:
        quick: Whether only to show that the script works; the figures mean nothing.
        chosen: Tasks of each policy, if the caller chose their number.
        options: The command line, with what the script added to it.
    """

    quick: bool = False
    chosen: int | None = None
    options: argparse.Namespace = field(default_factory=argparse.Namespace)

    def repeats(self, usual: int) -> int:
        """Return how often to repeat what is timed."""
        return min(usual, _QUICK_REPEATS) if self.quick else usual

    def tasks(self, usual: int) -> int:
        """Return how many tasks a policy plays."""
        return min(usual, _QUICK_TASKS) if self.quick else self.chosen or usual


@dataclass(frozen=True, slots=True)
class Measure:
    """A named function that returns figures, and bounds of some of these by their name."""

    name: str
    function: Callable[[Run], Figures]
    bounds: Mapping[str, Bound]
    usual: bool


class Suite:
    """The measures of one script, merged into ``results/<name>.json``.

    Args:
        name: Name of the results.
        documentation: The script's docstring; its first line becomes the help.
    """

    def __init__(self, name: str, documentation: str | None) -> None:
        self.name = name
        self.measures: dict[str, Measure] = {}
        self.parser = argparse.ArgumentParser(description=(documentation or "").split("\n")[0])

    def measure(
        self,
        name: str = "",
        *,
        bounds: Mapping[str, Bound] | None = None,
        usual: bool = True,
    ) -> Callable[[Callable[[Run], Figures]], Callable[[Run], Figures]]:
        """Declare a measure.

        Args:
            name: Its name; the function's if empty.
            bounds: Figure -> bound.
            usual: Whether it is run if none is named.
        """

        def declare(function: Callable[[Run], Figures]) -> Callable[[Run], Figures]:
            key = name or function.__name__
            self.measures[key] = Measure(key, function, bounds or {}, usual)
            return function

        return declare

    def main(self, argv: list[str] | None = None) -> int:
        """Read the command line, measure what it names, and write after each measure."""
        options = self._options(argv)
        run = Run(options.quick, options.tasks, options)
        # Quick figures must not replace measured ones.
        folder = options.out or (None if options.quick else RESULTS)
        names = options.only or [name for name, each in self.measures.items() if each.usual]
        for name in names:
            print(f"measuring {name} ...", file=sys.stderr, flush=True)
            figures = in_fresh_process(self.measures[name].function, run)
            print("\n".join(self.rows(name, figures)), flush=True)
            if folder is not None:
                path = folder / f"{self.name}.json"
                known = json.loads(path.read_text()) if path.exists() else {}
                report = self.merged(known, name, figures)
                folder.mkdir(parents=True, exist_ok=True)
                path.write_text(json.dumps(report, indent=1, sort_keys=True) + "\n")
        return 0

    def _options(self, argv: list[str] | None) -> argparse.Namespace:
        add = self.parser.add_argument
        listed = ", ".join(self.measures)
        add("--only", action="append", metavar="NAME", help=f"repeatable; of {listed}")
        add("--tasks", type=int, metavar="N", help="tasks of each policy, where some play")
        add("--quick", action="store_true", help="see that it runs; writes nothing without --out")
        add("--out", type=Path, metavar="DIR", help="where results go (default: the checkout's)")
        options = self.parser.parse_args(argv)
        unknown = sorted(set(options.only or ()) - self.measures.keys())
        if unknown:
            self.parser.error(f"no measure {', '.join(unknown)}; there are {listed}")
        return options

    def merged(self, report: Mapping[str, Any], name: str, figures: Figures) -> dict[str, Any]:
        """Return a report in which the figures of one measure are replaced."""
        bounds = {
            f"{each.name}.{figure}": str(bound)
            for each in self.measures.values()
            for figure, bound in each.bounds.items()
        }
        known = {**report.get("figures", {}), name: tidy(figures)}
        return {"machine": machine(), "bounds": bounds, "figures": known}

    def rows(self, name: str, figures: Figures) -> Iterator[str]:
        """Yield the figures of a measure as lines of a table: name, value, unit, bound."""
        bounds = self.measures[name].bounds
        for key, value in flat(tidy(figures)):
            bound = bounds.get(key)
            kept = f"{bound} {'kept' if bound.holds(value) else 'MISSED'}" if bound else ""
            shown = f"{value:.3f}" if isinstance(value, float) else str(value)
            yield f"{name + '.' + key:<52} {shown:>14} {unit(key):<6} {kept}".rstrip()


def in_fresh_process(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Return what a function of a script's top level returns in a process of its own."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(function, *args, **kwargs).result()


def machine() -> dict[str, Any]:
    """Describe machine and interpreter without naming them.

    How an interpreter was built matters as much as the processor: one without profile-guided
    optimisation takes a quarter longer. The fixed piece of Python tells how fast both are together.
    """
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    model = next((line.split(":")[1].strip() for line in lines if "model name" in line), "")
    return {
        "cpu": model or platform.processor(),
        "cores": os.cpu_count(),
        "load_average": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "build": " ".join((*platform.python_build(), platform.python_compiler())),
        "reference_us": round(timed(lambda _: reference_work(), range(2000)).median("us"), 1),
        "system": platform.system(),
    }


def unit(figure: str) -> str:
    """Return the unit that a figure's name ends in, or nothing."""
    if "_per_s" in figure:
        return "/s"
    return UNITS.get(figure.rpartition(".")[2].rpartition("_")[2], "")


def flat(figures: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield figures by name, those of inner mappings under dotted names."""
    for name, value in figures.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def tidy(value: Any) -> Any:
    """Return figures as plain JSON values, fractions with six digits."""
    if isinstance(value, Mapping):
        return {str(key): tidy(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [tidy(inner) for inner in value]
    # Numbers of numpy have a plain one inside.
    value = value.item() if hasattr(value, "item") else value
    return float(f"{value:.6g}") if isinstance(value, float) else value
