"""What can be wrong with a call between physicians, and between two seats."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from healthgym.envs.managed_care.checks.expectation import ArenaExpectation, Expectation
from healthgym.worlds.managed_care import relay
from healthgym.worlds.managed_care.records.peer import P2PSessionTurn
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DeterminationDecision,
    PeerToPeerOutcome,
    PeerToPeerStatus,
)
from healthgym.worlds.managed_care.vocabulary.authorization import (
    ProviderDeterminationAction as Action,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.envs.managed_care.checks.mutation import (
    Break,
    Mutation,
    both,
    change,
    empty,
    forget,
    names,
    newest,
    rewrite,
    with_fields,
)

_HELD, _PENDED, _ARENA = "v-um-24", "v-e2e-10", "v-e2e-12"
_NO_FILE = frozenset({"p2p.required_file_sequence_present"})
_OTHERWISE = PeerToPeerOutcome.OVERTURN_TO_APPROVAL


def _call(check: str, do: Break, *also: str, legacy: bool = False) -> Mutation:
    expect = with_fields(peer=None) if legacy else (lambda same: same)
    return Mutation(f"p2p.{check}", _HELD, do, frozenset(also), expect)


def _requests(**fields: object) -> Break:
    return lambda world: change(world.peer.requests, **fields)


def _sessions(**fields: object) -> Break:
    return lambda world: change(world.peer.sessions, **fields)


def _own_words_only(world: ManagedCareWorld) -> None:
    """Let only the agent speak, as if the line had never been opened."""
    turn = P2PSessionTurn(speaker="payer", message="m", created_at=world.clock.now)
    change(world.peer.sessions, transcript=(turn,))


def _late_opening(world: ManagedCareWorld) -> None:
    """Let the offer be younger than what follows it; its entry stays where it is in the log."""
    held = world.peer.sessions[newest(world.peer.sessions)]
    early = tuple(
        replace(turn, created_at=turn.created_at - timedelta(days=1)) for turn in held.transcript
    )
    change(world.peer.sessions, transcript=early)


def _at(world: ManagedCareWorld, action: str, hours: int) -> None:
    """Move the entries of an action in time."""
    shift = timedelta(hours=hours)
    rows = world.history.entries
    rewrite(world, [replace(r, at=r.at + shift) if r.action == action else r for r in rows])


_CALLS = (
    _call(
        "request_exists",
        lambda w: empty(w.peer.requests),
        "outcome.source_recommendation_consistent",
        "outcome.clean_determination",
    ),
    _call(
        "session_exists",
        lambda w: empty(w.peer.sessions),
        "p2p.event_opened",
        "p2p.thread_state_consistent",
        *_NO_FILE,
    ),
    _call("offer_written", _requests(offered_slots=()), *_NO_FILE),
    _call("slot_response_written", _requests(provider_selected_slot=None), *_NO_FILE),
    _call(
        "confirmation_written",
        _requests(scheduled_at=None),
        "outcome.p2p_scheduled",
        *_NO_FILE,
    ),
    _call("event_opened", _own_words_only, *_NO_FILE),
    _call("turns_recorded", _sessions(transcript=()), "p2p.event_opened", *_NO_FILE),
    _call(
        "result_recorded",
        _requests(outcome=_OTHERWISE),
        "outcome.p2p_outcome_matches",
    ),
    _call("audit", forget("schedule_p2p")),
    _call(
        "required_file_sequence_present",
        _requests(scheduled_at=None),
        "p2p.confirmation_written",
        "outcome.p2p_scheduled",
    ),
    _call("required_file_sequence_ordered", _late_opening),
    _call("audit_chronology", lambda w: _at(w, "record_p2p_outcome", -1)),
    _call("thread_state_consistent", _sessions(benchmark_side="provider")),
    _call(
        "determination_matches_contract",
        lambda w: change(w.cases.cases, status=CaseStatus.CLOSED),
        "outcome.target_status",
        "outcome.terminal_transition_exists",
        "outcome.clean_determination",
    ),
    _call(
        "outcome_matches",
        _requests(outcome=_OTHERWISE),
        "outcome.p2p_outcome_matches",
        legacy=True,
    ),
    _call("slots_offered", _requests(offered_slots=()), legacy=True),
    _call("scheduled", _requests(scheduled_at=None), "outcome.p2p_scheduled", legacy=True),
    _call(
        "outcome_recorded",
        _requests(outcome=None),
        "p2p.outcome_matches",
        "outcome.p2p_outcome_matches",
        "outcome.source_recommendation_consistent",
        "outcome.clean_determination",
        legacy=True,
    ),
    Mutation(
        "outcome.p2p_outcome_matches",
        _HELD,
        _requests(outcome=_OTHERWISE),
        frozenset({"p2p.result_recorded"}),
    ),
    Mutation(
        "outcome.p2p_scheduled",
        _HELD,
        _requests(scheduled_at=None),
        frozenset({"p2p.confirmation_written", *_NO_FILE}),
    ),
    Mutation("outcome.p2p_has_notes", _HELD, _requests(notes=())),
)


# -- the arena -------------------------------------------------------------------------------------


def _arena(check: str, do: Break, *also: str, run: str = _ARENA) -> Mutation:
    return Mutation(f"e2e.{check}", run, do, frozenset(also))


def other_words(**fields: object) -> Break:
    """Return what files another transcript in place of the one that was filed."""

    def do(world: ManagedCareWorld) -> None:
        rows = []
        for row in world.history.entries:
            if row.action == "call_transcript":
                row = replace(row, details={**row.details, **fields})
            rows.append(row)
        rewrite(world, rows)

    return do


def _gone(world: ManagedCareWorld) -> None:
    """Lose a document that was sent."""
    sent = world.authorizations.packets[newest(world.authorizations.packets)]
    listed = (*sent.attached_document_ids, "DOC-GONE")
    change(world.authorizations.packets, attached_document_ids=listed)


def _agreed(expected: Expectation) -> Expectation:
    arena = ArenaExpectation(
        final_decision=None,
        provider_final_position=DeterminationDecision.APPROVED,
        require_p2p_resolution=True,
    )
    return replace(expected, arena=arena)


def _decided_otherwise(world: ManagedCareWorld) -> None:
    change(world.determinations.determinations, final_decision=DeterminationDecision.DENIED)


_SEEN_OTHERWISE = names(
    "outcome",
    ("source_recommendation_consistent", "review_decision_matches", "clean_determination"),
)
_NO_DETERMINATION = names(
    "outcome",
    (
        "determination_exists",
        "determination_source_exists",
        "source_recommendation_consistent",
        "review_decision_matches",
        "clean_determination",
    ),
)
_UNSPOKEN = (
    "e2e.p2p_transcript_has_both_roles",
    "e2e.p2p_no_simulator_turns",
    "e2e.p2p_outcome_after_transcript",
    "e2e.p2p_payer_position_recorded",
    "e2e.p2p_outcome_matches_transcript",
)


_SEATS = (
    _arena(
        "provider_judgment_path",
        lambda w: change(w.authorizations.determinations, final_action=Action.GATHER_MORE_EVIDENCE),
        run="v-e2e-01",
    ),
    _arena(
        "target_case_reviewed",
        both(
            lambda w: empty(w.intake.intakes),
            lambda w: empty(w.determinations.determinations),
        ),
        "e2e.intake_linked_to_submission",
        "e2e.determination_linked_to_intake",
        "e2e.final_decision_matches",
        *_NO_DETERMINATION,
    ),
    _arena("provider_submission_exists", forget("submit_authorization")),
    _arena("intake_linked_to_submission", lambda w: empty(w.intake.intakes)),
    _arena(
        "determination_linked_to_intake",
        lambda w: change(w.determinations.determinations, intake_case_id="intake-X"),
    ),
    _arena(
        "determination_after_submission",
        lambda w: change(
            w.determinations.determinations, created_at=w.clock.now - timedelta(days=1)
        ),
    ),
    _arena("payer_gt_binding_audit", forget(relay.BOUND), "e2e.payer_gt_bound_after_submission"),
    _arena("payer_gt_bound_after_submission", lambda w: _at(w, relay.BOUND, -1)),
    _arena("shared_packet_documents_match", _gone),
    _arena("final_decision_matches", _decided_otherwise, *_SEEN_OTHERWISE),
    Mutation("e2e.role_agreement", _ARENA, _decided_otherwise, _SEEN_OTHERWISE, _agreed),
    _arena("pend_requested", forget("request_missing_information"), run=_PENDED),
    _arena("pend_provider_responded", forget("respond_to_pend"), run=_PENDED),
    _arena(
        "pend_requeued_for_review",
        lambda w: rewrite(w, [r for r in w.history.entries if r.source != "resubmitted"]),
        run=_PENDED,
    ),
    _arena("pend_chronology_valid", lambda w: _at(w, "respond_to_pend", -1), run=_PENDED),
    _arena(
        "p2p_completed",
        _requests(status=PeerToPeerStatus.EVENT_OPEN),
        "e2e.p2p_outcome_recorded",
        "e2e.p2p_transcript_exists",
        *(name for name in _UNSPOKEN if name != "e2e.p2p_outcome_after_transcript"),
    ),
    _arena(
        "p2p_outcome_recorded",
        _requests(outcome=None),
        "e2e.p2p_outcome_matches_transcript",
        "outcome.source_recommendation_consistent",
        "outcome.clean_determination",
    ),
    _arena("p2p_transcript_exists", forget("call_transcript"), *_UNSPOKEN),
    _arena("p2p_transcript_has_both_roles", other_words(turns=[["payer", "m"]])),
    _arena(
        "p2p_no_simulator_turns",
        other_words(turns=[["provider", "m"], ["payer", "m"], ["counterpart", "m"]]),
    ),
    _arena(
        "p2p_no_direct_session_tools",
        lambda w: w.history.looked("x", "get_p2p_session_context", next(iter(w.cases.cases)), "a"),
    ),
    _arena("p2p_no_direct_session_transcript", _sessions(agent_turns_used=1)),
    _arena("p2p_outcome_after_transcript", lambda w: _at(w, "call_transcript", 1)),
    _arena("p2p_payer_position_recorded", other_words(payer_position=None), _UNSPOKEN[-1]),
    _arena(
        "p2p_outcome_matches_transcript",
        other_words(payer_position="uphold_intended_adverse_decision"),
    ),
    _arena("p2p_record_outcome_phase_legal", lambda w: _at(w, "phase_entered", 1)),
)
MUTATIONS = (*_CALLS, *_SEATS)
