"""The world in which the agent takes a case over: what was done before is on record.

What the world holds in which the payer's people worked the case up is what the agent's begins
with.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

import numpy as np

from healthgym.core.records import replace
from healthgym.envs.managed_care.cases.clinic import REGION, workforce
from healthgym.envs.managed_care.cases.patients import CaseFacts
from healthgym.envs.managed_care.cases.shift import Shift
from healthgym.envs.managed_care.utilization_management.at_door import renumbered
from healthgym.envs.managed_care.utilization_management.chain import Chain, asked_before
from healthgym.envs.managed_care.utilization_management.choices import Way
from healthgym.envs.managed_care.utilization_management.others import open_cases
from healthgym.envs.managed_care.utilization_management.task import StartStage
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care import deadlines
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.history import Entry
from healthgym.worlds.managed_care.service_levels import service_level
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.vocabulary.authorization import TriageUrgency, Urgency
from healthgym.worlds.managed_care.world import ManagedCareWorld

_ROLES = {
    StartStage.FRONT_DOOR: WorkerRole.INTAKE_COORDINATOR,
    StartStage.INTAKE: WorkerRole.INTAKE_COORDINATOR,
    StartStage.TRIAGE: WorkerRole.INTAKE_COORDINATOR,
    StartStage.NURSE_REVIEW: WorkerRole.UM_NURSE,
    StartStage.MD_REVIEW: WorkerRole.PHYSICIAN_REVIEWER,
    StartStage.PEER_TO_PEER: WorkerRole.PHYSICIAN_REVIEWER,
    StartStage.APPEAL: WorkerRole.INTAKE_COORDINATOR,
}
#: The agent begins so many minutes after what came before, or after opening.
_LATER = (5, 40)
#: What waits at a front door does so for business hours, or for one hour; the agent is there soon.
_SOON = (2, 10)
#: A day later is soon enough where so much of the limit is left then.
_LEFT = timedelta(hours=60)


class BegunElsewhen(ConfigurationError):
    """A request that is taken over on another day than the one that is wanted."""


def records_of(world: ManagedCareWorld) -> tuple[object, ...]:
    """Return everything that the applications of a world keep."""
    return tuple(
        record
        for app in world.apps()
        for kind, name in app.keeps.items()
        if kind is not int
        for record in getattr(app, name).values()
    )


def log_of(world: ManagedCareWorld) -> tuple[Entry, ...]:
    """Return the log of a world, numbered without what was only looked at."""
    return tuple(
        entry if entry.number == number else replace(entry, number=number)
        for number, entry in enumerate(world.history.entries, 1)
    )


def begins(chain: Chain, stage: StartStage) -> tuple[datetime, str]:
    """Return when the agent begins, and as whom.

    That is on the next morning if enough of the limit is left then, else right after what came
    before.

    Args:
        chain: The case, worked up.
        stage: Where the agent takes it over.
    """
    world = chain.world
    if stage is StartStage.FRONT_DOOR:
        return _first_in(chain, stage, _SOON)
    morning = _next_morning(world.clock.now)
    appeal = world.appeals.open(chain.case_id)
    limit = world.cases.get(chain.case_id).decision_due_at
    if appeal is not None:
        limit = deadlines.appeal_deadline(world, appeal)
    if limit - morning >= _LEFT:
        world.clock.advance(morning - world.clock.now)
    return _first_in(chain, stage, _LATER)


def _first_in(chain: Chain, stage: StartStage, later: tuple[int, int]) -> tuple[datetime, str]:
    """Return when somebody who works at a stage is in, some minutes later, and who."""
    chain.pass_time(int(chain.rng.integers(*later)))
    worker, at = chain.in_first(_ROLES[stage])
    chain.world.clock.advance(at - chain.world.clock.now)
    return chain.world.clock.now, worker


def require_begun(planned: CaseFacts, way: Way, opens: datetime, shift: Shift) -> None:
    """Refuse a request that will hardly be taken over on the day on which a shift begins.

    What is known of it before its chart is written tells that much: its limit decides whether it
    waits for the next morning. Only whether that is put off may be open.

    Args:
        planned: What was ordered, and for whom.
        way: Where the agent takes it over, and how it is rightly decided.
        opens: When it is sent.
        shift: The shift.

    Raises:
        BegunElsewhen: If it is taken over on another day.
    """
    morning, state = _next_morning(opens), planned.patient.address_state
    hurried = planned.order.priority is Urgency.EXPEDITED
    heard = TriageUrgency.URGENT if hurried else TriageUrgency.ROUTINE
    waits = {service_level(shift.numbers, heard, state).deadline(opens) - morning >= _LEFT}
    if asked_before(way.stage, way.path) and not hurried:
        waits.add(True)
    _require_among({morning if each else opens for each in waits}, shift)


def require_near(opens: datetime, shift: Shift) -> None:
    """Refuse a time after which no request is taken over on the day on which a shift begins.

    That is known before anything is drawn: a request waits for the next morning, or does not.

    Args:
        opens: When it is sent.
        shift: The shift.

    Raises:
        BegunElsewhen: If it is taken over on another day, whatever is asked for.
    """
    _require_among({opens, _next_morning(opens)}, shift)


def _require_among(times: Iterable[datetime], shift: Shift) -> None:
    """Refuse times of which none is on the day of a shift, unless cases may have lain there."""
    calendar = office_calendar(REGION)
    today = calendar.local(shift.begins).date()
    days = {calendar.local(at).date() for at in times}
    if today not in days and not (shift.earlier and min(days) < today):
        raise BegunElsewhen(f"What is sent then is not taken over on {today}.")


def _next_morning(at: datetime) -> datetime:
    """Return when the practice opens on the business day after a time."""
    calendar = office_calendar(REGION)
    day = calendar.next_business_day(calendar.local(at).date())
    return calendar.utc(day, calendar.opens)


def blank(start: WorldStart, now: datetime) -> ManagedCareWorld:
    """Return the world in which a case is worked up."""
    coordinator = workforce().with_role(WorkerRole.PA_COORDINATOR)[0].id
    return ManagedCareWorld(
        replace(
            start,
            now=now,
            actor=coordinator,
            records=(),
            history=(),
            letters_queued=False,
            provider_desk=None,
        )
    )


def taken_over(
    start: WorldStart,
    chain: Chain,
    stage: StartStage,
    case_ids: list[str],
    rng: np.random.Generator,
) -> WorldStart:
    """Return the beginning as the agent finds it: the case worked up, and other cases around.

    Args:
        start: The beginning of the offices, before the case.
        chain: The case, worked up.
        stage: Where the agent takes it over.
        case_ids: Ids of the other cases.
        rng: Who they are about.
    """
    now, actor = begins(chain, stage)
    own = chain.case.patient.chart.patient.id
    others = [chart for chart in start.charts.values() if chart.patient.id != own]
    records = records_of(chain.world)
    more = tuple(open_cases(chain.world, others, case_ids, rng, chain.door))
    if chain.door is not None:
        records, more = renumbered(records, more, rng)
    return replace(
        start,
        now=now,
        actor=actor,
        records=(*records, *more),
        history=log_of(chain.world),
        counters=chain.world.counters.numbers(),
    )
