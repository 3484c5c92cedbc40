"""The payer's clinical review, as nurses and physicians use it."""

from __future__ import annotations

from healthgym.core.tool import ToolKind, tool
from healthgym.envs.managed_care.tools.base import DECISION, LOOK, WRITING, OfficeToolset
from healthgym.worlds.managed_care.records.review import (
    MdLineItemDecision,
    NurseCriterionEvaluation,
)
from healthgym.worlds.managed_care.vocabulary.authorization import (
    MdReviewDecision,
    NurseReviewRecommendation,
)


class ReviewToolset(OfficeToolset):
    """Findings on the criteria of a case, the nurse's recommendation, the physician's decision."""

    namespace = "review"

    @tool(ToolKind.READ, takes=LOOK)
    def get_nurse_review_data(self, case_id: str) -> str:
        """Read what a nurse needs: request, triage, criteria, findings so far, documents.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
        """
        return self.show(self.world.nursing.data(case_id))

    @tool(ToolKind.WRITE, takes=WRITING)
    def save_criteria_evaluation(
        self,
        case_id: str,
        line_number: int,
        review_id: str | None = None,
        evaluations: tuple[NurseCriterionEvaluation, ...] | None = None,
        reviewer_id: str = "SYSTEM",
    ) -> str:
        """Write down, as a nurse, which criteria of a line are met, each with its source.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            line_number: The line, from 1.
            review_id: The review to write on, such as "NR-0001"; a new one is begun if left out.
            evaluations: All findings on the line; they take the place of earlier ones on the same
                review.
            reviewer_id: Id of the nurse who reviews, such as "C-NUR".
        """
        return self.show(
            self.world.nursing.save(
                case_id,
                line_number,
                review_id=review_id,
                evaluations=evaluations,
                reviewer_id=reviewer_id,
            )
        )

    @tool(ToolKind.WRITE, takes=DECISION)
    def submit_nurse_case_recommendation(
        self,
        case_id: str,
        recommendation: NurseReviewRecommendation,
        clinical_notes: str = "",
        info_requested: str = "",
        info_deadline: str = "",
        reviewer_id: str = "SYSTEM",
    ) -> str:
        """Recommend, as a nurse, once: approve, escalate to a physician, or ask for information.

        A nurse cannot deny. Asking for information pends the case and tells the provider.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            recommendation: What you recommend.
            clinical_notes: Why, in a few sentences.
            info_requested: With request_info: what is missing, one item a line or between
                semicolons; each with the number of its criterion, such as "C3".
            info_deadline: With request_info: until when, such as "2026-03-15"; the date that the
                rules give if left blank.
            reviewer_id: Id of the nurse who recommends, such as "C-NUR".
        """
        return self.show(
            self.world.nursing.submit(
                case_id,
                recommendation,
                clinical_notes=clinical_notes,
                info_requested=info_requested,
                info_deadline=info_deadline,
                reviewer_id=reviewer_id,
            )
        )

    @tool(ToolKind.READ, takes=LOOK)
    def get_md_review_data(self, case_id: str) -> str:
        """Read what a physician needs: the nurse's work, criteria, documents, earlier decisions.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
        """
        return self.show(self.world.medical.data(case_id))

    @tool(ToolKind.WRITE, takes=WRITING)
    def save_md_review(
        self,
        case_id: str,
        line_number: int,
        review_id: str | None = None,
        evaluations: tuple[NurseCriterionEvaluation, ...] | None = None,
        reviewer_id: str = "SYSTEM",
    ) -> str:
        """Write down, as a physician, which criteria of a line are met, each with its source.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            line_number: The line, from 1.
            review_id: The review to write on, such as "MDR-0001"; a new one is begun if left out.
            evaluations: All findings on the line; they take the place of earlier ones on the same
                review.
            reviewer_id: Id of the physician who reviews, such as "C-MD".
        """
        return self.show(
            self.world.medical.save(
                case_id,
                line_number,
                review_id=review_id,
                evaluations=evaluations,
                reviewer_id=reviewer_id,
            )
        )

    @tool(ToolKind.WRITE, takes=DECISION)
    def submit_md_case_decision(
        self,
        case_id: str,
        decision: MdReviewDecision,
        clinical_notes: str = "",
        determination_rationale: str = "",
        similar_case_notes: str = "",
        reviewer_id: str = "SYSTEM",
        denial_rationale: str = "",
        info_requested: str = "",
        info_deadline: str = "",
        line_item_decisions: tuple[MdLineItemDecision, ...] | None = None,
        signed_off: bool = False,
    ) -> str:
        """Decide a case as a physician, once; determination.finalize then makes it final.

        A denial needs denial_rationale and your signature, a partial approval a decision for each
        line and your signature, a request for information the items and a deadline. p2p_review
        asks for a call with the ordering clinician before the decision.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            decision: The decision.
            clinical_notes: What you weighed.
            determination_rationale: What the decision rests on; against a request, the criteria
                by number, such as "C3".
            similar_case_notes: Cases that you compared it with.
            reviewer_id: Id of the physician who decides, such as "C-MD".
            denial_rationale: Why it is denied, in words for the letter; each criterion by its
                number, such as "C3".
            info_requested: With request_info: what is missing, one item a line or between
                semicolons; each with the number of its criterion, such as "C3".
            info_deadline: With request_info: until when, such as "2026-03-15".
            line_item_decisions: With partial_approve: what is approved and denied, line by line.
            signed_off: Whether you sign the decision.
        """
        return self.show(
            self.world.medical.submit(
                case_id,
                decision,
                clinical_notes=clinical_notes,
                determination_rationale=determination_rationale,
                similar_case_notes=similar_case_notes,
                reviewer_id=reviewer_id,
                denial_rationale=denial_rationale,
                info_requested=info_requested,
                info_deadline=info_deadline,
                line_item_decisions=line_item_decisions or (),
                signed_off=signed_off,
            )
        )
