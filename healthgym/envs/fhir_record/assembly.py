"""From an environment's arguments to the generator they mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from healthgym.core.task import TaskGenerator
from healthgym.envs.fhir_record.draft import ChartConfig, chart_config
from healthgym.envs.fhir_record.generator import (
    BENCHMARK_NOW,
    ChartSource,
    FhirRecordGenerator,
    Level,
    Mix,
    SyntheticCharts,
)
from healthgym.envs.fhir_record.kinds import KINDS
from healthgym.envs.fhir_record.mixes import published_mix
from healthgym.envs.fhir_record.sources import BundleSource, OfficialSource
from healthgym.envs.fhir_record.wording import Style
from healthgym.errors import ConfigurationError

#: Family name in the ids of tasks on synthetic charts.
NAME = "fhir-record"

TaskTypes = Sequence[str] | Mapping[str, float] | None
Difficulty = str | ChartConfig | Mapping[str, float]


def assemble(
    benchmark: str | None,
    task_types: TaskTypes,
    difficulty: Difficulty,
    source: str | Path | ChartSource,
    charts: str | Path | None,
) -> tuple[TaskGenerator, str | None]:
    """Return the generator, and the benchmark whose conventions apply.

    Args:
        benchmark: ``"v1"``, ``"v2"``, ``"v3"`` or None.
        task_types: Task types, with weights if a mapping; all if None.
        difficulty: A level, or weights of several.
        source: ``"synthetic"``, a folder of bundles, a published task file, or a chart source.
        charts: Where the patients of a published task file are.

    Raises:
        ConfigurationError: If the arguments do not fit together.
        DataError: If a file or folder is missing or damaged.
    """
    official = isinstance(source, str | Path) and Path(source).suffix == ".json"
    if charts is not None and not official:
        raise ConfigurationError("charts goes with a published task file as source.")
    if isinstance(source, str | Path) and official:
        if task_types is not None or isinstance(difficulty, Mapping):
            raise ConfigurationError("A published task file has its own task types.")
        tasks = OfficialSource(source, benchmark=benchmark, charts=charts, difficulty=difficulty)
        return tasks, tasks.benchmark
    mix = _mix(benchmark, task_types)
    if source != "synthetic":
        return _real(source, mix, difficulty, named=task_types is not None), benchmark
    name = f"medagentbench-{benchmark}" if benchmark else NAME
    weights = difficulty if isinstance(difficulty, Mapping) else {difficulty: 1.0}
    levels = [_level(benchmark, item, float(weight)) for item, weight in weights.items()]
    return FhirRecordGenerator(KINDS, mix, levels, name=name), benchmark


def _real(
    source: str | Path | ChartSource, mix: Mix, difficulty: Difficulty, *, named: bool
) -> FhirRecordGenerator:
    """Return a generator on given charts; each type that was named must be possible on them."""
    if isinstance(source, str | Path):
        source = BundleSource(source)
        for kind in mix.kinds if named else ():
            source.require(KINDS[kind])
    style = Style.TERSE if difficulty == "easy" else Style.FULL
    return FhirRecordGenerator(KINDS, mix, [Level("real", source, style)], name=f"{NAME}-real")


def _level(benchmark: str | None, difficulty: str | ChartConfig, weight: float) -> Level:
    config = chart_config(difficulty)
    now = BENCHMARK_NOW if benchmark else None
    style = Style.TERSE if config.terse else Style.FULL
    if benchmark:
        style = Style.AUDITED if benchmark == "v3" else Style.BENCHMARK
    name = difficulty if isinstance(difficulty, str) else "custom"
    return Level(name, SyntheticCharts(config, traps=benchmark is None, now=now), style, weight)


def _mix(benchmark: str | None, task_types: TaskTypes) -> Mix:
    if isinstance(task_types, str):
        task_types = [task_types]
    if task_types is not None:
        chosen = task_types if isinstance(task_types, Mapping) else dict.fromkeys(task_types, 1.0)
        unknown = chosen.keys() - KINDS.keys()
        if unknown or not chosen:
            named = ", ".join(sorted(unknown)) or "nothing"
            raise ConfigurationError(
                f"task_types names {named}; the task types are {', '.join(KINDS)}."
            )
        return Mix(dict(chosen))
    return published_mix(benchmark) if benchmark else Mix(dict.fromkeys(KINDS, 1.0))
