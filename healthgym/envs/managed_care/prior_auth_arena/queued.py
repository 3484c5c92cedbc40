"""The request that lies in the payer's queue when an episode begins: another office sent it.

Where the provider rightly sends nothing, a payer who does nothing would be right; and a single
case leaves one word for every case its share. So each task has a second, small request, which the
payer sees through to its own end. It needs a review wherever the first one needs none: then no
word that is given unread is right for both. The practice that is played sees nothing of it.

The source's arena has one case an episode, and its checks ask about no other: under ``paper`` the
second request is there and is not judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from datetime import datetime, timedelta
from itertools import product

from healthgym.core.task import Instance
from healthgym.envs.managed_care.cases.clinic import REGION
from healthgym.envs.managed_care.cases.drawing import DrawnCase
from healthgym.envs.managed_care.cases.shift import Shift
from healthgym.envs.managed_care.prior_auth_arena.task import ArenaInstance
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationReference
from healthgym.envs.managed_care.prior_authorization.wording import brief
from healthgym.envs.managed_care.utilization_management.generator import ReviewGenerator
from healthgym.envs.managed_care.utilization_management.roster import roster
from healthgym.envs.managed_care.utilization_management.task import (
    PRESETS,
    Path,
    ReviewConfig,
    ReviewInstance,
    StartStage,
)
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.handbook.full import HandbookSize
from healthgym.worlds.managed_care.merging import merged
from healthgym.worlds.managed_care.records.case import PriorAuthCase
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.shared import SharedStart
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.vocabulary.authorization import CaseStatus

#: How it may rightly be decided: approved as often as not, and by nobody who does not read it.
_REVIEWED = (Path.NURSE_APPROVES, Path.PHYSICIAN_APPROVES, Path.PARTLY, Path.DENIED)
#: The same beside a request that is reviewed itself.
_ANY = (*_REVIEWED, Path.LANE, Path.RETURNED)
#: Where the provider's request ends that a payer reviews; a lane approves some of these unread.
_DECIDED = (CaseStatus.APPROVED, CaseStatus.PARTIALLY_APPROVED, CaseStatus.DENIED)
#: Its ids begin here, and those of the practice that is played at one, whatever it sends.
_AFTER, _FIRST = 400, 4001
_PREFIXES = ("intake-", "SUB-", "QRESP-")
#: Time that is left to decide it, when the episode begins.
_LEFT, _DAY = timedelta(hours=48), timedelta(days=1)
#: Draws for one task at most, and numbers of tasks that stand by, from here.
_TRIES, _SPARE = 24, 1 << 24


class Queue:
    """Draws what lies in the queue, and lays it beside the request of a task.

    Args:
        name: Family name in task keys.
        difficulty: Name of the configuration, for the task's metadata.
    """

    def __init__(self, name: str, difficulty: str) -> None:
        self._requests = {
            paths: ReviewGenerator(_config(paths), difficulty, f"{name}-queue", Rules.STRICT)
            for paths in (_REVIEWED, _ANY)
        }

    def beside(self, drawn: ArenaInstance) -> ArenaInstance:
        """Return a task with a request in the payer's queue.

        Args:
            drawn: The task without.

        Raises:
            ConfigurationError: If no request fits beside it.
        """
        key, first = drawn.task.key, drawn.reference
        requests = self._requests[_ANY if _is_reviewed(first.provider, first.case) else _REVIEWED]
        for number, opens in product(_numbers(key.index), tuple(_sent(drawn.start.now))):
            shift = Shift(
                drawn.start.now,
                drawn.start.operations,
                after=_AFTER,
                counters=dict.fromkeys(_PREFIXES, _FIRST),
                earlier=True,
            )
            shift.take(first.provider.patient_id, drawn.start, first.case)
            try:
                case, queued = requests.drawn(key.split, number, shift, opens)
            except ConfigurationError:
                continue
            if _met(drawn, case) or not _fits(queued, drawn.start.now):
                continue
            shift.take(case.patient.chart.patient.id, queued.start, case)
            return _laid(drawn, queued, shift)
        raise ConfigurationError(f"No request fits into the queue of task {key.index}.")


def _config(paths: tuple[Path, ...]) -> ReviewConfig:
    return replace(
        PRESETS["easy"], stages=(StartStage.INTAKE,), paths=paths, unreviewed=1.0, cases=0
    )


def _numbers(index: int) -> Iterator[int]:
    yield index
    yield from (_SPARE + index * _TRIES + place for place in range(_TRIES))


def _sent(begins: datetime) -> Iterator[datetime]:
    """Yield when a request may have been sent: on the morning of the day, or the day before."""
    calendar = office_calendar(REGION)
    local = calendar.local(begins)
    day = local.date()
    yield calendar.utc(day, calendar.opens)
    day -= _DAY
    while not calendar.is_business_day(day):
        day -= _DAY
    yield calendar.utc(day, local.time())


def _fits(queued: ReviewInstance, begins: datetime) -> bool:
    """Return whether a request has come by the day on which a task begins, with time left."""
    calendar = office_calendar(REGION)
    came = calendar.local(queued.start.now).date() <= calendar.local(begins).date()
    cases = (one for one in queued.start.records if isinstance(one, PriorAuthCase))
    return came and min(one.decision_due_at for one in cases) - begins >= _LEFT


def _is_reviewed(reference: AuthorizationReference, case: DrawnCase) -> bool:
    """Return whether the payer has to read what the provider rightly sends."""
    lanes = case.book.in_force.lanes
    unread = lanes.gold_card or lanes.notification_only
    return reference.status in _DECIDED and not unread


def _met(drawn: ArenaInstance, case: DrawnCase) -> bool:
    """Return whether somebody in the queue is known to the practice that is played.

    Whether who ordered there has a gold card would depend on both requests if it were one person.
    """
    ordered = drawn.reference.provider.practitioner_id
    same = case.patient.order.ordering_practitioner_id == ordered
    return same or case.patient.chart.patient.id in drawn.start.charts


def _laid(drawn: ArenaInstance, queued: ReviewInstance, shift: Shift) -> ArenaInstance:
    """Return a task with another request's records beside its own, and nobody at their practice.

    It begins when the later of the two does, on the day of the first.
    """
    own, case = drawn.start, drawn.reference.case
    apart = replace(queued.start, contracts={}, provider_desk=None)
    both = merged(
        [own, apart],
        handbook=shift.handbook(HandbookSize.COMPACT, roster()),
        policies=shift.policies(),
        counters=own.counters or {"CASE-ACT-": 1},
    )
    known = {item.name: getattr(both, item.name) for item in fields(WorldStart)}
    lies = queued.reference.case_id
    start = SharedStart(**known, practice=own.charts, queued=(lies,))
    task = replace(drawn.task, instruction=brief(start, case.patient, case.drawn))
    return Instance(task, replace(drawn.reference, queued=queued), start)
