"""Whether a case can still be decided in time: a call takes the hours of two offices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, time, timedelta
from functools import lru_cache
from itertools import islice

from healthgym.envs.managed_care.cases.clinic import REGION
from healthgym.envs.managed_care.utilization_management.task import StartStage
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care import deadlines
from healthgym.worlds.managed_care.apps.payer import peer_rules
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.world import ManagedCareWorld

#: Business hours from where the case is taken over until something is asked for.
_UNTIL_ASKED: Mapping[StartStage, timedelta] = {
    StartStage.FRONT_DOOR: timedelta(hours=3),
    StartStage.INTAKE: timedelta(hours=3),
    StartStage.TRIAGE: timedelta(hours=2),
    StartStage.NURSE_REVIEW: timedelta(hours=1),
}
#: Business hours from a reply until times are offered: two reviews.
_UNTIL_OFFERED = timedelta(hours=2)
#: The same from the physician's desk, and from where the call is wanted already.
_LATE: Mapping[StartStage, timedelta] = {
    StartStage.MD_REVIEW: timedelta(hours=1),
    StartStage.PEER_TO_PEER: timedelta(minutes=15),
}
#: Until the practice has chosen a time, and until that is confirmed.
_CHOOSES, _CONFIRMS = timedelta(hours=2), timedelta(minutes=30)
#: How fast somebody may be, beside these; to be faster must not lead into a weekend.
_PACES = (0.3, 0.45, 0.6, 0.8, 1.0)
#: A call and the decision after it.
_TALK = timedelta(minutes=75)
_STEP = timedelta(minutes=30)


def require_time(
    world: ManagedCareWorld, case_id: str, stage: StartStage, now: datetime, reply: timedelta
) -> None:
    """Refuse a case whose limit leaves no time for the call that is due.

    Args:
        world: The world in which it was worked up.
        case_id: The case.
        stage: Where the agent takes it over.
        now: When.
        reply: Business hours in which the practice answers a request for information.

    Raises:
        ConfigurationError: If too few times for a call lie before the limit.
    """
    for pace in _PACES:
        offered, limit = _offered(world, case_id, stage, now, reply, pace)
        chosen = office_calendar(REGION).add_business_hours(offered, _CHOOSES) + _CONFIRMS
        least = world.operations.p2p_slots_least
        # No more of them are looked for than are needed.
        times = islice(_times(world, case_id, chosen, limit - _TALK), least)
        if sum(1 for _ in times) < least:
            raise ConfigurationError(f"{case_id} is due before a call can be held.")


def end_of_day(at: datetime) -> datetime:
    """Return when the practice closes on the day of a time."""
    calendar = office_calendar(REGION)
    return calendar.utc(calendar.local(at).date(), calendar.closes)


def _offered(
    world: ManagedCareWorld,
    case_id: str,
    stage: StartStage,
    now: datetime,
    reply: timedelta,
    pace: float,
) -> tuple[datetime, datetime]:
    """Return when times for a call are offered, and the limit for the decision then."""
    practice, limit = office_calendar(REGION), deadlines.decision_deadline(world, case_id)
    # At a front door it is not heard yet how urgent a request is, and once it is that counts.
    limit = min(limit, world.cases.get(case_id).decision_due_at)
    if stage in _LATE:
        return practice.add_business_hours(now, pace * _LATE[stage]), limit
    asked = practice.add_business_hours(now, pace * _UNTIL_ASKED[stage])
    answered = practice.add_business_hours(asked, reply)
    offered = practice.add_business_hours(answered, pace * _UNTIL_OFFERED)
    return offered, limit + (answered - asked)  # the clock stands still meanwhile


def _times(
    world: ManagedCareWorld, case_id: str, first: datetime, last: datetime
) -> Iterator[datetime]:
    """Yield the half-hours at which the member's region is open and some physician is in."""
    region = peer_rules.region(world, case_id)
    workers = world.staff.workers
    hours = frozenset(
        (workers[one].region, workers[one].hours)
        for one in world.staff.with_role(WorkerRole.PHYSICIAN_REVIEWER)
    )
    at = first.replace(minute=0, second=0, microsecond=0) + _STEP
    at += _STEP * (at < first)
    while at <= last:
        if _can_talk(region, hours, at):
            yield at
        at += _STEP


@lru_cache(maxsize=4096)
def _can_talk(region: str, hours: frozenset[tuple[str, tuple[time, time]]], at: datetime) -> bool:
    """Return whether a region is open, and somebody is in who works in one of some hours."""
    offices = (office_calendar(*each) for each in hours)
    return office_calendar(region).is_open(at) and any(
        office.is_open(at) and office.is_open(at - _CONFIRMS) for office in offices
    )
