"""Teach a small model to change an ETL configuration: SFT, then GRPO, scored on held-out requests.

    python examples/train_on_a_workspace.py

The agent is asked for a MEDS cohort that differs from the default in one wish or two: an event
left out, another column for its time, the unit out of its code, a column joined to it, stored as
its value or carried along. It copies the configuration, edits the copy event by event, runs the
pipeline and hands in. No test task makes a request that training has seen.

The model is a transformer of 320,000 parameters made in the run. Half of its demonstrations hand
in without having touched anything, which imitation learns as well; GRPO on success itself, which
the verifier decides by the cohort's rows, unlearns it and practises the rest. The run's folder
holds report.html with the curves, learning_curves.png, metrics.jsonl, every test episode and the
checkpoints. A killed run goes on when it is started again.
"""

import argparse
import os
from pathlib import Path

# The tables are small: threads that wait for each other cost more than they compute. Read once,
# when the libraries are imported.
for variable, value in {
    "POLARS_MAX_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "TRL_EXPERIMENTAL_SILENCE": "1",
}.items():
    os.environ.setdefault(variable, value)

import healthgym  # noqa: E402, F401 - registers the environments
from healthgym.integrations.trl.config import Reinforced, Supervised, TrainConfig  # noqa: E402
from healthgym.integrations.trl.copying import Copying  # noqa: E402
from healthgym.integrations.trl.folder import RunFolder  # noqa: E402

CONFIG = TrainConfig(
    "HealthAgent/EhrFormatConversion-v1",
    {
        "request": {
            "subjects": [10, 12],
            "busy": 0.4,
            "wishes": [1, 2],
            # The kinds that invent no names: to copy a word never seen before, letter by letter,
            # takes such a model longer than all the rest.
            "kinds": ["drop", "time", "unit", "join", "value", "carry"],
        },
        "reward": "sparse",
        "max_turns": 8,
    },
    episodes=300,
    watch=40,
    max_length=448,
    control=False,
    copying=Copying(steps=0),
    supervised=Supervised(
        demos=2400,
        inertia=0.5,
        # What the request says already. The results are long, and a small model slow to read.
        without=("show_events", "inspect_cohort"),
        steps=700,
    ),
    reinforced=Reinforced(steps=40, batch=32, learning_rate=5e-4),
)


def main(argv: list[str] | None = None) -> Path:
    """Run every stage that is not done yet, and return the folder of the run."""
    parser = argparse.ArgumentParser(description="SFT and GRPO on an ETL workspace.")
    parser.add_argument("--out", default="runs/workspace")
    parser.add_argument("--quick", action="store_true", help="every stage, and nothing learned")
    options = parser.parse_args(argv)

    from healthgym.integrations.trl.stages import Pipeline

    folder = RunFolder(options.out)
    if not (folder.path / "config.json").exists():
        folder.begin(CONFIG.quick() if options.quick else CONFIG)
    Pipeline(folder, folder.config()).run()
    return folder.path


if __name__ == "__main__":
    main()
