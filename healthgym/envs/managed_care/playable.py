"""What somebody needs of an episode who works at a desk in it."""

from __future__ import annotations

from typing import Protocol

from healthgym.core.episode import StepOutcome
from healthgym.worlds.managed_care.world import ManagedCareWorld


class Playable(Protocol):
    """An episode at the offices, whatever is judged in it."""

    @property
    def world(self) -> ManagedCareWorld:
        """The world as it is now."""

    def done(self, role: str | None = None) -> bool:
        """Return whether a role, or everybody, is done."""

    def step(self, action: object, role: str = "") -> StepOutcome:
        """Carry an action out."""
