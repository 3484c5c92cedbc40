"""Train the main job by several seeds on two instruction sets: results/main_job.json.

    python benchmarks/main_job.py                        five seeds as it comes, three reduced
    python benchmarks/main_job.py --only native --seeds 0 1

The main job is ``healthgym train`` as it comes. Arithmetic differs by an instruction set's vectors
and a run by a seed, so a figure is a median with its range over runs. A measure is an instruction
set: what the processor has, or what is left of it without wide vectors (ATen's kernels and NumPy's;
matrix products keep the processor's). A run is one thread; its folder is kept under ``--runs``, and
a killed one goes on. Intervals are those that drawing the test tasks anew gives.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import gettempdir

from _harness import Figures, Run, Suite, at_most
from _harness.trained import commit, told

SEEDS = (0, 1, 2, 3, 4)
#: Minutes of processor time that a run may take.
_MOST_MINUTES = 12.0

suite = Suite("main_job", __doc__)
suite.parser.add_argument("--runs", type=Path, default=Path(gettempdir()) / "healthgym-main-job")
suite.parser.add_argument("--seeds", type=int, nargs="+", help="seeds of every instruction set")
suite.parser.add_argument("--beside", type=int, default=1, help="runs at a time, a thread each")


@dataclass(frozen=True)
class Instructions:
    """A measure: some seeds on one instruction set.

    Attributes:
        name: Its name.
        seeds: Seeds, unless the command line names some.
        variables: What the environment of the processes says of it.
    """

    name: str
    seeds: Sequence[int]
    variables: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, run: Run) -> Figures:
        """Train, and tell what each seed reached and what they reached together."""
        seeds: Sequence[int] = run.options.seeds or self.seeds
        with ThreadPoolExecutor(run.options.beside) as pool:
            folders = list(pool.map(lambda seed: self._trained(seed, run), seeds))
        runs = {str(seed): told(folder) for seed, folder in zip(seeds, folders, strict=True)}
        return {
            "n": len(runs),
            "commit": commit(),
            "minutes": max(each["processor_minutes"] for each in runs.values()),
            "band": _band([_flat(each) for each in runs.values()]),
            "seeds": runs,
        }

    def _trained(self, seed: int, run: Run) -> Path:
        folder: Path = run.options.runs / f"{self.name}-{seed}"
        command = [sys.executable, "-m", "healthgym", "train", "--seed", str(seed)]
        if run.quick:
            command.append("--quick")
        elif run.chosen:
            command += ["--episodes", str(run.chosen)]
        begun = (folder / "config.json").exists()
        command += ["--resume", str(folder)] if begun else ["--out", str(folder)]
        log = run.options.runs / f"{self.name}-{seed}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        env = {**os.environ, "OMP_NUM_THREADS": "1", **self.variables}
        with log.open("w", encoding="utf-8") as target:
            subprocess.run(command, check=True, env=env, stdout=target, stderr=target)
        return folder


def _flat(told: Mapping[str, object], prefix: str = "") -> dict[str, float]:
    found: dict[str, float] = {}
    for name, value in told.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{prefix}{name}.")
        elif isinstance(value, int | float):
            found[f"{prefix}{name}"] = float(value)
    return found


def _band(runs: Sequence[Mapping[str, float]]) -> Figures:
    """Return median, lowest and highest of every figure over runs."""
    return {
        name: {"median": median(values), "low": min(values), "high": max(values)}
        for name in runs[0]
        for values in [[one[name] for one in runs if name in one]]
    }


for _set in (
    Instructions("native", SEEDS),
    Instructions(
        "reduced",
        SEEDS[:3],
        {
            "ATEN_CPU_CAPABILITY": "default",
            # NumPy's names for what has vectors of 512 bits, from 2.4 on and before.
            "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR AVX512F AVX512_SKX",
        },
    ),
):
    suite.measure(_set.name, bounds={"minutes": at_most(_MOST_MINUTES)})(_set)

if __name__ == "__main__":
    raise SystemExit(suite.main())
