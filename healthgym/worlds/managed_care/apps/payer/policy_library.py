"""The payer's policies, as its staff look them up: by category, by words, and in full."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from healthgym.worlds.managed_care.apps.app import App
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.tree import criteria, outline
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.vocabulary.authorization import ServiceTypeCategory


class PolicyLibrary(App):
    """The policy library. It keeps nothing, since policies do not change in play."""

    name = "payer_policy_library"

    def categories(self) -> Mapping[str, object]:
        """Return the categories of service, and how many policies are in force in each."""
        today = self.world.clock.now.date()
        counted = Counter(one.category for one in self._policies() if one.in_force(today))
        rows = [
            {"category": category, "policies_in_force": counted[category]}
            for category in ServiceTypeCategory
            if counted[category]
        ]
        self.looked("list_categories")
        return {"items": rows}

    def search(
        self,
        words: str,
        category: ServiceTypeCategory | None = None,
        plan: str | None = None,
        state: str | None = None,
    ) -> Mapping[str, object]:
        """Return the policies in which most of some words stand, versions out of force included.

        Args:
            words: Words of the title or of a procedure, or its code; all policies if blank.
            category: Only policies of this category.
            plan: Only policies that hold for this plan.
            state: Only policies that hold in this state, two letters.
        """
        wanted = words.casefold().split()
        today = self.world.clock.now.date()
        held = [(one, sum(word in _words(one) for word in wanted)) for one in self._policies()]
        most = max((number for _, number in held), default=0)
        least = most or len(wanted)  # what has none of them is not found
        rows = [
            _entry(one) | {"in_force": one.in_force(today)}
            for one, number in held
            if number >= least
            and category in (None, one.category)
            and (plan is None or plan in one.plans)
            and (state is None or not one.states or state.strip().upper() in one.states)
        ]
        self.looked("search")
        return {"items": rows}

    def file(self, policy_id: str, version: str | None = None) -> Mapping[str, object]:
        """Return a policy: where it holds, what it covers, and each of its criteria in words.

        Args:
            policy_id: The policy.
            version: Which version; the one that is in force if left out.

        Raises:
            Refusal: If there is no such policy or version.
        """
        versions = [one for one in self._policies() if one.id == policy_id]
        today = self.world.clock.now.date()
        for one in versions:
            if one.version == version or (version is None and one.in_force(today)):
                self.looked("get_file")
                return _file(one)
        known = ", ".join(one.version for one in versions)
        what = f"no version of it that fits; there are {known}" if versions else "no such policy"
        raise Refusal(
            RefusalCode.NOT_FOUND,
            f"{policy_id[:60]!r}: {what}; payer_policy_library.search names policies.",
        )

    def procedures(self, words: str) -> Mapping[str, object]:
        """Return the procedures that policies in force are about, by code or words."""
        wanted = words.casefold().split()
        today = self.world.clock.now.date()
        found = {
            one.code: one
            for policy in self._policies()
            if policy.in_force(today)
            for one in policy.procedures
        }
        rows = [
            {"code": one.code, "display": one.display}
            for one in sorted(found.values(), key=lambda one: one.code)
            if all(word in f"{one.code} {one.display}".casefold() for word in wanted)
        ]
        self.looked("lookup_procedures")
        return {"items": rows}

    def _policies(self) -> tuple[Policy, ...]:
        book = self.world.start.policies
        return book.policies if book else ()


def _entry(policy: Policy) -> dict[str, object]:
    return {
        "policy_id": policy.id,
        "title": policy.title,
        "version": policy.version,
        "effective": policy.effective,
        "terminated": policy.terminated,
        "category": policy.category,
        "plans": policy.plans,
        "states": policy.states,
    }


def _words(policy: Policy) -> str:
    procedures = " ".join(f"{one.code} {one.display}" for one in policy.procedures)
    return f"{policy.id} {policy.title} {procedures}".casefold()


def _file(policy: Policy) -> Mapping[str, object]:
    return {
        **_entry(policy),
        "procedures": policy.procedures,
        "diagnosis_prefixes": policy.diagnosis_prefixes,
        "sites": policy.sites,
        "criteria": [
            {"criterion_id": one.id, "text": policy.text(one.id)}
            for one in criteria(policy.criteria)
        ],
        "approved_if": outline(policy.criteria),
        "required_documents": policy.required_documents,
        "nurse_may_approve": policy.nurse_may_approve,
        "history": [{"version": version, "change": said} for version, said in policy.history],
    }
