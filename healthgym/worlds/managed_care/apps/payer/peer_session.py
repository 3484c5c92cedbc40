"""What is said on a peer-to-peer call: turns, and the person at the other end.

The other end opens with its statement and the facts it leads with. A fact is told at once
(opening), at an open question (volunteer_after_prompt), when its subject comes up
(reveal_if_asked), or never. What was told on a criterion that the agent raised is established; the
outcome follows from that. What is said to a turn is in :mod:`peers.answering`.
"""

from __future__ import annotations

from datetime import datetime

from healthgym.core.records import replace
from healthgym.worlds.managed_care.contracts import PeerContract
from healthgym.worlds.managed_care.peers.answering import Answer, raised
from healthgym.worlds.managed_care.records.peer import (
    P2PSessionRecord,
    P2PSessionTurn,
    PayerPeerToPeerRequest,
)
from healthgym.worlds.managed_care.vocabulary.authorization import PeerToPeerOutcome, RevealMode

COUNTERPART = "counterpart"
_OPENING = "Thank you for making time. Shall we go through the case?"


def begin(
    session_id: str, request: PayerPeerToPeerRequest, contract: PeerContract, now: datetime
) -> P2PSessionRecord:
    """Return a call that nobody has joined yet."""
    return P2PSessionRecord(
        id=session_id,
        request_id=request.id,
        case_id=request.case_id,
        benchmark_side=contract.side,
        turn_limit=contract.turn_limit,
        created_at=now,
        updated_at=now,
    )


def opened(session: P2PSessionRecord, contract: PeerContract, now: datetime) -> P2PSessionRecord:
    """Return a call after the other side's first words."""
    led_with = [fact for fact in contract.facts if fact.reveal_mode is RevealMode.OPENING]
    said = " ".join([contract.opening or _OPENING, *(fact.text for fact in led_with)])
    return replace(
        session,
        transcript=(_turn(COUNTERPART, said, now),),
        revealed_fact_ids=tuple(fact.id for fact in led_with),
        updated_at=now,
    )


def answered(
    session: P2PSessionRecord, made: Answer, message: str, words: str, now: datetime
) -> P2PSessionRecord:
    """Return a call after a turn of the agent and the answer to it.

    Args:
        session: The call.
        made: The answer.
        message: The turn.
        words: How the answer is worded.
        now: When it is given.
    """
    return replace(
        session,
        agent_turns_used=session.agent_turns_used + 1,
        transcript=(
            *session.transcript,
            _turn(session.benchmark_side, message, now),
            _turn(COUNTERPART, words, now),
        ),
        revealed_fact_ids=(*session.revealed_fact_ids, *(fact.id for fact in made.told)),
        challenge_index=session.challenge_index + made.pressed,
        updated_at=now,
    )


def established(contract: PeerContract, session: P2PSessionRecord) -> bool:
    """Return whether every point that an approval rests on was established.

    It is not enough that it was told: the agent raised the criterion it is about, so that what is
    put forward in passing, or at the beginning, proves nothing.
    """
    points, told = contract.required_points, set(session.revealed_fact_ids)
    about = {fact.criterion for fact in contract.facts if fact.id in points and fact.criterion}
    return bool(points) and set(points) <= told and about <= raised(contract, session)


def outcome(contract: PeerContract, session: P2PSessionRecord) -> PeerToPeerOutcome:
    """Return what comes of a call: what the contract fixes, or else what was established."""
    if contract.fixed_result is not None:
        return contract.fixed_result
    if established(contract, session):
        return PeerToPeerOutcome.OVERTURN_TO_APPROVAL
    return PeerToPeerOutcome.UPHOLD_INTENDED_ADVERSE_DECISION


def _turn(speaker: str, message: str, now: datetime) -> P2PSessionTurn:
    return P2PSessionTurn(speaker=speaker, message=message, created_at=now)
