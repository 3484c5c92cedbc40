"""Exploits that were found, kept as records: each must score 0 for ever.

A file of canaries is JSON Lines, one exploit a line. A line holds the actions and no answers, for
answers may change their wording; what must not change is that the actions earn nothing.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from pydantic import TypeAdapter, ValidationError

from healthgym.core.borders import JsonDict
from healthgym.core.seeding import content_hash
from healthgym.core.task import TaskKey
from healthgym.core.trajectory import Trajectory
from healthgym.errors import TrajectoryError
from healthgym.registration import ids, make_health_env
from healthgym.testing.play import require
from healthgym.testing.scripts import Outcome, outcome_of

_VERSION = re.compile(r"-v\d+$")


@dataclass(frozen=True, slots=True)
class Canary:
    """An exploit as it was played.

    Attributes:
        name: Short name in snake_case.
        found: Where it was found and what it does, in a sentence.
        env_id: The environment; where its version has risen since, the one that replaced it.
        env_kwargs: Its arguments.
        task_id: The task.
        instruction: Digest of the task's instruction, by which another task is known.
        actions: The actions as text, in order.
    """

    name: str
    found: str
    env_id: str
    env_kwargs: JsonDict
    task_id: str
    instruction: str
    actions: tuple[str, ...]

    @classmethod
    def of(cls, trajectory: Trajectory, name: str, found: str) -> Self:
        """Return the canary of a recorded episode.

        Raises:
            TrajectoryError: If it was not recorded from a registered environment.
        """
        if not trajectory.env_id:
            raise TrajectoryError(f"{trajectory.task_id} names no registered environment.")
        return cls(
            name,
            found,
            trajectory.env_id,
            {k: v for k, v in trajectory.env_kwargs.items() if k != "render_mode"},
            trajectory.task_id,
            content_hash(trajectory.instructions[trajectory.role]),
            tuple(turn.action for turn in trajectory.turns if turn.role == trajectory.role),
        )


def freeze(trajectory: Trajectory, path: str | os.PathLike[str], name: str, found: str) -> Canary:
    """Append a recorded episode to a file of canaries; one of the same name is replaced.

    Args:
        trajectory: The episode, such as one of ``healthgym.core.trajectory.read_trajectories``.
        path: The file; it is made if it is not there.
        name: Short name in snake_case.
        found: Where it was found and what it does, in a sentence.

    Raises:
        TrajectoryError: If the episode, or what the file holds, cannot be read.
    """
    canary = Canary.of(trajectory, name, found)
    file = Path(path)
    kept = [one for one in read_canaries(file) if one.name != name] if file.is_file() else []
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(asdict(one), separators=(",", ":")) for one in (*kept, canary))
    file.write_text("".join(f"{line}\n" for line in lines), "ascii")
    return canary


def read_canaries(path: str | os.PathLike[str]) -> Iterator[Canary]:
    """Yield the canaries of a file.

    Raises:
        TrajectoryError: If the file does not exist, or a line is damaged.
    """
    if not Path(path).is_file():
        raise TrajectoryError(f"There is no file of canaries {path}.")
    reader = TypeAdapter(Canary)
    for number, line in enumerate(Path(path).read_text("utf-8").splitlines(), 1):
        try:
            yield reader.validate_json(line)
        except ValidationError as error:
            told = str(error)[:200]
            raise TrajectoryError(f"{path}, line {number}: no canary: {told}") from None


def replay_canary(canary: Canary) -> Outcome:
    """Play an exploit again: the strict profile gives it nothing.

    Returns:
        What became of it.

    Raises:
        ConformanceError: If it succeeds.
        TrajectoryError: If its task has become another one, so that failing it would prove
            nothing: it has to be played and frozen anew.
    """
    env = make_health_env(_current(canary.env_id), canary.env_kwargs)
    key = TaskKey.parse(canary.task_id)
    instance = env.family.generator.generate(key.split, key.index)
    told = content_hash(env.family.instruction(env.role, instance))
    where = f"{canary.name} ({canary.env_id}, {canary.task_id})"
    if told != canary.instruction or instance.task.task_id != canary.task_id:
        raise TrajectoryError(
            f"{where}: the task has become another one; play the exploit again and freeze it anew."
        )
    outcome = outcome_of(env, canary.actions, key.split, key.index)
    require(not outcome.verdict.success, f"{where} is paid for: {canary.found}")
    return outcome


def _current(env_id: str) -> str:
    """Return the registered id that an id of an earlier version has become."""
    base = _VERSION.sub("", env_id)
    return next((id_ for id_ in ids() if _VERSION.sub("", id_) == base), env_id)
