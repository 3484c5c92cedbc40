"""Nurses: findings on criteria, recommendations, and what a strict world asks of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from healthgym.worlds.managed_care.refusals import RefusalCode
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    CriterionResult,
    NurseReviewRecommendation,
    PayerRole,
    PayerRouteTarget,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.payer.review_desk import (
    CASE,
    MD,
    NURSE,
    NURSE_2,
    STRANGER,
    approved_by_nurse,
    both,
    desk,
    escalated,
    find_as_nurse,
    finding,
    findings,
    refused,
)

APPROVE = NurseReviewRecommendation.APPROVE
ESCALATE = NurseReviewRecommendation.ESCALATE
REQUEST = NurseReviewRecommendation.REQUEST_INFO


def approve(world: ManagedCareWorld) -> object:
    return world.nursing.submit(CASE, APPROVE, reviewer_id=NURSE)


def test_an_approval_whose_criteria_are_met_on_evidence_is_taken() -> None:
    made = approved_by_nurse().nursing.active(CASE)
    assert made is not None
    assert (made.recommendation, made.reviewer_id) == (APPROVE, NURSE)


def test_findings_are_replaced_on_the_same_review() -> None:
    world = find_as_nurse(desk())
    (review,) = world.nursing.reviews_of(CASE)
    world.nursing.save(
        CASE, 1, review_id=review.id, evaluations=(finding("C-2"),), reviewer_id=NURSE_2
    )
    (after,) = world.nursing.reviews_of(CASE)
    assert [one.criterion_id for one in after.criteria_evaluations] == ["C-2"]
    assert after.reviewer_id == NURSE_2


def test_the_data_for_a_nurse_hold_request_criteria_and_documents() -> None:
    data = find_as_nurse(desk()).nursing.data(CASE)
    assert len(data["criteria_catalog"]) == 2  # type: ignore[arg-type]
    assert len(data["nurse_reviews"]) == 1  # type: ignore[arg-type]
    assert data["case_recommendation"] is None


@pytest.mark.parametrize("result", [CriterionResult.NOT_MET, CriterionResult.UNCLEAR])
def test_a_nurse_does_not_approve_against_her_findings(result: CriterionResult) -> None:
    told = both(lambda r: find_as_nurse(desk(r), result), approve, RefusalCode.UNSUPPORTED_CLAIM)
    assert "C-2 (line 1)" in told


def test_a_nurse_does_not_approve_what_she_has_not_answered() -> None:
    def half(rules: Rules) -> ManagedCareWorld:
        world = desk(rules)
        world.nursing.save(CASE, 1, evaluations=(finding(),), reviewer_id=NURSE)
        return world

    assert "C-2" in both(half, approve, RefusalCode.UNSUPPORTED_CLAIM)
    both(desk, approve, RefusalCode.UNSUPPORTED_CLAIM)


def test_without_a_catalog_every_line_still_needs_a_finding() -> None:
    world = desk()
    world.nursing.set_catalog(CASE, ())
    refused(world, RefusalCode.UNSUPPORTED_CLAIM, lambda: approve(world))
    world.nursing.save(CASE, 1, evaluations=(finding("free"),), reviewer_id=NURSE)
    approve(world)


def test_a_finding_without_a_source_carries_no_approval() -> None:
    def bare(rules: Rules) -> ManagedCareWorld:
        world = desk(rules)
        found = (finding(), finding("C-2", source=""))
        world.nursing.save(CASE, 1, evaluations=found, reviewer_id=NURSE)
        return world

    assert "Without evidence" in both(bare, approve, RefusalCode.UNSUPPORTED_CLAIM)


def test_a_finding_refers_to_what_exists() -> None:
    def save(source: str, criterion: str = "C-1", line: int = 1) -> str:
        return both(
            desk,
            lambda world: world.nursing.save(
                CASE, line, evaluations=(finding(criterion, source=source),), reviewer_id=NURSE
            ),
            RefusalCode.NOT_FOUND,
        )

    assert "DOC-99" in save("DOC-99")
    assert "DOC-3" in save("DOC-3")  # another patient's
    assert "C-9" in save("DOC-1", criterion="C-9")
    assert "no line 9" in save("DOC-1", line=9)


def test_a_chart_entry_is_evidence_too() -> None:
    world = desk()
    found = tuple(replace(one, source_refs_used=("OB-1",)) for one in findings())
    world.nursing.save(CASE, 1, evaluations=found, reviewer_id=NURSE)
    approve(world)


@pytest.mark.parametrize("person", [MD, STRANGER, "SYSTEM"])
def test_only_nurses_review_as_nurses(person: str) -> None:
    both(
        desk,
        lambda w: w.nursing.save(CASE, 1, evaluations=findings(), reviewer_id=person),
        RefusalCode.ROLE_FORBIDDEN,
    )
    both(
        find_as_nurse_in,
        lambda w: w.nursing.submit(CASE, APPROVE, reviewer_id=person),
        RefusalCode.ROLE_FORBIDDEN,
    )


def find_as_nurse_in(rules: Rules) -> ManagedCareWorld:
    return find_as_nurse(desk(rules))


def test_who_uses_the_tools_acts_where_nobody_is_named() -> None:
    world = find_as_nurse(desk())
    world.actor = NURSE
    world.nursing.submit(CASE, APPROVE)
    made = world.nursing.active(CASE)
    assert made is not None
    assert made.reviewer_id == NURSE


@pytest.mark.parametrize("status", ["submitted", "denied", "closed", "pended_action_required"])
def test_a_nurse_works_on_cases_in_review(status: str) -> None:
    both(
        lambda r: desk(r, status),
        lambda w: w.nursing.submit(CASE, ESCALATE, clinical_notes="n", reviewer_id=NURSE),
        RefusalCode.WRONG_STATE,
    )


def test_a_nurse_waits_where_triage_sent_the_case_to_a_physician() -> None:
    def sent(rules: Rules) -> ManagedCareWorld:
        world = find_as_nurse(desk(rules))
        lane = PayerRouteTarget.STANDARD_UM
        world.triage.queue(CASE, PayerRole.PHYSICIAN_REVIEWER, lane, "physician_review")
        return world

    both(sent, approve, RefusalCode.WRONG_STATE)


def test_some_policies_leave_approvals_to_physicians() -> None:
    def reserved(rules: Rules) -> ManagedCareWorld:
        world = find_as_nurse(desk(rules))
        policy = world.cases.policies[f"POL-{CASE}"]
        world.cases.policies[policy.id] = replace(policy, allow_nurse_approval=False)
        return world

    both(reserved, approve, RefusalCode.ROLE_FORBIDDEN)


def test_findings_stand_once_the_nurse_has_recommended() -> None:
    def rewrite(world: ManagedCareWorld) -> object:
        (review,) = world.nursing.reviews_of(CASE)
        return world.nursing.save(
            CASE, 1, review_id=review.id, evaluations=findings(), reviewer_id=NURSE
        )

    both(lambda r: approved_by_nurse(r), rewrite, RefusalCode.WRONG_STATE)


def test_a_line_has_one_review() -> None:
    told = both(
        find_as_nurse_in,
        lambda w: w.nursing.save(CASE, 1, evaluations=findings(), reviewer_id=NURSE_2),
        RefusalCode.DUPLICATE,
    )
    assert "NR-0001" in told


def test_a_reply_begins_a_round_of_its_own() -> None:
    world = find_as_nurse(desk(), CriterionResult.UNCLEAR)
    ask(world)
    world.nursing.supersede_requests(CASE, "ANSWERED")
    case = world.cases.get(CASE)
    world.cases.put(replace(case, status=CaseStatus.UNDER_REVIEW))
    world.clock.advance(timedelta(minutes=1))
    find_as_nurse(world)
    assert len(world.nursing.reviews_of(CASE)) == 2
    approve(world)


@pytest.mark.parametrize("rules", Rules)
def test_there_is_one_recommendation_at_a_time(rules: Rules) -> None:
    world = escalated(rules)
    refused(
        world,
        RefusalCode.DUPLICATE,
        lambda: world.nursing.submit(CASE, ESCALATE, clinical_notes="n", reviewer_id=NURSE),
    )


@pytest.mark.parametrize("rules", Rules)
def test_a_review_of_another_case_is_not_found(rules: Rules) -> None:
    world = desk(rules)
    refused(
        world,
        RefusalCode.NOT_FOUND,
        lambda: world.nursing.save(CASE, 1, review_id="NR-0", reviewer_id=NURSE),
    )


def test_a_case_is_handed_on_with_a_reason() -> None:
    both(
        desk,
        lambda w: w.nursing.submit(CASE, ESCALATE, reviewer_id=NURSE),
        RefusalCode.MISSING_TEXT,
    )


# -- requests for information --------------------------------------------------------------------


def ask(world: ManagedCareWorld, listed: str = "Ejection fraction", deadline: str = "") -> object:
    return world.nursing.submit(
        CASE,
        REQUEST,
        clinical_notes="n",
        info_requested=listed,
        info_deadline=deadline,
        reviewer_id=NURSE,
    )


def test_a_request_pends_the_case_and_writes_a_letter_with_each_item() -> None:
    world = desk()
    ask(world, "Ejection fraction; ECG of February")
    case = world.cases.get(CASE)
    assert case.status == "pended_action_required"
    assert case.pend_due_at is not None
    assert case.pend_due_at.date().isoformat() == "2026-03-15"
    (letter,) = world.letters.of(CASE)
    for wanted in ("- Ejection fraction", "- ECG of February", "March 15, 2026"):
        assert wanted in letter.body


def test_a_case_is_pended_twice_at_most() -> None:
    def pended_twice(rules: Rules) -> ManagedCareWorld:
        world = desk(rules)
        for _ in range(2):
            ask(world)
            world.nursing.supersede_requests(CASE, "ANSWERED")
            case = world.cases.get(CASE)
            world.cases.put(replace(case, status=CaseStatus.UNDER_REVIEW))
        return world

    both(pended_twice, ask, RefusalCode.LIMIT_REACHED)


def test_a_queued_letter_waits_for_whoever_plays_the_payer() -> None:
    world = desk(agent_owned_payer_flow=True)
    ask(world)
    assert world.letters.of(CASE) == ()
    assert world.letters.waiting(CASE, "pend") is not None


def test_a_request_lists_what_is_missing() -> None:
    told = both(desk, lambda w: ask(w, ""), RefusalCode.MISSING_TEXT)
    assert "one a line" in told
    both(desk, lambda w: ask(w, "; 1; -"), RefusalCode.MISSING_TEXT)


@pytest.mark.parametrize("deadline", ["2026-03-20", "Friday", "2026-03-14T09:00"])
def test_a_deadline_of_ones_own_making_is_refused(deadline: str) -> None:
    told = both(desk, lambda w: ask(w, deadline=deadline), RefusalCode.BAD_ARGUMENT)
    assert "2026-03-15" in told


@pytest.mark.parametrize("deadline", ["", "2026-03-15", "2026-03-15T17:00"])
def test_the_deadline_of_the_rules_is_taken(deadline: str) -> None:
    world = desk()
    ask(world, deadline=deadline)
    assert world.cases.get(CASE).status == "pended_action_required"


def test_an_answered_request_counts_no_more() -> None:
    world = desk()
    ask(world)
    done = world.nursing.supersede_requests(CASE, "ANSWERED")
    assert done is not None
    assert done.superseded_by == "ANSWERED"
    assert world.nursing.active(CASE) is None
    assert world.nursing.supersede_requests(CASE, "ANSWERED") is None
    assert world.medical.supersede_requests(CASE, "ANSWERED") is None
