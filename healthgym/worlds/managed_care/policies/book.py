"""The policies of a payer, as its staff and its systems look them up."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from healthgym.core.canonical import canonical
from healthgym.core.seeding import content_hash
from healthgym.worlds.managed_care.policies.policy import Policy, to_case_policy
from healthgym.worlds.managed_care.records.policy import CasePolicy


class PolicyBook:
    """The policies that hold in a world; immutable.

    Args:
        policies: All versions, for all plans and states.
    """

    def __init__(self, policies: Iterable[Policy]) -> None:
        self.policies = tuple(policies)
        self._cards: dict[tuple[int, str, str], CasePolicy] = {}

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.policies,)

    def content_hash(self) -> str:
        """Return a hash of the policies; which cards were asked for is no part of them."""
        return content_hash(canonical(self.policies))

    def card(self, policy: Policy, case_id: str, code: str) -> CasePolicy:
        """Return the card by which a payer's rules treat a case; written once, asked for often.

        Args:
            policy: One of these policies.
            case_id: The case.
            code: What it asks for.
        """
        # The book keeps its policies alive, so that no other can come to the same number.
        key = (id(policy), case_id, code)
        if key not in self._cards:
            self._cards[key] = to_case_policy(policy, case_id, code)
        return self._cards[key]

    def days(self, policy_id: str) -> frozenset[date]:
        """Return the first and the last days of all versions of a policy.

        Args:
            policy_id: Its id.
        """
        versions = [each for each in self.policies if each.id == policy_id]
        every = (day for each in versions for day in (each.effective, each.terminated))
        return frozenset(day for day in every if day is not None)

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
