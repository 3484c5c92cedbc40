"""Offers of a peer-to-peer call that nobody answers: they lapse, and the physician decides anew.

The window is the one in which the times offered have to lie. In the source nothing lapses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from healthgym.core.clock import Due
from healthgym.core.records import replace
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.records.peer import PayerPeerToPeerRequest
from healthgym.worlds.managed_care.vocabulary.authorization import (
    MdReviewDecision,
    PeerToPeerOutcome,
    PeerToPeerStatus,
)

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld

#: What this module puts on the agenda.
OFFER_LAPSES = "peer_offer_lapses"
NAMES = frozenset({OFFER_LAPSES})
_NOTE = "The offer lapsed without an answer; no call took place."


def watch(world: ManagedCareWorld, request: PayerPeerToPeerRequest, region: str) -> None:
    """Watch an offer from now on; the watch of an earlier one of the same request ends.

    Args:
        world: The world.
        request: The request, with the times on offer.
        region: The member's state, whose business days count.
    """
    agenda = world.clock.agenda
    for due in agenda.entries():
        if due.name == OFFER_LAPSES and due.facts.get("request_id") == request.id:
            agenda.cancel(due.number)
    days = world.operations.p2p_offer_workdays
    at = office_calendar(region).add_business_days(world.clock.now, days)
    agenda.put(at, OFFER_LAPSES, request_id=request.id)


def on_due(world: ManagedCareWorld, due: Due) -> None:
    """Let an offer lapse that is still open: its physician's decision counts no more.

    Args:
        world: The world.
        due: What fell due.
    """
    request = world.peer.requests[str(due.facts["request_id"])]
    if request.status is PeerToPeerStatus.SLOTS_OFFERED:
        give_up(world, request, _NOTE)


def give_up(world: ManagedCareWorld, request: PayerPeerToPeerRequest, note: str) -> None:
    """End a request without a call: the physician decides anew.

    Args:
        world: The world.
        request: The request.
        note: Why there is no call.
    """
    world.peer.requests[request.id] = replace(
        request,
        status=PeerToPeerStatus.COMPLETED,
        outcome=PeerToPeerOutcome.UPHOLD_INTENDED_ADVERSE_DECISION,
        notes=(*request.notes, note),
        updated_at=world.clock.now,
    )
    decision = world.medical.active(request.case_id)
    if decision is not None and decision.decision is MdReviewDecision.P2P_REVIEW:
        lapsed = replace(decision, superseded_by="PEER_OFFER_LAPSED")
        world.medical.decisions[decision.id] = lapsed
    world.history.happened(OFFER_LAPSES, request.case_id, request=request.id)
