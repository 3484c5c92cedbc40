"""The nurses' reviews and recommendations.

A nurse answers the criteria of each line and recommends: approve, hand on to a physician, or ask
the provider for what is missing. Nurses cannot deny.
"""

from __future__ import annotations

from collections.abc import Mapping

from healthgym.core.records import replace
from healthgym.core.state import Table, table
from healthgym.worlds.managed_care.apps.payer import pends
from healthgym.worlds.managed_care.apps.payer.criteria import require_grounds, seen_documents
from healthgym.worlds.managed_care.apps.payer.line_reviews import (
    LineReviews,
)
from healthgym.worlds.managed_care.apps.payer.replies import replies
from healthgym.worlds.managed_care.apps.payer.reviewers import (
    Part,
    acting,
    require_desk,
    require_turn,
)
from healthgym.worlds.managed_care.apps.texts import require_length
from healthgym.worlds.managed_care.policies.tree import Node
from healthgym.worlds.managed_care.records.catalog import CriteriaCatalog
from healthgym.worlds.managed_care.records.review import (
    ClinicalCriterionCatalogItem,
    NurseCaseRecommendation,
    NurseReviewRecord,
)
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.vocabulary.authorization import (
    DecisionOutcome,
    NurseReviewRecommendation,
    PayerRole,
)

#: How a nurse's task ends; one that is handed on ends without a decision.
_TASK_ENDS = {
    NurseReviewRecommendation.APPROVE: DecisionOutcome.APPROVED,
    NurseReviewRecommendation.REQUEST_INFO: DecisionOutcome.PENDED,
}


class NurseReview(LineReviews[NurseReviewRecord, NurseCaseRecommendation]):
    """Nurse review.

    Attributes:
        reviews: Reviews by line, by id.
        recommendations: Recommendations, by id.
        catalogs: The criteria to be answered, by case.
    """

    name = "payer_nurse_review"
    written = NurseReviewRecord
    prefix = "NR-"
    review_name = "nurse review"
    conclusion_name = "recommendation"
    save_action = "save_criteria_evaluation"
    result_name = "nurse_review"
    part = Part.NURSE
    reviews = table[str, NurseReviewRecord]()
    recommendations = table[str, NurseCaseRecommendation]()
    catalogs = table[str, CriteriaCatalog]()

    @property
    def conclusions(self) -> Table[str, NurseCaseRecommendation]:
        """Every recommendation, by id."""
        return self.recommendations

    @property
    def may_review(self) -> tuple[PayerRole, ...]:
        """Whose roles allow a review."""
        return self.world.operations.may_recommend

    def catalog(
        self, case_id: str, line_number: int | None = None
    ) -> tuple[ClinicalCriterionCatalogItem, ...]:
        """Return the criteria that a case's reviewers have to answer.

        Args:
            case_id: The case.
            line_number: Only those of one line.
        """
        kept = self.catalogs.get(case_id)
        items = kept.items if kept else ()
        if line_number is None:
            return items
        return tuple(item for item in items if item.line_number == line_number)

    def tree(self, case_id: str) -> Node | None:
        """Return how a case's criteria are put together; None where nobody said."""
        kept = self.catalogs.get(case_id)
        return kept.tree if kept else None

    def set_catalog(
        self,
        case_id: str,
        items: tuple[ClinicalCriterionCatalogItem, ...],
        tree: Node | None = None,
    ) -> None:
        """Say which criteria a case's reviewers have to answer.

        Args:
            case_id: The case.
            items: The criteria, line by line.
            tree: How they are put together; without one every criterion has to be met.
        """
        self.catalogs[case_id] = CriteriaCatalog(case_id=case_id, items=items, tree=tree)

    def data(self, case_id: str) -> Mapping[str, object]:
        """Return what a nurse needs for a review: request, findings so far, documents, criteria.

        Raises:
            Refusal: If the case has no intake record.
        """
        require_desk(self.world)
        intake = self.world.intake.get(case_id)
        self.world.triage.looked("get_triage", case_id)
        self.looked("get_nurse_review_data", case_id)
        return {
            "intake_case": intake,
            "triage": self.world.triage.of(case_id),
            "provider_replies": replies(self.world, case_id),
            "nurse_reviews": self.reviews_of(case_id),
            "case_recommendation": self.active(case_id),
            "criteria_catalog": self.catalog(case_id),
            "artifacts": seen_documents(self.world, case_id),
        }

    def submit(
        self,
        case_id: str,
        recommendation: NurseReviewRecommendation,
        *,
        clinical_notes: str = "",
        info_requested: str = "",
        info_deadline: str = "",
        reviewer_id: str = "SYSTEM",
    ) -> Mapping[str, object]:
        """Recommend what to do with a case; a request for information pends it.

        Args:
            case_id: The case.
            recommendation: Approve, escalate or ask for information.
            clinical_notes: Why.
            info_requested: What is missing, one item a line or between semicolons.
            info_deadline: Until when; reckoned by the rules if blank.
            reviewer_id: The nurse.

        Raises:
            Refusal: If the case has no intake record, somebody has recommended already, nothing
                is asked for, or, in a strict world, the nurse may not, or says more than the
                findings carry.
        """
        require_desk(self.world)
        intake = self.world.intake.get(case_id)
        nurse = acting(self.world, reviewer_id)
        self._require_recommendation(case_id, recommendation, nurse, clinical_notes)
        asks = recommendation is NurseReviewRecommendation.REQUEST_INFO
        wanted = (info_requested.strip() or clinical_notes.strip()) if asks else info_requested
        require_length(self.world, clinical_notes=clinical_notes, info_requested=info_requested)
        pends.require_asked_for(self.world, asks, info_requested, info_deadline)
        if asks:
            pends.require_request(self.world, case_id, info_requested, wanted, info_deadline)
        made = NurseCaseRecommendation(
            id=self.draw_id("NCR-"),
            case_id=case_id,
            intake_case_id=intake.id,
            reviewer_id=nurse,
            recommendation=recommendation,
            clinical_notes=clinical_notes,
            info_requested=wanted,
            info_deadline=info_deadline,
            created_at=self.world.clock.now,
        )
        self.recommendations[made.id] = made
        self.world.triage.complete_task(
            case_id, PayerRole.UM_NURSE, _TASK_ENDS.get(recommendation), nurse
        )
        self.audit("submit_case_recommendation", case_id, nurse)
        self.world.history.stage(case_id, "nurse_review", recommendation, nurse)
        if not asks:
            return {"case_recommendation": made}
        missing = pends.request_information(self.world, case_id, nurse, wanted, info_deadline)
        return {"case_recommendation": made, "missing_information": missing}

    def supersede_requests(self, case_id: str, reason: str) -> NurseCaseRecommendation | None:
        """Let an answered request for information count no more.

        Args:
            case_id: The case.
            reason: Why, such as ``PROVIDER_RESPONDED_TO_PEND``.

        Returns:
            The request; None if none was open.
        """
        open_one = self.active(case_id)
        asks = NurseReviewRecommendation.REQUEST_INFO
        if open_one is None or open_one.recommendation is not asks:
            return None
        done = replace(open_one, superseded_by=reason)
        self.recommendations[done.id] = done
        self.audit("supersede_request_info_recommendation", case_id)
        return done

    def _require_recommendation(
        self, case_id: str, recommendation: NurseReviewRecommendation, nurse: str, notes: str
    ) -> None:
        if (done := self.active(case_id)) is not None:
            raise Refusal(
                RefusalCode.DUPLICATE,
                f"Case {case_id} has a nurse recommendation, {done.recommendation} ({done.id}); "
                "there is one at a time.",
            )
        if not self.strict:
            return
        self.require_reviewer(case_id, nurse)
        require_turn(self.world, case_id, PayerRole.UM_NURSE)
        if recommendation is NurseReviewRecommendation.APPROVE:
            self._require_nurse_may_approve(case_id)
            require_grounds(self.world, case_id)
        if recommendation is NurseReviewRecommendation.ESCALATE and not notes.strip():
            raise Refusal(
                RefusalCode.MISSING_TEXT,
                "clinical_notes: say for the physician why the case is handed on.",
            )

    def _require_nurse_may_approve(self, case_id: str) -> None:
        policy = self.world.cases.policy(case_id)
        if policy is not None and not policy.allow_nurse_approval:
            raise Refusal(
                RefusalCode.ROLE_FORBIDDEN,
                f"The policy of case {case_id} leaves approvals to physicians; escalate it.",
            )
