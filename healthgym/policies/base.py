"""What a policy is to the evaluation loop."""

from __future__ import annotations

from typing import Protocol

from healthgym.core.borders import Info
from healthgym.core.env import HealthEnv


class Policy(Protocol):
    """Plays episodes. One instance plays one episode at a time."""

    @property
    def name(self) -> str:
        """Name in tables."""

    def begin(self, env: HealthEnv, observation: str, info: Info) -> None:
        """Start an episode: ``env`` was just reset and answered ``observation`` and ``info``.

        Only privileged baselines (the oracle) may look into ``env``.
        """

    def act(self, observation: str) -> object:
        """Return the next action, given the last observation."""
