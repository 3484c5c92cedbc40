"""Train on a folder of real charts, and score on patients held out: results/real_charts.json.

    python benchmarks/real_charts.py --source DIR                 five folds, one after the other
    python benchmarks/real_charts.py --source DIR --only fold_1
    python benchmarks/real_charts.py --only pooled                the folds that ran, together
    python benchmarks/real_charts.py --source DIR --only own_1    our own task types, apart

A fold is a run of ``healthgym train --source DIR --fold K`` as it comes, one thread: demonstrated
are charts in the folder's style and its training patients told anew; scored are tasks on the real
charts of a fifth of the patients, who were shown in no form. Tasks of one patient are alike, so
intervals are clustered by patient. Beside it stands what the prior solves, who opens no chart. Our
own types (orders of medications, immunizations) have runs of their own, three quarters as long.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from tempfile import gettempdir

from _harness import Figures, Run, Suite, at_least, at_most

from healthgym.core.seeding import Split
from healthgym.envs.fhir_record.kinds import FOLDER_KINDS, KINDS
from healthgym.envs.fhir_record.people import read_folder
from healthgym.integrations.trl.config import TrainConfig
from healthgym.integrations.trl.evaluation import Score
from healthgym.integrations.trl.folder import RunFolder
from healthgym.policies.statistics import clustered_interval
from healthgym.registration import make_health_env

FOLDS = 5
#: What of a run is scored.
STAGES = ("sft", "grpo")
#: Tasks that a fold is scored on, and the share of them that is to be solved.
_TASKS, _GOAL = 480, 0.75
#: The same for our own types, and how they are trained.
_OWN_TASKS = 240
_OWN = (
    "--task-types",
    *sorted(FOLDER_KINDS.keys() - KINDS.keys()),
    *("--demos", "14400", "--sft-steps", "900"),
)

suite = Suite("real_charts", __doc__)
suite.parser.add_argument("--source", type=Path, help="folder of FHIR R4 bundles")
suite.parser.add_argument("--runs", type=Path, default=Path(gettempdir()) / "healthgym-real")
suite.parser.add_argument("--seed", type=int, default=0)


def fold(name: str, number: int, run: Run) -> Figures:
    """Train with a fifth of the patients held out, or read what came of it before."""
    folder: Path = run.options.runs / f"{name}-{number}-{run.options.seed}"
    own = name == "own"
    if not _ended(folder):
        if run.options.source is None:
            raise SystemExit("Give --source DIR, a folder of FHIR R4 bundles such as Synthea's.")
        command = [sys.executable, "-m", "healthgym", "train", "--source", str(run.options.source)]
        command += ["--fold", str(number), "--seed", str(run.options.seed)]
        command += ["--episodes", str(run.tasks(_OWN_TASKS if own else _TASKS))]
        command += _OWN if own else ()
        begun = (folder / "stages.json").exists()
        command += ["--resume" if begun else "--out", str(folder)]
        command += ["--quick"] if run.quick else []
        subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    return told(folder)


def told(folder: Path) -> Figures:
    """Return what a run reached on the patients held out."""
    run = RunFolder(folder)
    results, config = run.results(), run.config()
    patients = _patients(config)
    floors = {one["name"]: Score.from_dict(one) for one in results["floors"]["scores"]}
    found: Figures = {
        "patients": len(set(patients.values())),
        "minutes": sum(one["seconds"] for one in results.values()) / 60,
        "processor_minutes": sum(one["processor_seconds"] for one in results.values()) / 60,
        "copied": results["copy"]["collapsed"],
        "prior": floors["prior"].total.interval.estimate,
    }
    for name in STAGES:
        score = Score.from_dict(results[f"score {name}"]["score"])
        found[name] = {
            **_over(score.solved, patients),
            "kinds": {kind: [rate.successes, rate.episodes] for kind, rate in score.kinds.items()},
        }
    return found


def _over(solved: Mapping[str, bool], patients: Mapping[str, str]) -> Figures:
    """Return the share of tasks solved, with an interval that draws patients anew."""
    clusters: dict[str, list[bool]] = {}
    for task, won in solved.items():
        clusters.setdefault(patients[task], []).append(won)
    values = {task: [float(won)] for task, won in solved.items()}
    interval = clustered_interval(values, {task: patients[task] for task in values})
    return {
        "tasks": len(solved),
        "solved": sum(solved.values()) / len(solved),
        "low": interval.low,
        "high": interval.high,
        "by_patient": sorted(sum(won) / len(won) for won in clusters.values()),
    }


def pooled(name: str, run: Run) -> Figures:
    """Put together the folds that ran: each patient is held out in one of the five."""
    if run.quick:
        return {}
    every = [run.options.runs / f"{name}-{number}-{run.options.seed}" for number in range(FOLDS)]
    folders = [folder for folder in every if _ended(folder)]
    if not folders:
        raise SystemExit(f"Run a fold first; none has ended in {run.options.runs}.")
    found: Figures = {"folds": len(folders)}
    patients: dict[str, str] = {}
    for folder in folders:
        who = _patients(RunFolder(folder).config())
        patients |= {f"{folder.name}/{task}": person for task, person in who.items()}
    for name in STAGES:
        solved: dict[str, bool] = {}
        kinds: dict[str, list[int]] = {}
        for folder in folders:
            score = Score.from_dict(RunFolder(folder).results()[f"score {name}"]["score"])
            solved |= {f"{folder.name}/{task}": won for task, won in score.solved.items()}
            for kind, rate in score.kinds.items():
                won, asked = kinds.get(kind, (0, 0))
                kinds[kind] = [won + rate.successes, asked + rate.episodes]
        found[name] = {**_over(solved, patients), "kinds": kinds}
    return {**found, "patients": len(set(patients.values()))}


def _ended(folder: Path) -> bool:
    stages = folder / "stages.json"
    return stages.exists() and "report" in json.loads(stages.read_text(encoding="utf-8"))


def _patients(config: TrainConfig) -> dict[str, str]:
    """Return who each test task is about, by the id of the task."""
    generator = make_health_env(config.env, config.env_kwargs).family.generator
    people = read_folder(config.env_kwargs["source"]).people
    by_name = {person.name: person.id for person in people}
    found: dict[str, str] = {}
    for index in range(config.episodes):
        instance = generator.generate(Split.TEST, index)
        facts = instance.reference.facts
        # Whom a look-up asks for is told by the name; a name that nobody bears is nobody's.
        name = (facts.details.get("family", ""), facts.details.get("given", ""))
        found[instance.task.task_id] = facts.patient or by_name.get(name, "nobody")
    return found


_BOUNDS = {"sft.solved": at_least(_GOAL), "minutes": at_most(20)}
for _name, _all in (("fold", "pooled"), ("own", "own_pooled")):
    for _number in range(FOLDS):
        suite.measure(f"{_name}_{_number}", bounds=_BOUNDS)(partial(fold, _name, _number))
    suite.measure(_all, bounds={"sft.solved": at_least(_GOAL)})(partial(pooled, _name))

if __name__ == "__main__":
    raise SystemExit(suite.main())
