"""The policies of a payer, as its staff and its systems look them up."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from healthgym.worlds.managed_care.policies.policy import Policy


class PolicyBook:
    """The policies that hold in a world; immutable.

    Args:
        policies: All versions, for all plans and states.
    """

    def __init__(self, policies: Iterable[Policy]) -> None:
        self.policies = tuple(policies)

    def in_force(self, code: str, plan: str, state: str, day: date) -> Policy | None:
        """Return the policy that a request falls under; None if the payer has none.

        A policy for the state goes before one for all states, then the one in force the longest.

        Args:
            code: CPT or HCPCS code.
            plan: Name of the member's plan.
            state: Two letters.
            day: Day of the request.
        """
        found = [
            policy
            for policy in self.policies
            if plan in policy.plans
            and (not policy.states or state in policy.states)
            and policy.in_force(day)
            and any(item.code == code for item in policy.procedures)
        ]
        return min(found, key=lambda each: (not each.states, each.effective), default=None)
