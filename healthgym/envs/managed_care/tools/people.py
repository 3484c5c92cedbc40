"""The directory, as the provider's office reads it."""

from __future__ import annotations

from healthgym.core.tool import ToolKind, tool
from healthgym.envs.managed_care.tools.base import LOOK, OfficeToolset


class PeopleToolset(OfficeToolset):
    """Look people up."""

    namespace = "people"

    @tool(ToolKind.READ, takes=LOOK)
    def list_contacts(self, role: str | None = None) -> str:
        """List the people one can call, of the provider and of the payer.

        Args:
            role: Only people with this role or escalation role, such as "pa_coordinator".
        """
        return self.show(self.world.inbox.list_contacts(role))

    @tool(ToolKind.READ, takes=LOOK)
    def list_ordering_providers(self) -> str:
        """List the clinicians of the provider who may order services."""
        return self.show(self.world.inbox.list_ordering_providers())

    @tool(ToolKind.READ, takes=LOOK)
    def list_reviewer_contacts(self, required_role: str | None = None) -> str:
        """List who reviews requests for the payer.

        Args:
            required_role: Only people employed as this: "um_nurse", "physician_reviewer" or
                "appeals_medical_director".
        """
        return self.show(self.world.inbox.list_reviewer_contacts(required_role))
