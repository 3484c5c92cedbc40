"""The nurses' reviews and recommendations.

A nurse answers the criteria of each line and recommends: approve, hand on to a physician, or ask
the provider for what is missing. Nurses cannot deny.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from healthgym.core.state import table
from healthgym.worlds.managed_care.apps.app import App
from healthgym.worlds.managed_care.apps.payer import pends
from healthgym.worlds.managed_care.apps.payer.criteria import (
    require_first,
    require_grounds,
    require_sound,
)
from healthgym.worlds.managed_care.apps.payer.reviewers import (
    Part,
    acting,
    require_desk,
    require_independent,
    require_role,
    require_turn,
)
from healthgym.worlds.managed_care.policies.tree import Node
from healthgym.worlds.managed_care.records.catalog import CriteriaCatalog
from healthgym.worlds.managed_care.records.review import (
    ClinicalCriterionCatalogItem,
    NurseCaseRecommendation,
    NurseCriterionEvaluation,
    NurseReviewRecord,
)
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DecisionOutcome,
    NurseReviewRecommendation,
    PayerRole,
)

#: How a nurse's task ends; one that is handed on ends without a decision.
_TASK_ENDS = {
    NurseReviewRecommendation.APPROVE: DecisionOutcome.APPROVED,
    NurseReviewRecommendation.REQUEST_INFO: DecisionOutcome.PENDED,
}


class NurseReview(App):
    """Nurse review.

    Attributes:
        reviews: Reviews by line, by id.
        recommendations: Recommendations, by id.
        catalogs: The criteria to be answered, by case.
    """

    name = "payer_nurse_review"
    reviews = table[str, NurseReviewRecord]()
    recommendations = table[str, NurseCaseRecommendation]()
    catalogs = table[str, CriteriaCatalog]()

    def of(self, case_id: str) -> tuple[NurseCaseRecommendation, ...]:
        """Return the recommendations on a case, oldest first."""
        return tuple(one for one in self.recommendations.values() if one.case_id == case_id)

    def active(self, case_id: str) -> NurseCaseRecommendation | None:
        """Return the recommendation that counts; None if there is none."""
        return next((one for one in self.of(case_id) if not one.superseded_by), None)

    def reviews_of(self, case_id: str) -> tuple[NurseReviewRecord, ...]:
        """Return the reviews of a case, oldest first."""
        return tuple(one for one in self.reviews.values() if one.case_id == case_id)

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
        return tuple(item for item in items if line_number in (None, item.line_number))

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
            "nurse_reviews": self.reviews_of(case_id),
            "case_recommendation": self.active(case_id),
            "criteria_catalog": self.catalog(case_id),
            "artifacts": self.world.documents.of_case(case_id),
        }

    def save(
        self,
        case_id: str,
        line_number: int,
        *,
        review_id: str | None = None,
        evaluations: tuple[NurseCriterionEvaluation, ...] | None = None,
        reviewer_id: str = "SYSTEM",
    ) -> Mapping[str, NurseReviewRecord]:
        """Write down what a nurse found about the criteria of a line.

        Args:
            case_id: The case.
            line_number: The line, from 1.
            review_id: The review to write on; a new one without.
            evaluations: The findings, in place of earlier ones; those stay if left out.
            reviewer_id: The nurse.

        Raises:
            Refusal: If the case has no intake record, there is no such review, or, in a strict
                world, somebody else writes, a finding names what does not exist, or the nurse has
                recommended already.
        """
        require_desk(self.world)
        intake = self.world.intake.get(case_id)
        nurse = acting(self.world, reviewer_id)
        now = self.world.clock.now
        self._require_open_review(case_id, line_number, review_id, nurse, evaluations or ())
        if review_id:
            old = self._review(case_id, review_id)
            found = old.criteria_evaluations if evaluations is None else evaluations
            writer = old.reviewer_id if nurse == "SYSTEM" else nurse
            kept = replace(old, criteria_evaluations=found, reviewer_id=writer, updated_at=now)
        else:
            triage = self.world.triage.of(case_id)
            kept = NurseReviewRecord(
                id=self.draw_id("NR-"),
                case_id=case_id,
                intake_case_id=intake.id,
                triage_record_id=triage.id if triage else "",
                line_number=line_number,
                reviewer_id=nurse,
                criteria_evaluations=evaluations or (),
                created_at=now,
                updated_at=now,
            )
        self.reviews[kept.id] = kept
        self.world.triage.looked("get_triage", case_id)
        self.audit("save_criteria_evaluation", case_id, nurse)
        return {"nurse_review": kept}

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

    def _review(self, case_id: str, review_id: str) -> NurseReviewRecord:
        found = self.reviews.get(review_id)
        if found is None or found.case_id != case_id:
            raise Refusal(
                RefusalCode.NOT_FOUND,
                f"Case {case_id} has no nurse review {review_id[:60]!r}; leave review_id out to "
                "begin one.",
            )
        return found

    def _require_open_review(
        self,
        case_id: str,
        line_number: int,
        review_id: str | None,
        nurse: str,
        evaluations: tuple[NurseCriterionEvaluation, ...],
    ) -> None:
        """Refuse, in a strict world, a finding by the wrong nurse, too late, or on nothing."""
        if not self.strict:
            return
        require_role(self.world, nurse, self.world.operations.may_recommend)
        require_independent(self.world, case_id, nurse, Part.NURSE)
        require_under_review(self.world.cases.get(case_id).status, case_id)
        if self.active(case_id):
            raise Refusal(
                RefusalCode.WRONG_STATE,
                f"The nurse review of case {case_id} ended with a recommendation; findings can no "
                "longer be changed.",
            )
        if review_id is None:
            require_first(self.reviews_of(case_id), self.of(case_id), line_number)
        require_sound(self.world, self.world.cases.get(case_id), line_number, evaluations)

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
        require_role(self.world, nurse, self.world.operations.may_recommend)
        require_independent(self.world, case_id, nurse, Part.NURSE)
        require_under_review(self.world.cases.get(case_id).status, case_id)
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


def require_under_review(status: CaseStatus, case_id: str) -> None:
    """Refuse clinical work on a case that is not in clinical review.

    Raises:
        Refusal: If triage has not sent it there, or it has left.
    """
    if status is not CaseStatus.UNDER_REVIEW:
        raise Refusal(
            RefusalCode.WRONG_STATE,
            f"Case {case_id} is {status} and not in clinical review; triage sends cases there, "
            "and they leave it when decided or pended.",
        )
