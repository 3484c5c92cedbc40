"""Score the scripted policies on every registered environment; write results/baselines.json.

    python benchmarks/baselines.py                          # all of them
    python benchmarks/baselines.py --only HealthAgent/TrialMatching-v0 [--only ...]

Each policy of a family, whether it plays a script or looks before it acts, and the two that know no
family play the same tasks of the test split, from index 0. What was scored before is kept but for
the environments that are played. The summaries are in the form `healthgym envs --markdown`
publishes.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import healthgym
from healthgym.core.seeding import Split
from healthgym.policies.evaluation import evaluate
from healthgym.registration import TABLE, make_health_env

RESULTS = Path(__file__).parent / "results" / "baselines.json"
GENERIC = ("nop", "random")
#: Tasks of each environment: as many as a few minutes of one core allow. 300 if not named.
EPISODES = {
    "HealthAgent/FhirRecord-v0": 800,
    "HealthAgent/MedAgentBenchV1-v0": 600,
    "HealthAgent/MedAgentBenchV2-v0": 600,
    "HealthAgent/MedAgentBenchV3-v0": 800,
    "HealthAgent/EhrFormatConversion-v0": 30,
    "HealthAgent/EhrEventModelling-v0": 120,
    "HealthAgent/EhrDataQuality-v0": 40,
}
#: Configurations beside the registered ones: the published sets that have no id of their own.
BESIDE: tuple[tuple[str, dict[str, Any]], ...] = (
    ("HealthAgent/EhrDataQuality-v0", {"canonical": True}),
)


def configurations(only: list[str]) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Yield each environment's id, the arguments to make it with, and all those it then has."""
    for row in TABLE:
        if not only or row.id in only:
            yield row.id, {}, dict(row.kwargs)
            for env_id, kwargs in BESIDE:
                if env_id == row.id:
                    yield env_id, kwargs, {**row.kwargs, **kwargs}


def score(env_id: str, kwargs: Mapping[str, Any], most: int) -> Iterator[dict[str, Any]]:
    """Yield the summary of each policy on an environment."""
    family = make_health_env(env_id, kwargs).family
    episodes = min(most, family.generator.size(Split.TEST))
    for policy in (*family.baselines(), *family.solvers(), *GENERIC):
        began = time.perf_counter()
        found = evaluate(env_id, policy, episodes=episodes, env_kwargs=kwargs, floor=False)
        took = time.perf_counter() - began
        print(f"{env_id} {kwargs or ''} {policy}: {took:.1f} s", file=sys.stderr)
        print(found.to_text(), file=sys.stderr, flush=True)
        yield found.to_dict(episodes=False)


def main() -> int:
    """Run what is asked for and merge it into the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", default=[], metavar="ID")
    parser.add_argument("--episodes", type=int, help="tasks of each environment")
    args = parser.parse_args()
    unknown = set(args.only) - set(healthgym.ids())
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    kept = json.loads(RESULTS.read_text())["evaluations"] if RESULTS.exists() else []
    for env_id, kwargs, whole in configurations(args.only):
        most = args.episodes or EPISODES.get(env_id, 300)
        made = list(score(env_id, kwargs, most))
        kept = [item for item in kept if (item["env_id"], item["env_kwargs"]) != (env_id, whole)]
        kept = sorted([*kept, *made], key=_order)
        # After each: a run that is broken off keeps what it has.
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps({"evaluations": kept}, indent=1, sort_keys=True) + "\n")
    return 0


def _order(item: Mapping[str, Any]) -> tuple[int, int]:
    """Return the place of a summary: as the registry has it, published sets last."""
    ids = healthgym.ids()
    place = ids.index(item["env_id"]) if item["env_id"] in ids else len(ids)
    return place, len(item["env_kwargs"])


if __name__ == "__main__":
    raise SystemExit(main())
