"""Measure TrialMatching-v0, each figure in a fresh process; write results/trial_matching.json.

    python benchmarks/trial_matching.py              every figure
    python benchmarks/trial_matching.py reset memory only these

Times are medians of tasks not seen before in the process, with pools of exactly 400 trials where
the difficulty has large ones. Baselines play the first tasks of the test split.
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
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ENV_ID = "HealthAgent/TrialMatching-v0"
RESULTS = Path(__file__).parent / "results" / "trial_matching.json"
SIZES = {"easy": 20, "medium": 400, "hard": 400}
BOUNDS = {"reset.medium_pool_400_ms": "<= 50", "reset.hard_pool_400_ms": "<= 50"}


def make(difficulty: str = "medium", **kwargs: Any) -> Any:
    """Make the environment without Gymnasium's per-step checks."""
    import gymnasium as gym

    import healthgym  # noqa: F401

    size = kwargs.pop("pool_size", SIZES[difficulty])
    return gym.make(
        ENV_ID, difficulty=difficulty, pool_size=size, disable_env_checker=True, **kwargs
    )


def milliseconds(action: Callable[[int], Any], indices: range) -> dict[str, float]:
    """Return the median duration of an action over tasks, and its median processor time.

    The two differ where other programs run beside this one.
    """
    clocks = {"ms": time.perf_counter, "cpu_ms": time.process_time}
    durations: dict[str, list[float]] = {name: [] for name in clocks}
    for index in indices:
        start = {name: clock() for name, clock in clocks.items()}
        action(index)
        for name, clock in clocks.items():
            durations[name].append(clock() - start[name])
    return {name: 1e3 * statistics.median(values) for name, values in durations.items()}


def measure_reset() -> dict[str, float]:
    """Reset to a new task, and again to one that another environment has open."""
    figures = {}
    for difficulty, size in SIZES.items():
        env, twin = make(difficulty), make(difficulty)
        env.reset(options={"index": 10_000})
        fresh = milliseconds(lambda index, env=env: env.reset(options={"index": index}), range(200))
        env.reset(options={"index": 7})
        shared = milliseconds(lambda index, twin=twin: twin.reset(options={"index": 7}), range(200))
        figures |= {f"{difficulty}_pool_{size}_{name}": value for name, value in fresh.items()}
        figures[f"{difficulty}_pool_{size}_shared_ms"] = shared["ms"]
    return figures


def measure_step() -> dict[str, float]:
    """Search for the first time, which words and indexes the pool, and again; list and read."""
    from healthgym.core.tool import call

    env = make("hard", max_turns=100_000)
    search = call("search_trials", query="heart failure beta blocker")

    def timed(action: Any, fresh: bool) -> float:
        durations = []
        for index in range(30):
            if fresh:
                env.reset(options={"index": index})
            start = time.perf_counter()
            env.step(action)
            durations.append(time.perf_counter() - start)
        return 1e3 * statistics.median(durations)

    figures = {"first_search_ms": timed(search, True), "search_ms": timed(search, False)}
    ids = list(env.unwrapped.episode.world.corpus.ids[:8])
    figures["list_page_ms"] = timed(call("list_trials"), False)
    figures["read_eligibility_of_8_ms"] = timed(call("read_eligibility", nct_ids=ids), False)
    return figures


def measure_episodes() -> dict[str, float]:
    """Play oracle episodes, reset included."""
    import numpy as np

    figures = {}
    for difficulty in SIZES:
        env = make(difficulty, split="test")
        family, count, start = env.unwrapped.family, 40, time.perf_counter()
        for index in range(count):
            env.reset(options={"index": index})
            instance = env.unwrapped.episode._instance
            for action in family.oracle(instance, np.random.default_rng(0)):
                done = env.step(action)
            assert done[4]["success"]
        figures[f"{difficulty}_oracle_episode_ms"] = 1e3 * (time.perf_counter() - start) / count
    return figures


def resident_mib() -> float:
    """Return the resident memory of this process, in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def measure_memory() -> dict[str, float]:
    """Hold 16 live environments that have searched: on 16 tasks, and then on one."""
    from healthgym.core.tool import call

    search = call("search_trials", query="history of stroke")

    def hold(indices: list[int]) -> tuple[list[Any], float]:
        before, envs = resident_mib(), []
        for index in indices:
            env = make("hard")
            env.reset(options={"index": index})
            env.step(search)
            envs.append(env)
        return envs, resident_mib() - before

    hold([5000])
    apart, on_16_tasks = hold(list(range(16)))
    together, on_one_task = hold([100] * 16)
    corpora = [env.unwrapped.episode.world.corpus for env in apart]
    one = {id(env.unwrapped.episode.world.corpus) for env in together}
    records: dict[int, int] = {}
    for corpus in corpora:
        for id_ in corpus.ids:
            key = id(corpus.document(id_))
            records[key] = records.get(key, 0) + 1
    return {
        "16_environments_on_16_tasks_mib": on_16_tasks,
        "16_environments_on_one_task_mib": on_one_task,
        "corpora_of_16_environments_on_one_task": len(one),
        "trials_in_16_pools": sum(records.values()),
        "records_in_memory_for_them": len(records),
    }


def measure_baselines() -> dict[str, float]:
    """Success and progress of the scripted policies on the first test tasks."""
    import numpy as np

    from healthgym.core.seeding import Split
    from healthgym.core.verdict import Profile

    figures: dict[str, float] = {}
    count = 100
    for difficulty in SIZES:
        size = None if SIZES[difficulty] == 400 else SIZES[difficulty]
        env = make(difficulty, split="test", pool_size=size).unwrapped
        for index in range(count):
            instance = env.family.generator.generate(Split.TEST, index)
            for name, script in env.family.baselines().items():
                env.reset(options={"index": index})
                for action in script(instance, np.random.default_rng(0)):
                    env.step(action)
                for profile in Profile:
                    verdict = env.episode.verdict(profile=profile)
                    key = f"{difficulty}.{name}.{profile}"
                    parts = {"success": verdict.success, "progress": verdict.progress}
                    for part, value in parts.items():
                        figures[f"{key}.{part}"] = figures.get(f"{key}.{part}", 0.0) + value / count
    return {key: round(value, 4) for key, value in figures.items()}


MEASURES: dict[str, Callable[[], dict[str, float]]] = {
    "reset": measure_reset,
    "step": measure_step,
    "episodes": measure_episodes,
    "memory": measure_memory,
    "baselines": measure_baselines,
}


def main() -> int:
    """Measure what is named, or everything, and merge it into the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("measures", nargs="*", help=", ".join(MEASURES))
    parser.add_argument("--one", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(MEASURES[args.one]()))
        return 0
    unknown = set(args.measures) - MEASURES.keys()
    if unknown:
        parser.error(f"no measure {', '.join(unknown)}; there are {', '.join(MEASURES)}")
    known = json.loads(RESULTS.read_text())["figures"] if RESULTS.exists() else {}
    for name in args.measures or MEASURES:
        done = subprocess.run(
            [sys.executable, __file__, "--one", name], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"{name} failed:\n{done.stderr}")
        known[name] = json.loads(done.stdout)
        for figure, value in known[name].items():
            print(f"{name}.{figure:<60} {value:>12.3f}   {BOUNDS.get(f'{name}.{figure}', '')}")
    machine = {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": platform.system(),
    }
    RESULTS.parent.mkdir(exist_ok=True)
    report = {"machine": machine, "bounds": BOUNDS, "figures": known}
    RESULTS.write_text(json.dumps(report, indent=1, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
