"""What triage and routing write down, and what a lane does to a case.

A fast lane approves at once; the others queue a review.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from healthgym.core.records import replace
from healthgym.worlds.managed_care.apps.payer.intake_rules import WITH_PAYER
from healthgym.worlds.managed_care.records.case import PriorAuthCase
from healthgym.worlds.managed_care.records.intake import IntakeCase
from healthgym.worlds.managed_care.records.review import (
    PayerReviewTask,
    PayerRoutingRecord,
    TriageRecord,
)
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.vocabulary.authorization import (
    DecisionOutcome,
    PayerRole,
    PayerRouteTarget,
    ReviewPriority,
    TriageDisposition,
    TriageUrgency,
    Urgency,
)

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld

#: The queue of the physicians, whatever the lane.
PHYSICIANS = "physician_review"


def triaged(
    world: ManagedCareWorld,
    case: PriorAuthCase,
    intake: IntakeCase,
    urgency: TriageUrgency,
    until: datetime,
    actor: str,
) -> TriageRecord:
    """Return the triage record of a case, its disposition still to be entered.

    Args:
        world: The world.
        case: The case.
        intake: Its intake record.
        urgency: How urgent it is.
        until: Until when it is to be decided.
        actor: Who triages.
    """
    provider = intake.requesting_provider
    return TriageRecord(
        id=world.triage.draw_id("TRG-"),
        case_id=case.id,
        intake_case_id=intake.id,
        urgency_level=urgency,
        receipt_timestamp=intake.received_at,
        state=world.triage.level(case.id, urgency).state,
        sla_deadline=until,
        gold_card_provider_npi=provider.npi if provider else None,
        gold_card_service_category=world.cases.order(case.service_request_id).service_type,
        created_at=world.clock.now,
        actor=actor,
    )


def decide(
    world: ManagedCareWorld, case_id: str, target: PayerRouteTarget, actor: str, overridden: bool
) -> PayerRoutingRecord:
    """Return the record of a routing.

    Args:
        world: The world.
        case_id: The case.
        target: The lane.
        actor: Who routes.
        overridden: Whether the lane is another than the policy gives.
    """
    policy = world.cases.policy(case_id)
    intake = world.intake.find(case_id)
    why = "as the actor decided" if overridden else "by the rules of its policy"
    return PayerRoutingRecord(
        id=world.triage.draw_id("RTE-"),
        case_id=case_id,
        intake_case_id=intake.id if intake else "",
        recommended_target=target,
        reason=f"Routed to {target.replace('_', ' ')}, {why}.",
        delegated_program=policy.delegated_program if policy else None,
        specialty_program=policy.specialty_program if policy else None,
        external_vendor=policy.external_vendor if policy else None,
        created_at=world.clock.now,
        actor=actor,
    )


def let_pass(world: ManagedCareWorld, record: PayerRoutingRecord) -> None:
    """Approve a case without review; one that is decided already only learns why it was routed.

    Raises:
        Refusal: If it has no intake record.
    """
    case_id = record.case_id
    if world.cases.get(case_id).status in WITH_PAYER:
        if not record.intake_case_id:
            raise Refusal(
                RefusalCode.INTAKE_INCOMPLETE,
                f"Case {case_id} has no intake record, and its lane approves at once; "
                "payer_intake_hub.create_intake_case opens one.",
            )
        if world.triage.strict:
            role = PayerRole.INTAKE_COORDINATOR
            world.triage.complete_task(case_id, role, DecisionOutcome.APPROVED, record.actor)
        target = record.recommended_target
        world.determinations.approve_fast_lane(case_id, target, record.actor)
    world.triage.explain(case_id, record.reason)


def send_to_review(world: ManagedCareWorld, record: PayerRoutingRecord) -> PayerReviewTask:
    """Queue the review of a case, and bring it under review if it waits for one."""
    case_id, target = record.case_id, record.recommended_target
    triage = world.triage.of(case_id)
    # In the source, routing gives every review to a nurse, whatever triage said.
    physician = (
        world.triage.strict
        and triage is not None
        and triage.disposition is TriageDisposition.MD_REVIEW
    )
    role = PayerRole.PHYSICIAN_REVIEWER if physician else PayerRole.UM_NURSE
    task = world.triage.queue(case_id, role, target, PHYSICIANS if physician else str(target))
    expedited = world.cases.get(case_id).urgency is Urgency.EXPEDITED
    task = world.triage.keep(
        replace(
            task,
            program_name=record.delegated_program or record.specialty_program,
            priority=ReviewPriority.URGENT if expedited else ReviewPriority.STANDARD,
        )
    )
    world.triage.take_up(case_id, record.actor)
    return task
