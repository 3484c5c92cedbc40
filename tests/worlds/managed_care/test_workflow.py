"""Where a case stands is derived from its records; the first rule that fits decides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from healthgym.worlds.managed_care.records.decision import Appeal
from healthgym.worlds.managed_care.records.peer import PayerPeerToPeerRequest
from healthgym.worlds.managed_care.records.review import (
    MdCaseDecision,
    NurseCaseRecommendation,
    PayerReviewTask,
)
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    IntakeStatus,
    MdReviewDecision,
    NurseReviewRecommendation,
    PayerReviewStatus,
    PayerRole,
    PayerRouteTarget,
    PeerToPeerOutcome,
    PeerToPeerStatus,
    ProviderDeterminationAction,
)
from healthgym.worlds.managed_care.workflow import next_actions, state_of
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.provider.office import CASE, KEEP, office

REVIEW = CaseStatus.UNDER_REVIEW


def stands(world: ManagedCareWorld) -> tuple[str, str, str, str]:
    state = state_of(world, CASE)
    return str(state.workflow_stage), state.stage_detail, state.outcome, state.action_owner


def recommend(world: ManagedCareWorld, what: NurseReviewRecommendation) -> None:
    world.nursing.recommendations["N"] = NurseCaseRecommendation(
        id="N",
        case_id=CASE,
        intake_case_id=f"intake-{CASE}",
        reviewer_id="C-NUR",
        recommendation=what,
        clinical_notes="n",
        created_at=world.clock.now,
    )


def queue(world: ManagedCareWorld, role: PayerRole, status: PayerReviewStatus) -> None:
    world.triage.tasks["T"] = PayerReviewTask(
        id="T",
        case_id=CASE,
        route_target=PayerRouteTarget.STANDARD_UM,
        required_role=role,
        status=status,
        queue_name="q",
        created_at=world.clock.now,
        updated_at=world.clock.now,
    )


@pytest.mark.parametrize(
    ("status", "stood"),
    [
        (CaseStatus.CLOSED, ("closed", "archived", "none", "none")),
        (
            CaseStatus.PENDED_ACTION_REQUIRED,
            ("awaiting_provider_docs", "pend_open", "none", "provider"),
        ),
        (CaseStatus.APPROVED, ("determination", "finalized", "approved", "none")),
        (CaseStatus.DENIED, ("determination", "finalized", "denied", "provider")),
        (CaseStatus.APPEAL_UPHELD, ("determination", "finalized", "denied", "provider")),
        (CaseStatus.APPEAL_OVERTURNED, ("determination", "finalized", "approved", "none")),
        (
            CaseStatus.PARTIALLY_APPROVED,
            ("determination", "finalized", "partially_approved", "none"),
        ),
        (REVIEW, ("payer_intake", "triage", "none", "payer")),
        (CaseStatus.DRAFT, ("pre_submission", "draft", "none", "provider")),
        (CaseStatus.DOCS_NEEDED, ("pre_submission", "docs_needed", "none", "provider")),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else value[0],
)
def test_a_status_says_where_a_case_stands(
    status: CaseStatus, stood: tuple[str, str, str, str]
) -> None:
    assert stands(office(status=status)) == stood


def test_a_case_that_was_kept_back_is_told_apart() -> None:
    world = office(Rules.COMPAT)
    world.authorizations.finalize(CASE, KEEP)
    assert stands(world) == ("closed", "no_submit", "none", "none")


@pytest.mark.parametrize("level", ["internal", "external"])
def test_an_open_appeal_comes_first(level: str) -> None:
    world = office(status=CaseStatus.APPEALED)
    world.appeals.appeals["A"] = Appeal(
        id="A", case_id=CASE, rationale="r", filed_at=world.clock.now, status="filed", level=level
    )
    assert stands(world) == (f"{level}_appeal", "open", "pending", "payer")


def test_a_call_is_shared_until_it_has_an_outcome() -> None:
    world = office(status=REVIEW)
    request = PayerPeerToPeerRequest(
        id="P",
        case_id=CASE,
        status=PeerToPeerStatus.COMPLETED,
        created_at=world.clock.now,
        updated_at=world.clock.now,
    )
    world.peer.requests["P"] = request
    assert stands(world) == ("peer_to_peer", "completed", "none", "shared")
    assert next_actions(world, CASE) == ("auth.respond_to_peer_to_peer",)
    outcome = PeerToPeerOutcome.OVERTURN_TO_APPROVAL
    world.peer.requests["P"] = replace(request, outcome=outcome)
    assert stands(world)[0] == "payer_intake"


def test_intake_that_is_not_complete_goes_before_review() -> None:
    world = office(status=REVIEW)
    queue(world, PayerRole.UM_NURSE, PayerReviewStatus.QUEUED)
    (intake,) = world.intake.intakes.values()
    world.intake.intakes[intake.id] = replace(intake, status=IntakeStatus.NEW)
    assert stands(world) == ("payer_intake", "new", "none", "payer")


@pytest.mark.parametrize(
    ("role", "detail"),
    [(PayerRole.UM_NURSE, "nurse_review"), (PayerRole.PHYSICIAN_REVIEWER, "md_review")],
    ids=["nurse", "physician"],
)
def test_an_open_task_says_who_reviews(role: PayerRole, detail: str) -> None:
    world = office(status=REVIEW)
    queue(world, role, PayerReviewStatus.QUEUED)
    assert stands(world)[:2] == ("clinical_review", detail)
    queue(world, role, PayerReviewStatus.COMPLETED)
    assert stands(world)[:2] == ("payer_intake", "triage")


@pytest.mark.parametrize(
    ("what", "detail"),
    [
        (NurseReviewRecommendation.ESCALATE, "md_review"),
        (NurseReviewRecommendation.APPROVE, "nurse_review"),
    ],
    ids=["escalated", "approved"],
)
def test_what_the_nurse_said_says_who_reviews(what: NurseReviewRecommendation, detail: str) -> None:
    world = office(status=REVIEW)
    recommend(world, what)
    assert stands(world)[:2] == ("clinical_review", detail)


def test_a_physicians_decision_keeps_a_case_in_review() -> None:
    world = office(status=REVIEW)
    made = MdCaseDecision(
        id="M",
        case_id=CASE,
        intake_case_id=f"intake-{CASE}",
        reviewer_id="C-MD",
        decision=MdReviewDecision.DENY,
        determination_rationale="r",
        created_at=world.clock.now,
    )
    world.medical.decisions["M"] = made
    assert stands(world)[:2] == ("clinical_review", "md_review")
    world.medical.decisions["M"] = replace(made, superseded_by="X")
    assert stands(world)[:2] == ("payer_intake", "triage")


@pytest.mark.parametrize("status", CaseStatus, ids=str)
def test_something_can_be_done_next(status: CaseStatus) -> None:
    actions = next_actions(office(status=status), CASE)
    assert actions
    closed = status is CaseStatus.CLOSED
    assert (actions == ("cases.get_case",)) is closed
    source = next_actions(office(Rules.COMPAT, status=status), CASE)
    assert (source == ("review_case",)) is closed


def test_nothing_is_urged_while_evidence_is_gathered() -> None:
    world = office()
    view = world.authorizations.finalize(
        CASE, ProviderDeterminationAction.GATHER_MORE_EVIDENCE, override_reason="C2; 2026-03-27"
    )
    assert world.cases.get(CASE).status is CaseStatus.DOCS_NEEDED
    assert view["next_actions"] == ()
