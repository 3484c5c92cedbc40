"""Patients' charts, as the provider's office reads them."""

from __future__ import annotations

from collections.abc import Mapping

from healthgym.core.tool import ToolKind, tool
from healthgym.envs.managed_care.layouts import chart_page
from healthgym.envs.managed_care.tools.base import LOOK, OfficeToolset


class ChartToolset(OfficeToolset):
    """Find patients, and read their charts and orders."""

    namespace = "chart"

    def show(self, result: object) -> str:
        """Return a result as the agent reads it; a chart with the newest first."""
        if isinstance(result, Mapping) and "observations" in result:
            return super().show(chart_page(result))
        return super().show(result)

    @tool(ToolKind.READ, takes=LOOK)
    def search_patients(
        self,
        query: str | None = None,
        patient_id: str | None = None,
        member_id: str | None = None,
        first_name: str | None = None,
        last_name: str | None = None,
        dob: str | None = None,
        limit: int = 25,
    ) -> str:
        """Search patients by what identifies them; everything given must fit.

        Only identifiers are searched, no diagnoses and no notes. Without arguments everybody is
        listed, by last name.

        Args:
            query: Part of a name, patient id, member id or date of birth, such as "bell".
            patient_id: Whole patient id, such as "P1".
            member_id: Whole member id, such as "M-1001".
            first_name: First name or part of it, such as "Ana".
            last_name: Last name or part of it, such as "Bell".
            dob: Date of birth, such as "1961-04-02".
            limit: Rows at most, 1 to 5000, such as 25.
        """
        return self.show(
            self.world.chart.search_patients(
                query, patient_id, member_id, first_name, last_name, dob, limit
            )
        )

    @tool(ToolKind.READ, takes=LOOK)
    def get_patient_chart_by_patient(self, patient_id: str) -> str:
        """Read the whole chart of a patient: coverage, visits, results, history, documents.

        The newest comes first, and each test has one row with all its values and their days, in
        UTC. Documents are listed without their texts; docs.get_document reads one.

        Args:
            patient_id: Patient id, such as "P1".
        """
        return self.show(self.world.chart.get_patient_chart(patient_id))

    @tool(ToolKind.READ, takes=LOOK)
    def list_candidate_orders(self, patient_id: str) -> str:
        """List the orders of a patient, the newest first.

        Args:
            patient_id: Patient id, such as "P1".
        """
        return self.show(self.world.chart.list_candidate_orders(patient_id))
