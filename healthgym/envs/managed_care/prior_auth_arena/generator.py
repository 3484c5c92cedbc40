"""Tasks from seeds: requests of prior authorization, with nobody's staff at work."""

from __future__ import annotations

from dataclasses import replace

from healthgym.core.seeding import Split
from healthgym.core.task import Instance
from healthgym.envs.managed_care.prior_auth_arena.task import (
    ArenaInstance,
    ArenaReference,
    ArenaTaskGenerator,
)
from healthgym.envs.managed_care.prior_authorization.generator import AuthorizationGenerator
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationConfig
from healthgym.envs.managed_care.utilization_management.roster import roster
from healthgym.worlds.managed_care.rules import Rules


class ArenaGenerator(ArenaTaskGenerator):
    """Draws tasks: the provider's are drawn first, the payer's follow from what is sent.

    Args:
        config: What requests are like.
        difficulty: Name of the configuration, for the task's metadata.
        name: Family name in task keys.
    """

    def __init__(self, config: AuthorizationConfig, difficulty: str, name: str) -> None:
        self.name, self.difficulty = name, difficulty
        self._requests = AuthorizationGenerator(config, difficulty, name, Rules.STRICT)

    def draw(self, split: Split, index: int) -> ArenaInstance:
        """Return a task."""
        case, instance = self._requests.drawn(split, index)
        start = replace(
            instance.start,
            desk=None,
            letters_queued=True,
            handbook=instance.start.handbook.overlay((roster(),)),
        )
        return Instance(
            instance.task, ArenaReference(provider=instance.reference, case=case), start
        )
