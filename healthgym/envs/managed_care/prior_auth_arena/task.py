"""Both halves of a task for two seats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from healthgym.core.task import Instance, Reference, Task, TaskGenerator
from healthgym.envs.managed_care.cases.drawing import DrawnCase
from healthgym.envs.managed_care.cases.situations import Course
from healthgym.envs.managed_care.prior_auth_arena.memos import Memo
from healthgym.envs.managed_care.prior_authorization.task import (
    PRESETS as REQUESTS,
)
from healthgym.envs.managed_care.prior_authorization.task import (
    AuthorizationConfig,
    AuthorizationReference,
)
from healthgym.envs.managed_care.utilization_management.task import ReviewInstance
from healthgym.worlds.managed_care.start import WorldStart

#: Time that the provider has for it.
_PREPARING = timedelta(days=3)
#: What may become of a request where two honest sides meet: nobody goes by a superseded version.
_HONEST = (
    Course.APPROVED,
    Course.PENDED,
    Course.PARTIAL,
    Course.GOLD_CARD,
    Course.NOTIFICATION,
    Course.DELEGATED,
    Course.SPECIALTY,
    Course.VENDOR,
)

#: What a name of a difficulty stands for: the requests of prior authorization.
PRESETS: Mapping[str, AuthorizationConfig] = {
    name: replace(config, courses=tuple(each for each in config.courses if each in _HONEST))
    for name, config in REQUESTS.items()
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ArenaReference(Reference):
    """What the right handling is on both sides.

    What is right for the payer follows from what the provider sends; it is worked out when there
    is something to judge.

    Attributes:
        provider: The right handling at the provider.
        case: The case: policies, chart, and what the facts show.
        memo: What the ordering clinician knows beside the records; None if nothing.
        queued: The request of another office in the payer's queue, as the task that it is by
            itself; None where there is none.
        second: What is right about a second case that both sides work; None where there is none.
        beside: The other case, where there are two.
    """

    provider: AuthorizationReference
    case: DrawnCase
    memo: Memo | None = None
    queued: ReviewInstance | None = None
    second: ArenaReference | None = None
    beside: frozenset[str] = frozenset()

    @property
    def parts(self) -> tuple[ArenaReference, ...]:
        """What is right about each case by itself."""
        return (self,) if self.second is None else (self, self.second)


def due(start: WorldStart) -> datetime:
    """Return until when the provider sends a request, or records why it does not."""
    return start.now + _PREPARING


ArenaInstance = Instance[Task, ArenaReference, WorldStart]
ArenaTaskGenerator = TaskGenerator[Task, ArenaReference, WorldStart]
