"""Measure speed and memory, each figure in a fresh process, and write results/speed.json.

    python benchmarks/run.py            every figure
    python benchmarks/run.py reset step only these

Times are medians. The issue's bound stands beside each figure that has one; a bound is a goal, and
this script does not fail when a slower machine misses it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ENV_ID = "HealthAgent/FhirRecord-v0"
RESULTS = Path(__file__).parent / "results" / "speed.json"


def median_seconds(action: Callable[[], Any], repeats: int) -> float:
    """Return the median duration of an action, in seconds."""
    durations = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        durations.append(time.perf_counter() - start)
    return statistics.median(durations)


def resident_mib() -> float:
    """Return the resident memory of this process, in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def make(difficulty: str = "medium", **kwargs: Any) -> Any:
    """Make the record environment without Gymnasium's per-step checks."""
    import gymnasium as gym

    import healthgym  # noqa: F401

    return gym.make(ENV_ID, difficulty=difficulty, disable_env_checker=True, **kwargs)


def measure_import() -> dict[str, float]:
    """Import healthgym in fresh interpreters."""
    code = (
        "import time; t=time.perf_counter(); import healthgym; s=time.perf_counter()-t; import sys;"
        "assert not {'torch','transformers','trl'} & set(sys.modules); print(s)"
    )
    numpy = "import time; t=time.perf_counter(); import gymnasium; print(time.perf_counter()-t)"
    figures = {}
    for name, script in (("healthgym_s", code), ("gymnasium_alone_s", numpy)):
        runs = [
            float(
                subprocess.run(
                    [sys.executable, "-c", script], capture_output=True, check=True
                ).stdout
            )
            for _ in range(7)
        ]
        figures[name] = statistics.median(runs)
    return figures


def measure_reset() -> dict[str, float]:
    """Reset to a new task, by difficulty."""
    figures = {}
    for difficulty in ("easy", "medium", "hard"):
        env = make(difficulty)
        indices = iter(range(10_000))
        for _ in range(20):
            env.reset(options={"index": next(indices)})
        figures[f"{difficulty}_ms"] = 1e3 * median_seconds(
            lambda env=env, indices=indices: env.reset(options={"index": next(indices)}), 400
        )
    return figures


def _task_with_rows(env: Any, kind: str, code: str) -> str:
    """Reset to a task whose patient has more than 20 rows of a code; return the record number."""
    for index in range(1000):
        _, info = env.reset(options={"index": index})
        facts = env.unwrapped.episode._instance.reference.facts
        store = env.unwrapped.episode.world.store
        found = store.search(
            "Observation", [("patient", facts.patient), ("code", code), ("_summary", "count")]
        )
        if info["kind"] == kind and (found.total or 0) > 20:
            return str(facts.patient)
    raise SystemExit("no task with more than 20 rows")


def measure_step() -> dict[str, float]:
    """Search 20 rows through env.step, beside an empty text environment and a refused call."""
    import gymnasium as gym

    from healthgym.core.tool import call
    from healthgym.spaces import UnicodeText

    class Empty(gym.Env[str, str]):
        observation_space = UnicodeText(1000)
        action_space = UnicodeText(1000)

        def reset(
            self, *, seed: int | None = None, options: Any = None
        ) -> tuple[str, dict[str, Any]]:
            super().reset(seed=seed)
            return "", {}

        def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
            return "", 0.0, False, False, {}

    env = make("hard", task_types=["v1-t7"], max_turns=1_000_000)
    patient = _task_with_rows(env, "v1-t7", "GLU")
    search = call("search_observations", patient=patient, code="GLU", limit=20)
    raw = call("search_fhir", query=f"Observation?patient={patient}&code=GLU&_sort=-date&_count=20")
    text = json.dumps({"name": "search_observations", "arguments": dict(search.arguments)})
    empty = Empty()
    empty.reset()
    assert len(env.step(search)[0].splitlines()) >= 21
    figures = {
        "search_20_rows_ms": 1e3 * median_seconds(lambda: env.step(search), 1500),
        "search_20_rows_from_text_ms": 1e3 * median_seconds(lambda: env.step(text), 1500),
        "search_20_resources_as_json_ms": 1e3 * median_seconds(lambda: env.step(raw), 500),
        "refused_call_ms": 1e3 * median_seconds(lambda: env.step("no call"), 1500),
        "empty_environment_ms": 1e3 * median_seconds(lambda: empty.step(""), 1500),
    }
    figures["search_over_empty_ratio"] = (
        figures["search_20_rows_ms"] / figures["empty_environment_ms"]
    )
    return figures


def measure_http() -> dict[str, float]:
    """Ask the same question of the embedded store and of it behind HTTP on loopback."""
    from healthgym.core.tool import call
    from healthgym.envs.fhir_record.toolset import RecordToolset
    from healthgym.worlds.fhir.remote import RemoteStore
    from healthgym.worlds.fhir.server import serve

    env = make("hard", task_types=["v1-t7"])
    patient = _task_with_rows(env, "v1-t7", "GLU")
    world = env.unwrapped.episode.world
    local = RecordToolset(world)
    arguments = dict(call("x", patient=patient, code="GLU", limit=20).arguments)
    embedded = median_seconds(lambda: local.search_observations(**arguments), 500)
    with serve(world.store) as server:
        remote_world = type("RemoteWorld", (), {})()
        remote_world.store, remote_world.clock = RemoteStore(server.url), world.clock
        remote = RecordToolset(remote_world)
        assert (
            remote.search_observations(**arguments).splitlines()[:20]
            == (local.search_observations(**arguments).splitlines()[:20])
        )
        over_http = median_seconds(lambda: remote.search_observations(**arguments), 200)
    return {
        "embedded_ms": 1e3 * embedded,
        "over_http_ms": 1e3 * over_http,
        "http_over_embedded_ratio": over_http / embedded,
    }


def measure_episodes() -> dict[str, float]:
    """Play oracle episodes, reset included, on one core."""
    import numpy as np

    figures = {}
    for difficulty in ("easy", "medium", "hard"):
        env = make(difficulty)
        family = env.unwrapped.family
        count, steps, start = 150, 0, time.perf_counter()
        for index in range(count):
            env.reset(options={"index": index})
            instance = env.unwrapped.episode._instance
            for action in family.oracle(instance, np.random.default_rng(0)):
                done = env.step(action)
                steps += 1
            assert done[4]["success"]
        seconds = time.perf_counter() - start
        figures[f"{difficulty}_episodes_per_s"] = count / seconds
        figures[f"{difficulty}_steps_per_s_with_resets"] = steps / seconds
    return figures


def measure_live() -> dict[str, float]:
    """Hold 1,000 environments in one process, each in the middle of an episode."""
    from healthgym.core.tool import call

    make().reset(options={"index": 0})
    before = resident_mib()
    envs = []
    for index in range(1000):
        env = make()
        env.reset(options={"index": index})
        env.step(call("search_fhir", query="Observation?_count=20"))
        envs.append(env)
    after = resident_mib()
    return {
        "growth_mib": after - before,
        "process_mib": after,
        "per_environment_kib": 1024 * (after - before) / len(envs),
    }


def measure_population() -> dict[str, float]:
    """Build, save, map and search the full-size population."""
    from datetime import UTC, datetime

    from healthgym.core.clock import Clock
    from healthgym.worlds.fhir.cohort import population
    from healthgym.worlds.fhir.store import FhirStore

    now = datetime(2023, 11, 13, 10, 15, tzinfo=UTC)
    start = time.perf_counter()
    base = population(0, now=now)
    figures = {"build_s": time.perf_counter() - start}
    kinds = base.resource_types()
    figures |= {f"{kind}_count": base.size(kind) for kind in kinds}
    figures["records"] = sum(base.size(kind) for kind in kinds)
    figures["built_process_mib"] = resident_mib()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "population"
        start = time.perf_counter()
        base.save(path)
        figures["save_s"] = time.perf_counter() - start
        figures["saved_mib"] = sum(f.stat().st_size for f in path.rglob("*") if f.is_file()) / 2**20
        figures |= json.loads(
            subprocess.run(
                [sys.executable, __file__, "--load", str(path)], capture_output=True, check=True
            ).stdout
        )
    store = FhirStore(base, clock=Clock(now))
    figures["search_built_ms"] = 1e3 * _search_time(store)
    return figures


def _search_time(store: Any) -> float:
    """Return the median time of a search by patient and code, 20 rows, newest first."""
    patients = _busiest(store)
    queries = iter(
        [("patient", patient), ("code", code), ("_sort", "-date")]
        for _ in range(50)
        for patient in patients
        for code in ("GLU", "K", "MG", "A1C")
    )
    return median_seconds(lambda: store.search("Observation", next(queries)), 400)


def _busiest(store: Any) -> list[str]:
    counts = {}
    for patient in store.search("Patient", [("_count", "2000")]).resources:
        found = store.search("Observation", [("patient", patient["id"]), ("_summary", "count")])
        counts[patient["id"]] = found.total
    return sorted(counts, key=lambda key: -counts[key])[:10]


def load_population(path: str) -> dict[str, float]:
    """Map a saved population in this fresh process, and search it."""
    from datetime import UTC, datetime

    from healthgym.core.clock import Clock
    from healthgym.worlds.fhir.charts import ColumnBase
    from healthgym.worlds.fhir.store import FhirStore

    start = time.perf_counter()
    base = ColumnBase.load(path, mmap=True)
    seconds = time.perf_counter() - start
    store = FhirStore(base, clock=Clock(datetime(2023, 11, 13, 10, 15, tzinfo=UTC)))
    first = median_seconds(
        lambda: store.search("Observation", [("code", "GLU"), ("_count", "1")]), 1
    )
    search = _search_time(store)
    return {
        "load_s": seconds,
        "first_search_s": first,
        "search_mapped_ms": 1e3 * search,
        "mapped_process_mib": resident_mib(),
    }


def measure_growth() -> dict[str, float]:
    """Time reset and a 20-row search as the chart grows."""
    import dataclasses

    from healthgym.core.tool import call
    from healthgym.envs.fhir_record.draft import PRESETS, Difficulty

    figures = {}
    for density in (0.0, 0.01, 0.04, 0.16):
        config = dataclasses.replace(PRESETS[Difficulty.HARD], density=density)
        env = make(config, task_types=["v1-t7"], max_turns=1_000_000)
        indices = iter(range(1000))
        reset = median_seconds(lambda env=env, i=indices: env.reset(options={"index": next(i)}), 40)
        patient = _task_with_rows(env, "v1-t7", "GLU")
        base = env.unwrapped.episode.world.store.base
        records = sum(base.size(kind) for kind in base.resource_types())
        search = call("search_observations", patient=patient, code="GLU", limit=20)
        step = median_seconds(lambda env=env, search=search: env.step(search), 300)
        figures[f"density_{density}_records"] = records
        figures[f"density_{density}_reset_ms"] = 1e3 * reset
        figures[f"density_{density}_search_ms"] = 1e3 * step
    return figures


MEASURES: dict[str, Callable[[], dict[str, float]]] = {
    "import": measure_import,
    "reset": measure_reset,
    "step": measure_step,
    "http": measure_http,
    "episodes": measure_episodes,
    "live": measure_live,
    "population": measure_population,
    "growth": measure_growth,
}

#: Figure -> bound, in the figure's own unit.
BOUNDS = {
    "import.healthgym_s": "<= 0.3",
    "reset.medium_ms": "<= 5",
    "step.search_20_rows_ms": "<= 0.5",
    "episodes.medium_episodes_per_s": ">= 150",
    "live.growth_mib": "<= 1024",
    "population.build_s": "<= 90",
    "population.load_s": "<= 3",
    "population.mapped_process_mib": "<= 2560",
    "population.built_process_mib": "<= 2560",
    "population.search_mapped_ms": "<= 1",
}


def machine() -> dict[str, Any]:
    """Describe the machine without naming it."""
    model = ""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text().splitlines()
        model = next((line.split(":")[1].strip() for line in lines if "model name" in line), "")
    return {
        "cpu": model or platform.processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": platform.system(),
    }


def in_fresh_process(name: str) -> dict[str, float]:
    """Run one measure in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--one", name], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{name} failed:\n{done.stderr}")
    return dict(json.loads(done.stdout))


def rows(results: dict[str, dict[str, float]]) -> Iterator[str]:
    """Yield the results as lines of a table."""
    for name, figures in results.items():
        for figure, value in figures.items():
            key = f"{name}.{figure}"
            yield f"{key:<48} {value:>14.3f}   {BOUNDS.get(key, '')}"


def main() -> int:
    """Measure what is named, or everything, and merge it into the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("measures", nargs="*", help=", ".join(MEASURES))
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--load", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(MEASURES[args.one]()))
        return 0
    if args.load:
        print(json.dumps(load_population(args.load)))
        return 0
    unknown = set(args.measures) - MEASURES.keys()
    if unknown:
        parser.error(f"no measure {', '.join(unknown)}; there are {', '.join(MEASURES)}")
    results: dict[str, dict[str, float]] = {}
    for name in args.measures or MEASURES:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        results[name] = in_fresh_process(name)
    print("\n".join(rows(results)))
    known = json.loads(RESULTS.read_text())["figures"] if RESULTS.exists() else {}
    RESULTS.parent.mkdir(exist_ok=True)
    report = {"machine": machine(), "bounds": BOUNDS, "figures": {**known, **results}}
    RESULTS.write_text(json.dumps(report, indent=1, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
