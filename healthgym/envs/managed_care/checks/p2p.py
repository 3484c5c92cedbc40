"""Whether a peer-to-peer call was arranged, held and concluded.

The source looks at files (an offer, a reply, a confirmation, notes of the call). Here they are
rendered from the request and its session, so a file is there when what it is rendered from is.
"""

from __future__ import annotations

from datetime import datetime

from healthgym.envs.managed_care.checks.case_file import CaseFile
from healthgym.envs.managed_care.checks.expectation import PeerWorkflow, Stage
from healthgym.envs.managed_care.checks.outcome import last_call
from healthgym.envs.managed_care.checks.rule import Answer, Condition, Question, Rule, rule
from healthgym.worlds.managed_care.records.peer import P2PSessionRecord, P2PSessionTurn
from healthgym.worlds.managed_care.vocabulary.authorization import PeerToPeerStatus

#: What the agent's side does, in the order in which it is done.
PAYER_STEPS = ("offer_slots", "schedule_p2p", "record_p2p_outcome")
PROVIDER_STEPS = ("respond_to_peer_to_peer",)
#: What the source once listed among the files, and no contract asks for any more.
_SUMMARY = "event/agent_summary.md"

OFFER, REPLY, CONFIRMATION = (
    "coordination/01_offer.eml",
    "coordination/02_slot_response.eml",
    "coordination/03_confirmation.eml",
)
OPENING, OUTCOME = "event/00_opening.md", "event/outcome.md"


def session(case: CaseFile) -> P2PSessionRecord | None:
    """Return the session of the newest request for a call."""
    call = last_call(case)
    held = case.of(case.world.peer.sessions.values())
    return next((one for one in reversed(held) if call and one.request_id == call.id), None)


def files(case: CaseFile) -> dict[str, datetime]:
    """Return what can be rendered of the newest call, by suffix, with the time it came about."""
    call, held = last_call(case), session(case)
    if call is None:
        return {}
    offered = case.first_time("offer_slots") or call.created_at
    found: dict[str, datetime] = {}
    if call.offered_slots:
        found[OFFER] = offered
    if call.provider_selected_slot:
        found[REPLY] = case.first_time("respond_to_peer_to_peer") or offered
    if call.scheduled_at:
        found[CONFIRMATION] = case.first_time("schedule_p2p") or call.updated_at
    turns = held.transcript if held else ()
    opening = _opening(turns, held)
    if opening is not None:
        found[OPENING] = opening.created_at
    rest = [turn for turn in turns if turn is not opening]
    for number, turn in enumerate(rest, 1):
        found[f"event/{number:02d}_{turn.speaker}.md"] = turn.created_at
    if call.outcome is not None:
        found[OUTCOME] = case.first_time("record_p2p_outcome") or call.updated_at
    return found


def _opening(
    turns: tuple[P2PSessionTurn, ...], held: P2PSessionRecord | None
) -> P2PSessionTurn | None:
    """Return the statement with which the other side opened the call."""
    own = ("agent", held.benchmark_side if held else "")
    return turns[0] if turns and turns[0].speaker not in own else None


def _contract(case: CaseFile) -> PeerWorkflow:
    return case.expectation.peer or PeerWorkflow()


def _requested(case: CaseFile) -> Answer:
    if case.expectation.peer is None and last_call(case) is None:
        return None
    return last_call(case) is not None


def _with_call(holds: Condition) -> Question:
    """Return a question that does not apply without a request for a call."""
    return lambda case: None if last_call(case) is None else holds(case)


def _file(name: str, suffix: str) -> Rule:
    return rule(name, _with_call(lambda case: suffix in files(case)), _has_contract)


def _turns(case: CaseFile) -> Answer:
    held = session(case)
    return None if held is None else bool(held.transcript)


def _result(case: CaseFile) -> bool:
    call = last_call(case)
    return call is not None and call.outcome == _contract(case).fixed_result


def _audit(case: CaseFile) -> bool:
    steps = PAYER_STEPS if _contract(case).benchmark_side == "payer" else PROVIDER_STEPS
    return case.acted(*steps)


def _sequence(case: CaseFile) -> list[str]:
    return [name for name in _contract(case).required_file_sequence if name != _SUMMARY]


def _complete(case: CaseFile) -> bool:
    return set(_sequence(case)) <= files(case).keys()


def _ordered(case: CaseFile) -> Answer:
    if last_call(case) is None or not _complete(case):
        return None
    times = [files(case)[name] for name in _sequence(case)]
    return times == sorted(times)


def _chronology(case: CaseFile) -> Answer:
    if last_call(case) is None or _contract(case).benchmark_side != "payer":
        return None
    times = [case.first_time(step) for step in PAYER_STEPS]
    known = [time for time in times if time is not None]
    return known == sorted(known) if len(known) == len(times) else None


def _thread(case: CaseFile) -> bool:
    held, call = session(case), last_call(case)
    if held is None or call is None:
        return False
    finished = call.status == PeerToPeerStatus.COMPLETED
    return held.benchmark_side == _contract(case).benchmark_side and (
        finished or not held.finalized
    )


def _ending(case: CaseFile) -> Answer:
    if last_call(case) is None or not _outcome_in_scope(case):
        return None
    contract, made = _contract(case), case.determination
    decision = contract.expected_decision is None or (
        made is not None and made.final_decision == contract.expected_decision
    )
    status = contract.expected_case_status is None or (
        case.case is not None and case.case.status == contract.expected_case_status
    )
    return decision and status


def _outcome_in_scope(case: CaseFile) -> bool:
    return case.expectation.stages is None or Stage.OUTCOME in case.expectation.stages


def _matches(case: CaseFile) -> bool:
    call, expected = last_call(case), case.expectation.call
    return call is not None and expected is not None and call.outcome == expected.outcome


def _offered(case: CaseFile) -> bool:
    call = last_call(case)
    return call is not None and bool(call.offered_slots)


def _scheduled(case: CaseFile) -> bool:
    call = last_call(case)
    return call is not None and bool(call.scheduled_at)


def _ended(case: CaseFile) -> bool:
    call = last_call(case)
    return call is not None and call.outcome is not None


def _has_contract(case: CaseFile) -> bool:
    return case.expectation.peer is not None


def _without(case: CaseFile) -> bool:
    return case.expectation.peer is None


def _without_and_expected(case: CaseFile) -> bool:
    return _without(case) and case.expectation.call is not None


RULES = (
    rule("p2p.request_exists", _requested),
    rule("p2p.session_exists", _with_call(lambda c: session(c) is not None), _has_contract),
    _file("p2p.offer_written", OFFER),
    _file("p2p.slot_response_written", REPLY),
    _file("p2p.confirmation_written", CONFIRMATION),
    _file("p2p.event_opened", OPENING),
    rule("p2p.turns_recorded", _turns, _has_contract),
    rule("p2p.result_recorded", _with_call(_result), _has_contract),
    rule("p2p.audit", _with_call(_audit), _has_contract),
    rule("p2p.required_file_sequence_present", _with_call(_complete), _has_contract),
    rule("p2p.required_file_sequence_ordered", _ordered, _has_contract),
    rule("p2p.audit_chronology", _chronology, _has_contract),
    rule("p2p.thread_state_consistent", _with_call(_thread), _has_contract),
    rule("p2p.determination_matches_contract", _ending, _has_contract),
    rule("p2p.outcome_matches", _with_call(_matches), _without_and_expected),
    rule("p2p.slots_offered", _with_call(_offered), _without),
    rule("p2p.scheduled", _with_call(_scheduled), _without),
    rule("p2p.outcome_recorded", _with_call(_ended), _without),
)
