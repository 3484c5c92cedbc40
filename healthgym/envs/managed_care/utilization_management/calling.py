"""How a call with the ordering clinician is arranged and held by somebody who knows the answer."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice

from healthgym.envs.managed_care.cases.clinic import REGION
from healthgym.envs.managed_care.utilization_management.task import ReviewReference
from healthgym.envs.managed_care.utilization_management.working import Desk
from healthgym.worlds.managed_care.apps.payer import peer_rules
from healthgym.worlds.managed_care.apps.payer.reviewers import Part, parts_taken
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.contracts import PeerContract
from healthgym.worlds.managed_care.dates import moment
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.vocabulary.authorization import PeerToPeerStatus
from healthgym.worlds.managed_care.world import ManagedCareWorld

#: Business hours in which the practice chooses a time.
_CHOOSES = timedelta(hours=2)
#: Who holds the call is in so long before, to confirm it.
_CONFIRMS = timedelta(minutes=30)
#: And what it takes to offer times.
_OFFERS = timedelta(minutes=10)
_STEP = timedelta(minutes=30)
#: No answer to an offer takes longer; one without lapses before.
PATIENCE = timedelta(days=6)
#: Questions about one criterion, one after the other.
_ASKS = (
    "What can you tell me about {id}, the {title}?",
    "What else do you have on {id}?",
    "Is there more on the {title}?",
    "Anything further on {id}, the {title}, before we end?",
)


def hold(desk: Desk, wanted: ReviewReference, before: ManagedCareWorld) -> None:
    """Offer times, confirm the one that is taken, ask what matters, and sum it up.

    Args:
        desk: Where calls are made.
        wanted: The right handling; it has a call.
        before: The world as the agent took it over.
    """
    contract = wanted.call
    if contract is None:
        return
    request = desk.world.peer.of(wanted.case_id)[-1].id
    physician = offer(desk, wanted.case_id, request, contract)
    picked = desk.world.peer.requests[request].provider_selected_slot
    if picked is None:
        return
    wait_for(desk, physician)
    desk.do("p2p.schedule", request_id=request, payer_contact_id=physician)
    desk.wait(moment(picked, "slots"))
    desk.do("p2p_session.get_context", request_id=request)
    _talk(desk, request, contract)
    wait_for(desk, physician)
    desk.do(
        "p2p_session.submit_summary",
        request_id=request,
        summary=_summary(wanted, contract),
        proposed_result=str(wanted.outcome),
    )


def offer(desk: Desk, case_id: str, request: str, contract: PeerContract) -> str:
    """Offer times, and wait until one is picked; return who will hold the call."""
    physician = propose(desk, case_id, request, contract)
    desk.wait_for(
        lambda world: world.peer.requests[request].status is PeerToPeerStatus.SLOT_SELECTED,
        PATIENCE,
    )
    return physician


def propose(desk: Desk, case_id: str, request: str, contract: PeerContract) -> str:
    """Offer the earliest times of a physician who had no part; return who it is."""
    taken = [who for who, part in parts_taken(desk.world, case_id) if part is not Part.PEER]
    desk.do("p2p.list", case_id=case_id)
    roles = desk.world.operations.may_hold_peer_to_peer
    desk.somebody(roles, taken)
    physician, slots = min(
        ((one, _slots(desk, case_id, one, contract)) for one in desk.present(roles, taken)),
        key=lambda offer: offer[1][-1:],
    )
    desk.do(
        "p2p.offer_slots",
        request_id=request,
        payer_contact_id=physician,
        slots=[f"{at:%Y-%m-%dT%H:%M:%S}" for at in slots],
    )
    return physician


def _talk(desk: Desk, request: str, contract: PeerContract) -> None:
    """Raise each criterion in dispute, and ask on until everything on it is told."""
    titles = {one.id: one.title for one in contract.subjects}
    for name in contract.disputed:
        mine = [fact for fact in contract.facts if fact.criterion == name]
        for ask in _ASKS:
            desk.do(
                "p2p_session.send_turn",
                request_id=request,
                message=ask.format(id=name, title=titles[name]),
            )
            session = desk.world.peer.session_of(request)
            told = session.revealed_fact_ids if session else ()
            if all(fact.id in told for fact in mine):
                break


def _summary(wanted: ReviewReference, contract: PeerContract) -> str:
    points = [fact.text for fact in contract.facts if fact.criterion in contract.disputed]
    named = ", ".join(sorted(wanted.denied_on or contract.disputed))
    return (
        f"Disputed under {wanted.policy.id}: {named}. {' '.join(points)} Outcome: {wanted.outcome}."
    )


def wait_for(desk: Desk, person: str) -> None:
    """Wait until somebody is in."""
    role = desk.world.staff.role_of(person)
    others = [one for one in desk.world.staff.with_role(WorkerRole(str(role))) if one != person]
    desk.somebody((str(role),), others)


def _slots(
    desk: Desk, case_id: str, physician: str, contract: PeerContract
) -> tuple[datetime, ...]:
    """Return as few times as may be offered, early ones."""
    least = desk.world.operations.p2p_slots_least
    return tuple(sorted(islice(_times(desk, case_id, physician, contract), least)))


def _times(desk: Desk, case_id: str, physician: str, contract: PeerContract) -> Iterator[datetime]:
    """Yield times at which both offices are open, those that the clinician can make first."""
    world = desk.world
    region = office_calendar(peer_rules.region(world, case_id))
    worker = world.staff.workers[physician]
    own = office_calendar(worker.region, worker.hours)
    last = region.local(
        region.add_business_days(world.clock.now, world.operations.p2p_offer_workdays)
    ).date()
    practice, now = office_calendar(REGION), world.clock.now
    soonest = practice.add_business_hours(now, _CHOOSES) + _CONFIRMS
    # The offer itself takes minutes, with which the practice may come to choose the next morning.
    later = practice.add_business_hours(now + _OFFERS, _CHOOSES) + _CONFIRMS
    soonest = later if later - soonest > _OFFERS else soonest
    at = soonest.replace(minute=0, second=0, microsecond=0) + _STEP
    at += _STEP * (at < soonest)
    able = []
    while region.local(at).date() <= last:
        if region.is_open(at) and own.is_open(at) and own.is_open(at - _CONFIRMS):
            able.append(at)
        at += _STEP
    made = {moment(slot, "slots") for slot in contract.offered_slots}
    yield from sorted(able, key=lambda one: (one not in made, one))
