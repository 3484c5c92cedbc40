"""Care management: the chart, and its review."""

from __future__ import annotations

from healthgym.core.tool import ToolKind, tool
from healthgym.envs.managed_care.tools.base import LOOK, WRITING, OfficeToolset
from healthgym.worlds.managed_care.records.care import CMChartReviewInput


class CareChartTools(OfficeToolset):
    """The chart of a case's patient."""

    namespace = "cm_chart"

    @tool(ToolKind.READ, takes=LOOK)
    def get_chart_data(self, case_id: str) -> str:
        """Read the patient's chart.

        It holds the person, coverage, conditions, visits, medicines, results, procedures,
        allergies and documents.

        Args:
            case_id: Id of the case, such as 'CM-ACT-001'.
        """
        return self.show(self.world.care_chart.data(case_id))

    @tool(ToolKind.WRITE, takes=WRITING)
    def submit_chart_review(self, case_id: str, review: CMChartReviewInput) -> str:
        """File what the chart tells, before the first call; afterwards the patient can be called.

        Args:
            case_id: Id of the case, such as 'CM-ACT-001'.
            review: What you conclude from the chart.
        """
        return self.show(self.world.care_chart.submit_review(case_id, review))
