"""The payer's triage desk, as clerks and nurses use it."""

from __future__ import annotations

from healthgym.core.tool import ToolKind, tool
from healthgym.envs.managed_care.tools.base import DECISION, LOOK, OfficeToolset
from healthgym.worlds.managed_care.vocabulary.authorization import (
    PayerRouteTarget,
    TriageDisposition,
    TriageUrgency,
)


class TriageToolset(OfficeToolset):
    """Urgency, time limit, gold card, disposition and lane of a request."""

    namespace = "triage"

    @tool(ToolKind.READ, takes=LOOK)
    def get(self, case_id: str) -> str:
        """Read the intake record of a case and, if somebody triaged it, its triage record.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
        """
        return self.show(self.world.triage.show(case_id))

    @tool(ToolKind.READ, takes=LOOK)
    def calculate_sla(
        self, case_id: str, urgency_level: TriageUrgency, state: str | None = None
    ) -> str:
        """Calculate until when a case is to be decided, and by which rule; nothing is kept.

        The stricter of the federal and the state's limit counts, from receipt.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            urgency_level: How urgent the request is.
            state: State whose law applies, by its two letters; that of the intake if left out.
        """
        return self.show(self.world.triage.calculate_sla(case_id, urgency_level, state))

    @tool(ToolKind.READ, takes=LOOK)
    def check_gold_card(
        self,
        case_id: str,
        provider_npi: str | None = None,
        service_category: str | None = None,
    ) -> str:
        """Check whether a gold card exempts the requesting provider from review for a case.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            provider_npi: NPI to compare with the request's, ten digits; not compared if left out.
            service_category: Category of the service, such as "radiology"; noted only.
        """
        return self.show(self.world.triage.check_gold_card(case_id, provider_npi, service_category))

    @tool(ToolKind.WRITE, takes=DECISION)
    def set_disposition(
        self,
        case_id: str,
        urgency_level: TriageUrgency,
        sla_deadline: str,
        sla_hours: int | None = None,
        sla_rule_source: str | None = None,
        gold_card_eligible: bool = False,
        disposition: TriageDisposition = TriageDisposition.NURSE_REVIEW,
        disposition_reason: str = "",
        actor: str = "SYSTEM",
    ) -> str:
        """Triage a case, once, after its intake is complete: urgency, limit, who looks first.

        A review is queued for a nurse or a physician; an automatic approval is only noted, and
        routing carries it out.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            urgency_level: How urgent the request is.
            sla_deadline: Until when to decide, in UTC, such as "2026-03-20T09:00", as
                calculate_sla gives it.
            sla_hours: Hours from receipt, as calculate_sla gives them.
            sla_rule_source: The rule, as calculate_sla gives it: "cms" or "state:TX".
            gold_card_eligible: Whether a gold card exempts the provider, as check_gold_card says.
            disposition: Who looks at the request first.
            disposition_reason: Why, in a sentence; only the source's rules do without.
            actor: Id of the intake coordinator or nurse who triages, such as "C-INT".
        """
        return self.show(
            self.world.triage.set_disposition(
                case_id,
                urgency=urgency_level,
                deadline=sla_deadline,
                hours=sla_hours,
                rule_source=sla_rule_source,
                gold_card=gold_card_eligible,
                disposition=disposition,
                reason=disposition_reason,
                actor=actor,
            )
        )

    @tool(ToolKind.WRITE, takes=DECISION)
    def route_case(
        self,
        case_id: str,
        actor: str = "agent",
        override_target: PayerRouteTarget | None = None,
    ) -> str:
        """Put a triaged case into its lane.

        The policy gives the lane. The gold-card and notification lanes approve at once; the others
        queue a review.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            actor: Id of the intake coordinator or nurse who routes, such as "C-INT"; of a
                supervisor, if the lane is overridden.
            override_target: Another lane than the policy gives; the reason is the disposition's.
        """
        return self.show(self.world.triage.route(case_id, actor, override_target))
