"""Compare evaluations on a local Ray cluster with one process, into results/ray_throughput.json.

    python benchmarks/ray_throughput.py        (with the extra `ray`)

The oracle plays the same tasks in one process and by one and two actors (`healthgym eval --ray
local --actors N`), turn about in the same run, and the ratios are of their medians. The cluster is
started before and timed by itself; actors start within the time, as they do in every evaluation, so
that short evaluations gain nothing.
"""

from __future__ import annotations

import os
import statistics
import time
from typing import TYPE_CHECKING

from _harness import Figures, Run, Suite, at_least

if TYPE_CHECKING:
    from healthgym.policies.results import Evaluation

ACTORS = (1, 2)
_ROUNDS = 3

suite = Suite("ray_throughput", __doc__)


@suite.measure(bounds={"actors_2.ratio": at_least(1)})
def fhir_record(run: Run) -> Figures:
    """Short episodes, of some milliseconds each."""
    return compared(run, "HealthAgent/FhirRecord-v1", run.tasks(2000))


@suite.measure()
def a_short_evaluation(run: Run) -> Figures:
    """Three seconds of work, in which the actors have hardly begun."""
    return compared(run, "HealthAgent/CareManagement-v1", run.tasks(32))


def compared(run: Run, env_id: str, episodes: int) -> Figures:
    """Play the same tasks each way, and return episodes a second and ratios to one process."""
    import ray

    from healthgym.integrations.cluster import Cluster, evaluate_on
    from healthgym.policies.evaluation import evaluate

    def alone() -> Evaluation:
        return evaluate(env_id, "oracle", episodes=episodes, floor=False)

    def by(actors: int) -> Evaluation:
        cluster = Cluster(actors=actors)
        return evaluate_on(cluster, env_id, "oracle", episodes=episodes, floor=False)

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    begun = time.monotonic()
    ray.init(num_cpus=max(ACTORS), include_dashboard=False, object_store_memory=100 * 2**20,
             log_to_driver=False, logging_level="error")  # fmt: skip
    started = time.monotonic() - begun
    took: dict[int, list[float]] = {0: [], **{actors: [] for actors in ACTORS}}
    results = []
    try:
        for _ in range(run.repeats(_ROUNDS)):
            for actors, times in took.items():
                begun = time.monotonic()
                results.append((by(actors) if actors else alone()).results)
                times.append(time.monotonic() - begun)
    finally:
        ray.shutdown()
    seconds = {actors: statistics.median(times) for actors, times in took.items()}
    return {
        "env_id": env_id,
        "episodes": episodes,
        "rounds": len(took[0]),
        "equal": all(each == results[0] for each in results),
        "cluster_starts_s": started,
        "one_process": {"seconds": seconds[0], "episodes_per_s": episodes / seconds[0]},
        **{
            f"actors_{actors}": {
                "seconds": seconds[actors],
                "slowest_s": max(took[actors]),
                "episodes_per_s": episodes / seconds[actors],
                "ratio": seconds[0] / seconds[actors],
            }
            for actors in ACTORS
        },
    }


if __name__ == "__main__":
    raise SystemExit(suite.main())
