"""Care management: the care plan."""

from __future__ import annotations

from healthgym.core.tool import ToolKind, tool
from healthgym.envs.managed_care.tools.base import ENTRY, WRITING, OfficeToolset
from healthgym.worlds.managed_care.records.care_plan import CMCarePlanInput


class CarePlanTools(OfficeToolset):
    """The care plan."""

    namespace = "cm_care_plan"

    @tool(ToolKind.WRITE, takes=ENTRY)
    def create_draft(self, case_id: str) -> str:
        """Begin the care plan of a case whose assessment is complete; it begins empty.

        Args:
            case_id: Id of the case, such as 'CM-ACT-001'.
        """
        return self.show(self.world.plans.create_draft(case_id))

    @tool(ToolKind.WRITE, takes=WRITING)
    def save_care_plan(self, case_id: str, plan_data: CMCarePlanInput) -> str:
        """Save the whole plan in the place of what the draft held.

        Args:
            case_id: Id of the case, such as 'CM-ACT-001'.
            plan_data: Problems with goals and interventions, conditions of escalation, and how
                often you follow up.
        """
        return self.show(self.world.plans.save(case_id, plan_data))

    @tool(ToolKind.WRITE, takes=ENTRY)
    def finalize(self, case_id: str) -> str:
        """Finalize the care plan and close the case with it; neither can be changed afterwards.

        Args:
            case_id: Id of the case, such as 'CM-ACT-001'.
        """
        return self.show(self.world.plans.finalize(case_id))
