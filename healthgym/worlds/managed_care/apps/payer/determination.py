"""The payer's final decision.

One determination of a case counts at a time. It takes up what a nurse recommended or a physician
decided; lanes that need no review are approved at the desk that routes them.
"""

from __future__ import annotations

from collections.abc import Mapping

from healthgym.core.records import replace
from healthgym.core.state import table
from healthgym.worlds.managed_care.apps.app import App
from healthgym.worlds.managed_care.apps.payer.criteria import tally
from healthgym.worlds.managed_care.apps.payer.preflight import LEADS_TO, Cleared, clear, upstream
from healthgym.worlds.managed_care.apps.payer.reviewers import require_desk
from healthgym.worlds.managed_care.apps.texts import require_length
from healthgym.worlds.managed_care.records.case import PriorAuthCase
from healthgym.worlds.managed_care.records.decision import (
    Appeal,
    DeterminationRecord,
    ReviewDecision,
)
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.service_levels import case_timers
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CriterionResult,
    DecisionOutcome,
    DeterminationDecision,
    DeterminationSource,
    PayerRouteTarget,
    ReviewRoute,
)

#: The word for a determination in a review decision.
_OUTCOME = {
    DeterminationDecision.APPROVED: DecisionOutcome.APPROVED,
    DeterminationDecision.DENIED: DecisionOutcome.DENIED,
    DeterminationDecision.PARTIALLY_APPROVED: DecisionOutcome.APPROVED_MODIFIED,
}
_LANE_REASON = {
    PayerRouteTarget.GOLD_CARD_LANE: "Gold-card lane: approved without clinical review.",
    PayerRouteTarget.NOTIFICATION_ONLY_LANE: "Notification lane: recorded, no review required.",
}
#: Where an approval after an appeal comes from.
APPEAL_SOURCE = "appeal_decision"


class Determinations(App):
    """Determinations.

    Attributes:
        determinations: Determinations, by id.
        decisions: The review decisions that go with them, by id.
    """

    name = "payer_determination"
    determinations = table[str, DeterminationRecord]()
    decisions = table[str, ReviewDecision]()

    def of(self, case_id: str) -> tuple[DeterminationRecord, ...]:
        """Return the determinations of a case, oldest first."""
        return tuple(one for one in self.determinations.values() if one.case_id == case_id)

    def active(self, case_id: str) -> DeterminationRecord | None:
        """Return the determination that counts; None if there is none."""
        return next((one for one in self.of(case_id) if not one.superseded_by), None)

    def decisions_of(self, case_id: str) -> tuple[ReviewDecision, ...]:
        """Return the review decisions of a case, oldest first."""
        return tuple(one for one in self.decisions.values() if one.case_id == case_id)

    def summary(self, case_id: str) -> Mapping[str, object]:
        """Return what a determination can rest on, what stands in its way, and the criteria.

        Raises:
            Refusal: If there is no such case.
        """
        world = self.world
        require_desk(world)
        world.cases.get(case_id)
        rests_on = upstream(world, case_id)
        own, nurses = world.medical.reviews_of(case_id), world.nursing.reviews_of(case_id)
        # The finding that stands counts: a physician's before a nurse's.
        counts = tally((*nurses, *own) if self.strict else own or nurses)
        gaps = counts[CriterionResult.NOT_MET] + counts[CriterionResult.UNCLEAR]
        policy = world.cases.policy(case_id)
        self.looked("get_summary", case_id)
        return {
            "case_id": case_id,
            "source": rests_on.source,
            "recommendation": rests_on.recommendation,
            "blocking_reason": rests_on.blocker,
            "criteria_summary": counts,
            "documentation_gaps": gaps,
            "policy_version": policy.policy_version if policy else None,
            "policy_citations": policy.policy_citations if policy else (),
            "determination": self.active(case_id),
        }

    def finalize(
        self,
        case_id: str,
        decision: DeterminationDecision,
        *,
        overridden: bool = False,
        override_reason: str = "",
        actor: str = "SYSTEM",
    ) -> Mapping[str, object]:
        """Make a decision final.

        Args:
            case_id: The case.
            decision: The decision.
            overridden: Whether it is meant to depart from the recommendation.
            override_reason: Why it does.
            actor: Who makes it final; ``SYSTEM`` for whoever recommended it.

        Raises:
            Refusal: If it cannot be made final (:func:`clear`).
        """
        require_desk(self.world)
        require_length(self.world, override_reason=override_reason)
        cleared = clear(
            self.world,
            case_id,
            decision,
            overridden=overridden,
            override_reason=override_reason,
            actor=actor,
        )
        determination = self._determine(cleared, decision, override_reason)
        review = self._file(cleared, decision)
        case = self._settle(cleared.case, decision, cleared.actor)
        self.world.history.stage(case_id, "determination", decision, cleared.actor)
        self.audit("finalize", case_id, cleared.actor)
        return {"determination": determination, "review_decision": review, "case": case}

    def approve_fast_lane(
        self, case_id: str, lane: PayerRouteTarget, actor: str
    ) -> tuple[DeterminationRecord, ReviewDecision]:
        """Approve a case whose lane needs no review.

        Args:
            case_id: The case.
            lane: The gold-card lane or the notification lane.
            actor: Who routed it there.

        Raises:
            Refusal: If the case is decided, has no intake record, or its status does not allow it.
        """
        world = self.world
        case = world.cases.get(case_id)
        if (done := self.active(case_id)) is not None:
            raise Refusal(
                RefusalCode.DUPLICATE,
                f"Case {case_id} has a determination, {done.final_decision} ({done.id}); there is "
                "one at a time.",
            )
        intake = world.intake.find(case_id)
        if intake is None:
            raise Refusal(
                RefusalCode.INTAKE_INCOMPLETE,
                f"Case {case_id} has no intake record; begin one before it is routed.",
            )
        reason = _LANE_REASON[lane]
        routing = world.triage.routing_of(case_id)
        determination = self._keep(
            case_id,
            intake.id,
            source=DeterminationSource.TRIAGE_AUTO_APPROVE,
            source_record_id=routing.id if routing else intake.id,
            recommendation=DeterminationDecision.APPROVED,
            decision=DeterminationDecision.APPROVED,
            actor=actor,
        )
        review = self._keep_review(
            case_id, ReviewRoute.AUTO_APPROVE, DecisionOutcome.APPROVED, reason, "system", actor
        )
        world.cases.put(replace(case, outcome_reason=reason))
        self._settle(case, DeterminationDecision.APPROVED, actor)
        world.history.stage(case_id, "determination", "approved", actor)
        self.audit("finalize", case_id, actor)
        return determination, review

    def overturn(self, appeal: Appeal, actor: str, reason: str) -> DeterminationRecord:
        """Put an approval in the place of the denial that an appeal overturned.

        Args:
            appeal: The appeal.
            actor: Who decided it.
            reason: Why.
        """
        case_id = appeal.case_id
        denial = self.active(case_id)
        if denial is not None:
            self.determinations[denial.id] = replace(denial, superseded_by=appeal.id)
        intake = self.world.intake.find(case_id)
        made = self._keep(
            case_id,
            intake.id if intake else "",
            source=APPEAL_SOURCE,
            source_record_id=appeal.id,
            recommendation=DeterminationDecision.APPROVED,
            decision=DeterminationDecision.APPROVED,
            actor=actor,
        )
        role = str(self.world.staff.role_of(actor) or "")
        self._keep_review(
            case_id, ReviewRoute.PHYSICIAN_REVIEW, DecisionOutcome.APPROVED, reason, role, actor
        )
        self._authorize(self.world.cases.get(case_id), actor)
        return made

    def _determine(
        self, cleared: Cleared, decision: DeterminationDecision, reason: str
    ) -> DeterminationRecord:
        return self._keep(
            cleared.case.id,
            cleared.intake.id,
            source=cleared.source,
            source_record_id=cleared.upstream.record_id,
            recommendation=cleared.recommendation,
            decision=decision,
            actor=cleared.actor,
            overridden=cleared.overridden,
            override_reason=reason,
        )

    def _keep(
        self,
        case_id: str,
        intake_id: str,
        *,
        source: str,
        source_record_id: str,
        recommendation: str,
        decision: DeterminationDecision,
        actor: str,
        overridden: bool = False,
        override_reason: str = "",
    ) -> DeterminationRecord:
        made = DeterminationRecord(
            id=self.draw_id("DET-"),
            case_id=case_id,
            intake_case_id=intake_id,
            source=source,
            source_record_id=source_record_id,
            original_recommendation=recommendation,
            final_decision=decision,
            overridden=overridden,
            override_reason=override_reason if overridden else "",
            determined_by=actor,
            created_at=self.world.clock.now,
        )
        self.determinations[made.id] = made
        return made

    def _file(self, cleared: Cleared, decision: DeterminationDecision) -> ReviewDecision:
        by_nurse = cleared.source is DeterminationSource.NURSE_RECOMMENDATION
        route = ReviewRoute.CLINICAL_SPECIALIST if by_nurse else ReviewRoute.PHYSICIAN_REVIEW
        if decision is DeterminationDecision.DENIED:
            route = ReviewRoute.DENY
        return self._keep_review(
            cleared.case.id,
            route,
            _OUTCOME[decision],
            self._rationale(cleared.case.id, decision),
            cleared.reviewer_role,
            cleared.actor,
        )

    def _rationale(self, case_id: str, decision: DeterminationDecision) -> str:
        heard = self.world.peer.established(case_id) if self.strict else ""
        if heard and decision is DeterminationDecision.APPROVED:
            return heard  # what was intended before the call speaks against it
        before = self._before_call(case_id, decision)
        return "\n".join(part for part in (before, heard) if part)

    def _before_call(self, case_id: str, decision: DeterminationDecision) -> str:
        word = self.world.medical.active(case_id)
        if word is not None:
            reason = word.determination_rationale or word.clinical_notes
            return word.denial_rationale or reason if decision.value == "denied" else reason
        nurse = self.world.nursing.active(case_id)
        return nurse.clinical_notes if nurse else ""

    def _keep_review(
        self,
        case_id: str,
        route: ReviewRoute,
        outcome: DecisionOutcome,
        rationale: str,
        role: str,
        actor: str,
    ) -> ReviewDecision:
        policy = self.world.cases.policy(case_id)
        made = ReviewDecision(
            id=self.draw_id("REV-DET-"),
            case_id=case_id,
            route=route,
            outcome=outcome,
            rationale=rationale,
            reviewer_role=role,
            reviewer_id=actor,
            policy_citations=policy.policy_citations if policy else (),
            supporting_basis=policy.policy_summary if policy else None,
            created_at=self.world.clock.now,
        )
        self.decisions[made.id] = made
        return made

    def _settle(
        self, case: PriorAuthCase, decision: DeterminationDecision, actor: str
    ) -> PriorAuthCase:
        """Move a case to where a decision leads, and give what goes with it."""
        self.world.cases.move(case.id, LEADS_TO[decision], actor)
        case = self.world.cases.get(case.id)
        if decision is not DeterminationDecision.DENIED:
            case = self._authorize(case, actor)
        # Its letter tells of the right to appeal; no status leads there.
        if self.strict and decision is DeterminationDecision.PARTIALLY_APPROVED:
            case = replace(
                case, appeal_due_at=self.world.clock.now + case_timers(self.world.operations).appeal
            )
            self.world.cases.put(case)
        return self.world.cases.get(case.id)

    def _authorize(self, case: PriorAuthCase, actor: str) -> PriorAuthCase:
        number = self.world.counters.draw("AUTH-")
        case = replace(case, authorization_number=f"AUTH-{case.id}-{number:06X}")
        self.world.cases.put(case)
        self.world.history.audit("payer_review", "generate_authorization_number", case.id, actor)
        return case
