"""Which lane a request takes, and which providers a gold card lets pass.

The order of lanes is the source's. Its gold card is a flag of the policy; in a strict world it
also needs the provider: in the network, under the identifier that the request bears, and not
below the share of approvals that the gold-card programme asks for, where the world's own records
have decided requests enough to tell. Drugs and transplants have no card.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.records.chart import ServiceRequest
from healthgym.worlds.managed_care.records.intake import IntakeCase
from healthgym.worlds.managed_care.records.policy import CasePolicy
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.vocabulary.authorization import (
    AuthorizationType,
    CaseStatus,
    PayerRouteTarget,
    ProviderNetworkStatus,
    ServiceTypeCategory,
)

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld

#: The lanes in which a request is approved without review.
FAST_LANES = frozenset({PayerRouteTarget.GOLD_CARD_LANE, PayerRouteTarget.NOTIFICATION_ONLY_LANE})
_MONTH = timedelta(days=365) / 12
_APPROVED = frozenset(
    {
        CaseStatus.APPROVED,
        CaseStatus.APPEAL_OVERTURNED,
        CaseStatus.EXTERNAL_APPEAL_OVERTURNED,
    }
)
#: An approval in part counts as none.
_REFUSED = frozenset(
    {
        CaseStatus.PARTIALLY_APPROVED,
        CaseStatus.DENIED,
        CaseStatus.APPEAL_UPHELD,
        CaseStatus.EXTERNAL_APPEAL_UPHELD,
    }
)


@dataclass(frozen=True, slots=True)
class ProviderHistory:
    """What became of a provider's requests for a service within the window.

    Attributes:
        decided: How many were approved or denied.
        approved: How many of them were approved, appeals counted.
    """

    decided: int
    approved: int

    def keeps_card(self, rules: OperatingRules) -> bool:
        """Return whether it does not speak against a gold card."""
        few = self.decided < rules.gold_card_requests_least
        return few or 100 * self.approved >= rules.gold_card_percent * self.decided


def gold_card(world: ManagedCareWorld, case_id: str) -> bool:
    """Return whether policy and provider have a gold card for a case."""
    policy = world.cases.policy(case_id)
    if policy is None or not policy.gold_card_eligible:
        return False
    if not world.triage.strict:
        return True
    intake = world.intake.find(case_id)
    return (
        intake is not None
        and intake.auth_type is not AuthorizationType.RX
        and _order(world, case_id).service_type != ServiceTypeCategory.TRANSPLANT
        and _in_network(intake)
        and _is_orderer(world, intake)
        and provider_history(world, case_id).keeps_card(world.operations)
    )


def provider_history(world: ManagedCareWorld, case_id: str) -> ProviderHistory:
    """Return what became of the other requests of whoever ordered a case, of its category."""
    order, window = _order(world, case_id), world.operations.gold_card_months * _MONTH
    approved = decided = 0
    for other in world.cases.cases.values():
        recent = world.clock.now - other.updated_at <= window
        if other.id == case_id or not recent or other.status not in _APPROVED | _REFUSED:
            continue
        theirs = world.cases.order(other.service_request_id)
        same = theirs.ordering_practitioner_id == order.ordering_practitioner_id
        if same and theirs.service_type == order.service_type:
            decided += 1
            approved += other.status in _APPROVED
    return ProviderHistory(decided, approved)


def lane(world: ManagedCareWorld, case_id: str) -> PayerRouteTarget:
    """Return the lane that a case takes by its policy.

    Raises:
        Refusal: If it has none: nothing says how, or no authorization is required.
    """
    policy = world.cases.policy(case_id)
    found = None if policy is None else _by_priority(policy, gold_card(world, case_id))
    if found is None:
        why = (
            "its service needs no authorization"
            if policy is not None and not policy.authorization_required
            else "its policy names no lane"
        )
        raise Refusal(
            RefusalCode.WRONG_STATE,
            f"Case {case_id} has no lane, since {why}; accepted is an override_target that a "
            "supervisor answers for.",
        )
    return found


def _by_priority(policy: CasePolicy, card: bool) -> PayerRouteTarget | None:
    if policy.notification_only:
        return PayerRouteTarget.NOTIFICATION_ONLY_LANE
    if not policy.authorization_required:
        return None
    if card:
        return PayerRouteTarget.GOLD_CARD_LANE
    if policy.external_vendor:
        return PayerRouteTarget.EXTERNAL_VENDOR
    if policy.delegated_program:
        return PayerRouteTarget.DELEGATE
    if policy.specialty_program:
        return PayerRouteTarget.SPECIALTY_PROGRAM
    return policy.route_target


def has_fast_lane(world: ManagedCareWorld, case_id: str, target: PayerRouteTarget) -> bool:
    """Return whether policy and provider have a lane that approves without review."""
    if target is PayerRouteTarget.GOLD_CARD_LANE:
        return gold_card(world, case_id)
    policy = world.cases.policy(case_id)
    return policy is not None and policy.notification_only


def _in_network(intake: IntakeCase) -> bool:
    confirmed = intake.decision_provider_network_status or intake.provider_network_status
    return confirmed is None or confirmed is ProviderNetworkStatus.IN_NETWORK


def _is_orderer(world: ManagedCareWorld, intake: IntakeCase) -> bool:
    """Return whether the request bears the identifier of whoever ordered the service."""
    order = _order(world, intake.case_id)
    clinician = world.staff.practitioners.get(order.ordering_practitioner_id)
    named = intake.requesting_provider.npi if intake.requesting_provider else None
    return clinician is not None and clinician.npi is not None and clinician.npi == named


def _order(world: ManagedCareWorld, case_id: str) -> ServiceRequest:
    return world.cases.order(world.cases.get(case_id).service_request_id)
