"""Calls between peers where nobody plays the payer: a physician offers times, and holds the call.

Before a denial that rests on an error the plan may have its physician call. Whoever reviewed asks
for the call, another physician offers times and holds it; if it overturns the intended denial, the
case is determined at once and the letter follows. If nobody comes, the reviewer decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

from healthgym.core.records import replace
from healthgym.worlds.managed_care.apps.payer import correspondence, peer_rules
from healthgym.worlds.managed_care.calendar import OfficeCalendar, office_calendar
from healthgym.worlds.managed_care.findings import Finding
from healthgym.worlds.managed_care.vocabulary.authorization import (
    MdReviewDecision,
    MessageBox,
    MessageKind,
    PeerToPeerOutcome,
    PeerToPeerStatus,
)

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld

#: Times of day that are offered, in the member's region.
_HOURS = (time(9), time(11), time(14), time(16))
#: Times on a day, at most; the rest is on the next days.
_A_DAY = 2
#: How soon after the offer a call may be.
_SOONEST = timedelta(hours=2)
#: A call is held and summed up so long before the decision is due.
_SUMMED_UP = timedelta(minutes=30)
_NOBODY_CAME = "Nobody came to the call."
NO_TIME = "No times for the call could be offered within both sides' hours."
_UPHELD = PeerToPeerOutcome.UPHOLD_INTENDED_ADVERSE_DECISION


def intended(world: ManagedCareWorld, case_id: str) -> bool:
    """Return whether the physician calls before denying a case, which happens once."""
    plan = world.start.desk
    if plan is None or world.peer.of(case_id):
        return False
    return world.cases.get(case_id).patient_id in plan.calls


def ask(world: ManagedCareWorld, case_id: str, found: Finding, worker: str) -> None:
    """Ask for a call in place of the denial that is intended.

    Args:
        world: The world.
        case_id: The case.
        found: What the reviewer finds.
        worker: The reviewer.
    """
    world.medical.submit(
        case_id,
        MdReviewDecision.P2P_REVIEW,
        clinical_notes=found.summary(),
        determination_rationale=found.summary(),
        reviewer_id=worker,
    )


def offer(world: ManagedCareWorld, case_id: str, worker: str) -> datetime | None:
    """Offer times for the call that was asked for, by e-mail.

    Args:
        world: The world.
        case_id: The case.
        worker: The physician who will hold the call.

    Returns:
        Until when the call has to be summed up: a day after the last time offered. None if both
        sides' hours hold too few times, so that none are offered.
    """
    request = world.peer.of(case_id)[-1]
    times = _in_time(world, case_id, worker)
    if len(times) < world.operations.p2p_slots_least:
        return None
    world.peer.offer(request.id, worker, tuple(f"{at:%Y-%m-%dT%H:%M:%S}" for at in times))
    world.inbox.post(
        str(MessageKind.PEER_TO_PEER),
        str(MessageBox.PAYER),
        case_id,
        f"Peer-to-peer call on case {case_id}: request {request.id}",
        correspondence.offer(world, world.peer.requests[request.id]),
        action_required=True,
    )
    return times[-1] + timedelta(hours=world.operations.p2p_summary_hours)


def upheld(world: ManagedCareWorld, case_id: str) -> bool:
    """Return whether a call left the denial that was intended as it was."""
    return any(request.outcome is _UPHELD for request in world.peer.of(case_id))


def give_up(world: ManagedCareWorld, case_id: str, why: str = _NOBODY_CAME) -> str:
    """End a call that does not take place; the reviewer decides without it.

    Args:
        world: The world.
        case_id: The case, not determined yet.
        why: What is noted.

    Returns:
        The reviewer; empty if the call was held.
    """
    asked, request = world.medical.of(case_id)[-1], world.peer.of(case_id)[-1]
    if request.status is not PeerToPeerStatus.COMPLETED:
        world.peer.complete(request, _UPHELD, request.payer_contact_id or "", why)
        world.medical.decisions[asked.id] = replace(asked, superseded_by="PEER_CALL_MISSED")
    # An offer that nobody answered lapsed before, and the decision with it.
    return "" if world.medical.active(case_id) is not None else asked.reviewer_id


def _in_time(world: ManagedCareWorld, case_id: str, worker: str) -> tuple[datetime, ...]:
    """Return the usual times, and where the decision is due before the first, earlier ones.

    Where the usual ones are too few, since who calls works other hours than the provider, any
    half-hour that an offer may reach will do.
    """
    least = world.operations.p2p_slots_least
    due = world.cases.get(case_id).decision_due_at - _SUMMED_UP
    times = set(_times(world, case_id, worker))
    if not times or min(times) > due:
        times.update([*_before(world, case_id, worker, due)][:_A_DAY])
    if len(times) < least:
        region, _ = _calendars(world, case_id, worker)
        last = region.utc(_last_day(world, region), time(23, 30))
        others = (at for at in _before(world, case_id, worker, last) if at not in times)
        times.update([*others][: least - len(times)])
    return tuple(sorted(times))


def _last_day(world: ManagedCareWorld, region: OfficeCalendar) -> date:
    """Return the last day of which an offer may be."""
    workdays = world.operations.p2p_offer_workdays
    return region.local(region.add_business_days(world.clock.now, workdays)).date()


def _before(
    world: ManagedCareWorld, case_id: str, worker: str, due: datetime
) -> Iterator[datetime]:
    """Yield the half-hours up to a time at which both sides' offices are open."""
    region, own = _calendars(world, case_id, worker)
    at = world.clock.now.replace(minute=0, second=0, microsecond=0) + _SOONEST
    while at <= due:
        if region.is_open(at) and own.is_open(at):
            yield at
        at += timedelta(minutes=30)


def _calendars(
    world: ManagedCareWorld, case_id: str, worker: str
) -> tuple[OfficeCalendar, OfficeCalendar]:
    """Return the hours of the provider's region, and of who holds the call."""
    region = office_calendar(peer_rules.region(world, case_id))
    known = world.staff.workers.get(worker)
    return region, office_calendar(known.region, known.hours) if known else region


def _times(world: ManagedCareWorld, case_id: str, worker: str) -> Iterator[datetime]:
    """Yield times that both sides' hours allow: two a day, as far as an offer may reach."""
    region, own = _calendars(world, case_id, worker)
    now, last = world.clock.now, _last_day(world, region)
    day = region.local(now).date()
    while day <= last:
        at_day = [region.utc(day, hour) for hour in _HOURS]
        able = [at for at in at_day if at > now + _SOONEST and region.is_open(at)]
        able = [at for at in able if own.is_open(at)]
        yield from able[:_A_DAY]
        day += timedelta(days=1)
