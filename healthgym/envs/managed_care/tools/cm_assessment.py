"""Care management: the assessment in four sections."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from healthgym.core.tool import ToolKind, tool
from healthgym.envs.managed_care.tools.base import DECISION, ENTRY, OfficeToolset
from healthgym.worlds.managed_care.records.assessment import (
    BehavioralHealthSectionPayload,
    ClinicalSectionPayload,
    MedicationSectionPayload,
    SDoHSectionPayload,
)


class AssessmentTools(OfficeToolset):
    """The assessment."""

    namespace = "cm_assessment"

    @tool(ToolKind.WRITE, takes=ENTRY)
    def start_assessment(self, case_id: str) -> str:
        """Begin the assessment after outreach, or go on with one that was blocked.

        Args:
            case_id: Id of the case, such as 'CM-ACT-001'.
        """
        return self.show(self.world.assessments.start(case_id))

    @tool(ToolKind.WRITE, takes=DECISION)
    def save_section(
        self,
        case_id: str,
        payload: Annotated[
            ClinicalSectionPayload
            | MedicationSectionPayload
            | BehavioralHealthSectionPayload
            | SDoHSectionPayload,
            Field(discriminator="section"),
        ],
        blocked_reason: str | None = None,
    ) -> str:
        """Save one section of the assessment in the place of what it held.

        Record only what the chart or the patient says.

        Args:
            case_id: Id of the case, such as 'CM-ACT-001'.
            payload: The section and its contents, such as {"section": "sdoh", "data":
                {"transportation_barrier": true}}.
            blocked_reason: Why the assessment cannot go on: its kind by the handbook, a colon, and
                the patient's words in quotation marks, such as 'legal: "My lawyer told me not to
                answer that."'; leave it out while it can.
        """
        return self.show(self.world.assessments.save_section(case_id, payload, blocked_reason))

    @tool(ToolKind.WRITE, takes=ENTRY)
    def complete_assessment(self, case_id: str) -> str:
        """Complete the assessment, once all four sections are saved.

        Args:
            case_id: Id of the case, such as 'CM-ACT-001'.
        """
        return self.show(self.world.assessments.complete(case_id))
