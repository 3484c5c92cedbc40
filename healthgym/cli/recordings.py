"""Recordings that a command line names: files, and folders of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from healthgym.core.trajectory import Trajectory, read_trajectories
from healthgym.errors import TrajectoryError

#: What the first line of a recording holds; other JSON Lines lie beside recordings.
_MARKS = (b'"schema_version"', b'"verdicts"', b'"turns"')


@dataclass(frozen=True, slots=True)
class Recording:
    """A file of recorded episodes.

    Attributes:
        path: The file.
        name: What it is called where there are several.
    """

    path: Path
    name: str

    def episodes(self) -> Iterator[tuple[str, Trajectory]]:
        """Yield its episodes, each with the name of the run it is of: the file's and the policy's.

        Raises:
            TrajectoryError: If the file is damaged.
        """
        for run in read_trajectories(self.path):
            of = run.run.get("of", {})
            policy = Path(str(of.get("model") or of.get("policy") or "")).name
            yield ": ".join(filter(None, (self.name, policy))), run

    def count(self) -> int:
        """Return how many lines it has."""
        with self.path.open("rb") as file:
            return sum(1 for _ in file)


def recordings(paths: Sequence[str]) -> list[Recording]:
    """Return the recordings that paths name.

    Args:
        paths: Files, and folders, which are looked through.

    Raises:
        TrajectoryError: If a path is neither, or a folder holds no recording.
    """
    found: list[Recording] = []
    for path in map(Path, paths):
        if not path.is_dir():
            if not path.is_file():
                raise TrajectoryError(f"There is no recording {path}.")
            found.append(Recording(path, path.stem))
            continue
        inside = [file for file in sorted(path.rglob("*.jsonl")) if _is_recording(file)]
        if not inside:
            raise TrajectoryError(f"{path} holds no recorded episodes (*.jsonl).")
        found += [Recording(file, _name(file, path)) for file in inside]
    return found


def _name(file: Path, folder: Path) -> str:
    inside = file.relative_to(folder).with_suffix("")
    # In a run's folder all recordings are of its test tasks, in a folder of that name.
    return str(inside).removeprefix("trajectories/")


def _is_recording(file: Path) -> bool:
    if not file.is_file():
        return False
    with file.open("rb") as opened:
        line = opened.readline()
    return all(mark in line for mark in _MARKS)
