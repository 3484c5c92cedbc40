"""Self-play on the arena's drill, from imitation to its proof: results/self_play.json.

    python benchmarks/self_play.py               three seeds, two at a time
    python benchmarks/self_play.py --seeds 0     one
    python benchmarks/self_play.py --only sides  every scripted side beside the last generations

Each seed is a run of ``examples/self_play.py``, one thread, whose folder, with the page, is kept
under ``--runs``. First and last generation play the same held-out tasks: with themselves, where
both have to succeed, and beside six scripted providers that training never met, where the model
has to keep the payer's duties. A gain is told with the interval that drawing those tasks anew
gives. Beside the last generation sit those who want the reward without the work; and it plays the
whole arena, of which it has seen nothing. ``sides`` are all scripted ones of the drill, in either
seat and under either profile, beside the last generation of each run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import gettempdir

from _harness import Figures, Run, Suite, at_least, at_most

from healthgym.core.borders import JsonObject

SEEDS = (0, 1, 2)
_SCRIPT = Path(__file__).resolve().parents[1] / "examples" / "self_play.py"
#: The least that is above nothing, and far less than one task.
_ABOVE_NOTHING = at_least(1e-6)

suite = Suite("self_play", __doc__)
suite.parser.add_argument("--runs", type=Path, default=Path(gettempdir()) / "healthgym-self-play")
suite.parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS))
suite.parser.add_argument("--beside", type=int, default=2, help="runs at a time, a thread each")


def played(run: Run, seed: int) -> JsonObject:
    """Return what came of a seed, from the folder of runs if it ended before."""
    folder: Path = run.options.runs / ("smallest" if run.quick else "") / f"{seed}"
    if run.quick or not (folder / "result.json").exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, str(_SCRIPT), "--out", str(folder), "--seed", str(seed)]
        command += ["--smallest"] if run.quick else []
        with (folder / "log").open("w", encoding="utf-8") as log:
            env = {**os.environ, "OMP_NUM_THREADS": "1"}
            subprocess.run(command, check=True, env=env, stdout=log, stderr=log)
    found: JsonObject = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    return found


def met(run: Run, seed: int) -> JsonObject:
    """Return what the last generation of a seed does beside every scripted side."""
    folder: Path = run.options.runs / ("smallest" if run.quick else "") / f"{seed}"
    played(run, seed)
    command = [sys.executable, str(_SCRIPT), "--out", str(folder), "--sides"]
    command += ["--smallest"] if run.quick else []
    subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    found: JsonObject = json.loads((folder / "sides.json").read_text(encoding="utf-8"))
    return found


@suite.measure()
def sides(run: Run) -> Figures:
    """Play every scripted side beside the last generation of each seed."""
    seeds: Sequence[int] = run.options.seeds
    with ThreadPoolExecutor(run.options.beside) as pool:
        return {
            str(s): one for s, one in zip(seeds, pool.map(partial(met, run), seeds), strict=True)
        }


def told(result: Mapping[str, JsonObject]) -> Figures:
    """Return the figures of a run."""
    against = result["against"]
    return {
        "joint": result["joint"],
        "against": against,
        "gained_against": sum(each["gain_low"] > 0 for each in against.values()),
        "careless": {**result["careless"], "worst": max(result["careless"].values())},
        "generations": {
            f"provider_{row}_payer_{column}": share
            for row, line in enumerate(result["crossed"])
            for column, share in enumerate(line)
        },
        "whole_arena": result["whole"],
        "minutes": result["minutes"],
        "processor_minutes": result["processor_minutes"],
    }


@suite.measure(
    bounds={
        f"{seed}.{figure}": bound
        for seed in SEEDS
        for figure, bound in (
            ("joint.gain_low", _ABOVE_NOTHING),
            ("gained_against", at_least(4)),
            ("careless.worst", at_most(0.05)),
            ("processor_minutes", at_most(30)),
        )
    }
)
def self_play(run: Run) -> Figures:
    """Train and prove each seed."""
    seeds: Sequence[int] = run.options.seeds
    with ThreadPoolExecutor(run.options.beside) as pool:
        results = pool.map(partial(played, run), seeds)
        return {str(seed): told(one) for seed, one in zip(seeds, results, strict=True)}


if __name__ == "__main__":
    raise SystemExit(suite.main())
