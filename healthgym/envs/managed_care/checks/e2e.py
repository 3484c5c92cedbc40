"""Whether two seats took one case from the order to the letter together.

The source's export cuts the link between a call and its transcript, so that six of its checks are
False however the call went, and no run that needs a call can pass. This is the rule that it states,
without that loss.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from healthgym.envs.managed_care.checks.case_file import CaseFile
from healthgym.envs.managed_care.checks.rule import Answer, Question, Rule, rule
from healthgym.worlds.managed_care.records.peer import PayerPeerToPeerRequest
from healthgym.worlds.managed_care.relay import (
    BOUND,
    CALL,
    PAYER,
    PROVIDER,
    Transcript,
    transcripts,
    windows,
)
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    PeerToPeerStatus,
    ProviderDeterminationAction,
)

_Action, _Status = ProviderDeterminationAction, CaseStatus
#: What the source's tools of a simulated call leave in the log.
SESSION_ACTIONS = ("get_p2p_session_context", "p2p_session_turn", "submit_p2p_summary")
_SUBMITS = ("submit", str(_Action.SUBMIT_PA))


class AgentPath(StrEnum):
    """How far the provider took the case."""

    NO_DECISION = "no_decision"
    NO_SUBMIT = "no_submit"
    SUBMIT = "submit"
    SUBMIT_INCOMPLETE = "submit_incomplete"


def agent_path(case: CaseFile) -> AgentPath:
    """Return how far the provider took the case, which decides what applies at all."""
    if case.final_action is None:
        return AgentPath.NO_DECISION
    if case.final_action != _Action.SUBMIT_PA:
        return AgentPath.NO_SUBMIT
    return AgentPath.SUBMIT if case.packet else AgentPath.SUBMIT_INCOMPLETE


def _judgment(case: CaseFile) -> Answer:
    expected = case.expectation.provider_action
    if expected is None:
        return None
    wanted = AgentPath.SUBMIT if expected in _SUBMITS else AgentPath.NO_SUBMIT
    return agent_path(case) == wanted


def _unless_held_back(holds: Question) -> Question:
    """Return a question that does not apply to a case that was rightly or wrongly not sent."""

    def ask(case: CaseFile) -> Answer:
        return None if agent_path(case) == AgentPath.NO_SUBMIT else holds(case)

    return ask


def _reviewed(case: CaseFile) -> Answer:
    return case.intake is not None or case.determination is not None


def _sent(case: CaseFile) -> Answer:
    return case.packet is not None and case.acted("submit_authorization")


def _intake_linked(case: CaseFile) -> Answer:
    key = case.case.payer_intake_case_id if case.case else None
    return key is not None and key in case.world.intake.intakes


def _determination_linked(case: CaseFile) -> Answer:
    if case.case is None or case.determination is None:
        return False
    return case.determination.intake_case_id == case.case.payer_intake_case_id


def _decided_after(case: CaseFile) -> Answer:
    if case.packet is None or case.determination is None:
        return None
    return case.determination.created_at >= case.packet.submitted_at


def _bound(case: CaseFile) -> Answer:
    return case.acted(BOUND)


def _bound_after(case: CaseFile) -> Answer:
    bound = case.first_time(BOUND)
    first = next(iter(case.of(case.world.authorizations.packets.values())), None)
    return bound is not None and first is not None and bound >= first.submitted_at


def _shared_documents(case: CaseFile) -> Answer:
    """Return whether the payer holds what was sent: copies are rendered from the packet's list."""
    if case.packet is None:
        return False
    sent = set(case.packet.attached_document_ids)
    return bool(sent) and sent <= {doc.id for doc in case.documents}


def _decision(case: CaseFile) -> Answer:
    expected = case.expectation.arena.final_decision
    if expected is None:
        return None
    return case.determination is not None and case.determination.final_decision == expected


def _agreement(case: CaseFile) -> Answer:
    expected = case.expectation.arena.provider_final_position
    if expected is None:
        return None
    return case.determination is not None and case.determination.final_decision == expected


# -- a pend --------------------------------------------------------------------------------------


def _if_pend(holds: Question) -> Question:
    def ask(case: CaseFile) -> Answer:
        return holds(case) if case.expectation.arena.require_pend_resolution else None

    return ask


def _asked(case: CaseFile) -> Answer:
    return case.acted("request_missing_information")


def _replied(case: CaseFile) -> Answer:
    return case.acted("respond_to_pend")


def _requeued(case: CaseFile) -> Answer:
    moves = set(case.moves())
    back = (str(_Status.PENDED_ACTION_REQUIRED), str(_Status.RESUBMITTED))
    return back in moves and (str(_Status.RESUBMITTED), str(_Status.UNDER_REVIEW)) in moves


def _pend_order(case: CaseFile) -> Answer:
    asked = case.first_time("request_missing_information")
    replied = case.first_time("respond_to_pend")
    if asked is None or replied is None or case.determination is None:
        return None
    return asked <= replied <= case.determination.created_at


# -- a call --------------------------------------------------------------------------------------


def _if_call(holds: Question) -> Question:
    def ask(case: CaseFile) -> Answer:
        return holds(case) if case.expectation.arena.require_p2p_resolution else None

    return ask


def _call(case: CaseFile) -> PayerPeerToPeerRequest | None:
    """Return the newest completed request for a call."""
    held = case.of(case.world.peer.requests.values())
    done = [one for one in held if one.status == PeerToPeerStatus.COMPLETED]
    return done[-1] if done else None


def _transcript(case: CaseFile) -> Transcript | None:
    call = _call(case)
    found = [one for one in transcripts(case.world, case.case_id) if call]
    return next((one for one in reversed(found) if call and one.request_id == call.id), None)


def _outcome_time(case: CaseFile) -> datetime | None:
    call = _call(case)
    return case.first_time("record_p2p_outcome") if call and call.outcome else None


def _completed(case: CaseFile) -> Answer:
    return _call(case) is not None


def _ended(case: CaseFile) -> Answer:
    call = _call(case)
    return call is not None and call.outcome is not None


def _written(case: CaseFile) -> Answer:
    spoken = _transcript(case)
    return spoken is not None and bool(spoken.turns)


def _both_spoke(case: CaseFile) -> Answer:
    spoken = _transcript(case)
    return spoken is not None and {PROVIDER, PAYER} <= {turn.actor for turn in spoken.turns}


def _nobody_else(case: CaseFile) -> Answer:
    spoken = _transcript(case)
    return spoken is not None and {turn.actor for turn in spoken.turns} <= {PROVIDER, PAYER}


def _no_session_tools(case: CaseFile) -> Answer:
    return not any(case.actions(*SESSION_ACTIONS))


def _no_session(case: CaseFile) -> Answer:
    held = case.of(case.world.peer.sessions.values())
    return not any(one.agent_turns_used or one.submitted_summary or one.finalized for one in held)


def _after_words(case: CaseFile) -> Answer:
    ended, spoken = _outcome_time(case), _transcript(case)
    if ended is None:
        return None
    return spoken is not None and ended >= spoken.at


def _provider_position(case: CaseFile) -> Answer:
    spoken = _transcript(case)
    return True if spoken is not None and spoken.provider_position else None


def _payer_position(case: CaseFile) -> Answer:
    spoken = _transcript(case)
    return spoken is not None and bool(spoken.payer_position)


def _as_stated(case: CaseFile) -> Answer:
    call, spoken = _call(case), _transcript(case)
    if call is None or spoken is None or call.outcome is None:
        return False
    return str(call.outcome) == spoken.payer_position


def _in_phase(case: CaseFile) -> Answer:
    phases = windows(case.world, case.case_id, CALL, PAYER)
    recorded = case.actions("record_p2p_outcome")
    return all(any(phase.holds(row.at) for phase in phases) for row in recorded)


def _always_on_submission(name: str, holds: Question) -> Rule:
    return rule(name, _unless_held_back(holds))


def _tried(case: CaseFile) -> bool:
    return agent_path(case) != AgentPath.NO_SUBMIT


def _on_submission(name: str, holds: Question) -> Rule:
    # Where the provider held back the source does not even list these.
    return rule(name, holds, _tried)


RULES = (
    rule("e2e.provider_judgment_path", _judgment),
    _always_on_submission("e2e.target_case_reviewed", _reviewed),
    _always_on_submission("e2e.provider_submission_exists", _sent),
    _always_on_submission("e2e.intake_linked_to_submission", _intake_linked),
    _on_submission("e2e.determination_linked_to_intake", _determination_linked),
    _on_submission("e2e.determination_after_submission", _decided_after),
    _always_on_submission("e2e.payer_gt_binding_audit", _bound),
    _always_on_submission("e2e.payer_gt_bound_after_submission", _bound_after),
    _always_on_submission("e2e.shared_packet_documents_match", _shared_documents),
    _on_submission("e2e.final_decision_matches", _decision),
    _on_submission("e2e.role_agreement", _agreement),
    _on_submission("e2e.pend_requested", _if_pend(_asked)),
    _on_submission("e2e.pend_provider_responded", _if_pend(_replied)),
    _on_submission("e2e.pend_requeued_for_review", _if_pend(_requeued)),
    _on_submission("e2e.pend_chronology_valid", _if_pend(_pend_order)),
    _on_submission("e2e.p2p_completed", _if_call(_completed)),
    _on_submission("e2e.p2p_outcome_recorded", _if_call(_ended)),
    _on_submission("e2e.p2p_transcript_exists", _if_call(_written)),
    _on_submission("e2e.p2p_transcript_has_both_roles", _if_call(_both_spoke)),
    _on_submission("e2e.p2p_no_simulator_turns", _if_call(_nobody_else)),
    _always_on_submission("e2e.p2p_no_direct_session_tools", _if_call(_no_session_tools)),
    _on_submission("e2e.p2p_no_direct_session_transcript", _if_call(_no_session)),
    _on_submission("e2e.p2p_outcome_after_transcript", _if_call(_after_words)),
    _on_submission("e2e.p2p_provider_position_recorded", _if_call(_provider_position)),
    _on_submission("e2e.p2p_payer_position_recorded", _if_call(_payer_position)),
    _on_submission("e2e.p2p_outcome_matches_transcript", _if_call(_as_stated)),
    _always_on_submission("e2e.p2p_record_outcome_phase_legal", _if_call(_in_phase)),
)
