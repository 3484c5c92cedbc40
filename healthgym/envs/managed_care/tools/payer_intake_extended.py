"""What the intake desk can do besides, on the extended surface."""

from __future__ import annotations

from healthgym.core.tool import ToolKind, tool
from healthgym.envs.managed_care.tools.base import ENTRY, LOOK, OfficeToolset
from healthgym.worlds.managed_care.records.intake import IntakeProviderInfo


class IntakeExtendedToolset(OfficeToolset):
    """Procedures by code or words, and where a service takes place."""

    namespace = "payer_intake_hub"

    @tool(ToolKind.READ, takes=LOOK)
    def lookup_procedures(self, words: str) -> str:
        """Look procedures up by code or words, among those that policies in force are about.

        Args:
            words: A code or a few words, such as "27447" or "knee arthroplasty".
        """
        return self.show(self.world.library.procedures(words))

    @tool(ToolKind.WRITE, takes=ENTRY)
    def save_servicing_facility(self, case_id: str, data: IntakeProviderInfo) -> str:
        """Enter where the service takes place; the facility on file is replaced as a whole.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            data: The facility: name, NPI of ten digits, how to call.
        """
        return self.show(self.world.intake.save_facility(case_id, data))
