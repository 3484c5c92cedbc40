"""The record of an episode: JSON Lines, one finished episode a line.

A line names the pictures that were shown by their content. The pictures themselves need not be
kept, for replaying the episode shows them again; where they are, they are PNG files of these names
in a folder beside the file.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, Self

from pydantic import TypeAdapter, ValidationError

from healthgym.core.borders import JsonDict
from healthgym.core.closing import Closing
from healthgym.core.images import Image, fingerprint
from healthgym.core.sayings import Saying
from healthgym.core.writing import locked, require_plain, writable
from healthgym.errors import TrajectoryError

SCHEMA_VERSION = 1


@cache
def _reader(kind: type[Trajectory]) -> TypeAdapter[Any]:
    """Return what reads a kind of record; making it takes longer than reading many."""
    return TypeAdapter(kind)


@dataclass(frozen=True, slots=True)
class Turn:
    """One action and its answer.

    Attributes:
        role: Who acted.
        action: The action as text.
        observation: The answer.
        reward: The step's reward.
        time: Simulated time after the step, ISO 8601.
        errors: Why calls were refused.
        images: Number of pictures shown.
        pictures: Their fingerprints, in order; see :func:`healthgym.core.images.fingerprint`.
            Empty in recordings made before there were any.
        news: What the role was told between its last observation and this action.
        unrepeatable: Whether a call was refused because the machine took too long over it. Where
            it is played again it may be carried out, and all that follows be another story.
    """

    role: str
    action: str
    observation: str
    reward: float
    time: str
    errors: tuple[str, ...] = ()
    images: int = 0
    pictures: tuple[str, ...] = ()
    news: str = ""
    unrepeatable: bool = False


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A finished episode, with all that is needed to run it again.

    Attributes:
        env_id: Registered id of the environment, or empty if it was made by hand.
        env_kwargs: Arguments it was made with.
        task_id: The task.
        kind: The task type.
        instructions: First text by role, the role that was played from outside first, as in all
            that goes by role.
        tools: Tools by role, in OpenAI's function form.
        turns: The transcript.
        verdicts: Verdicts by role and profile, as JSON values.
        rewards: Return by role.
        stopped: Roles whose part was ended from outside, such as by a budget of tokens.
        said: What was heard from outside the episode, such as from an endpoint, in its order.
        fault: Whose policy failed and how, where that ended the episode; empty otherwise.
        run: Of which evaluation it is part, and what was counted in it; empty outside of one.
        version: Version of healthgym that recorded it.
        schema_version: Version of this layout.
    """

    env_id: str
    env_kwargs: JsonDict
    task_id: str
    kind: str
    instructions: dict[str, str]
    tools: dict[str, list[JsonDict]]
    turns: tuple[Turn, ...]
    verdicts: dict[str, JsonDict]
    rewards: dict[str, float]
    stopped: tuple[str, ...] = ()
    said: tuple[Saying, ...] = ()
    fault: str = ""
    run: JsonDict = field(default_factory=dict)
    version: str = ""
    schema_version: int = field(default=SCHEMA_VERSION)

    @property
    def role(self) -> str:
        """The role that was played from outside."""
        return next(iter(self.instructions))

    def to_json(self) -> str:
        """Return the trajectory as one line of ASCII JSON."""
        data = asdict(self)
        for name in ("said", "fault", "run"):
            if not data[name]:
                del data[name]
        for turn in data["turns"]:
            for name in ("pictures", "news", "unrepeatable"):
                if not turn[name]:
                    del turn[name]
        return json.dumps(data, separators=(",", ":"))

    @classmethod
    def from_json(cls, line: str) -> Self:
        """Read a trajectory back.

        Raises:
            TrajectoryError: If the line is damaged or of another schema version.
        """
        try:
            data = json.loads(line)
            if "schema_version" not in data:
                raise TrajectoryError("Not a recorded trajectory.")
            if data["schema_version"] != SCHEMA_VERSION:
                raise TrajectoryError(
                    f"Trajectory schema {data['schema_version']!r}; this version of healthgym "
                    f"reads schema {SCHEMA_VERSION}."
                )
            # A class can be hashed whatever its __eq__; mypy takes it for one of its instances.
            read: Self = _reader(cls).validate_python(data)  # type: ignore[arg-type]
            for profiles in read.verdicts.values():
                for verdict in profiles.values():
                    _check_verdict(verdict)
            return read
        except RecursionError:
            raise TrajectoryError("Not a recorded trajectory: it is nested too deep.") from None
        except (ValueError, TypeError, AttributeError, ValidationError) as error:
            raise TrajectoryError(f"Not a recorded trajectory: {str(error)[:200]}") from None


def _check_verdict(verdict: object) -> None:
    """Return if a verdict has the shape that readers go by.

    Raises:
        ValueError: If it has not.
    """
    if not isinstance(verdict, dict):
        raise ValueError("a verdict is an object")
    checks, parts = verdict.get("checks", []), verdict.get("parts", {})
    if not isinstance(checks, list) or not isinstance(parts, dict):
        raise ValueError("a verdict has a list of checks, and parts by name")
    for check in checks:
        if not isinstance(check, dict) or not isinstance(check.get("name"), str):
            raise ValueError("a check has a name")
        if not isinstance(check.get("passed", ""), bool | None):
            raise ValueError(f"the check {check['name'][:60]!r} is passed, failed or null")
    for part in parts.values():
        _check_verdict(part)


class TrajectoryWriter(Closing):
    """Appends finished episodes to a file, so that a killed run loses none of them.

    Each line is flushed and synchronised before :meth:`write` returns. A line cut short by a crash
    is dropped the next time the file is opened for writing. A new file is made with its first
    line, so that what fails before leaves none. Several processes may write to one
    file, where the system has file locks.

    Args:
        path: The file; parent folders are made.
        png: Makes the PNG file of a picture. With it, :meth:`keep` writes pictures to
            :func:`picture_folder`; without it, none are kept.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, png: Callable[[Image], bytes] | None = None
    ) -> None:
        self.path = require_plain(path)
        writable(path)
        self._png = png
        self._file = self._opened() if self.path.exists() else None

    def _opened(self) -> BinaryIO:
        file = self.path.open("ab")
        with locked(file):
            _drop_partial_line(self.path)
        return file

    def write(self, trajectory: Trajectory) -> None:
        """Append one trajectory, durably."""
        if self._file is None:
            self._file = self._opened()
        with locked(self._file):
            self._file.write(trajectory.to_json().encode("ascii") + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())

    def keep(self, images: Iterable[Image]) -> None:
        """Write the pictures of a step, each once, if this writer keeps any."""
        if self._png is None:
            return
        folder = picture_folder(self.path)
        folder.mkdir(parents=True, exist_ok=True)
        for image in images:
            target = folder / f"{fingerprint(image)}.png"
            if not target.exists():
                # Written aside and renamed, so that no reader and no crash meets half a file.
                aside = target.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
                aside.write_bytes(self._png(image))
                aside.replace(target)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


def picture_folder(path: str | os.PathLike[str]) -> Path:
    """Return the folder of a file's pictures: ``runs.pictures`` for ``runs.jsonl``."""
    return Path(path).with_suffix(".pictures")


def _drop_partial_line(path: Path) -> None:
    with path.open("rb+") as file:
        end = file.seek(0, os.SEEK_END)
        position = end
        while position > 0:
            start = max(position - 65536, 0)
            file.seek(start)
            newline = file.read(position - start).rfind(b"\n")
            if newline >= 0:
                if start + newline + 1 < end:
                    file.truncate(start + newline + 1)
                return
            position = start
        file.truncate(0)


def read_trajectories(path: str | os.PathLike[str]) -> Iterator[Trajectory]:
    """Yield the trajectories of a file; a last line cut short by a crash is left out.

    Raises:
        TrajectoryError: If the file does not exist, a complete line is damaged, or its last is the
            beginning of no record.
    """
    if Path(path).is_dir():
        raise TrajectoryError(f"{path} is a folder; name a recording in it.")
    if not Path(path).is_file():
        raise TrajectoryError(f"There is no trajectory file {path}.")
    with Path(path).open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                if not line.startswith(b"{"):
                    raise TrajectoryError(f"{path}, line {number}: Not a recorded trajectory.")
                return
            try:
                yield Trajectory.from_json(line.decode("ascii", "backslashreplace"))
            except TrajectoryError as error:
                raise TrajectoryError(f"{path}, line {number}: {error}") from None
