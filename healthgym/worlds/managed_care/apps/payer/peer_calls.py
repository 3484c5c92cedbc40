"""The line of a peer-to-peer call, as either side uses it: look, talk, sum up."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from healthgym.core.records import replace
from healthgym.worlds.managed_care.apps.payer import correspondence, peer_rules, peer_session
from healthgym.worlds.managed_care.apps.texts import require_length
from healthgym.worlds.managed_care.peers.answering import answer
from healthgym.worlds.managed_care.records.decision import DeterminationRecord
from healthgym.worlds.managed_care.records.peer import P2PSessionRecord, PayerPeerToPeerRequest
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import (
    DeterminationDecision,
    PeerToPeerOutcome,
    PeerToPeerStatus,
    TaskActor,
)
from healthgym.worlds.managed_care.wording import Draft, Voice

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld

_LONGEST = 4000
_DECIDES = {
    PeerToPeerOutcome.UPHOLD_INTENDED_ADVERSE_DECISION: DeterminationDecision.DENIED,
    PeerToPeerOutcome.OVERTURN_TO_APPROVAL: DeterminationDecision.APPROVED,
}


def context(world: ManagedCareWorld, request_id: str) -> Mapping[str, object]:
    """Return where a call stands and what was said.

    Args:
        world: The world.
        request_id: The request.

    Raises:
        Refusal: If there is no such request, or nobody holds a call on it.
    """
    request, session = _line(world, request_id)
    world.peer.looked("get_p2p_session_context", request.case_id)
    return _view(request, _as_it_stands(world, request, session))


def send_turn(world: ManagedCareWorld, request_id: str, message: str) -> Mapping[str, object]:
    """Say something on a call, and hear the answer.

    Args:
        world: The world.
        request_id: The request.
        message: What to say.

    Raises:
        Refusal: If the line is not open, the call is summed up, its turns are used up; or, in a
            strict world, its time has not come or nothing is said.
    """
    request, session = _line(world, request_id)
    if session.finalized or request.status is not PeerToPeerStatus.EVENT_OPEN:
        raise Refusal(
            RefusalCode.WRONG_STATE,
            f"The line of request {request_id} is not open: it is {request.status}.",
        )
    if session.agent_turns_used >= session.turn_limit:
        raise Refusal(
            RefusalCode.LIMIT_REACHED,
            f"The {session.turn_limit} turns of the call are used up; submit the summary.",
        )
    if world.rules is Rules.STRICT:
        peer_rules.require_begun(world, request)
        if not message.strip() or len(message) > _LONGEST:
            raise Refusal(
                RefusalCode.MISSING_TEXT,
                f"message: say something, in at most {_LONGEST} characters.",
            )
    contract = world.peer.contract(request.case_id)
    if contract is None:
        raise Refusal(RefusalCode.NOT_FOUND, f"Nobody is on the line of request {request_id}.")
    session = _as_it_stands(world, request, session)
    made = answer(contract, session, message)
    text = " ".join(made.parts)
    said = world.words(text, partial(_draft, session, message, text))
    session = peer_session.answered(session, made, message, said, world.clock.now)
    world.peer.sessions[session.id] = session
    world.peer.audit("p2p_session_turn", request.case_id, session.benchmark_side)
    world.peer.looked("get_p2p_session_context", request.case_id)
    return _view(request, session)


def _draft(session: P2PSessionRecord, message: str, text: str) -> Draft:
    """Return what the other side is about to say."""
    return Draft(
        voice=Voice.PEER,
        text=text,
        message=message,
        before=tuple((turn.speaker, turn.message) for turn in session.transcript),
    )


def submit_summary(
    world: ManagedCareWorld,
    request_id: str,
    summary: str,
    proposed_result: PeerToPeerOutcome | str,
) -> Mapping[str, object]:
    """Sum a call up and end it.

    On the payer's side the result proposed is the outcome. On the provider's side the payer's
    physician decides, by what was established, and the case is determined.

    Args:
        world: The world.
        request_id: The request.
        summary: What was said and agreed.
        proposed_result: What ought to come of it.

    Raises:
        Refusal: If nobody holds a call, the result is none; or, in a strict world, the call was
            not held, or is summed up.
    """
    request, session = _line(world, request_id)
    proposed = peer_rules.outcome_of(proposed_result)
    provider_side = session.benchmark_side == TaskActor.PROVIDER
    ended = _outcome(world, session, proposed) if provider_side else proposed
    if world.rules is Rules.STRICT:
        _require_summary(world, request, session, summary)
    session = replace(
        session,
        submitted_summary=summary,
        submitted_result=proposed,
        finalized=True,
        updated_at=world.clock.now,
    )
    world.peer.sessions[session.id] = session
    if request.status is not PeerToPeerStatus.COMPLETED:
        actor = request.payer_contact_id or session.benchmark_side
        request = world.peer.complete(request, ended, actor)
    determination = _determine(world, request, ended) if provider_side else None
    world.peer.audit("submit_p2p_summary", request.case_id, session.benchmark_side)
    return {
        "request": request,
        "session": session,
        "summary_artifact": correspondence.summary_note(world, request, session),
        "outcome": ended,
        "determination": determination,
    }


def _line(
    world: ManagedCareWorld, request_id: str
) -> tuple[PayerPeerToPeerRequest, P2PSessionRecord]:
    request = world.peer.requests.get(request_id)
    session = world.peer.session_of(request_id) if request else None
    if request is None or session is None:
        raise Refusal(
            RefusalCode.NOT_FOUND,
            f"There is no call on a request {request_id[:60]!r}; p2p.list and the inbox name "
            "requests.",
        )
    return request, session


def _as_it_stands(
    world: ManagedCareWorld, request: PayerPeerToPeerRequest, session: P2PSessionRecord
) -> P2PSessionRecord:
    """Return a call as who joins it finds it: from its time on, the other side has opened.

    The source has the first words said as soon as the time is fixed.
    """
    contract = world.peer.contract(request.case_id)
    fixed = request.status is PeerToPeerStatus.EVENT_OPEN and request.scheduled_at
    if world.rules is Rules.COMPAT or session.transcript or contract is None or not fixed:
        return session
    begins = peer_rules.require_time(request.scheduled_at or "")
    if world.clock.now < begins:
        return session
    return peer_session.opened(session, contract, begins)


def _view(request: PayerPeerToPeerRequest, session: P2PSessionRecord) -> Mapping[str, object]:
    return {
        "request": request,
        "actor_role": session.benchmark_side,
        "transcript": session.transcript,
        "finalized": session.finalized,
    }


def _outcome(
    world: ManagedCareWorld, session: P2PSessionRecord, proposed: PeerToPeerOutcome
) -> PeerToPeerOutcome:
    contract = world.peer.contract(session.case_id)
    return peer_session.outcome(contract, session) if contract else proposed


def _require_summary(
    world: ManagedCareWorld,
    request: PayerPeerToPeerRequest,
    session: P2PSessionRecord,
    summary: str,
) -> None:
    if session.finalized:
        raise Refusal(
            RefusalCode.DUPLICATE,
            f"The call of request {request.id} is summed up already; that is done once.",
        )
    if not summary.strip():
        raise Refusal(RefusalCode.MISSING_TEXT, "summary: say what was said and agreed.")
    require_length(world, summary=summary)
    talked = session.agent_turns_used > 0
    peer_rules.require_held(world, request, talked, request.payer_contact_id or "")


def _determine(
    world: ManagedCareWorld, request: PayerPeerToPeerRequest, outcome: PeerToPeerOutcome
) -> DeterminationRecord | None:
    """Determine a case for the payer that nobody plays."""
    done = world.determinations.active(request.case_id)
    if done is not None or world.desk.called(request.case_id):
        return done
    contract = world.peer.contract(request.case_id)
    decision = _DECIDES[outcome]
    if contract is not None and contract.expected_decision is not None:
        decision = contract.expected_decision
    world.determinations.finalize(request.case_id, decision)
    return world.determinations.active(request.case_id)
