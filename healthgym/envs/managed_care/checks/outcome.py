"""Whether the case ended as it should, and is documented: determination, number, letters.

Eight checks of the determination always agree in the published runs; they are one bit.
"""

from __future__ import annotations

from collections.abc import Mapping

from healthgym.envs.managed_care.checks.case_file import CaseFile
from healthgym.envs.managed_care.checks.rule import Answer, Condition, Rule, rule
from healthgym.worlds.managed_care.history import EntryKind
from healthgym.worlds.managed_care.machines import DECIDED
from healthgym.worlds.managed_care.records.decision import (
    DeterminationRecord,
    Letter,
    ReviewDecision,
)
from healthgym.worlds.managed_care.records.peer import PayerPeerToPeerRequest
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DecisionOutcome,
    DeterminationDecision,
    DeterminationSource,
    MdReviewDecision,
    NurseReviewRecommendation,
    PeerToPeerOutcome,
)

_Decision = DeterminationDecision
#: What a source's word comes to.
DECISION_OF: Mapping[str, DeterminationDecision] = {
    NurseReviewRecommendation.APPROVE: _Decision.APPROVED,
    MdReviewDecision.DENY: _Decision.DENIED,
    MdReviewDecision.PARTIAL_APPROVE: _Decision.PARTIALLY_APPROVED,
    PeerToPeerOutcome.OVERTURN_TO_APPROVAL: _Decision.APPROVED,
    PeerToPeerOutcome.UPHOLD_INTENDED_ADVERSE_DECISION: _Decision.DENIED,
}
#: The outcome that the provider is told, by decision.
OUTCOME_OF: Mapping[DeterminationDecision, DecisionOutcome] = {
    _Decision.APPROVED: DecisionOutcome.APPROVED,
    _Decision.PARTIALLY_APPROVED: DecisionOutcome.APPROVED_MODIFIED,
    _Decision.DENIED: DecisionOutcome.DENIED,
}
NUMBER_ISSUED = "generate_authorization_number"


def last_call(case: CaseFile) -> PayerPeerToPeerRequest | None:
    """Return the newest request for a call."""
    return case.last(case.world.peer.requests.values())


def _active(case: CaseFile) -> DeterminationRecord | None:
    made = case.of(case.world.determinations.determinations.values())
    return next((one for one in reversed(made) if not one.superseded_by), None)


def _last_decision(case: CaseFile) -> ReviewDecision | None:
    return case.last(case.world.determinations.decisions.values())


def _letter(case: CaseFile, kind: str) -> Letter | None:
    letters = case.of(case.world.letters.letters.values())
    return next((one for one in reversed(letters) if one.letter_type == kind), None)


def _target_status(case: CaseFile) -> Answer:
    return case.case is not None and case.case.status == case.expectation.target_status


def _letter_types(case: CaseFile) -> Answer:
    written = {letter.letter_type for letter in case.of(case.world.letters.letters.values())}
    return written.issuperset(case.expectation.letter_types)


# -- the determination ---------------------------------------------------------------------------


def _determined(case: CaseFile) -> bool:
    return _active(case) is not None


def _source_word(case: CaseFile, made: DeterminationRecord) -> str | None:
    """Return what the record said that a determination rests on; None if it is not there."""
    world, key = case.world, made.source_record_id
    if made.source == DeterminationSource.MD_DECISION:
        decision = world.medical.decisions.get(key)
        return decision.decision if decision else None
    if made.source == DeterminationSource.NURSE_RECOMMENDATION:
        recommendation = world.nursing.recommendations.get(key)
        return recommendation.recommendation if recommendation else None
    if made.source == DeterminationSource.TRIAGE_AUTO_APPROVE:
        return _Decision.APPROVED if key in world.triage.routings else None
    return None


def _source_exists(case: CaseFile) -> bool:
    made = _active(case)
    return made is not None and _source_word(case, made) is not None


def _consistent(case: CaseFile) -> bool:
    made = _active(case)
    word = _source_word(case, made) if made else None
    if made is None or word is None:
        return False
    if made.source == DeterminationSource.TRIAGE_AUTO_APPROVE:
        return made.final_decision == _Decision.APPROVED and not made.overridden
    call = last_call(case)
    if word == MdReviewDecision.P2P_REVIEW and call is not None and call.outcome is not None:
        # The call takes the place of what the physician had put off.
        ended = DECISION_OF[call.outcome]
        says: DeterminationDecision | None = DECISION_OF.get(made.original_recommendation, ended)
    elif word != made.original_recommendation:
        return False
    else:
        says = DECISION_OF.get(word)
    return says == made.final_decision or (made.overridden and bool(made.override_reason.strip()))


def _reviewed(case: CaseFile) -> bool:
    return _last_decision(case) is not None


def _review_matches(case: CaseFile) -> bool:
    made, told = _active(case), _last_decision(case)
    if made is None or told is None:
        return False
    return told.outcome == OUTCOME_OF[made.final_decision]


def _moved(case: CaseFile) -> bool:
    return case.case is not None and any(to == case.case.status for _, to in case.moves())


def _stage_ended(case: CaseFile) -> bool:
    return any(row.kind is EntryKind.STAGE and row.app == "determination" for row in case.log)


def _finalized(case: CaseFile) -> bool:
    return any(row.app == "payer_determination" for row in case.actions("finalize"))


_DETERMINATION = {
    "outcome.determination_exists": _determined,
    "outcome.determination_source_exists": _source_exists,
    "outcome.source_recommendation_consistent": _consistent,
    "outcome.review_decision_exists": _reviewed,
    "outcome.review_decision_matches": _review_matches,
    "outcome.terminal_transition_exists": _moved,
    "outcome.determination_stage_trace": _stage_ended,
    "outcome.determination_finalize_audit": _finalized,
}


def _clean(case: CaseFile) -> bool:
    held = all(holds(case) for holds in _DETERMINATION.values())
    return held and (not _approved(case) or _numbered(case))


def _expects_final(case: CaseFile) -> bool:
    """Return whether a final determination is expected."""
    return case.expectation.target_status in DECIDED


def _approved(case: CaseFile) -> bool:
    good = (CaseStatus.APPROVED, CaseStatus.PARTIALLY_APPROVED)
    return case.case is not None and case.case.status in good


def _issued(case: CaseFile) -> bool:
    return case.acted(NUMBER_ISSUED)


def _numbered(case: CaseFile) -> bool:
    return case.case is not None and bool(case.case.authorization_number) and _issued(case)


# -- what single artifacts must have -------------------------------------------------------------


def _decides_rightly(case: CaseFile) -> Answer:
    expected = case.expectation.determination
    if expected is None or case.determination is None:
        return None
    return case.determination.final_decision == expected.decision


def _has_rationale(case: CaseFile) -> Answer:
    if case.determination is None:
        return None
    told = _last_decision(case)
    texts = [told.rationale if told else "", case.determination.override_reason]
    decisions = case.of(case.world.medical.decisions.values())
    texts += [made.determination_rationale for made in decisions]
    return any(text.strip() for text in texts)


def _wanted(case: CaseFile, flag: str) -> list[str]:
    """Return the types of letters of which something is expected, by the flag that asks for it."""
    return [one.letter_type for one in case.expectation.letters if getattr(one, flag)]


def _gives_reason(case: CaseFile) -> Answer:
    letters = [_letter(case, kind) for kind in _wanted(case, "denial_rationale_referenced")]
    if not all(letters):
        return None
    return all(one.reason_code or one.body.strip() for one in letters if one)


def _tells_of_appeal(case: CaseFile) -> Answer:
    letters = [_letter(case, kind) for kind in _wanted(case, "appeal_information_present")]
    if not all(letters):
        return None
    return all((one.appeal_information or "").strip() for one in letters if one)


def _has_number(case: CaseFile) -> Answer:
    kinds = _wanted(case, "authorization_number_present")
    return _issued(case) if all(_letter(case, kind) for kind in kinds) else None


def _call_ended(case: CaseFile) -> Answer:
    call, expected = last_call(case), case.expectation.call
    if call is None or expected is None:
        return None
    return call.outcome == expected.outcome


def _call_scheduled(case: CaseFile) -> Answer:
    call = last_call(case)
    return None if call is None else bool(call.scheduled_at)


def _call_noted(case: CaseFile) -> Answer:
    call = last_call(case)
    return None if call is None else bool(call.notes)


def _expects_decision(case: CaseFile) -> bool:
    expected = case.expectation.determination
    return expected is not None and expected.decision is not None


def _expects_rationale(case: CaseFile) -> bool:
    expected = case.expectation.determination
    return expected is not None and expected.rationale_present


def _expects_call(case: CaseFile) -> bool:
    expected = case.expectation.call
    return expected is not None and expected.outcome is not None


def _expects_schedule(case: CaseFile) -> bool:
    expected = case.expectation.call
    return expected is not None and expected.scheduling_complete


def _expects_notes(case: CaseFile) -> bool:
    expected = case.expectation.call
    return expected is not None and expected.notes_present


def _of_determination(name: str, holds: Condition) -> Rule:
    return rule(name, lambda case: holds(case) if _expects_final(case) else None)


RULES = (
    rule("outcome.target_status", _target_status),
    rule("outcome.letter_types", _letter_types, lambda c: bool(c.expectation.letter_types)),
    *(_of_determination(name, holds) for name, holds in _DETERMINATION.items()),
    _of_determination("outcome.clean_determination", _clean),
    rule("outcome.audit_auth_number", _issued, _approved),
    rule("outcome.authorization_number", _numbered, _approved),
    rule("outcome.determination_decision_matches", _decides_rightly, _expects_decision),
    rule("outcome.determination_has_rationale", _has_rationale, _expects_rationale),
    rule(
        "outcome.letter_has_denial_rationale",
        _gives_reason,
        lambda c: bool(_wanted(c, "denial_rationale_referenced")),
    ),
    rule(
        "outcome.letter_has_appeal_info",
        _tells_of_appeal,
        lambda c: bool(_wanted(c, "appeal_information_present")),
    ),
    rule(
        "outcome.letter_has_auth_number",
        _has_number,
        lambda c: bool(_wanted(c, "authorization_number_present")),
    ),
    rule("outcome.p2p_outcome_matches", _call_ended, _expects_call),
    rule("outcome.p2p_scheduled", _call_scheduled, _expects_schedule),
    rule("outcome.p2p_has_notes", _call_noted, _expects_notes),
)
