"""Where a case stands, seen from outside: derived from its records, and kept nowhere.

The first rule that fits decides; the rules, and what may follow, are the source's
(``data/workflow.json`` for the parts that are tables).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from healthgym.worlds.managed_care.machines import DECIDED
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    IntakeStatus,
    NurseReviewRecommendation,
    PayerReviewStatus,
    PayerRole,
    PeerToPeerStatus,
    ProviderDeterminationAction,
    WorkflowStage,
)

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.records.case import PriorAuthCase
    from healthgym.worlds.managed_care.world import ManagedCareWorld

#: The statuses in which a case is decided, appeals included.
SETTLED = DECIDED | {
    CaseStatus.APPEAL_UPHELD,
    CaseStatus.APPEAL_OVERTURNED,
    CaseStatus.EXTERNAL_APPEAL_UPHELD,
    CaseStatus.EXTERNAL_APPEAL_OVERTURNED,
}
_DENIED = frozenset({CaseStatus.DENIED, CaseStatus.APPEAL_UPHELD})
_SENT = frozenset({CaseStatus.SUBMITTED, CaseStatus.RESUBMITTED, CaseStatus.UNDER_REVIEW})
_OPEN_TASK = frozenset({PayerReviewStatus.QUEUED, PayerReviewStatus.CLAIMED})


@dataclass(frozen=True, slots=True, kw_only=True)
class UnifiedWorkflowState:
    """Where a case stands, in words that both sides share.

    Attributes:
        workflow_stage: The stage.
        stage_detail: Where in it.
        outcome: What has come of the case: approved, partially_approved, denied, pending or none.
        action_owner: Who has to act: provider, payer, shared or none.
    """

    workflow_stage: WorkflowStage
    stage_detail: str
    outcome: str
    action_owner: str


def state_of(world: ManagedCareWorld, case_id: str) -> UnifiedWorkflowState:
    """Return where a case stands.

    Args:
        world: The world.
        case_id: The case.

    Raises:
        Refusal: If there is no such case.
    """
    case = world.cases.get(case_id)
    stage, detail, owner = (
        _ended(world, case)
        or _decided(world, case)
        or _at_the_payer(world, case)
        or _sent(world, case)
        or _before(case)
    )
    return UnifiedWorkflowState(
        workflow_stage=stage,
        stage_detail=detail,
        outcome=outcome_of(case.status),
        action_owner=owner,
    )


def next_actions(world: ManagedCareWorld, case_id: str) -> tuple[str, ...]:
    """Return what may be done next on a case: tools of the provider's, or nothing.

    A compatibility world has the names that the source gives it, few of which are tools. Once it is
    recorded that evidence is gathered, nothing is to be done until there is some.

    Args:
        world: The world.
        case_id: The case.

    Raises:
        Refusal: If there is no such case.
    """
    strict = world.rules is Rules.STRICT
    table = _table()["next_tools" if strict else "next_actions"]
    if state_of(world, case_id).workflow_stage is WorkflowStage.PEER_TO_PEER:
        return table["peer_to_peer"]
    status = world.cases.get(case_id).status
    last = world.authorizations.determination(case_id)
    gathers = last and last.final_action is ProviderDeterminationAction.GATHER_MORE_EVIDENCE
    if strict and gathers and status is CaseStatus.DOCS_NEEDED:
        return ()
    return table.get(status, table["other"])


def outcome_of(status: CaseStatus) -> str:
    """Return what a status says about the outcome."""
    return _table()["outcome"].get(status, ("none",))[0]


_Rule = tuple[WorkflowStage, str, str]


def _ended(world: ManagedCareWorld, case: PriorAuthCase) -> _Rule | None:
    if case.status is CaseStatus.CLOSED:
        last = world.authorizations.determination(case.id)
        kept_back = last and last.final_action is ProviderDeterminationAction.DO_NOT_SUBMIT
        return WorkflowStage.CLOSED, "no_submit" if kept_back else "archived", "none"
    levels = {
        appeal.level
        for appeal in world.appeals.appeals.values()
        if appeal.case_id == case.id and appeal.outcome is None
    }
    if "external" in levels:
        return WorkflowStage.EXTERNAL_APPEAL, "open", "payer"
    return (WorkflowStage.INTERNAL_APPEAL, "open", "payer") if levels else None


def _decided(world: ManagedCareWorld, case: PriorAuthCase) -> _Rule | None:
    if case.status is CaseStatus.PENDED_ACTION_REQUIRED:
        return WorkflowStage.AWAITING_PROVIDER_DOCS, "pend_open", "provider"
    active = any(
        made.case_id == case.id and not made.superseded_by
        for made in world.determinations.determinations.values()
    )
    if active or case.status in SETTLED:
        owner = "provider" if case.status in _DENIED else "none"
        return WorkflowStage.DETERMINATION, "finalized", owner
    return None


def _at_the_payer(world: ManagedCareWorld, case: PriorAuthCase) -> _Rule | None:
    for request in world.peer.requests.values():
        done = request.status is PeerToPeerStatus.COMPLETED and request.outcome is not None
        if request.case_id == case.id and not done:
            return WorkflowStage.PEER_TO_PEER, str(request.status), "shared"
    intake = next((i for i in world.intake.intakes.values() if i.case_id == case.id), None)
    if intake is not None and intake.status is not IntakeStatus.COMPLETE:
        return WorkflowStage.PAYER_INTAKE, str(intake.status), "payer"
    reviewer = _reviewer(world, case.id)
    if reviewer:
        return WorkflowStage.CLINICAL_REVIEW, reviewer, "payer"
    return (WorkflowStage.PAYER_INTAKE, "triage", "payer") if intake is not None else None


def _reviewer(world: ManagedCareWorld, case_id: str) -> str:
    """Return which review a case is in; empty if in none."""
    for task in world.triage.tasks.values():
        if task.case_id == case_id and task.status in _OPEN_TASK:
            nurse = task.required_role is PayerRole.UM_NURSE
            return "nurse_review" if nurse else "md_review"
    advice = [
        made.recommendation
        for made in world.nursing.recommendations.values()
        if made.case_id == case_id and not made.superseded_by
    ]
    physician = any(
        made.case_id == case_id and not made.superseded_by
        for made in world.medical.decisions.values()
    )
    if physician or NurseReviewRecommendation.ESCALATE in advice:
        return "md_review"
    return "nurse_review" if advice else ""


def _sent(world: ManagedCareWorld, case: PriorAuthCase) -> _Rule | None:
    """Return the payer's intake for a case that was handed in; the source asks for its record."""
    if world.rules is Rules.STRICT and case.status in _SENT:
        return WorkflowStage.PAYER_INTAKE, "received", "payer"
    return None


def _before(case: PriorAuthCase) -> _Rule:
    detail = _table()["detail"].get(case.status, ("ready_to_submit",))[0]
    return WorkflowStage.PRE_SUBMISSION, detail, "provider"


@cache
def _table() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    text = (files(__package__) / "data" / "workflow.json").read_text("utf-8")
    read: Mapping[str, Mapping[str, list[str]]] = json.loads(text)
    return {
        part: {name: tuple(words) for name, words in rows.items()} for part, rows in read.items()
    }
