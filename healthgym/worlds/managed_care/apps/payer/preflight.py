"""What must hold before a decision is final: twelve checks, in the source's order.

Nothing is written before all of them pass. The first ten refuse or resolve; a missing policy only
leaves the citations empty. What a strict world asks for besides is in :func:`require_authority`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from healthgym.worlds.managed_care.apps.payer.criteria import require_grounds
from healthgym.worlds.managed_care.apps.payer.reviewers import (
    NOBODY,
    acting,
    require_mapped,
    require_pool,
    require_role,
)
from healthgym.worlds.managed_care.machines import case_edges, require_edge
from healthgym.worlds.managed_care.records.case import PriorAuthCase
from healthgym.worlds.managed_care.records.intake import IntakeCase
from healthgym.worlds.managed_care.records.review import MdCaseDecision
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DeterminationDecision,
    DeterminationSource,
    IntakeStatus,
    MdReviewDecision,
    NurseReviewRecommendation,
    PeerToPeerOutcome,
    PeerToPeerStatus,
)

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld


class Blocker(StrEnum):
    """Why a case cannot be decided yet."""

    PEER_TO_PEER = "peer_to_peer_pending"
    INFORMATION = "awaiting_requested_information"
    PHYSICIAN = "awaiting_md_review"
    FRESH_DECISION = "awaiting_fresh_md_decision"


#: What a recommendation amounts to.
_MEANS = {
    MdReviewDecision.APPROVE: DeterminationDecision.APPROVED,
    MdReviewDecision.DENY: DeterminationDecision.DENIED,
    MdReviewDecision.PARTIAL_APPROVE: DeterminationDecision.PARTIALLY_APPROVED,
}
_CALL_MEANS = {
    PeerToPeerOutcome.UPHOLD_INTENDED_ADVERSE_DECISION: MdReviewDecision.DENY,
    PeerToPeerOutcome.OVERTURN_TO_APPROVAL: MdReviewDecision.APPROVE,
}
#: The status that a determination leads to.
LEADS_TO = {
    DeterminationDecision.APPROVED: CaseStatus.APPROVED,
    DeterminationDecision.DENIED: CaseStatus.DENIED,
    DeterminationDecision.PARTIALLY_APPROVED: CaseStatus.PARTIALLY_APPROVED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """What a determination can rest on.

    Attributes:
        source: Whose word it is; None if there is none.
        record_id: The recommendation or decision.
        recommendation: What it says.
        reviewer_id: Whose it is.
        blocker: Why it cannot be made final yet; None if it can.
        unreadable: Whether a call ended without an outcome that can be read.
    """

    source: DeterminationSource | None = None
    record_id: str = ""
    recommendation: MdReviewDecision | None = None
    reviewer_id: str = ""
    blocker: Blocker | None = None
    unreadable: bool = False

    @property
    def decision(self) -> DeterminationDecision | None:
        """The determination it amounts to; None if none."""
        return _MEANS.get(self.recommendation) if self.recommendation else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleared:
    """What passed every check.

    Attributes:
        case: The case.
        intake: Its intake record.
        upstream: What the decision rests on.
        recommendation: What that says.
        source: Whose word it is.
        actor: Who makes it final.
        reviewer_role: The role under which it is filed.
        overridden: Whether the decision departs from the recommendation.
    """

    case: PriorAuthCase
    intake: IntakeCase
    upstream: Upstream
    recommendation: MdReviewDecision
    source: DeterminationSource
    actor: str
    reviewer_role: str
    overridden: bool


def upstream(world: ManagedCareWorld, case_id: str) -> Upstream:
    """Return what a determination of a case can rest on: a physician's word before a nurse's."""
    decision = world.medical.active(case_id)
    if decision is not None:
        return _of_physician(world, decision)
    if world.medical.of(case_id):
        return Upstream(blocker=Blocker.FRESH_DECISION)
    nurse = world.nursing.active(case_id)
    if nurse is None:
        return Upstream()
    if nurse.recommendation is NurseReviewRecommendation.ESCALATE:
        return Upstream(reviewer_id=nurse.reviewer_id, blocker=Blocker.PHYSICIAN)
    if nurse.recommendation is NurseReviewRecommendation.REQUEST_INFO:
        return Upstream(reviewer_id=nurse.reviewer_id, blocker=Blocker.INFORMATION)
    return Upstream(
        source=DeterminationSource.NURSE_RECOMMENDATION,
        record_id=nurse.id,
        recommendation=MdReviewDecision.APPROVE,
        reviewer_id=nurse.reviewer_id,
    )


def _of_physician(world: ManagedCareWorld, decision: MdCaseDecision) -> Upstream:
    said: MdReviewDecision | None = decision.decision
    if said is MdReviewDecision.REQUEST_INFO:
        return Upstream(reviewer_id=decision.reviewer_id, blocker=Blocker.INFORMATION)
    if said is MdReviewDecision.P2P_REVIEW:
        request = world.peer.requests.get(decision.p2p_request_id or "")
        if request is None or request.status is not PeerToPeerStatus.COMPLETED:
            return Upstream(reviewer_id=decision.reviewer_id, blocker=Blocker.PEER_TO_PEER)
        said = _CALL_MEANS.get(request.outcome) if request.outcome else None
    return Upstream(
        source=DeterminationSource.MD_DECISION,
        record_id=decision.id,
        recommendation=said,
        reviewer_id=decision.reviewer_id,
        unreadable=said is None,
    )


def clear(
    world: ManagedCareWorld,
    case_id: str,
    decision: DeterminationDecision,
    *,
    overridden: bool,
    override_reason: str,
    actor: str,
) -> Cleared:
    """Check that a decision can be made final, and return what it rests on.

    Args:
        world: The world.
        case_id: The case.
        decision: The decision.
        overridden: Whether it is meant to depart from the recommendation.
        override_reason: Why it does.
        actor: Who makes it final; blank or ``SYSTEM`` for whoever recommended it.

    Raises:
        Refusal: The first check that fails.
    """
    case = world.cases.get(case_id)
    _require_open(world, case_id)
    rests_on = upstream(world, case_id)
    recommendation, source = _require_upstream(case_id, rests_on)
    _require_agreement(case_id, decision, rests_on, overridden, override_reason)
    _require_transition(world, case, LEADS_TO[decision])
    intake = _require_intake(world, case_id)
    given = actor.strip() not in NOBODY
    person = actor.strip() if given else rests_on.reviewer_id or acting(world, actor)
    require_pool(world)
    role = require_mapped(world, person)
    cleared = Cleared(
        case=case,
        intake=intake,
        upstream=rests_on,
        recommendation=recommendation,
        source=source,
        actor=person,
        reviewer_role=role,
        overridden=decision is not rests_on.decision,
    )
    if world.rules is Rules.STRICT:
        require_authority(world, cleared, decision)
    return cleared


def require_authority(
    world: ManagedCareWorld, cleared: Cleared, decision: DeterminationDecision
) -> None:
    """Refuse a decision by somebody who may not make it, in a strict world.

    Who may approve, deny and override is a rule of operation. A nurse's approval is made final
    while her findings carry it; a physician's decision is overridden by another one only.

    Raises:
        Refusal: Naming the rule.
    """
    rules = world.operations
    approves = decision is DeterminationDecision.APPROVED
    require_role(world, cleared.actor, rules.may_approve if approves else rules.may_deny, "actor")
    if cleared.overridden:
        require_role(world, cleared.actor, rules.may_override, "actor")
    elif cleared.source is DeterminationSource.NURSE_RECOMMENDATION:
        require_grounds(world, cleared.case.id)
    by_physician = cleared.source is DeterminationSource.MD_DECISION
    if cleared.overridden and by_physician and cleared.actor == cleared.upstream.reviewer_id:
        raise Refusal(
            RefusalCode.NOT_INDEPENDENT,
            f"{cleared.actor} decided case {cleared.case.id} and cannot override that; another "
            "physician can.",
        )


def _require_open(world: ManagedCareWorld, case_id: str) -> None:
    found = world.determinations.active(case_id)
    if found is not None:
        raise Refusal(
            RefusalCode.DUPLICATE,
            f"Case {case_id} has a determination, {found.final_decision} ({found.id}); there is "
            "one at a time.",
        )


def _require_upstream(
    case_id: str, rests_on: Upstream
) -> tuple[MdReviewDecision, DeterminationSource]:
    if rests_on.blocker in (Blocker.PEER_TO_PEER, Blocker.INFORMATION, Blocker.PHYSICIAN):
        raise Refusal(
            RefusalCode.BLOCKED, f"Case {case_id} cannot be decided yet: {rests_on.blocker}."
        )
    if rests_on.unreadable:
        raise Refusal(
            RefusalCode.BLOCKED,
            f"The peer-to-peer call of case {case_id} ended without an outcome; record one first.",
        )
    if rests_on.recommendation is None or rests_on.source is None:
        why = f" ({rests_on.blocker})" if rests_on.blocker else ""
        raise Refusal(
            RefusalCode.WRONG_STATE,
            f"Nobody has recommended anything on case {case_id}{why}; a nurse recommends or a "
            "physician decides first.",
        )
    return rests_on.recommendation, rests_on.source


def _require_agreement(
    case_id: str,
    decision: DeterminationDecision,
    rests_on: Upstream,
    overridden: bool,
    reason: str,
) -> None:
    if decision is rests_on.decision or (overridden and reason.strip()):
        return
    raise Refusal(
        RefusalCode.OVERRIDE_REQUIRED,
        f"Case {case_id} was recommended to be {rests_on.decision}; {decision} departs from that "
        "and needs overridden=true with an override_reason.",
    )


def _require_transition(world: ManagedCareWorld, case: PriorAuthCase, target: CaseStatus) -> None:
    # The source lets a status follow itself.
    if case.status is target and world.rules is Rules.COMPAT:
        return
    require_edge(case_edges(), case.status, target, f"Case {case.id}")


def _require_intake(world: ManagedCareWorld, case_id: str) -> IntakeCase:
    intake = world.intake.find(case_id)
    if intake is None or intake.status is not IntakeStatus.COMPLETE:
        found = f"is {intake.status}" if intake else "does not exist"
        raise Refusal(
            RefusalCode.INTAKE_INCOMPLETE,
            f"The intake record of case {case_id} {found}; confirm its four decisions first.",
        )
    return intake
