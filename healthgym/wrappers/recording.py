"""Finished episodes, written to a file."""

from __future__ import annotations

import os
from typing import Any

import gymnasium as gym

from healthgym.core.borders import AnyEnv, Stepped
from healthgym.core.trajectory import TrajectoryWriter
from healthgym.core.unwrapping import health_env
from healthgym.errors import SeatCrashedError
from healthgym.presentation.pictures import png


class RecordTrajectories(gym.Wrapper[Any, Any, Any, Any], gym.utils.RecordConstructorArgs):
    """Appends each finished episode to a file of JSON Lines, truncated ones included.

    An episode that is reset before its end is left out; of one that the policy in a seat ended by
    failing, the record so far is written. The lines are durable once ``step`` has
    returned; :func:`healthgym.core.trajectory.read_trajectories` reads them, and
    :func:`healthgym.testing.replay` plays them again. Environments in several processes may share
    one file.

    Args:
        env: The environment.
        path: The file; it is appended to.
        pictures: Whether to keep the pictures shown, as PNG files in a folder beside the file.
            Their fingerprints are recorded in either case.
    """

    def __init__(self, env: AnyEnv, path: str | os.PathLike[str], pictures: bool = False) -> None:
        gym.utils.RecordConstructorArgs.__init__(self, path=os.fspath(path), pictures=pictures)
        gym.Wrapper.__init__(self, env)
        self.path = os.fspath(path)
        self.pictures = pictures
        self._inner = health_env(env)
        self._writer: TrajectoryWriter | None = None

    def step(self, action: object) -> Stepped:
        """Step, and write the episode if it is over."""
        try:
            outcome = self.env.step(action)
        except SeatCrashedError:
            self._write()
            raise
        over = outcome[2] or outcome[3]
        images = outcome[4].get("images", ()) if self.pictures else ()
        if images:
            self._opened().keep(images)
        if over and "fault" not in outcome[4]:  # an episode that is lost has no record
            self._write()
        return outcome

    def _write(self) -> None:
        self._opened().write(self._inner.trajectory())

    def _opened(self) -> TrajectoryWriter:
        if self._writer is None:
            self._writer = TrajectoryWriter(self.path, png=png if self.pictures else None)
        return self._writer

    def close(self) -> None:
        """Close the file and the environment."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        self.env.close()

    def __getstate__(self) -> dict[str, object]:
        """Leave the open file out; a copy opens it again when it has something to write."""
        return {**self.__dict__, "_writer": None}
