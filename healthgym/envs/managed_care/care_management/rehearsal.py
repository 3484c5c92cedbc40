"""An office in which calls are tried out, one after the other."""

from __future__ import annotations

from datetime import datetime
from typing import TypeAlias

from healthgym.core.episode import Episode
from healthgym.core.task import Task
from healthgym.core.tool import ToolCall, call
from healthgym.envs.managed_care.care_management.task import CareReference
from healthgym.envs.managed_care.playable import Playable
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.world import ManagedCareWorld

CareEpisode: TypeAlias = Episode[Task, CareReference, WorldStart, ManagedCareWorld]


class Rehearsal:
    """An office in which calls are tried out, one after the other.

    Args:
        episode: An episode of the task, at its beginning.
    """

    def __init__(self, episode: Playable) -> None:
        self._episode = episode
        self.script: list[ToolCall] = []

    @property
    def world(self) -> ManagedCareWorld:
        """The office as it is now."""
        return self._episode.world

    def do(self, name: str, **arguments: object) -> str:
        """Make a call; return what is shown."""
        made = call(name, **arguments)
        self.script.append(made)
        return self._episode.step(made).observation

    def wait_until(self, at: datetime) -> None:
        """Let time pass until a moment, in UTC."""
        while self.world.clock.now < at:
            before = self.world.clock.now
            self.do("wait", until=f"{at:%Y-%m-%dT%H:%M}")
            if self.world.clock.now <= before:
                return
