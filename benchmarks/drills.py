"""Train a small model on one skill of each desk, by imitation and then reward: results/drills.json.

    python benchmarks/drills.py                            three seeds of every drill, two at a time
    python benchmarks/drills.py --only prior_authorization

Demonstrations are whole: the oracle's, and on two desks as many of somebody who does not look: a
payer who finds everything met, a caller who files a yes whatever was answered. Before and after the
reward the model is scored on the same held-out tasks: with its replies drawn at temperature 1, as
the reward met them, and by its likeliest tokens. A gain is told with the interval that drawing
those tasks anew gives. A run is one thread, and its folder is kept under ``--runs``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir

from _harness import Figures, Run, Suite

from healthgym.core.borders import JsonObject
from healthgym.integrations.trl.evaluation import Score, gain

SEEDS = (0, 1, 2)
#: Held-out tasks on which both stages are scored.
_TASKS = 600

suite = Suite("drills", __doc__)
suite.parser.add_argument("--runs", type=Path, default=Path(gettempdir()) / "healthgym-drills")
suite.parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS))
suite.parser.add_argument("--beside", type=int, default=2, help="runs at a time, a thread each")


@dataclass(frozen=True)
class Drill:
    """A measure: some seeds of a drill, as ``healthgym train`` comes for its environment.

    Attributes:
        name: Its name.
        env_id: The environment.
    """

    name: str
    env_id: str

    def __call__(self, run: Run) -> Figures:
        """Train, and tell what each seed reached."""
        seeds: Sequence[int] = run.options.seeds
        with ThreadPoolExecutor(run.options.beside) as pool:
            folders = list(pool.map(lambda seed: self._trained(seed, run), seeds))
        return {str(seed): _told(folder) for seed, folder in zip(seeds, folders, strict=True)}

    def _trained(self, seed: int, run: Run) -> Path:
        folder: Path = run.options.runs / f"{self.name}-{seed}"
        command = [
            *(sys.executable, "-m", "healthgym", "train", self.env_id),
            *("--seed", str(seed), "--copy-steps", "0", "--no-control"),
            *(["--quick"] if run.quick else ["--episodes", str(run.tasks(_TASKS))]),
        ]
        ended = (folder / "stages.json").exists()
        command += ["--resume", str(folder)] if ended else ["--out", str(folder)]
        log = run.options.runs / f"{self.name}-{seed}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("w", encoding="utf-8") as target:
            env = {**os.environ, "OMP_NUM_THREADS": "1"}
            subprocess.run(command, check=True, env=env, stdout=target, stderr=target)
        return folder


def _told(folder: Path) -> Mapping[str, object]:
    stages = json.loads((folder / "stages.json").read_text(encoding="utf-8"))
    best = max(stages["floors"]["scores"], key=lambda one: one["total"]["successes"])
    return {
        **_risen(stages, "sampled"),
        "likeliest": _risen(stages, "score"),
        "best_constant": best["total"]["successes"] / best["total"]["episodes"],
        "minutes": sum(each["seconds"] for each in stages.values()) / 60,
    }


def _risen(stages: Mapping[str, Mapping[str, JsonObject]], kind: str) -> Mapping[str, object]:
    before, after = (Score.from_dict(stages[f"score {name}"][kind]) for name in ("sft", "grpo"))
    difference = gain(after, before)
    return {
        "tasks": before.total.episodes,
        "imitated": before.total.successes / before.total.episodes,
        "rewarded": after.total.successes / after.total.episodes,
        "gain": difference.estimate,
        "gain_low": difference.low,
        "gain_high": difference.high,
    }


for _drill in (
    Drill("prior_authorization", "HealthAgent/PriorAuthorization-v1"),
    Drill("utilization_management", "HealthAgent/UtilizationManagement-v1"),
    Drill("care_management", "HealthAgent/CareManagement-v1"),
):
    suite.measure(_drill.name)(_drill)

if __name__ == "__main__":
    raise SystemExit(suite.main())
