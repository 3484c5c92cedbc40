"""Physicians: decisions, what each takes, and what a strict world asks of them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from healthgym.worlds.managed_care.apps.payer.criteria import not_met
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.records.review import MdLineItemDecision
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CriterionResult,
    MdReviewDecision,
    NurseReviewRecommendation,
    PayerRole,
    PayerRouteTarget,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.payer.review_desk import (
    AMD,
    CASE,
    MD,
    MD_2,
    NURSE,
    SLOTS,
    STRANGER,
    approved_by_nurse,
    both,
    decide,
    desk,
    escalated,
    find_as_nurse,
    findings,
    refused,
)

APPROVE, DENY, PARTIAL, REQUEST, CALL = MdReviewDecision


def part(units: int | None, number: int = 1, **fields: Any) -> MdLineItemDecision:
    return MdLineItemDecision(
        line_number=number,
        decision=APPROVE,
        approved_units=units,
        denial_rationale=fields.get("why", "One unit is enough."),
    )


def no(why: str = "Not met.") -> MdLineItemDecision:
    return MdLineItemDecision(line_number=1, decision=DENY, denial_rationale=why)


def test_decisions_are_in_the_order_of_the_vocabulary() -> None:
    assert (APPROVE, DENY, PARTIAL) == ("approve", "deny", "partial_approve")
    assert (REQUEST, CALL) == ("request_info", "p2p_review")


@pytest.mark.parametrize("rules", Rules)
@pytest.mark.parametrize(
    ("decision", "fields", "code"),
    [
        (DENY, {"denial_rationale": " "}, RefusalCode.MISSING_TEXT),
        (DENY, {"signed_off": False}, RefusalCode.MISSING_SIGNOFF),
        (PARTIAL, {}, RefusalCode.MISSING_TEXT),
        (
            PARTIAL,
            {"line_item_decisions": (part(1),), "signed_off": False},
            RefusalCode.MISSING_SIGNOFF,
        ),
        (REQUEST, {"info_deadline": "2026-03-15"}, RefusalCode.MISSING_TEXT),
        (REQUEST, {"info_requested": "ECG"}, RefusalCode.MISSING_TEXT),
    ],
    ids=["no-reason", "unsigned", "no-lines", "partial-unsigned", "no-items", "no-deadline"],
)
def test_a_decision_takes_its_texts_and_signature(
    rules: Rules, decision: MdReviewDecision, fields: dict[str, Any], code: RefusalCode
) -> None:
    world = escalated(rules)
    refused(world, code, lambda: decide(world, decision, **fields))


@pytest.mark.parametrize("rules", Rules)
def test_there_is_one_decision_at_a_time(rules: Rules) -> None:
    world = escalated(rules)
    decide(world, DENY)
    refused(world, RefusalCode.DUPLICATE, lambda: decide(world, APPROVE))


@pytest.mark.parametrize("person", [NURSE, AMD, STRANGER, "SYSTEM"])
@pytest.mark.parametrize("decision", [APPROVE, DENY, CALL])
def test_only_physicians_decide(person: str, decision: MdReviewDecision) -> None:
    both(
        escalated,
        lambda w: decide(w, decision, reviewer_id=person),
        RefusalCode.ROLE_FORBIDDEN,
    )


def test_nurse_and_physician_of_a_case_are_different_people() -> None:
    def met_before(rules: Rules) -> ManagedCareWorld:
        both_parts = (PayerRole.UM_NURSE, PayerRole.PHYSICIAN_REVIEWER)
        world = desk(rules, operations=OperatingRules(may_recommend=both_parts))
        world.nursing.save(CASE, 1, evaluations=(), reviewer_id=MD)
        return world

    told = both(met_before, lambda w: decide(w, APPROVE), RefusalCode.NOT_INDEPENDENT)
    assert "nurse reviewer" in told


def test_whoever_held_the_call_may_decide() -> None:
    world = desk(Rules.STRICT)
    world.peer.request(CASE, MD_2)
    world.peer.offer(world.peer.of(CASE)[0].id, MD, SLOTS)
    world.medical.require_reviewer(CASE, MD)
    decide(world, APPROVE)
    assert world.medical.of(CASE)[-1].reviewer_id == MD
    assert world.compliance.independence(CASE)["compliant"] is True


def test_a_denial_names_a_criterion_that_is_not_met() -> None:
    both(lambda r: approved_by_nurse(r), lambda w: decide(w, DENY), RefusalCode.UNSUPPORTED_CLAIM)


def test_a_physician_waits_for_the_nurse_where_triage_sent_the_case_to_one() -> None:
    def sent(rules: Rules) -> ManagedCareWorld:
        world = desk(rules)
        world.triage.queue(CASE, PayerRole.UM_NURSE, PayerRouteTarget.STANDARD_UM, "nurses")
        return world

    both(sent, lambda w: decide(w, APPROVE), RefusalCode.WRONG_STATE)
    world = sent(Rules.STRICT)
    world.nursing.submit(
        CASE, NurseReviewRecommendation.ESCALATE, clinical_notes="Unclear.", reviewer_id=NURSE
    )
    decide(world, APPROVE)


def test_a_denial_may_rest_on_what_nothing_shows() -> None:
    world = find_as_nurse(desk(), CriterionResult.UNCLEAR)
    world.nursing.submit(
        CASE, NurseReviewRecommendation.ESCALATE, clinical_notes="Unclear.", reviewer_id=NURSE
    )
    assert not_met(world, CASE) == ("C-2",)
    decide(world, DENY)
    assert not_met(find_as_nurse(desk(), CriterionResult.MET), CASE) == ()


@pytest.mark.parametrize("decision", [APPROVE, DENY, CALL])
def test_a_decision_says_what_it_rests_on(decision: MdReviewDecision) -> None:
    both(
        escalated,
        lambda w: decide(w, decision, determination_rationale=" "),
        RefusalCode.MISSING_TEXT,
    )


@pytest.mark.parametrize("status", ["submitted", "approved", "closed"])
def test_a_physician_works_on_cases_in_review(status: str) -> None:
    both(
        lambda r: desk(r, status),
        lambda w: decide(w, CALL),
        RefusalCode.WRONG_STATE,
    )


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ((part(1, number=7),), RefusalCode.BAD_ARGUMENT),
        ((part(1), part(1)), RefusalCode.BAD_ARGUMENT),
        ((part(3),), RefusalCode.BAD_ARGUMENT),
        ((part(0),), RefusalCode.BAD_ARGUMENT),
        ((part(2),), RefusalCode.BAD_ARGUMENT),
        ((part(None),), RefusalCode.BAD_ARGUMENT),
        ((no(),), RefusalCode.BAD_ARGUMENT),
        ((no(""),), RefusalCode.MISSING_TEXT),
        ((part(1, why=""),), RefusalCode.MISSING_TEXT),
    ],
    ids=[
        "no-such-line",
        "twice",
        "too-many",
        "none",
        "all",
        "all-silently",
        "all-denied",
        "denied-without-reason",
        "less-without-reason",
    ],
)
def test_a_partial_approval_answers_every_line(
    lines: tuple[MdLineItemDecision, ...], code: RefusalCode
) -> None:
    both(escalated, lambda w: decide(w, PARTIAL, line_item_decisions=lines), code)


def test_a_sound_partial_approval_is_taken() -> None:
    world = escalated()
    decide(world, PARTIAL, line_item_decisions=(part(1),))
    made = world.medical.active(CASE)
    assert made is not None
    assert made.decision is PARTIAL


def test_findings_stand_once_the_physician_has_decided() -> None:
    def decided(rules: Rules) -> ManagedCareWorld:
        world = escalated(rules)
        decide(world, DENY)
        return world

    both(
        decided,
        lambda w: w.medical.save(CASE, 1, evaluations=findings(), reviewer_id=MD),
        RefusalCode.WRONG_STATE,
    )


def test_a_line_has_one_physicians_review() -> None:
    def begun(rules: Rules) -> ManagedCareWorld:
        world = escalated(rules)
        world.medical.save(CASE, 1, evaluations=findings(), reviewer_id=MD)
        return world

    both(
        begun,
        lambda w: w.medical.save(CASE, 1, evaluations=findings(), reviewer_id=MD),
        RefusalCode.DUPLICATE,
    )


def test_a_nurse_does_not_write_the_physicians_review() -> None:
    both(
        escalated,
        lambda w: w.medical.save(CASE, 1, evaluations=findings(), reviewer_id=NURSE),
        RefusalCode.ROLE_FORBIDDEN,
    )


def test_the_data_for_a_physician_hold_the_nurses_work() -> None:
    world = escalated()
    decide(world, CALL)
    data: dict[str, Any] = dict(world.medical.data(CASE))
    assert data["case_recommendation"].reviewer_id == NURSE
    assert data["case_decision"].decision is CALL
    assert [one.status for one in data["p2p_requests"]] == ["requested"]


def test_a_physicians_request_pends_and_a_reply_supersedes_it() -> None:
    world = escalated()
    decide(world, REQUEST, info_requested="ECG", info_deadline="2026-03-15")
    assert world.cases.get(CASE).status == "pended_action_required"
    done = world.medical.supersede_requests(CASE, "ANSWERED")
    assert done is not None
    assert world.medical.active(CASE) is None


@pytest.mark.parametrize("deadline", ["Friday", "2026-04-01"])
def test_a_physician_invents_no_deadline(deadline: str) -> None:
    both(
        escalated,
        lambda w: decide(w, REQUEST, info_requested="ECG", info_deadline=deadline),
        RefusalCode.BAD_ARGUMENT,
    )


def test_what_a_refusal_says_is_accepted_is_accepted() -> None:
    """Who is told which deadline the rules give can give it; a blank one is refused as well."""
    world = escalated(Rules.STRICT)
    with pytest.raises(Refusal) as refused:
        decide(world, REQUEST, info_requested="ECG", info_deadline="2026-04-01")
    assert "blank" not in str(refused.value)
    with pytest.raises(Refusal):
        decide(world, REQUEST, info_requested="ECG", info_deadline=" ")
    (day,) = re.findall(r"accepted is ([\d-]+)\.", str(refused.value))
    decide(world, REQUEST, info_requested="ECG", info_deadline=day)
    assert world.cases.get(CASE).status == "pended_action_required"
