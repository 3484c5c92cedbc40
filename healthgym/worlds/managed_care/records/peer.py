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
    """TODO payer peer to peer request.

    Attributes:
        id: TODO.
        case_id: TODO.
        requested_by_contact_id: TODO.
        payer_contact_id: TODO.
        status: TODO.
        offered_slots: TODO.
        scheduled_at: TODO.
        provider_selected_slot: TODO.
        notes: TODO.
        outcome: TODO.
        created_at: TODO.
        updated_at: TODO.
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
    """TODO p2psession turn.

    Attributes:
        speaker: TODO.
        message: TODO.
        created_at: TODO.
        artifact_relative_path: TODO.
    """

    speaker: str
    message: str
    created_at: datetime
    artifact_relative_path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class P2PSessionRecord:
    """TODO p2psession record.

    Attributes:
        id: TODO.
        request_id: TODO.
        case_id: TODO.
        benchmark_side: TODO.
        turn_limit: TODO.
        agent_turns_used: TODO.
        transcript: TODO.
        revealed_fact_ids: TODO.
        challenge_index: TODO.
        submitted_summary: TODO.
        submitted_result: TODO.
        finalized: TODO.
        created_at: TODO.
        updated_at: TODO.
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
