"""What is said on a peer-to-peer call: turns, and the person at the other end.

The other end is no model. It opens with its statement and the facts it leads with, and answers a
turn with the facts that the turn touches on, two at most, as people do. A fact is told at once
(opening), once anything is asked (volunteer_after_prompt), when its topic comes up
(reveal_if_asked), or never. What was told is established; the outcome follows from that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from healthgym.worlds.managed_care.contracts import PeerContract, PeerFact
from healthgym.worlds.managed_care.records.peer import (
    P2PSessionRecord,
    P2PSessionTurn,
    PayerPeerToPeerRequest,
)
from healthgym.worlds.managed_care.vocabulary.authorization import PeerToPeerOutcome, RevealMode

COUNTERPART = "counterpart"
#: Facts that one answer has room for.
_AT_ONCE = 2
_OPENING = "Thank you for making time. Shall we go through the case?"
_NOTHING_NEW = "I have nothing to add on that. What else would help you decide?"
_WORDS = re.compile(r"[^\W_]+")


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
    session: P2PSessionRecord, contract: PeerContract, message: str, now: datetime
) -> P2PSessionRecord:
    """Return a call after a turn of the agent and the answer to it."""
    told = tuple(_answer(session, contract, message))
    said = " ".join(fact.text for fact in told) or _NOTHING_NEW
    return replace(
        session,
        agent_turns_used=session.agent_turns_used + 1,
        transcript=(
            *session.transcript,
            _turn(session.benchmark_side, message, now),
            _turn(COUNTERPART, said, now),
        ),
        revealed_fact_ids=(*session.revealed_fact_ids, *(fact.id for fact in told)),
        updated_at=now,
    )


def established(contract: PeerContract, session: P2PSessionRecord) -> bool:
    """Return whether every point that an approval rests on was established."""
    points = contract.required_points
    return bool(points) and set(points) <= set(session.revealed_fact_ids)


def outcome(contract: PeerContract, session: P2PSessionRecord) -> PeerToPeerOutcome:
    """Return what comes of a call: what the contract fixes, or else what was established."""
    if contract.fixed_result is not None:
        return contract.fixed_result
    if established(contract, session):
        return PeerToPeerOutcome.OVERTURN_TO_APPROVAL
    return PeerToPeerOutcome.UPHOLD_INTENDED_ADVERSE_DECISION


def _answer(session: P2PSessionRecord, contract: PeerContract, message: str) -> Iterator[PeerFact]:
    words = frozenset(_WORDS.findall(message.lower()))
    open_facts = [fact for fact in contract.facts if fact.id not in session.revealed_fact_ids]
    asked = [fact for fact in open_facts if _tells(fact) and touches(fact, words)]
    yield from asked[:_AT_ONCE]
    room = _AT_ONCE - len(asked)
    prompted = RevealMode.VOLUNTEER_AFTER_PROMPT
    offered = [f for f in open_facts if f.reveal_mode is prompted and f not in asked]
    if "?" in message and room > 0:
        yield from offered[:room]


def _tells(fact: PeerFact) -> bool:
    return fact.reveal_mode in (RevealMode.VOLUNTEER_AFTER_PROMPT, RevealMode.REVEAL_IF_ASKED)


def touches(fact: PeerFact, words: frozenset[str]) -> bool:
    """Return whether words bring a fact up: all words of one of its topics.

    Args:
        fact: The fact.
        words: What was said, as single words in lower case.
    """
    return any(
        topic and topic <= words
        for topic in (frozenset(_WORDS.findall(text.lower())) for text in fact.topics)
    )


def _turn(speaker: str, message: str, now: datetime) -> P2PSessionTurn:
    return P2PSessionTurn(speaker=speaker, message=message, created_at=now)
