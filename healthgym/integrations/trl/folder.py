"""The folder of a run: what is done, what was measured, and where things lie."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.errors import ConfigurationError
from healthgym.integrations.trl.config import TrainConfig

#: Checkpoints of a run, in the order of training, with the names they are shown under.
CHECKPOINTS: Mapping[str, str] = {"base": "base", "sft": "SFT", "grpo": "SFT+GRPO"}


class RunFolder:
    """A run's folder. A stage is done once its result is written; a killed run repeats no other.

    Args:
        path: The folder; made if it does not exist.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.path.mkdir(parents=True, exist_ok=True)
        self.metrics = self.path / "metrics.jsonl"
        self._stages = self.path / "stages.json"

    def begin(self, config: TrainConfig) -> None:
        """Write the settings of a new run.

        Raises:
            ConfigurationError: If the folder holds a run already.
        """
        if (self.path / "config.json").exists():
            raise ConfigurationError(
                f"{self.path} holds a run already; go on with it by --resume {self.path}, or name "
                "another folder with --out."
            )
        self.write("config.json", config.to_json() + "\n")

    def config(self) -> TrainConfig:
        """Return the settings of the run.

        Raises:
            ConfigurationError: If the folder holds none.
        """
        path = self.path / "config.json"
        if not path.is_file():
            raise ConfigurationError(f"{self.path} holds no run: there is no config.json in it.")
        return TrainConfig.from_json(path.read_text(encoding="utf-8"))

    def folder(self, *parts: str) -> Path:
        """Return a sub-folder, made if it does not exist."""
        path = self.path.joinpath(*parts)
        path.mkdir(parents=True, exist_ok=True)
        return path

    def write(self, name: str, text: str) -> Path:
        """Write a file whole or not at all."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_name(path.name + ".part")
        with aside.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
        return path

    def results(self) -> JsonDict:
        """Return the results of the finished stages, in their order."""
        if not self._stages.is_file():
            return {}
        stages: JsonDict = json.loads(self._stages.read_text(encoding="utf-8"))
        return stages

    def finish(self, stage: str, result: JsonObject) -> None:
        """Note that a stage is done."""
        stages = {**self.results(), stage: dict(result)}
        self.write(self._stages.name, json.dumps(stages, indent=2) + "\n")

    def log(self, stage: str, step: int, figures: JsonObject) -> None:
        """Append one line of figures, durably."""
        line = json.dumps({"stage": stage, "step": step, **figures})
        with self.metrics.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())

    def curve(self) -> list[JsonDict]:
        """Return the lines logged so far; one cut short by a crash is left out."""
        if not self.metrics.is_file():
            return []
        rows = []
        for line in self.metrics.read_text(encoding="utf-8").splitlines(keepends=True):
            if line.endswith("\n"):
                rows.append(json.loads(line))
        return rows

    def rewind(self, stage: str, step: int) -> None:
        """Drop what a stage logged after ``step``: it is about to be done again from there."""
        kept = [row for row in self.curve() if row["stage"] != stage or row["step"] <= step]
        self.write(self.metrics.name, "".join(json.dumps(row) + "\n" for row in kept))
