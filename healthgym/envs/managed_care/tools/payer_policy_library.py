"""The payer's policy library; part of the extended surface."""

from __future__ import annotations

from healthgym.core.tool import ToolKind, tool
from healthgym.envs.managed_care.tools.base import LOOK, OfficeToolset
from healthgym.worlds.managed_care.vocabulary.authorization import ServiceTypeCategory


class PolicyLibraryToolset(OfficeToolset):
    """Policies by category, by words, and in full."""

    namespace = "payer_policy_library"

    @tool(ToolKind.READ, takes=LOOK)
    def list_categories(self) -> str:
        """List the categories of service, and how many policies are in force in each."""
        return self.show(self.world.library.categories())

    @tool(ToolKind.READ, takes=LOOK)
    def search(
        self,
        words: str,
        category: ServiceTypeCategory | None = None,
        plan: str | None = None,
        state: str | None = None,
    ) -> str:
        """Search policies, earlier versions included; check in_force, plans and states.

        Args:
            words: Words of the title or of a procedure, or its code, such as "27447"; found is what
                has most of them.
            category: Only policies of this category.
            plan: Only policies that hold for this plan, by its name.
            state: Only policies that hold in this state, two letters.
        """
        return self.show(self.world.library.search(words, category, plan, state))

    @tool(ToolKind.READ, takes=LOOK)
    def get_file(self, policy_id: str, version: str | None = None) -> str:
        """Read a policy: where it holds, what it covers, each criterion, and how they fit together.

        Args:
            policy_id: Id of the policy, such as "MP-SUR-014".
            version: Such as "2026.1"; the version in force if left out.
        """
        return self.show(self.world.library.file(policy_id, version))
