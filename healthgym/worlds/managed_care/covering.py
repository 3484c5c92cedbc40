"""Which of the payer's policies a case falls under, and whether it ends before they are asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.vocabulary.authorization import (
    IntakeStatus,
    ProviderNetworkStatus,
)

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld


def covering(world: ManagedCareWorld, case_id: str) -> Policy | None:
    """Return the policy that a case falls under; None if the payer has none for it.

    That goes by the code, the plan, the member's state and the day on which the case was opened.

    Args:
        world: The world, whose start has the payer's policies.
        case_id: The case.
    """
    book = world.start.policies
    if book is None:
        return None
    case = world.cases.get(case_id)
    chart = world.charts[case.patient_id]
    coverage = chart.coverage  # as the system took it when the case was opened
    code = world.cases.order(case.service_request_id).procedure_code
    plan = coverage.plan_name if coverage else ""
    return book.in_force(code, plan, chart.patient.address_state, case.created_at.date())


def ends_with_intake(world: ManagedCareWorld, case_id: str) -> bool:
    """Return whether a case ends with its intake: as it was confirmed, or for want of a question.

    What was confirmed may be wrong. Whether a service needs an authorization is nobody's decision:
    the policy of the case says it.

    Args:
        world: The world.
        case_id: The case.
    """
    intake = world.intake.find(case_id)
    if intake is None or intake.status is not IntakeStatus.COMPLETE:
        return False
    outside = intake.decision_provider_network_status is ProviderNetworkStatus.OUT_OF_NETWORK
    refused = (intake.decision_member_eligible, intake.decision_service_covered)
    if outside or False in refused:
        return True
    policy = covering(world, case_id)
    code = world.cases.order(world.cases.get(case_id).service_request_id).procedure_code
    return policy is not None and not policy.requires_authorization(code)
