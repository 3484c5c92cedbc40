"""Peer-to-peer calls."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from healthgym.worlds.managed_care.vocabulary.authorization import (
    PeerToPeerOutcome,
    PeerToPeerStatus,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PayerPeerToPeerRequest:
    """A call between physicians, from the request for it to its outcome.

    Attributes:
        id: Id of this record, unique in the world.
        case_id: Id of the authorization case, such as 'CASE-ACT-001'.
        requested_by_contact_id: Id of who asked for it; blank when unrecorded.
        payer_contact_id: Id of the plan's physician; blank until named.
        status: How far it has come.
        offered_slots: Times offered, as ISO date and time.
        scheduled_at: Time agreed on, as ISO date and time; blank until then.
        provider_selected_slot: Time the office chose; blank until then.
        notes: Remarks in the order they were made.
        outcome: How the call ended; blank until then.
        created_at: When it was written, in UTC.
        updated_at: When it last changed, in UTC.
    """

    id: str
    case_id: str
    requested_by_contact_id: str | None = None
    payer_contact_id: str | None = None
    status: PeerToPeerStatus = PeerToPeerStatus.REQUESTED
    offered_slots: tuple[str, ...] = ()
    scheduled_at: str | None = None
    provider_selected_slot: str | None = None
    notes: tuple[str, ...] = ()
    outcome: PeerToPeerOutcome | None = None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class P2PSessionTurn:
    """One thing said in a peer-to-peer call.

    Attributes:
        speaker: Who said it.
        message: What was said.
        created_at: When it was written, in UTC.
        artifact_relative_path: Where it was filed; blank when it was not.
    """

    speaker: str
    message: str
    created_at: datetime
    artifact_relative_path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class P2PSessionRecord:
    """A peer-to-peer call as it goes on.

    Attributes:
        id: Id of this record, unique in the world.
        request_id: Id of the request for the call.
        case_id: Id of the authorization case, such as 'CASE-ACT-001'.
        benchmark_side: Side the agent speaks for, 'payer' or 'provider'.
        turn_limit: How often the agent may speak.
        agent_turns_used: How often the agent has spoken.
        transcript: What was said so far.
        revealed_fact_ids: Ids of the facts the other side has given away.
        challenge_index: Number of the other side's next challenge, from 0.
        submitted_summary: The agent's summary; blank until handed in.
        submitted_result: The result the agent states; blank until handed in.
        finalized: Whether the call is over.
        created_at: When it was written, in UTC.
        updated_at: When it last changed, in UTC.
    """

    id: str
    request_id: str
    case_id: str
    benchmark_side: str
    turn_limit: int = 4
    agent_turns_used: int = 0
    transcript: tuple[P2PSessionTurn, ...] = ()
    revealed_fact_ids: tuple[str, ...] = ()
    challenge_index: int = 0
    submitted_summary: str | None = None
    submitted_result: PeerToPeerOutcome | None = None
    finalized: bool = False
    created_at: datetime
    updated_at: datetime
