"""What the offices' toolsets have in common."""

from __future__ import annotations

from datetime import timedelta

from healthgym.core.tool import Toolset
from healthgym.envs.managed_care.presentation import present
from healthgym.worlds.managed_care.world import ManagedCareWorld

#: How long things take at a desk: a look, an entry, a piece of writing, a decision.
LOOK, ENTRY, WRITING, DECISION = (timedelta(minutes=m) for m in (2, 5, 15, 10))


class OfficeToolset(Toolset[ManagedCareWorld]):
    """Tools of one application.

    A tool is a typed door: it calls one operation of the world and shows what that returned.
    """

    def show(self, result: object) -> str:
        """Return a result as the agent reads it."""
        return present(result)
