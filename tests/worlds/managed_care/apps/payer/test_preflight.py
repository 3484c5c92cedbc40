"""Twelve checks before a decision is final, and who may make it so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from healthgym.core.schema import argument_model, validate
from healthgym.envs.managed_care.tools.determination import DeterminationToolset
from healthgym.errors import ToolError
from healthgym.worlds.managed_care.records.review import MdLineItemDecision
from healthgym.worlds.managed_care.refusals import RefusalCode
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.staff import Staff
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DeterminationDecision,
    IntakeStatus,
    MdReviewDecision,
    NurseReviewRecommendation,
    PayerRouteTarget,
    PeerToPeerOutcome,
    PeerToPeerStatus,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.payer.review_desk import (
    CASE,
    CLERK,
    MD,
    MD_2,
    NURSE,
    STRANGER,
    approved_by_nurse,
    both,
    decide,
    decided,
    desk,
    escalated,
    finalized,
    refused,
)

APPROVED, DENIED, PARTIALLY = (
    DeterminationDecision.APPROVED,
    DeterminationDecision.DENIED,
    DeterminationDecision.PARTIALLY_APPROVED,
)
BOTH = pytest.mark.parametrize("rules", Rules)


def finalize(world: ManagedCareWorld, decision: DeterminationDecision, **fields: object) -> object:
    return world.determinations.finalize(CASE, decision, **fields)  # type: ignore[arg-type]


@BOTH
def test_1_one_determination_at_a_time(rules: Rules) -> None:
    world = finalized(APPROVED, rules)
    refused(world, RefusalCode.DUPLICATE, lambda: finalize(world, APPROVED))


def test_2_the_decision_is_one_of_three() -> None:
    model = argument_model(DeterminationToolset.finalize)
    with pytest.raises(ToolError, match="decision"):
        validate(model, "finalize", "", {"case_id": CASE, "decision": "maybe"})


@BOTH
def test_3_a_physicians_word_goes_before_a_nurses(rules: Rules) -> None:
    world = approved_by_nurse(rules)
    decide(world, MdReviewDecision.APPROVE)
    finalize(world, APPROVED)
    made = world.determinations.active(CASE)
    assert made is not None
    assert (made.source, made.determined_by) == ("md_decision", MD)


@BOTH
@pytest.mark.parametrize(
    ("outcome", "recommended"),
    [
        (PeerToPeerOutcome.UPHOLD_INTENDED_ADVERSE_DECISION, DENIED),
        (PeerToPeerOutcome.OVERTURN_TO_APPROVAL, APPROVED),
    ],
)
def test_3_a_call_turns_the_question_into_a_decision(
    rules: Rules, outcome: PeerToPeerOutcome, recommended: DeterminationDecision
) -> None:
    world = decided(MdReviewDecision.P2P_REVIEW, rules)
    (request,) = world.peer.of(CASE)
    world.peer.complete(request, outcome, MD_2)
    finalize(world, recommended)
    assert world.cases.get(CASE).status == recommended.value


@BOTH
def test_3_a_call_without_a_readable_outcome_decides_nothing(rules: Rules) -> None:
    world = decided(MdReviewDecision.P2P_REVIEW, rules)
    (request,) = world.peer.of(CASE)
    world.peer.requests[request.id] = replace(request, status=PeerToPeerStatus.COMPLETED)
    refused(world, RefusalCode.BLOCKED, lambda: finalize(world, DENIED))


@BOTH
def test_4_what_is_awaited_blocks(rules: Rules) -> None:
    asking = desk(rules)
    asking.nursing.submit(
        CASE, NurseReviewRecommendation.REQUEST_INFO, info_requested="ECG", reviewer_id=NURSE
    )
    worlds = {
        "awaiting_md_review": escalated(rules),
        "peer_to_peer_pending": decided(MdReviewDecision.P2P_REVIEW, rules),
        "awaiting_requested_information": asking,
    }
    for blocker, world in worlds.items():
        told = refused(world, RefusalCode.BLOCKED, lambda w=world: finalize(w, APPROVED))
        assert blocker in told
        assert world.determinations.summary(CASE)["blocking_reason"] == blocker


@BOTH
def test_5_somebody_has_recommended_something(rules: Rules) -> None:
    world = desk(rules)
    refused(world, RefusalCode.WRONG_STATE, lambda: finalize(world, APPROVED))


@BOTH
def test_5_after_a_physicians_pend_a_physician_decides_again(rules: Rules) -> None:
    world = approved_by_nurse(rules)
    decide(world, MdReviewDecision.REQUEST_INFO, info_requested="ECG", info_deadline="2026-03-15")
    world.medical.supersede_requests(CASE, "ANSWERED")
    told = refused(world, RefusalCode.WRONG_STATE, lambda: finalize(world, APPROVED))
    assert "awaiting_fresh_md_decision" in told


@BOTH
@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"overridden": True},
        {"override_reason": "because"},
        {"overridden": True, "override_reason": " "},
    ],
    ids=["plain", "no-reason", "no-flag", "blank-reason"],
)
def test_6_departing_from_the_recommendation_is_said_and_reasoned(
    rules: Rules, fields: dict[str, object]
) -> None:
    world = decided(MdReviewDecision.DENY, rules)
    refused(world, RefusalCode.OVERRIDE_REQUIRED, lambda: finalize(world, APPROVED, **fields))


@BOTH
def test_6_an_override_is_what_departs_and_not_what_says_so(rules: Rules) -> None:
    world = approved_by_nurse(rules)
    finalize(world, APPROVED, overridden=True, override_reason="as recommended")
    made = world.determinations.active(CASE)
    assert made is not None
    assert not made.overridden


@BOTH
@pytest.mark.parametrize("status", [CaseStatus.CLOSED, CaseStatus.APPEALED, CaseStatus.DRAFT])
def test_7_the_status_leads_to_the_decision(rules: Rules, status: CaseStatus) -> None:
    world = approved_by_nurse(rules)
    world.cases.put(replace(world.cases.get(CASE), status=status))
    refused(world, RefusalCode.ILLEGAL_TRANSITION, lambda: finalize(world, APPROVED))


def test_7_a_status_follows_itself_in_the_source_only() -> None:
    def approved(rules: Rules) -> ManagedCareWorld:
        world = approved_by_nurse(rules)
        world.cases.put(replace(world.cases.get(CASE), status=CaseStatus.APPROVED))
        return world

    both(approved, lambda w: finalize(w, APPROVED), RefusalCode.ILLEGAL_TRANSITION)


@BOTH
def test_8_there_is_an_intake_record(rules: Rules) -> None:
    world = approved_by_nurse(rules)
    del world.intake.intakes[f"intake-{CASE}"]
    refused(world, RefusalCode.INTAKE_INCOMPLETE, lambda: finalize(world, APPROVED))


@BOTH
def test_9_the_intake_record_is_complete(rules: Rules) -> None:
    world = approved_by_nurse(rules)
    intake = world.intake.get(CASE)
    world.intake.intakes[intake.id] = replace(intake, status=IntakeStatus.IN_PROGRESS)
    refused(world, RefusalCode.INTAKE_INCOMPLETE, lambda: finalize(world, APPROVED))


@BOTH
def test_10_whoever_recommended_makes_it_final_if_nobody_is_named(rules: Rules) -> None:
    world = finalized(APPROVED, rules)
    (filed,) = world.determinations.decisions_of(CASE)
    assert (filed.reviewer_id, filed.reviewer_role) == (NURSE, "um_nurse")


@BOTH
def test_11_a_payer_without_reviewers_decides_nothing(rules: Rules) -> None:
    world = approved_by_nurse(rules)
    contacts = tuple(c for c in world.staff.contacts.values() if c.id in (CLERK, "C-EXT", "C-PA"))
    world.staff = Staff((), contacts, ())
    refused(world, RefusalCode.NO_REVIEWER, lambda: finalize(world, APPROVED))


@BOTH
def test_11_the_providers_people_decide_nothing(rules: Rules) -> None:
    world = approved_by_nurse(rules)
    refused(world, RefusalCode.ROLE_FORBIDDEN, lambda: finalize(world, APPROVED, actor="C-PA"))


@BOTH
def test_12_a_missing_policy_leaves_the_citations_empty(rules: Rules) -> None:
    world = approved_by_nurse(rules)
    del world.cases.policies[f"POL-{CASE}"]
    finalize(world, APPROVED)
    (filed,) = world.determinations.decisions_of(CASE)
    assert (filed.policy_citations, filed.supporting_basis) == ((), None)


# -- authority -----------------------------------------------------------------------------------


@pytest.mark.parametrize("person", [CLERK, STRANGER])
def test_an_approval_is_made_final_by_a_nurse_or_a_physician(person: str) -> None:
    both(approved_in, lambda w: finalize(w, APPROVED, actor=person), RefusalCode.ROLE_FORBIDDEN)


def approved_in(rules: Rules) -> ManagedCareWorld:
    return approved_by_nurse(rules)


def denied_in(rules: Rules) -> ManagedCareWorld:
    return decided(MdReviewDecision.DENY, rules)


def test_a_nurse_makes_no_denial_final() -> None:
    both(denied_in, lambda w: finalize(w, DENIED, actor=NURSE), RefusalCode.ROLE_FORBIDDEN)


def test_a_nurse_makes_no_partial_approval_final() -> None:
    def partial(rules: Rules) -> ManagedCareWorld:
        world = escalated(rules)
        line = MdLineItemDecision(
            line_number=1,
            decision=MdReviewDecision.APPROVE,
            approved_units=1,
            denial_rationale="One is enough.",
        )
        decide(world, MdReviewDecision.PARTIAL_APPROVE, line_item_decisions=(line,))
        return world

    both(partial, lambda w: finalize(w, PARTIALLY, actor=NURSE), RefusalCode.ROLE_FORBIDDEN)


@pytest.mark.parametrize("person", [NURSE, STRANGER])
def test_an_override_is_a_physicians(person: str) -> None:
    override = {"overridden": True, "override_reason": "cost", "actor": person}
    both(approved_in, lambda w: finalize(w, DENIED, **override), RefusalCode.ROLE_FORBIDDEN)


def test_a_physician_overrides_another_and_not_himself() -> None:
    override = {"overridden": True, "override_reason": "New evidence."}
    both(denied_in, lambda w: finalize(w, APPROVED, **override), RefusalCode.NOT_INDEPENDENT)
    world = denied_in(Rules.STRICT)
    finalize(world, APPROVED, actor=MD_2, **override)
    made = world.determinations.active(CASE)
    assert made is not None
    assert made.overridden


def test_a_nurses_approval_still_stands_on_her_findings_when_it_is_made_final() -> None:
    world = approved_by_nurse()
    (review,) = world.nursing.reviews_of(CASE)
    world.nursing.reviews[review.id] = replace(review, criteria_evaluations=())
    refused(world, RefusalCode.UNSUPPORTED_CLAIM, lambda: finalize(world, APPROVED))


# -- what a decision sets off --------------------------------------------------------------------


def test_an_approval_gives_a_number_and_an_end() -> None:
    case = finalized(APPROVED).cases.get(CASE)
    assert case.authorization_number == f"AUTH-{CASE}-000001"
    assert case.expires_at is not None


def test_a_denial_gives_a_window_for_appeals_and_no_number() -> None:
    case = finalized(DENIED).cases.get(CASE)
    assert case.authorization_number is None
    assert case.appeal_due_at is not None


@BOTH
@pytest.mark.parametrize(
    "lane", [PayerRouteTarget.GOLD_CARD_LANE, PayerRouteTarget.NOTIFICATION_ONLY_LANE]
)
def test_a_fast_lane_approves_once(rules: Rules, lane: PayerRouteTarget) -> None:
    world = desk(rules, "submitted")
    made, filed = world.determinations.approve_fast_lane(CASE, lane, CLERK)
    assert (made.source, filed.reviewer_role) == ("triage_auto_approve", "system")
    assert world.cases.get(CASE).authorization_number
    refused(
        world,
        RefusalCode.DUPLICATE,
        lambda: world.determinations.approve_fast_lane(CASE, lane, CLERK),
    )
