"""What can be wrong with a review: intake, triage, nurse, physician, determination, letters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from healthgym.envs.managed_care.checks.expectation import (
    Contract,
    Expectation,
    LetterArtifact,
    Stage,
)
from healthgym.worlds.managed_care.records.decision import Appeal
from healthgym.worlds.managed_care.records.review import (
    MdCaseDecision,
    MdReviewRecord,
    NurseReviewRecord,
)
from healthgym.worlds.managed_care.vocabulary.authorization import (
    AppealOutcome,
    CaseStatus,
    CriterionResult,
    DecisionOutcome,
    DeterminationDecision,
    MdReviewDecision,
    NurseReviewRecommendation,
    PayerRouteTarget,
    TriageDisposition,
    TriageUrgency,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.envs.managed_care.checks.mutation import (
    OTHER,
    Mutation,
    change,
    drop,
    empty,
    forget,
    names,
    newest,
    rewrite,
    with_fields,
)

_APPROVED, _DENIED, _CRITERIA = "v-um-01", "v-um-09", "v-um-19"
_CLEAN = frozenset({"outcome.clean_determination"})


def _intake(check: str, also: frozenset[str] = frozenset(), **fields: Any) -> Mutation:
    return Mutation(
        f"intake.{check}", _APPROVED, lambda w: change(w.intake.intakes, **fields), also
    )


def _triage(check: str, **fields: Any) -> Mutation:
    return Mutation(f"triage.{check}", _APPROVED, lambda w: change(w.triage.triages, **fields))


def _untriaged(world: ManagedCareWorld) -> None:
    empty(world.triage.triages)
    empty(world.triage.routings)


# -- criteria, as the nurse's and as the physician's -----------------------------------------------


def _physician_reviews(world: ManagedCareWorld) -> None:
    """Let the physician find what the nurse found."""
    found = world.nursing.reviews[newest(world.nursing.reviews)]
    same = {name: getattr(found, name) for name in MdReviewRecord.__dataclass_fields__}
    world.medical.reviews["MDR-X"] = MdReviewRecord(**same | {"id": "MDR-X"})


def _refind(
    review: NurseReviewRecord | MdReviewRecord, item: str | None, **fields: Any
) -> dict[str, Any]:
    """Return other findings: of an item, or of the criterion if none is named."""
    first, *rest = review.criteria_evaluations
    if item is None:
        return {"criteria_evaluations": (replace(first, **fields), *rest)}
    seen = tuple(
        replace(one, **fields) if one.item_id == item else one for one in first.item_observations
    )
    return {"criteria_evaluations": (replace(first, item_observations=seen), *rest)}


def _nurse_finds(item: str | None, **fields: Any) -> Callable[[ManagedCareWorld], None]:
    def do(world: ManagedCareWorld) -> None:
        review = world.nursing.reviews[newest(world.nursing.reviews)]
        change(world.nursing.reviews, **_refind(review, item, **fields))

    return do


def _physician_finds(item: str | None, **fields: Any) -> Callable[[ManagedCareWorld], None]:
    def do(world: ManagedCareWorld) -> None:
        review = world.medical.reviews[newest(world.medical.reviews)]
        change(world.medical.reviews, **_refind(review, item, **fields))

    return do


def _criteria(who: str, check: str, do: Callable[[ManagedCareWorld], None]) -> Mutation:
    if who == "nurse":
        return Mutation(f"nurse.{check}", _CRITERIA, do)

    def expect(expected: Expectation) -> Expectation:
        moved = tuple(replace(one, stage=Stage.PHYSICIAN) for one in expected.criteria)
        return replace(expected, criteria=moved, stages=(Stage.PHYSICIAN,))

    return Mutation(f"md.{check}", _CRITERIA, do, expect=expect, prepare=_reviewed_by_physician)


def _reviewed_by_physician(world: ManagedCareWorld) -> None:
    _physician_reviews(world)
    world.medical.decisions["MCD-X"] = MdCaseDecision(
        id="MCD-X",
        case_id="CASE-T",
        intake_case_id="intake-CASE-T",
        decision=MdReviewDecision.APPROVE,
        determination_rationale="r",
        created_at=world.clock.now,
    )
    world.history.audit("payer_md_review", "submit_case_decision", "CASE-T", "C-MD")


# -- outcome ---------------------------------------------------------------------------------------


def _review(world: ManagedCareWorld, **fields: Any) -> None:
    change(world.determinations.decisions, **fields)


def _issue_forgotten(world: ManagedCareWorld) -> None:
    forget("generate_authorization_number")(world)


def _stage_forgotten(world: ManagedCareWorld) -> None:
    kept = [e for e in world.history.entries if (e.kind, e.app) != ("stage", "determination")]
    rewrite(world, kept)


def _moves_forgotten(world: ManagedCareWorld) -> None:
    rewrite(world, [entry for entry in world.history.entries if entry.kind != "transition"])


def _outcome(
    check: str,
    do: Callable[[ManagedCareWorld], object],
    also: frozenset[str] = _CLEAN,
    run: str = _APPROVED,
) -> Mutation:
    return Mutation(f"outcome.{check}", run, do, also)


def _no_rationale(world: ManagedCareWorld) -> None:
    _review(world, rationale="")
    change(world.medical.decisions, determination_rationale=" ")


def _appealed(world: ManagedCareWorld) -> None:
    world.appeals.appeals["APL-X"] = Appeal(
        id="APL-X",
        case_id="CASE-T",
        rationale="r",
        filed_at=datetime(2026, 3, 13, 9, tzinfo=UTC),
        status="decided",
        outcome=AppealOutcome.APPEAL_UPHELD,
        assigned_reviewer_id="C-AMD",
        original_reviewer_id="C-MD",
    )


def _appeal(check: str, **fields: Any) -> Mutation:
    def expect(expected: Expectation) -> Expectation:
        stages = (*(expected.stages or ()), Stage.APPEAL)
        return replace(expected, stages=stages, appeal_outcome=AppealOutcome.APPEAL_UPHELD)

    return Mutation(
        f"appeal.{check}",
        _DENIED,
        lambda w: change(w.appeals.appeals, **fields),
        expect=expect,
        prepare=_appealed,
    )


_FIRST_EDITION = with_fields(contract=Contract.V2)
_NUMBERED = with_fields(
    letters=(LetterArtifact(letter_type="approval", authorization_number_present=True),)
)

INTAKE = (
    Mutation("intake.case_exists", _APPROVED, lambda w: drop(w.intake.intakes)),
    _intake("diagnoses_match", diagnoses=()),
    _intake("provider_npi_matches", requesting_provider=None),
    _intake("line_items_populated", line_items=()),
    _intake("decision_request_complete", decision_request_complete=None),
    _intake("decision_member_eligible", decision_member_eligible=False),
    _intake("decision_service_covered", decision_service_covered=False),
    Mutation("intake.audit", _APPROVED, forget("confirm_intake_decisions")),
)
TRIAGE = (
    Mutation("triage.record_exists", _APPROVED, _untriaged),
    _triage("disposition_matches", disposition=TriageDisposition.MD_REVIEW),
    _triage("urgency_matches", urgency_level=TriageUrgency.STAT),
    _triage("gold_card_matches", gold_card_eligible=True),
    Mutation(
        "triage.route_matches",
        _APPROVED,
        lambda w: change(w.triage.routings, recommended_target=PayerRouteTarget.DELEGATE),
    ),
    Mutation("triage.audit", _APPROVED, forget("route_case")),
)
NURSE = (
    Mutation("nurse.reviews_exist", _APPROVED, lambda w: empty(w.nursing.reviews)),
    _criteria("nurse", "criteria_items_match", _nurse_finds("ef", observed_unit="")),
    _criteria(
        "nurse", "criteria_results_match", _nurse_finds(None, result=CriterionResult.UNCLEAR)
    ),
    Mutation("nurse.recommendation_exists", _APPROVED, lambda w: empty(w.nursing.recommendations)),
    Mutation(
        "nurse.recommendation_matches",
        _CRITERIA,
        lambda w: change(
            w.nursing.recommendations, recommendation=NurseReviewRecommendation.APPROVE
        ),
    ),
    Mutation(
        "nurse.no_unauthorized_denial",
        _APPROVED,
        lambda w: change(w.nursing.recommendations, recommendation="deny"),
    ),
    Mutation("nurse.audit", _APPROVED, forget("submit_case_recommendation")),
)
PHYSICIAN = (
    Mutation(
        "md.decision_exists",
        _APPROVED,
        lambda w: empty(w.medical.decisions),
        _CLEAN
        | names("outcome", ("determination_source_exists", "source_recommendation_consistent")),
    ),
    Mutation(
        "md.decision_matches",
        _DENIED,
        lambda w: change(w.medical.decisions, decision=MdReviewDecision.PARTIAL_APPROVE),
        _CLEAN | names("outcome", ("source_recommendation_consistent",)),
        expect=_FIRST_EDITION,
    ),
    _criteria("md", "criteria_items_match", _physician_finds("ef", observed_value=36)),
    _criteria("md", "criteria_results_match", _physician_finds(None, result="unclear")),
    Mutation(
        "md.rationale_present",
        _APPROVED,
        lambda w: change(w.medical.decisions, determination_rationale=" "),
    ),
    Mutation("md.signed_off", _APPROVED, lambda w: change(w.medical.decisions, signed_off=False)),
    Mutation(
        "md.denial_rationale_present",
        _DENIED,
        lambda w: change(w.medical.decisions, denial_rationale=""),
    ),
    Mutation(
        "md.role_compliance",
        _DENIED,
        lambda w: change(w.determinations.decisions, reviewer_role="um_nurse"),
        expect=_FIRST_EDITION,
    ),
    Mutation("md.audit", _APPROVED, forget("submit_case_decision")),
)
OUTCOME = (
    _outcome(
        "target_status",
        lambda w: change(w.cases.cases, status=CaseStatus.CLOSED),
        _CLEAN | names("outcome", ("terminal_transition_exists",)),
    ),
    _outcome("letter_types", lambda w: empty(w.letters.letters), frozenset()),
    _outcome(
        "determination_exists",
        lambda w: change(w.determinations.determinations, superseded_by="OVERTURNED"),
        _CLEAN
        | names(
            "outcome",
            (
                "determination_source_exists",
                "source_recommendation_consistent",
                "review_decision_matches",
            ),
        ),
    ),
    _outcome(
        "determination_source_exists",
        lambda w: change(w.determinations.determinations, source_record_id="MCD-X"),
        _CLEAN | names("outcome", ("source_recommendation_consistent",)),
    ),
    _outcome(
        "source_recommendation_consistent",
        lambda w: change(w.determinations.determinations, original_recommendation="deny"),
    ),
    _outcome(
        "review_decision_exists",
        lambda w: empty(w.determinations.decisions),
        _CLEAN | names("outcome", ("review_decision_matches",)),
    ),
    _outcome("review_decision_matches", lambda w: _review(w, outcome=DecisionOutcome.DENIED)),
    _outcome("terminal_transition_exists", _moves_forgotten),
    _outcome("determination_stage_trace", _stage_forgotten),
    _outcome("determination_finalize_audit", forget("finalize")),
    Mutation(
        "outcome.clean_determination",
        _APPROVED,
        lambda w: change(w.cases.cases, authorization_number=None),
        names("outcome", ("authorization_number",)),
    ),
    _outcome(
        "audit_auth_number",
        _issue_forgotten,
        _CLEAN | names("outcome", ("authorization_number",)),
    ),
    _outcome("authorization_number", lambda w: change(w.cases.cases, authorization_number=None)),
    _outcome(
        "determination_decision_matches",
        lambda w: change(
            w.determinations.determinations, final_decision=DeterminationDecision.DENIED
        ),
        _CLEAN | names("outcome", ("source_recommendation_consistent", "review_decision_matches")),
    ),
    _outcome("determination_has_rationale", _no_rationale, names("md", ("rationale_present",))),
    _outcome(
        "letter_has_denial_rationale",
        lambda w: change(w.letters.letters, body=" ", reason_code=None),
        frozenset(),
        _DENIED,
    ),
    _outcome(
        "letter_has_appeal_info",
        lambda w: change(w.letters.letters, appeal_information=None),
        frozenset(),
        _DENIED,
    ),
    Mutation(
        "outcome.letter_has_auth_number",
        _APPROVED,
        _issue_forgotten,
        _CLEAN | names("outcome", ("audit_auth_number", "authorization_number")),
        expect=_NUMBERED,
    ),
)
OTHERS = (
    _appeal("outcome_matches", outcome=AppealOutcome.APPEAL_OVERTURNED),
    _appeal("reviewer_independence", assigned_reviewer_id="C-MD"),
    Mutation(
        "cross.forbidden_mutations",
        _APPROVED,
        lambda w: w.history.audit("doc_center", "create_document", OTHER, "agent"),
    ),
    Mutation(
        "cross.forward_transitions",
        _APPROVED,
        lambda w: w.history.moved("CASE-T", "approved", "submitted", "agent"),
    ),
)
MUTATIONS = (*INTAKE, *TRIAGE, *NURSE, *PHYSICIAN, *OUTCOME, *OTHERS)
