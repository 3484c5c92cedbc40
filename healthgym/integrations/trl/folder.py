"""The folder of a run: what is done, what was measured, and where things lie."""

from __future__ import annotations

import json
import os
import weakref
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from healthgym.core.borders import Json, JsonDict, JsonObject
from healthgym.core.writing import write_whole
from healthgym.errors import ConfigurationError, DamagedDataError
from healthgym.integrations.trl.config import TrainConfig

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_REMEDY = "Without that file the run repeats its stages; its checkpoints in work/ are kept."
#: Checkpoints of a run that are scored, with the names they are shown under. The control and GRPO
#: both go on from SFT; a run may leave the control out.
CHECKPOINTS: Mapping[str, str] = {
    "base": "base",
    "sft": "SFT",
    "control": "SFT+SFT",
    "grpo": "SFT+GRPO",
}


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
        self._lock: weakref.finalize[[int], RunFolder] | None = None

    def lock(self) -> None:
        """Keep other runs out of the folder for as long as this object lives.

        The system lets go of it when the process ends, however it does. Where there are no locks
        of files, nobody is kept out.

        Raises:
            ConfigurationError: If another run is at work in it.
        """
        if fcntl is None or self._lock is not None:
            return
        file = os.open(self.path / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
        release = weakref.finalize(self, os.close, file)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(file, 20).decode("ascii", "replace").strip()
            release()
            raise ConfigurationError(
                f"{self.path} is in use by another run (process {holder or 'unknown'}); wait for "
                "it, or name another folder with --out."
            ) from None
        except OSError:  # a file system without locks
            release()
            return
        os.ftruncate(file, 0)
        os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
        self._lock = release

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
            DamagedDataError: If they cannot be read.
        """
        path = self.path / "config.json"
        if not path.is_file():
            raise ConfigurationError(f"{self.path} holds no run: there is no config.json in it.")
        try:
            return TrainConfig.from_json(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError) as error:
            raise DamagedDataError(f"{path}: {error}") from None

    def folder(self, *parts: str) -> Path:
        """Return a sub-folder, made if it does not exist."""
        path = self.path.joinpath(*parts)
        path.mkdir(parents=True, exist_ok=True)
        return path

    def write(self, name: str, text: str) -> Path:
        """Write a file whole or not at all."""
        return write_whole(self.path / name, text)

    def results(self) -> JsonDict:
        """Return the results of the finished stages, in their order.

        Raises:
            DamagedDataError: If they cannot be read.
        """
        if not self._stages.is_file():
            return {}
        stages = read_json(self._stages, _REMEDY)
        if not isinstance(stages, dict) or not all(isinstance(v, dict) for v in stages.values()):
            raise DamagedDataError(f"{self._stages} holds no results of stages. {_REMEDY}")
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
        """Return the lines logged so far; one cut short by a crash is left out.

        Raises:
            DamagedDataError: If another one cannot be read.
        """
        return read_lines(self.metrics) if self.metrics.is_file() else []

    def rewind(self, stage: str, step: int) -> None:
        """Drop what a stage logged after ``step``: it is about to be done again from there."""
        kept = [row for row in self.curve() if row["stage"] != stage or row["step"] <= step]
        self.write(self.metrics.name, "".join(json.dumps(row) + "\n" for row in kept))


def read_json(path: Path, remedy: str = "") -> Json:
    """Return what is in a file of JSON.

    Args:
        path: The file.
        remedy: What to do if it is damaged, as a sentence.

    Raises:
        DamagedDataError: If it is none.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DamagedDataError(f"{path} is damaged: {error}. {remedy}".strip()) from None


def read_lines(path: Path) -> list[JsonDict]:
    """Return the objects in a file of JSON Lines; a last line cut short by a crash is left out.

    Raises:
        DamagedDataError: If a complete line is none.
    """
    rows: list[JsonDict] = []
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
        for line in lines:
            row = json.loads(line)
            if not isinstance(row, dict):
                raise ValueError("it is no object")
            rows.append(row)
    except (OSError, ValueError, RecursionError) as error:
        raise DamagedDataError(f"{path} is damaged in line {len(rows) + 1}: {error}.") from None
    return rows
