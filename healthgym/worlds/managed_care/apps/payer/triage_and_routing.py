"""Urgency, service levels and lanes.

Triage says how urgent a request is, until when it is to be decided and who looks at it first;
routing puts it into a lane. Two lanes approve without review, the others queue one review task for
a case: a later disposition or route changes the open one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from healthgym.core.records import replace
from healthgym.core.state import table
from healthgym.worlds.managed_care import deadlines
from healthgym.worlds.managed_care.apps.app import App, newest
from healthgym.worlds.managed_care.apps.payer import lanes, routing, triage_rules
from healthgym.worlds.managed_care.apps.payer.reviewers import acting
from healthgym.worlds.managed_care.apps.texts import require_length
from healthgym.worlds.managed_care.dates import moment
from healthgym.worlds.managed_care.records.case import PriorAuthCase
from healthgym.worlds.managed_care.records.review import (
    PayerReviewTask,
    PayerRoutingRecord,
    TriageRecord,
)
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.service_levels import (
    ServiceLevel,
    normalized_state,
    service_level,
)
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DecisionOutcome,
    PayerMode,
    PayerReviewStatus,
    PayerRole,
    PayerRouteTarget,
    ReviewType,
    TriageDisposition,
    TriageUrgency,
)

_WAITING = (CaseStatus.SUBMITTED, CaseStatus.RESUBMITTED)
_OPEN = (PayerReviewStatus.QUEUED, PayerReviewStatus.CLAIMED)


class TriageAndRouting(App):
    """Triage and routing.

    Attributes:
        triages: Triage records, by id.
        routings: Routing records, by id.
        tasks: Review tasks, by id.
    """

    name = "payer_triage"
    triages = table[str, TriageRecord]()
    routings = table[str, PayerRoutingRecord]()
    tasks = table[str, PayerReviewTask]()

    # -- for the other applications --------------------------------------------------------------

    def of(self, case_id: str) -> TriageRecord | None:
        """Return the triage record of a case; None if nobody has triaged it."""
        return newest(self.triages, case_id)

    def routing_of(self, case_id: str) -> PayerRoutingRecord | None:
        """Return the latest routing record of a case; None if it was not routed."""
        return newest(self.routings, case_id)

    def open_task(self, case_id: str) -> PayerReviewTask | None:
        """Return the newest review task of a case that is not finished; None if there is none."""
        return self._newest(case_id, _OPEN)

    def complete_task(
        self, case_id: str, role: PayerRole, decision: DecisionOutcome | None, actor: str
    ) -> PayerReviewTask | None:
        """Finish the newest open task of a case, if there is one; return it.

        Args:
            case_id: The case.
            role: As what the worker acted.
            decision: What came of it, where it is a decision.
            actor: Who finished it.
        """
        task = self.open_task(case_id)
        if task is None:
            return None
        return self.keep(
            replace(
                task,
                status=PayerReviewStatus.COMPLETED,
                assigned_to=actor,
                assigned_role=role,
                decision=decision,
                updated_at=self.world.clock.now,
            )
        )

    def requeue(self, case_id: str) -> PayerReviewTask | None:
        """Queue the last finished task of a case again, after a reply to a request.

        The case is under review again, then.

        Returns:
            The new task; None, and nothing happens, where no task was finished before.
        """
        task = self._newest(case_id, (PayerReviewStatus.COMPLETED,))
        if task is None:
            return None
        now = self.world.clock.now
        self.take_up(case_id, self.world.actor)
        return self.keep(
            replace(
                task,
                id=self.draw_id("RTASK-"),
                status=PayerReviewStatus.QUEUED,
                assigned_to=None,
                assigned_role=None,
                decision=None,
                created_at=now,
                updated_at=now,
            )
        )

    def queue(
        self, case_id: str, role: PayerRole, target: PayerRouteTarget, name: str
    ) -> PayerReviewTask:
        """Queue the review of a case, or change the task that is open; return it.

        Args:
            case_id: The case.
            role: Who is to do it.
            target: The lane it is in.
            name: The queue.
        """
        now = self.world.clock.now
        intake = self.world.intake.find(case_id)
        task = self.open_task(case_id) or PayerReviewTask(
            id=self.draw_id("RTASK-"),
            case_id=case_id,
            route_target=target,
            required_role=role,
            queue_name=name,
            created_at=now,
            updated_at=now,
        )
        physician = role is PayerRole.PHYSICIAN_REVIEWER
        triage = self.of(case_id)
        return self.keep(
            replace(
                task,
                intake_case_id=intake.id if intake else None,
                route_target=target,
                required_role=role,
                queue_name=name,
                review_type=ReviewType.ADVISOR_REVIEW if physician else ReviewType.CLINICAL_REVIEW,
                sla_due_at=triage.sla_deadline if triage else None,
                updated_at=now,
            )
        )

    def take_up(self, case_id: str, actor: str) -> None:
        """Bring a case that waits for review under review; others stay where they are."""
        if self.world.cases.get(case_id).status in _WAITING:
            self.world.cases.move(case_id, CaseStatus.UNDER_REVIEW, actor)

    def explain(self, case_id: str, reason: str) -> None:
        """Note at a case why its outcome is what it is."""
        case = self.world.cases.get(case_id)
        self.world.cases.put(replace(case, outcome_reason=reason))

    def keep(self, task: PayerReviewTask) -> PayerReviewTask:
        """Keep a review task, and return it."""
        self.tasks[task.id] = task
        return task

    def level(self, case_id: str, urgency: TriageUrgency, state: str | None = None) -> ServiceLevel:
        """Return the limit for deciding a case.

        Args:
            case_id: The case; it has an intake record.
            urgency: How urgent it is.
            state: The state whose law applies; that of the intake's header if left out, and in a
                strict world that of the member where the header has none.
        """
        known = normalized_state(state) or normalized_state(self.world.intake.get(case_id).state)
        if known is None and self.strict:
            known = normalized_state(self.world.intake.member_state(case_id))
        return service_level(self.world.operations, urgency, known)

    def holds_gold_card(self, case_id: str) -> bool:
        """Return whether a gold card lets the provider of a case pass."""
        return lanes.gold_card(self.world, case_id)

    # -- at the desk -----------------------------------------------------------------------------

    def show(self, case_id: str) -> Mapping[str, object]:
        """Return intake and triage record of a case."""
        self._require_desk()
        intake = self.world.intake.get(case_id)
        self.looked("get_triage", case_id)
        return {"intake_case": intake, "triage": self.of(case_id)}

    def calculate_sla(
        self, case_id: str, urgency: TriageUrgency, state: str | None
    ) -> Mapping[str, object]:
        """Return until when a case is to be decided if it is so urgent; nothing is kept."""
        self._require_desk()
        intake = self.world.intake.get(case_id)
        level = self.level(case_id, urgency, state)
        self.looked("calculate_sla_deadline", case_id)
        return {
            "case_id": case_id,
            "urgency_level": urgency,
            "state": level.state,
            "sla_hours": level.hours,
            "sla_deadline": level.deadline(intake.received_at),
            "rule_source": level.rule_source,
            "receipt_timestamp": intake.received_at,
        }

    def check_gold_card(
        self, case_id: str, npi: str | None, category: str | None
    ) -> Mapping[str, object]:
        """Return whether a gold card lets the provider of a case pass.

        Args:
            case_id: The case.
            npi: Identifier of the provider, to be compared with the request's; not compared if
                left out.
            category: Category of the service, for the record only.
        """
        self._require_desk()
        provider = self.world.intake.get(case_id).requesting_provider
        known = provider.npi if provider else None
        if npi and npi != known:
            raise Refusal(
                RefusalCode.BAD_ARGUMENT,
                f"provider_npi {npi[:40]!r} is not the requesting provider's of case {case_id}; "
                "accepted is the one of its intake, or none.",
            )
        self.looked("check_gold_card", case_id)
        return {
            "case_id": case_id,
            "gold_card_eligible": self.holds_gold_card(case_id),
            "provider_npi": known,
            "service_category": category,
        }

    def set_disposition(
        self,
        case_id: str,
        *,
        urgency: TriageUrgency,
        deadline: str,
        hours: int | None,
        rule_source: str | None,
        gold_card: bool,
        disposition: TriageDisposition,
        reason: str,
        actor: str,
    ) -> Mapping[str, object]:
        """Triage a case, once: urgency, limit, and who looks at it first.

        Args:
            case_id: The case.
            urgency: How urgent it is.
            deadline: Until when it is to be decided, ISO time in UTC.
            hours: Hours from receipt.
            rule_source: The rule that gives them.
            gold_card: Whether a gold card lets the provider pass.
            disposition: Who looks at it first.
            reason: Why, in words.
            actor: Who triages.
        """
        self._require_desk()
        case = self.world.cases.get(case_id)
        intake = self.world.intake.get(case_id)
        if self.of(case_id) is not None:
            raise Refusal(
                RefusalCode.DUPLICATE,
                f"Case {case_id} has its disposition already; triage.get shows it.",
            )
        until, actor = moment(deadline, "sla_deadline"), acting(self.world, actor)
        if self.strict:
            triage_rules.require_triage_worker(self.world, actor)
            triage_rules.require_reviewable(case, intake)
            level = self.level(case_id, urgency)
            given = (until, hours, rule_source)
            triage_rules.require_computed(urgency, level, intake.received_at, given)
            triage_rules.require_card(gold_card, self.holds_gold_card(case_id))
            require_length(self.world, disposition_reason=reason)
            triage_rules.require_reason(reason)
            hours, rule_source = level.hours, level.rule_source
        record = routing.triaged(self.world, case, intake, urgency, until, actor)
        record = replace(
            record,
            sla_hours=hours,
            sla_rule_source=rule_source,
            gold_card_eligible=gold_card,
            disposition=disposition,
            disposition_reason=reason or None,
        )
        self.triages[record.id] = record
        task = self._dispose(record)
        self.world.history.stage(case_id, "triage", str(disposition), actor)
        self.audit("set_disposition", case_id, actor)
        if self.strict:
            deadlines.watch_decision(self.world, case_id)
        return {"triage": record, "review_task": task, "case": self.world.cases.get(case_id)}

    def route(
        self, case_id: str, actor: str, override: PayerRouteTarget | None
    ) -> Mapping[str, object]:
        """Put a case into its lane.

        Args:
            case_id: The case.
            actor: Who routes it.
            override: A lane to take instead of the one that the policy gives.
        """
        self._require_desk()
        case, actor = self.world.cases.get(case_id), acting(self.world, actor)
        target = override or lanes.lane(self.world, case_id)
        if self.strict:
            self._require_route(case, actor, target, overridden=override is not None)
        record = routing.decide(self.world, case_id, target, actor, override is not None)
        self.routings[record.id] = record
        task = None
        if target in lanes.FAST_LANES:
            routing.let_pass(self.world, record)
        else:
            task = routing.send_to_review(self.world, record)
        self.world.history.audit("payer_routing_engine", "route_case", case_id, actor)
        return {
            "route_record": record,
            "case": self.world.cases.get(case_id),
            "review_task": task,
        }

    # -- inside ----------------------------------------------------------------------------------

    def _require_desk(self) -> None:
        if self.world.payer_mode is PayerMode.AUTO:
            raise Refusal(
                RefusalCode.DESK_CLOSED,
                "The payer decides by itself here, and its triage desk takes no calls; accepted "
                "are the tools of the provider and of payer_intake_hub.",
            )

    def _require_route(
        self, case: PriorAuthCase, actor: str, target: PayerRouteTarget, *, overridden: bool
    ) -> None:
        triage_rules.require_reviewable(case, self.world.intake.find(case.id))
        triage = triage_rules.require_triaged(case.id, self.of(case.id))
        triage_rules.require_change(self.routing_of(case.id), target)
        if overridden:
            triage_rules.require_override(self.world, actor, triage, target)
        else:
            triage_rules.require_triage_worker(self.world, actor)

    def _dispose(self, record: TriageRecord) -> PayerReviewTask | None:
        """Queue what a disposition asks for; one that approves only says why."""
        if record.disposition is TriageDisposition.AUTO_APPROVAL:
            reason = record.disposition_reason or "Triage finds that no review is needed."
            self.explain(record.case_id, reason)
            return None
        standard = PayerRouteTarget.STANDARD_UM
        if record.disposition is TriageDisposition.MD_REVIEW:
            task = self.queue(
                record.case_id, PayerRole.PHYSICIAN_REVIEWER, standard, routing.PHYSICIANS
            )
        else:
            task = self.queue(record.case_id, PayerRole.UM_NURSE, standard, str(standard))
        self.take_up(record.case_id, record.actor)
        return task

    def _newest(
        self, case_id: str, statuses: Collection[PayerReviewStatus]
    ) -> PayerReviewTask | None:
        """Return the newest review task of a case that has one of these statuses."""
        for task in reversed(self.tasks.values()):
            if task.case_id == case_id and task.status in statuses:
                return task
        return None
