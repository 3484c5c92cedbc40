"""Which of the payer's policies a case falls under."""

from __future__ import annotations

from typing import TYPE_CHECKING

from healthgym.worlds.managed_care.policies.policy import Policy

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
