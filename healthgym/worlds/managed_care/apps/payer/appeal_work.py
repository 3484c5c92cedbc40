"""What is done about an appeal before it is decided: acknowledging it, reading the file anew."""

from __future__ import annotations

from collections.abc import Mapping

from healthgym.core.records import replace
from healthgym.core.state import Table
from healthgym.worlds.managed_care.apps.app import App, find
from healthgym.worlds.managed_care.apps.payer import appeal_rules
from healthgym.worlds.managed_care.apps.payer.criteria import require_sound
from healthgym.worlds.managed_care.apps.payer.reviewers import PAYER_STAFF, acting, require_role
from healthgym.worlds.managed_care.records.decision import Appeal, AppealReceipt
from healthgym.worlds.managed_care.records.review import AppealReview, NurseCriterionEvaluation
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode

INTERNAL, EXTERNAL = "internal", "external"
_HINT = "payer_appeals.list names them"


class AppealWork(App):
    """The work on appeals; who keeps them decides them.

    Attributes:
        appeals: Appeals, by id.
        receipts: Word to whoever appealed that the appeal has come in, by id.
        reviews: What reviewers of appeals found anew, by id.
    """

    appeals: Table[str, Appeal]
    receipts: Table[str, AppealReceipt]
    reviews: Table[str, AppealReview]

    def of(self, case_id: str) -> tuple[Appeal, ...]:
        """Return the appeals of a case, oldest first."""
        return tuple(one for one in self.appeals.values() if one.case_id == case_id)

    def receipt_of(self, appeal_id: str) -> AppealReceipt | None:
        """Return how an appeal was acknowledged; None if it was not."""
        return next((one for one in self.receipts.values() if one.appeal_id == appeal_id), None)

    def reviews_of(self, case_id: str) -> tuple[AppealReview, ...]:
        """Return what was found anew of a case, oldest first."""
        return tuple(one for one in self.reviews.values() if one.case_id == case_id)

    def acknowledge(self, appeal_id: str, actor: str | None = None) -> Mapping[str, AppealReceipt]:
        """Tell whoever appealed that the appeal has come in.

        Args:
            appeal_id: The appeal.
            actor: Who does.

        Raises:
            Refusal: If there is no such appeal, or it is decided; or, in a strict world, it was
                acknowledged, or the worker may not.
        """
        appeal = self._undecided(appeal_id)
        clerk = acting(self.world, actor)
        require_role(self.world, clerk, PAYER_STAFF, "actor")
        if self.strict and (known := self.receipt_of(appeal_id)) is not None:
            raise Refusal(
                RefusalCode.DUPLICATE,
                f"Appeal {appeal_id} was acknowledged at {known.acknowledged_at:%Y-%m-%d %H:%M}.",
            )
        made = AppealReceipt(
            id=self.draw_id("ARC-"),
            appeal_id=appeal_id,
            case_id=appeal.case_id,
            acknowledged_by=clerk,
            acknowledged_at=self.world.clock.now,
        )
        self.receipts[made.id] = made
        self.audit("acknowledge_appeal", appeal.case_id, clerk)
        return {"receipt": made}

    def save_review(
        self,
        appeal_id: str,
        reviewer_id: str,
        line_number: int,
        evaluations: tuple[NurseCriterionEvaluation, ...],
    ) -> Mapping[str, AppealReview]:
        """Write down what the reviewer of an internal appeal finds anew about a line.

        Args:
            appeal_id: The appeal.
            reviewer_id: The appeals medical director.
            line_number: The line, from 1.
            evaluations: The findings, in place of earlier ones on the line.

        Raises:
            Refusal: If there is no such appeal, or it is decided or external; or, in a strict
                world, it is not the reviewer's, or a finding names what does not exist.
        """
        appeal = self._undecided(appeal_id, INTERNAL)
        reviewer = acting(self.world, reviewer_id)
        if self.strict:
            require_role(self.world, reviewer, self.world.operations.may_decide_appeal)
            appeal_rules.require_own(appeal, reviewer)
            case = self.world.cases.get(appeal.case_id)
            require_sound(self.world, case, line_number, evaluations)
        written = (one for one in self.reviews.values() if one.appeal_id == appeal_id)
        old = next((one for one in written if one.line_number == line_number), None)
        name = old.id if old else self.draw_id("AR-")
        made = appeal_rules.reviewed(self.world, appeal, old, name, line_number)
        kept = replace(made, reviewer_id=reviewer, criteria_evaluations=evaluations)
        self.reviews[kept.id] = kept
        self.audit("save_appeal_review", appeal.case_id, reviewer)
        return {"appeal_review": kept}

    def _appeal(self, appeal_id: str) -> Appeal:
        return find(self.appeals, appeal_id, "appeal", _HINT)

    def _undecided(self, appeal_id: str, level: str = "") -> Appeal:
        appeal = self._appeal(appeal_id)
        if level and appeal.level != level:
            raise Refusal(
                RefusalCode.WRONG_STATE,
                f"Appeal {appeal_id} is {appeal.level}; this desk takes {level} ones.",
            )
        if appeal.outcome is not None:
            raise Refusal(
                RefusalCode.WRONG_STATE,
                f"Appeal {appeal_id} was decided: {appeal.outcome}; it is decided once.",
            )
        return appeal
