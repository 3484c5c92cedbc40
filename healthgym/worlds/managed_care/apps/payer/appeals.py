"""Internal appeals and external reviews.

A denial is appealed within its window, decided by somebody who had no part in the case, and, if it
is upheld, may go to an outside organization whose word binds the payer.
"""

from __future__ import annotations

from collections.abc import Mapping

from healthgym.core.records import replace
from healthgym.core.state import table
from healthgym.worlds.managed_care import deadlines
from healthgym.worlds.managed_care.apps.payer import appeal_rules
from healthgym.worlds.managed_care.apps.payer.appeal_work import EXTERNAL, INTERNAL, AppealWork
from healthgym.worlds.managed_care.apps.payer.reviewers import (
    Part,
    acting,
    require_independent,
    require_role,
)
from healthgym.worlds.managed_care.apps.texts import require_length
from healthgym.worlds.managed_care.records.decision import Appeal, AppealReceipt
from healthgym.worlds.managed_care.records.review import AppealReview
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.vocabulary.authorization import (
    AppealOutcome,
    CaseStatus,
    LetterType,
    SubmissionChannel,
)

FILED = "filed"
#: From which status an appeal is filed, where it leads, and the prefix of its id.
_FILING = {
    INTERNAL: (CaseStatus.DENIED, CaseStatus.APPEALED, "APL-"),
    EXTERNAL: (CaseStatus.APPEAL_UPHELD, CaseStatus.EXTERNAL_APPEALED, "APL-EXT-"),
}


class AppealsDesk(AppealWork):
    """Appeals.

    Attributes:
        appeals: Appeals, by id.
        receipts: Word to whoever appealed that the appeal has come in, by id.
        reviews: What reviewers of appeals found anew, by id.
    """

    name = "payer_appeals"
    appeals = table[str, Appeal]()
    receipts = table[str, AppealReceipt]()
    reviews = table[str, AppealReview]()

    def open(self, case_id: str) -> Appeal | None:
        """Return the appeal that is not decided; None if there is none."""
        return next((one for one in self.of(case_id) if one.outcome is None), None)

    def list_all(self, case_id: str | None = None) -> tuple[Appeal, ...]:
        """Return appeals, oldest first.

        Args:
            case_id: Only those of this case.

        Raises:
            Refusal: In a strict world, if there is no such case.
        """
        if self.strict and case_id is not None:
            self.world.cases.get(case_id)
        self.looked("list_appeals", case_id or "")
        return self.of(case_id) if case_id else tuple(self.appeals.values())

    def get(self, appeal_id: str) -> Appeal:
        """Return an appeal.

        Raises:
            Refusal: If there is none.
        """
        found = self._appeal(appeal_id)
        self.looked("get_appeal", found.case_id)
        return found

    def file(
        self,
        case_id: str,
        rationale: str,
        document_ids: tuple[str, ...] = (),
        level: str = INTERNAL,
    ) -> Appeal:
        """File an appeal for the provider.

        Args:
            case_id: The case.
            rationale: Why the decision is wrong.
            document_ids: What supports it; whoever calls has checked that they are the case's.
            level: ``internal`` or ``external``.

        Raises:
            Refusal: If the case is not where such an appeal begins; or, in a strict world, no
                reason is given or the window has closed.
        """
        case = self.world.cases.get(case_id)
        begins, leads_to, prefix = _FILING[level]
        if case.status is not begins:
            raise Refusal(
                RefusalCode.WRONG_STATE,
                f"Case {case_id} is {case.status}; an appeal of level {level} begins from a case "
                f"that is {begins}.",
            )
        if self.strict:
            appeal_rules.require_timely(self.world, case, level, rationale)
        now = self.world.clock.now
        determination = self.world.determinations.active(case_id)
        made = Appeal(
            id=self.draw_id(prefix),
            case_id=case_id,
            rationale=rationale,
            filed_at=now,
            status=FILED,
            level=level,
            original_reviewer_id=determination.determined_by if determination else None,
        )
        self.appeals[made.id] = made
        self.world.cases.move(case_id, leads_to, self.world.actor)
        external = level == EXTERNAL
        name = "file_external_appeal" if external else "file_appeal"
        self.world.history.audit(
            self.name, name, case_id, self.world.actor, documents=list(document_ids)
        )
        self.world.history.stage(case_id, f"{level}_appeal", FILED, self.world.actor)
        if self.strict:
            deadlines.watch_appeal(self.world, made)
        self.world.desk.appealed(case_id, level)
        return made

    def data(self, appeal_id: str) -> Mapping[str, object]:
        """Return what belongs to an appeal: what came with it, what it is about, what was done.

        Raises:
            Refusal: If there is none.
        """
        appeal = self._appeal(appeal_id)
        self.looked("get_appeal_file", appeal.case_id)
        world, case_id = self.world, appeal.case_id
        return {
            "appeal": appeal,
            "receipt_due_at": deadlines.receipt_deadline(world, appeal),
            "decision_due_at": deadlines.appeal_deadline(world, appeal),
            "new_documents": appeal_rules.enclosed(world, appeal),
            "receipt": self.receipt_of(appeal_id),
            "determinations": world.determinations.of(case_id),
            "letters": world.letters.of(case_id),
            "reviews": tuple(one for one in self.reviews_of(case_id) if one.appeal_id == appeal_id),
        }

    def assign_internal_appeal_reviewer(
        self, appeal_id: str, reviewer_id: str
    ) -> Mapping[str, Appeal]:
        """Give an internal appeal to a reviewer.

        Args:
            appeal_id: The appeal.
            reviewer_id: The appeals medical director.

        Raises:
            Refusal: If there is no such appeal, or it is decided or external; or, in a strict
                world, the reviewer may not, or had a part in the case.
        """
        appeal = self._undecided(appeal_id, INTERNAL)
        reviewer = acting(self.world, reviewer_id)
        require_role(self.world, reviewer, self.world.operations.may_decide_appeal)
        require_independent(self.world, appeal.case_id, reviewer, Part.APPEAL)
        if self.strict:
            appeal_rules.require_outsider(self.world, appeal, reviewer)
        return {"appeal": self._assign(appeal, reviewer)}

    def decide_internal_appeal(
        self, appeal_id: str, reviewer_id: str, outcome: str, rationale: str = ""
    ) -> Mapping[str, object]:
        """Decide an internal appeal, and tell the provider by letter.

        Args:
            appeal_id: The appeal.
            reviewer_id: The appeals medical director.
            outcome: ``appeal_upheld``, the denial stands, or ``appeal_overturned``.
            rationale: Why.

        Raises:
            Refusal: If there is no such appeal, it is decided or external, or the outcome is
                none; or, in a strict world, it is an outcome of another level, no reason is
                given, or the reviewer may not decide.
        """
        appeal = self._undecided(appeal_id, INTERNAL)
        reviewer = acting(self.world, reviewer_id)
        said = appeal_rules.outcome_of(outcome)
        if self.strict:
            require_role(self.world, reviewer, self.world.operations.may_decide_appeal)
            require_independent(self.world, appeal.case_id, reviewer, Part.APPEAL)
            appeal_rules.require_outsider(self.world, appeal, reviewer)
            appeal_rules.require_decision(appeal, reviewer, said, rationale)
            require_length(self.world, rationale=rationale)
        # The source notes the assignment once more.
        if not self.strict or appeal.assigned_reviewer_id != reviewer:
            appeal = self._assign(appeal, reviewer)
        independent = appeal.original_reviewer_id != reviewer
        appeal = replace(appeal, independence_validated=independent)
        # The source takes whatever is not an overturn for upheld.
        overturned = said is AppealOutcome.APPEAL_OVERTURNED
        leads_to = CaseStatus.APPEAL_OVERTURNED if overturned else CaseStatus.APPEAL_UPHELD
        return self._decide(appeal, said, rationale, reviewer, leads_to, "decide_internal_appeal")

    def assign_external_review(
        self, appeal_id: str, coordinator_id: str, vendor_name: str
    ) -> Mapping[str, Appeal]:
        """Hand an external review to an outside organization.

        Args:
            appeal_id: The appeal.
            coordinator_id: The external-review coordinator.
            vendor_name: The organization.

        Raises:
            Refusal: If there is no such appeal, or it is decided or internal; or, in a strict
                world, the coordinator may not, or no organization is named.
        """
        appeal = self._undecided(appeal_id, EXTERNAL)
        coordinator = acting(self.world, coordinator_id)
        require_role(
            self.world, coordinator, self.world.operations.may_record_external, "coordinator_id"
        )
        require_independent(self.world, appeal.case_id, coordinator, Part.APPEAL)
        require_length(self.world, vendor_name=vendor_name)
        if self.strict and not vendor_name.strip():
            raise Refusal(
                RefusalCode.MISSING_TEXT, "vendor_name: name the organization that reviews."
            )
        assigned = replace(
            appeal,
            assigned_reviewer_id=coordinator,
            assigned_reviewer_role=str(self.world.staff.role_of(coordinator) or ""),
            external_vendor=vendor_name,
        )
        self.appeals[appeal.id] = assigned
        self.audit("assign_external_review", appeal.case_id, coordinator)
        return {"appeal": assigned}

    def record_external_review_outcome(
        self, appeal_id: str, coordinator_id: str, outcome: str, rationale: str = ""
    ) -> Mapping[str, object]:
        """Record what an outside organization decided; it binds the payer.

        Args:
            appeal_id: The appeal.
            coordinator_id: The external-review coordinator.
            outcome: ``external_appeal_upheld``, the denial stands, or
                ``external_appeal_overturned``.
            rationale: Why.

        Raises:
            Refusal: If there is no such appeal, it is decided or internal, or the outcome is
                none; or, in a strict world, it is an outcome of another level, no reason is
                given, or nobody was assigned.
        """
        appeal = self._undecided(appeal_id, EXTERNAL)
        coordinator = acting(self.world, coordinator_id)
        said = appeal_rules.outcome_of(outcome)
        if self.strict:
            require_role(
                self.world, coordinator, self.world.operations.may_record_external, "coordinator_id"
            )
            appeal_rules.require_decision(appeal, coordinator, said, rationale)
            require_length(self.world, rationale=rationale)
        appeal = replace(appeal, binding_result=True)
        overturned = said is AppealOutcome.EXTERNAL_APPEAL_OVERTURNED
        leads_to = (
            CaseStatus.EXTERNAL_APPEAL_OVERTURNED
            if overturned
            else CaseStatus.EXTERNAL_APPEAL_UPHELD
        )
        name = "record_external_review_outcome"
        return self._decide(appeal, said, rationale, coordinator, leads_to, name)

    def validate_reviewer_independence(self, appeal_id: str) -> Mapping[str, object]:
        """Say whether an appeal's reviewer had no part in the case before.

        Raises:
            Refusal: If there is no such appeal.
        """
        appeal = self._appeal(appeal_id)
        self.looked("validate_reviewer_independence", appeal.case_id)
        assigned = appeal.assigned_reviewer_id
        return {
            "appeal_id": appeal_id,
            "original_reviewer_id": appeal.original_reviewer_id,
            "assigned_reviewer_id": assigned,
            "independent": assigned is not None
            and not appeal_rules.had_part(self.world, appeal, assigned),
        }

    def validate_appeal_timeliness(self, appeal_id: str) -> Mapping[str, object]:
        """Say whether an appeal was filed within its window.

        Raises:
            Refusal: If there is no such appeal, or the case has no deadline on record.
        """
        appeal = self._appeal(appeal_id)
        due = appeal_rules.deadline(self.world, self.world.cases.get(appeal.case_id), appeal.level)
        if due is None:
            raise Refusal(
                RefusalCode.WRONG_STATE,
                f"No deadline for appeals of case {appeal.case_id} is on record.",
            )
        self.looked("validate_appeal_timeliness", appeal.case_id)
        return {
            "appeal_id": appeal_id,
            "filed_at": appeal.filed_at,
            "deadline": due,
            "timely": appeal.filed_at <= due,
        }

    def _assign(self, appeal: Appeal, reviewer: str) -> Appeal:
        assigned = replace(
            appeal,
            assigned_reviewer_id=reviewer,
            assigned_reviewer_role=str(self.world.staff.role_of(reviewer) or ""),
            independence_validated=True,
        )
        self.appeals[appeal.id] = assigned
        self.audit("assign_internal_appeal_reviewer", appeal.case_id, reviewer)
        return assigned

    def _decide(
        self,
        appeal: Appeal,
        outcome: AppealOutcome,
        rationale: str,
        actor: str,
        leads_to: CaseStatus,
        name: str,
    ) -> Mapping[str, object]:
        world, case_id = self.world, appeal.case_id
        decided = replace(
            appeal,
            status=outcome,
            outcome=outcome,
            outcome_reason=rationale,
            decided_at=world.clock.now,
        )
        self.appeals[appeal.id] = decided
        world.cases.move(case_id, leads_to, actor)
        overturned = leads_to in (
            CaseStatus.APPEAL_OVERTURNED,
            CaseStatus.EXTERNAL_APPEAL_OVERTURNED,
        )
        # In the source the denial stays active, so that only its letter can be written.
        if self.strict and overturned:
            world.determinations.overturn(decided, actor, rationale)
        letter = world.letters.write(case_id, LetterType(leads_to), actor, rationale=rationale)
        case = world.cases.get(case_id)
        # In the source a letter goes by whatever channel the request came.
        loose = case.submission_channel or SubmissionChannel.PORTAL
        channel = case.letter_channel if self.strict else loose
        sent = world.letters.deliver(letter.id, channel, actor)
        self.audit(name, case_id, actor)
        world.history.stage(case_id, f"{appeal.level}_appeal", outcome, actor)
        return {"appeal": decided, "case": world.cases.get(case_id), **sent}
