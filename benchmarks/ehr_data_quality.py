"""Measure the data-quality environment: resets, queries, memory of sixteen; write a JSON of it.

    python benchmarks/ehr_data_quality.py [--resets 40]

Times are medians, in milliseconds; memory is the growth of this process, in MiB. Bounds named by
the project stand beside the figures; missing one on a busy machine is no failure.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym

import healthgym

ENV_ID = "HealthAgent/EhrDataQuality-v0"
RESULTS = Path(__file__).parent / "results" / "ehr_data_quality.json"


def make(**kwargs: Any) -> Any:
    """Make the environment without Gymnasium's per-step checks."""
    return gym.make(ENV_ID, disable_env_checker=True, **kwargs)


def milliseconds(action: Callable[[int], Any], repeats: int) -> float:
    """Return the median duration of an action, which is told how often it was run."""
    durations = []
    for turn in range(repeats):
        start = time.perf_counter()
        action(turn)
        durations.append(1e3 * (time.perf_counter() - start))
    return round(statistics.median(durations), 2)


def resident() -> float:
    """Return the resident memory of this process, in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def memory_of_sixteen(difficulty: str, *, shared: bool) -> float:
    """Return what sixteen live environments add, on one task or on sixteen."""
    envs = [make(difficulty=difficulty) for _ in range(16)]
    envs[0].reset(options={"index": 500})
    before = resident()
    for turn, env in enumerate(envs):
        env.reset(options={"index": 500 if shared else 500 + turn})
    return round(resident() - before, 1)


def main() -> int:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--resets", type=int, default=40)
    args = parser.parse_args()
    easy, hard = make(difficulty="easy"), make(difficulty="hard")
    easy.reset(options={"index": 0})
    query = healthgym.call("sql", query="SELECT itemid, avg(valuenum) FROM labevents GROUP BY 1")
    easy.step(query)
    figures = {
        "reset_easy_ms (bound 20)": milliseconds(
            lambda turn: easy.reset(options={"index": 1000 + turn}), args.resets
        ),
        "reset_hard_first_build_ms": milliseconds(
            lambda turn: hard.reset(options={"index": turn}), 3
        ),
        "reset_hard_again_ms (bound 1000)": milliseconds(
            lambda turn: hard.reset(options={"index": 2}), 5
        ),
    }
    easy.reset(options={"index": 0})
    easy.step(query)
    world = easy.unwrapped.episode.world
    text = query.arguments["query"]
    figures["sql_small_ms (bound 3)"] = milliseconds(lambda turn: world.sql.query(text), 100)
    figures["sixteen_easy_same_task_mib"] = memory_of_sixteen("easy", shared=True)
    figures["sixteen_easy_mib"] = memory_of_sixteen("easy", shared=False)
    figures["sixteen_hard_same_task_mib"] = memory_of_sixteen("hard", shared=True)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
