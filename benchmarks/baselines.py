"""Score the scripted policies on every registered environment; write results/baselines.json.

    python benchmarks/baselines.py [--episodes 600] [ID ...]

Each policy plays the same tasks of the test split, from index 0. The summaries are in the form
`healthgym envs --markdown` publishes.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import healthgym
from healthgym.policies.evaluation import evaluate
from healthgym.registration import make

RESULTS = Path(__file__).parent / "results" / "baselines.json"
GENERIC = ("nop", "random")


def main() -> int:
    """Run what is asked for and merge it into the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ids", nargs="*", default=list(healthgym.ids()))
    parser.add_argument("--episodes", type=int, default=600)
    args = parser.parse_args()
    known = json.loads(RESULTS.read_text())["evaluations"] if RESULTS.exists() else []
    kept = [item for item in known if item["env_id"] not in args.ids]
    for env_id in args.ids:
        inner = make(env_id).unwrapped
        episodes = min(args.episodes, inner.family.generator.size("test"))
        for policy in (*inner.family.baselines(), *GENERIC):
            found = evaluate(env_id, policy, episodes=episodes, floor=False)
            print(f"{env_id} {policy}", file=sys.stderr)
            print(found.to_text(), file=sys.stderr, flush=True)
            kept.append(found.to_dict(episodes=False))
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps({"evaluations": kept}, indent=1, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
