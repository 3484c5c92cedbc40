"""Teach a small text model to read CT scans by measuring: SFT, then GRPO, on held-out scans.

    python examples/train_on_images.py

Two to four findings are to be called on a chest CT. The model sees no picture: it asks the
workstation for measurements, which are computed from voxels that are rendered when they are read,
and calls each finding by its number. Nothing but the voxels says what is there.

The model is a transformer of 293,000 parameters made in the run. Each scan of its demonstrations is
read twice: once by measuring, once by the published image-blind prior, which calls without having
looked. Imitation learns both; GRPO on success itself leaves the better one. The run's folder holds
report.html with the curves, learning_curves.png, metrics.jsonl, every test episode and the
checkpoints. A killed run goes on when it is started again.

Measured with seed 0 on two cores of an AMD EPYC, in eight minutes: of 200 held-out scans SFT
solves 46.5 %, SFT and GRPO 67.0 %, the scripted reader 87.5 % and the best blind policy 17.0 %.
"""

import argparse
import os
from pathlib import Path

# Read once, when the libraries are imported.
for variable, value in {
    "TOKENIZERS_PARALLELISM": "false",
    "TRL_EXPERIMENTAL_SILENCE": "1",
}.items():
    os.environ.setdefault(variable, value)

import healthgym  # noqa: E402, F401 - registers the environments
from healthgym.integrations.trl.config import Reinforced, Supervised, TrainConfig  # noqa: E402
from healthgym.integrations.trl.copying import Copying  # noqa: E402
from healthgym.integrations.trl.folder import RunFolder  # noqa: E402

CONFIG = TrainConfig(
    "HealthAgent/CtAbnormality-v1",
    {"difficulty": "easy", "reward": "sparse", "max_turns": 10},
    episodes=200,
    watch=40,
    # A call is a dozen tokens and a result less, for this family's own tokenizer.
    max_new_tokens=32,
    max_length=384,
    control=False,
    copying=Copying(steps=0),
    # A scan takes half a second to render as far as it is measured: few scans, seen many times.
    supervised=Supervised(demos=400, policies={"solver": 1.0}, also="prior", steps=250),
    reinforced=Reinforced(steps=30, batch=32, learning_rate=5e-4),
)


def main(argv: list[str] | None = None) -> Path:
    """Run every stage that is not done yet, and return the folder of the run."""
    parser = argparse.ArgumentParser(description="SFT and GRPO on chest CTs.")
    parser.add_argument("--out", default="runs/images")
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
