"""Measure event modelling: speed, sharing, and what scripted policies score.

    python benchmarks/ehr_event_modelling.py                  everything but the canonical tasks
    python benchmarks/ehr_event_modelling.py speed scores     only these
    python benchmarks/ehr_event_modelling.py canonical        the six tasks of the source's size

Times are medians of wall-clock time on one machine, each figure in a fresh process. Scores are
shares of the first test tasks that a policy solves. Results go to
results/ehr_event_modelling.json, where each part replaces its own earlier figures.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ENV_ID = "HealthAgent/EhrEventModelling-v0"
RESULTS = Path(__file__).parent / "results" / "ehr_event_modelling.json"
TASKS = 60
#: The issue's bounds, in milliseconds.
BOUNDS = {"medium_new_cohort_ms": 300.0, "sql_small_table_ms": 3.0}


def make(**kwargs: Any) -> Any:
    """Make the environment without Gymnasium's per-step checks."""
    from healthgym.registration import make_health_env

    return make_health_env(ENV_ID, kwargs)


def median_ms(action: Callable[[int], Any], repeats: int, first: int = 0) -> float:
    """Return the median duration of an action of a number, in milliseconds."""
    durations = []
    for number in range(first, first + repeats):
        start = time.perf_counter()
        action(number)
        durations.append(time.perf_counter() - start)
    return round(1e3 * statistics.median(durations), 2)


def median_cpu_ms(action: Callable[[int], Any], repeats: int, first: int = 0) -> float:
    """Return the median processor time of an action: what it takes when nothing else runs."""
    durations = []
    for number in range(first, first + repeats):
        start = time.process_time()
        action(number)
        durations.append(time.process_time() - start)
    return round(1e3 * statistics.median(durations), 2)


def resident_mib() -> float:
    """Return the resident memory of this process, in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def measure_speed() -> dict[str, float]:
    """Reset, query and play."""
    from healthgym.core.tool import call

    figures: dict[str, float] = {}
    for level, repeats in (("easy", 15), ("medium", 15), ("hard", 15), ("large", 4)):
        env = make(difficulty=level)
        env.reset(options={"index": 0})
        figures[f"{level}_new_cohort_ms"] = median_ms(
            lambda n, env=env: env.reset(options={"index": 6 * n}), repeats, 1
        )
        figures[f"{level}_new_cohort_cpu_ms"] = median_cpu_ms(
            lambda n, env=env: env.reset(options={"index": 6 * n}), repeats, 100
        )
    env = make()
    env.reset(options={"index": 600})
    figures["medium_same_cohort_ms"] = median_ms(
        lambda n: env.reset(options={"index": 600 + n}), 5, 1
    )
    figures["medium_same_task_ms"] = median_ms(lambda n: env.reset(options={"index": 600}), 30)
    env = make(max_turns=10_000)
    env.reset(options={"index": 600})
    small = call("sql", query="SELECT label, count(*) FROM train_labels GROUP BY label")
    large = call("sql", query="SELECT code, count(*) AS n FROM events GROUP BY code ORDER BY n")
    env.step(large)
    figures["sql_small_table_ms"] = median_ms(lambda n: env.step(small), 100)
    figures["sql_all_events_ms"] = median_ms(lambda n: env.step(large), 20)
    figures["build_counts_ms"] = median_ms(
        lambda n: env.step(call("build_features", name=f"f{n}", window_days=n + 1)), 10
    )
    figures["train_100_trees_ms"] = median_ms(
        lambda n: env.step(
            call("train_model", name="m", features=["f0"], learning_rate=0.1 + n / 100)
        ),
        5,
    )
    env = make()
    for name, script in (("oracle", env.family.oracle), ("honest", honest)):
        play(env, script, 0)
        figures[f"{name}_episode_ms"] = median_ms(
            lambda n, script=script: play(env, script, 6 * n + n % 6), 6, 20
        )
    return figures


def honest(instance: Any, rng: np.random.Generator) -> list[Any]:
    """Return the calls of the family's closed-loop modeller, as a baseline's script."""
    from healthgym.envs.ehr_event_modelling import solver

    return solver.honest()


def play(env: Any, baseline: Any, index: int, split: str = "train") -> dict[str, Any]:
    """Play a script, and return the verdicts."""
    env.reset(options={"index": index, "split": split})
    info: dict[str, Any] = {}
    for action in baseline(env.episode._instance, np.random.default_rng(index)):
        *_, info = env.step(action)
    return info["verdict"]


def measure_memory() -> dict[str, float]:
    """Hold 16 environments, on one task and on tasks of their own."""
    from healthgym.core.tool import call

    query = call("sql", query="SELECT count(*) FROM events")
    envs = [make() for _ in range(16)]
    envs[0].reset(options={"index": 0})
    envs[0].step(query)
    start = resident_mib()
    for env in envs:
        env.reset(options={"index": 0})
        env.step(query)
    shared = resident_mib()
    studies = {id(env.episode.world.study) for env in envs}
    for number, env in enumerate(envs):
        env.reset(options={"index": 6 * number})
        env.step(query)
    return {
        "first_environment_mib": round(start, 1),
        "fifteen_more_on_the_same_task_mib": round(shared - start, 1),
        "studies_held_by_them": len(studies),
        "sixteen_on_cohorts_of_their_own_mib": round(resident_mib(), 1),
    }


def counts_only() -> list[Any]:
    """Return the calls of a beginner: one feature set, one model, defaults everywhere."""
    from healthgym.core.tool import call

    return [
        call("build_features", name="counts"),
        call("train_model", name="model", features=["counts"]),
        call("draft_predictions", models=["model"]),
        call("submit_predictions"),
    ]


def measure_difficulty() -> dict[str, Any]:
    """Play the beginner and the honest modeller by difficulty, 24 tasks each."""
    figures: dict[str, Any] = {}
    for level in ("easy", "medium", "hard"):
        env = make(difficulty=level)
        policies = {"counts": lambda instance, rng: counts_only(), "honest": honest}
        rates: dict[str, list[bool]] = {name: [] for name in policies}
        for index in range(24):
            for name, policy in policies.items():
                rates[name].append(play(env, policy, index, "test")["strict"]["success"])
        figures[level] = {name: round(float(np.mean(rate)), 3) for name, rate in rates.items()}
    return figures


def measure_scores() -> dict[str, Any]:
    """Play every scripted policy on the first test tasks."""
    env = make()
    policies = {**env.family.baselines(), "honest": honest}
    figures: dict[str, Any] = {"tasks": TASKS}
    policies["counts"] = lambda instance, rng: counts_only()
    bars: list[dict[str, float]] = []
    for name, policy in policies.items():
        verdicts = [play(env, policy, index, "test") for index in range(TASKS)]
        figures[name] = {
            profile: round(float(np.mean([v[profile]["success"] for v in verdicts])), 3)
            for profile in ("strict", "paper")
        }
        found = [v["strict"]["metrics"] for v in verdicts]
        figures[name]["mean_auroc"] = round(float(np.mean([m["auroc"] for m in found])), 3)
        bars = found
    for part in ("bar", "bar_error", "threshold"):
        values = [item[part] for item in bars]
        figures[f"mean_{part}"] = round(float(np.mean(values)), 3)
        figures[f"range_{part}"] = [round(min(values), 3), round(max(values), 3)]
    return figures


def measure_canonical() -> dict[str, Any]:
    """Play the six tasks of the source's size."""
    env = make(canonical=True)
    figures: dict[str, Any] = {}
    for index in range(6):
        start = time.perf_counter()
        _, info = env.reset(options={"index": index, "split": "test"})
        reset = time.perf_counter() - start
        start = time.perf_counter()
        verdicts = play(env, honest, index, "test")
        metrics = verdicts["strict"]["metrics"]
        figures[info["kind"]] = {
            "rows": len(env.episode._instance.reference.labels),
            "positives": int(env.episode._instance.reference.labels.sum()),
            "events": len(env.episode.world.study.timeline),
            "bar": metrics["bar"],
            "bar_error": metrics["bar_error"],
            "threshold": metrics["threshold"],
            "honest_auroc": metrics["auroc"],
            "honest_passes": [verdicts[p]["success"] for p in ("strict", "paper")],
            "reset_s": round(reset, 2),
            "honest_episode_with_bar_s": round(time.perf_counter() - start, 1),
        }
    return figures


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "speed": measure_speed,
    "memory": measure_memory,
    "scores": measure_scores,
    "difficulty": measure_difficulty,
    "canonical": measure_canonical,
}


def main() -> None:
    """Measure the parts that are named, each in a fresh process."""
    chosen = sys.argv[1:] or ["speed", "memory", "scores", "difficulty"]
    results: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    results["machine"] = {
        "python": platform.python_version(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
    }
    results["bounds"] = BOUNDS
    context = multiprocessing.get_context("spawn")
    for name in chosen:
        with context.Pool(1) as pool:
            results[name] = pool.apply(PARTS[name])
        print(name, json.dumps(results[name], indent=2))
        RESULTS.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
