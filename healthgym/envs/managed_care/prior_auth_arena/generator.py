"""Tasks from seeds: requests of prior authorization, with nobody's staff at work.

A share of them hangs on a criterion that no record settles, and of which the ordering clinician
knows something. Where that settles it, the request is sent and the fact is said on a call; where
it does not, nothing is sent: the memo alone tells nobody what to do. Some clinicians want their
call either way: then a request is sent that falls short, and is rightly denied.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np

from healthgym.core.seeding import Split, task_rng
from healthgym.core.task import Instance
from healthgym.envs.managed_care.cases.clinic import REGION
from healthgym.envs.managed_care.cases.drawing import DrawnCase
from healthgym.envs.managed_care.cases.situations import Course, Gap
from healthgym.envs.managed_care.checks.expectation import PreSubmission
from healthgym.envs.managed_care.prior_auth_arena.memos import Memo, draw_memo
from healthgym.envs.managed_care.prior_auth_arena.queued import Queue
from healthgym.envs.managed_care.prior_auth_arena.task import (
    ArenaInstance,
    ArenaReference,
    ArenaTaskGenerator,
)
from healthgym.envs.managed_care.prior_authorization.generator import AuthorizationGenerator
from healthgym.envs.managed_care.prior_authorization.reference import reference_of
from healthgym.envs.managed_care.prior_authorization.task import (
    AuthorizationConfig,
    AuthorizationInstance,
    AuthorizationReference,
)
from healthgym.envs.managed_care.utilization_management.roster import roster
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DocumentKind,
    ProviderDeterminationAction,
    Urgency,
)

#: Share of the requests that hang on what a clinician knows; the source has 5 calls among 23.
CALLED = 0.3
#: Share of those in which that settles the criterion.
_SETTLED = 0.4
#: Share of either in which the clinician has the request sent whatever comes of it. With both, a
#: call is rightly conceded in 40 of 80 cases.
_INSISTED = 2 / 3
_GATHER, _SENDS = (
    ProviderDeterminationAction.GATHER_MORE_EVIDENCE,
    ProviderDeterminationAction.SUBMIT_PA,
)
#: The stream that tells whether a task is one of them, beside those of a case.
_STREAM = 6


class ArenaGenerator(ArenaTaskGenerator):
    """Draws tasks: the provider's are drawn first, the payer's follow from what is sent.

    Args:
        config: What requests are like.
        difficulty: Name of the configuration, for the task's metadata.
        name: Family name in task keys.
        called: Share of requests that hang on what the clinician alone knows.
    """

    def __init__(
        self, config: AuthorizationConfig, difficulty: str, name: str, called: float = CALLED
    ) -> None:
        self.name, self.difficulty, self.called = name, difficulty, called
        self._config = config
        self._requests = AuthorizationGenerator(config, difficulty, name, Rules.STRICT)
        self._queue = Queue(name, difficulty)

    def draw(self, split: Split, index: int) -> ArenaInstance:
        """Return a task, with a request of another office in the payer's queue."""
        return self._queue.beside(self._own(split, index))

    def _own(self, split: Split, index: int) -> ArenaInstance:
        """Return a task as the provider has it."""
        rng = task_rng(f"{self.name}/{self.difficulty}", split, index, _STREAM)
        if rng.random() < self.called:
            return self._hanging(split, index, rng)
        case, instance = self._requests.drawn(split, index)
        return seated(case, instance)

    def _hanging(self, split: Split, index: int, rng: np.random.Generator) -> ArenaInstance:
        """Return a task that hangs on what the clinician knows."""
        place = float(rng.random())
        settles = place < _SETTLED
        within = place / _SETTLED if settles else (place - _SETTLED) / (1 - _SETTLED)
        insists = within >= 1 - _INSISTED
        names = self.difficulty, self.name
        known = Known(self._config, *names, rng, settles=settles, insists=insists)
        return known.told(split, index)


class Known(AuthorizationGenerator):
    """Draws requests of which one criterion is open, and what the clinician knows of it.

    Args:
        config: What requests are like.
        difficulty: Name of the configuration, for the task's metadata.
        name: Family name in task keys.
        rng: Where the memo comes from.
        settles: Whether that settles the criterion.
        insists: Whether the clinician has the request sent whatever comes of it.
    """

    def __init__(
        self,
        config: AuthorizationConfig,
        difficulty: str,
        name: str,
        rng: np.random.Generator,
        *,
        settles: bool,
        insists: bool,
    ) -> None:
        super().__init__(
            replace(
                config, actions=(_GATHER,), gaps=(Gap.INSUFFICIENT, Gap.ABSENT), open_criteria=1
            ),
            difficulty,
            name,
            Rules.STRICT,
        )
        self._rng, self._settles, self._insists = rng, settles, insists
        self._memo: Memo | None = None

    def told(self, split: Split, index: int) -> ArenaInstance:
        """Return a task that hangs on what the clinician knows."""
        case, instance = self.drawn(split, index)
        if self._memo is None:
            raise RuntimeError("A case was drawn without its memo.")
        drawn = seated(case, instance, self._memo)
        kind = f"{_GATHER}-unsettled"
        if self._settles or self._insists:
            kind = f"{_SENDS}-{'said' if self._settles else 'insisted'}"
        return replace(drawn, task=replace(drawn.task, kind=kind))

    def judged(self, case: DrawnCase) -> AuthorizationReference:
        """Return the right handling: what a fact settles that is only said, or what is wanted.

        Raises:
            ConfigurationError: If no call may fit before the payer has to decide.
        """
        if _before_days_off(case):
            raise ConfigurationError("An expedited request is due before the offices open again.")
        self._memo = draw_memo(case, self._rng, settles=self._settles, insists=self._insists)
        found = reference_of(case)
        return _sending(found, self._memo) if self._settles or self._insists else found


def _before_days_off(case: DrawnCase) -> bool:
    """Return whether an expedited request would leave one afternoon for a reply and a call.

    Some states give 48 hours, which from a Friday on end while nobody is in.
    """
    following = office_calendar(REGION).next_business_day(case.today)
    expedited = case.patient.order.priority is Urgency.EXPEDITED
    return expedited and following > case.today + timedelta(days=1)


def _sending(found: AuthorizationReference, memo: Memo) -> AuthorizationReference:
    """Return the right handling of a request that a call completes, or at least decides."""
    status = CaseStatus.APPROVED if memo.settles else CaseStatus.DENIED
    required = tuple(DocumentKind(kind) for kind in sorted(found.kinds))
    return replace(
        found,
        action=_SENDS,
        course=Course.APPROVED if memo.settles else None,
        gaps=frozenset() if memo.settles else found.gaps,
        told=memo.facts,
        status=status,
        paper=replace(
            found.paper,
            target_status=status,
            pre_submission=PreSubmission(required_document_kinds=required),
        ),
    )


def seated(
    case: DrawnCase, instance: AuthorizationInstance, memo: Memo | None = None
) -> ArenaInstance:
    """Return a request as a task for two seats.

    Args:
        case: The case.
        instance: The task of prior authorization.
        memo: What the ordering clinician knows beside the records; None if nothing.
    """
    begun = instance.start
    start = replace(
        begun,
        desk=None,
        letters_queued=True,
        handbook=begun.handbook.overlay((roster(),)),
        records=(*begun.records, *((memo.message(begun.now),) if memo else ())),
    )
    reference = ArenaReference(provider=instance.reference, case=case, memo=memo)
    return Instance(instance.task, reference, start)
