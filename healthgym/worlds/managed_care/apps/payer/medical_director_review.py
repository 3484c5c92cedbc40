"""The physicians' reviews and decisions.

Only a physician may deny, and signs for it; whoever wants to hear the ordering clinician first asks
for a peer-to-peer call.
"""

from __future__ import annotations

from collections.abc import Mapping

from healthgym.core.records import replace
from healthgym.core.state import Table, table
from healthgym.worlds.managed_care.apps.payer import pends
from healthgym.worlds.managed_care.apps.payer.criteria import seen_documents
from healthgym.worlds.managed_care.apps.payer.line_reviews import (
    LineReviews,
)
from healthgym.worlds.managed_care.apps.payer.physician_rules import (
    require_complete,
    require_founded,
)
from healthgym.worlds.managed_care.apps.payer.replies import replies
from healthgym.worlds.managed_care.apps.payer.reviewers import (
    Part,
    acting,
    require_desk,
    require_role,
    require_turn,
)
from healthgym.worlds.managed_care.apps.texts import require_length
from healthgym.worlds.managed_care.records.review import (
    MdCaseDecision,
    MdLineItemDecision,
    MdReviewRecord,
)
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DecisionOutcome,
    MdReviewDecision,
    PayerRole,
)

#: How a physician's task ends; a call between physicians leaves it without a decision.
_TASK_ENDS = {
    MdReviewDecision.APPROVE: DecisionOutcome.APPROVED,
    MdReviewDecision.DENY: DecisionOutcome.DENIED,
    MdReviewDecision.PARTIAL_APPROVE: DecisionOutcome.APPROVED_MODIFIED,
    MdReviewDecision.REQUEST_INFO: DecisionOutcome.PENDED,
}


class MedicalDirectorReview(LineReviews[MdReviewRecord, MdCaseDecision]):
    """Medical-director review.

    Attributes:
        reviews: Reviews by line, by id.
        decisions: Decisions, by id.
    """

    name = "payer_md_review"
    written = MdReviewRecord
    prefix = "MDR-"
    review_name = "physician's review"
    conclusion_name = "decision"
    save_action = "save_md_review"
    result_name = "md_review"
    part = Part.PHYSICIAN
    reviews = table[str, MdReviewRecord]()
    decisions = table[str, MdCaseDecision]()

    @property
    def conclusions(self) -> Table[str, MdCaseDecision]:
        """Every decision, by id."""
        return self.decisions

    @property
    def may_review(self) -> tuple[PayerRole, ...]:
        """Whose roles allow a review."""
        return self.world.operations.may_sign

    def data(self, case_id: str) -> Mapping[str, object]:
        """Return what a physician needs for a decision: the nurse's work, and what came before.

        Raises:
            Refusal: If the case has no intake record.
        """
        world = self.world
        require_desk(world)
        intake = world.intake.get(case_id)
        world.triage.looked("get_triage", case_id)
        self.looked("get_md_review_data", case_id)
        return {
            "intake_case": intake,
            "triage": world.triage.of(case_id),
            "provider_replies": replies(world, case_id),
            "nurse_reviews": world.nursing.reviews_of(case_id),
            "case_recommendation": world.nursing.active(case_id),
            "md_reviews": self.reviews_of(case_id),
            "case_decision": self.active(case_id),
            "decision_history": tuple(one for one in self.of(case_id) if one.superseded_by),
            "p2p_requests": world.peer.of(case_id),
            "criteria_catalog": world.nursing.catalog(case_id),
            "artifacts": seen_documents(world, case_id),
        }

    def submit(
        self,
        case_id: str,
        decision: MdReviewDecision,
        *,
        clinical_notes: str = "",
        determination_rationale: str = "",
        similar_case_notes: str = "",
        reviewer_id: str = "SYSTEM",
        denial_rationale: str = "",
        info_requested: str = "",
        info_deadline: str = "",
        line_item_decisions: tuple[MdLineItemDecision, ...] = (),
        signed_off: bool = False,
    ) -> Mapping[str, object]:
        """Decide a case, ask for information, or ask for a call with the ordering clinician.

        Args:
            case_id: The case.
            decision: The decision.
            clinical_notes: What was weighed.
            determination_rationale: Why.
            similar_case_notes: Cases that it was compared with.
            reviewer_id: The physician.
            denial_rationale: Why a denial, in words for the letter.
            info_requested: What is missing, one item a line or between semicolons.
            info_deadline: Until when.
            line_item_decisions: Line by line, for a partial approval.
            signed_off: Whether the physician signs.

        Raises:
            Refusal: If the case has no intake record, is decided already, the decision lacks what
                it needs, or, in a strict world, the physician may not make it.
        """
        require_desk(self.world)
        intake = self.world.intake.get(case_id)
        physician = acting(self.world, reviewer_id)
        made = MdCaseDecision(
            id="",
            case_id=case_id,
            intake_case_id=intake.id,
            reviewer_id=physician,
            clinical_notes=clinical_notes,
            determination_rationale=determination_rationale,
            similar_case_notes=similar_case_notes,
            decision=decision,
            line_item_decisions=line_item_decisions,
            denial_rationale=denial_rationale,
            info_requested=info_requested,
            info_deadline=info_deadline,
            signed_off=signed_off,
            created_at=self.world.clock.now,
        )
        self._require_decision(made)
        made = replace(made, id=self.draw_id("MCD-"))
        self.decisions[made.id] = made
        self.world.triage.complete_task(
            case_id, PayerRole.PHYSICIAN_REVIEWER, _TASK_ENDS.get(decision), physician
        )
        self.audit("submit_case_decision", case_id, physician)
        self.world.history.stage(case_id, "md_review", decision, physician)
        return self._follow_up(made)

    def supersede_requests(self, case_id: str, reason: str) -> MdCaseDecision | None:
        """Let an answered request for information count no more.

        Args:
            case_id: The case.
            reason: Why, such as ``PROVIDER_RESPONDED_TO_PEND``.

        Returns:
            The request; None if none was open.
        """
        open_one = self.active(case_id)
        if open_one is None or open_one.decision is not MdReviewDecision.REQUEST_INFO:
            return None
        done = replace(open_one, superseded_by=reason)
        self.decisions[done.id] = done
        self.audit("supersede_request_info_decision", case_id)
        return done

    def _follow_up(self, made: MdCaseDecision) -> Mapping[str, object]:
        world, case_id = self.world, made.case_id
        if made.decision is MdReviewDecision.REQUEST_INFO:
            missing = pends.request_information(
                world, case_id, made.reviewer_id, made.info_requested, made.info_deadline
            )
            return {"case_decision": made, "missing_information": missing}
        if made.decision is MdReviewDecision.P2P_REVIEW:
            if world.cases.get(case_id).status in (CaseStatus.SUBMITTED, CaseStatus.RESUBMITTED):
                world.cases.move(case_id, CaseStatus.UNDER_REVIEW, made.reviewer_id)
            request = world.peer.request(case_id, made.reviewer_id)
            made = replace(made, p2p_request_id=request.id)
            self.decisions[made.id] = made
            return {"case_decision": made, "p2p_request": request}
        world.desk.concluded(case_id)
        return {"case_decision": made}

    def _require_decision(self, made: MdCaseDecision) -> None:
        if (done := self.active(made.case_id)) is not None:
            raise Refusal(
                RefusalCode.DUPLICATE,
                f"Case {made.case_id} has a physician's decision, {done.decision} ({done.id}); "
                "there is one at a time.",
            )
        require_complete(self.world, made)
        if self.strict:
            self.require_reviewer(made.case_id, made.reviewer_id)
            if made.decision in (MdReviewDecision.DENY, MdReviewDecision.PARTIAL_APPROVE):
                require_role(self.world, made.reviewer_id, self.world.operations.may_deny)
            require_turn(self.world, made.case_id, PayerRole.PHYSICIAN_REVIEWER)
            require_founded(self.world, made)
            require_length(self.world, decision=made)
            asks = made.decision is MdReviewDecision.REQUEST_INFO
            pends.require_asked_for(self.world, asks, made.info_requested, made.info_deadline)
