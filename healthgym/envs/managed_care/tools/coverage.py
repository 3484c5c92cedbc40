"""The benefit check; part of the extended surface."""

from __future__ import annotations

from healthgym.core.tool import ToolKind, tool
from healthgym.envs.managed_care.tools.base import LOOK, OfficeToolset


class CoverageToolset(OfficeToolset):
    """Eligibility, and what needs an authorization."""

    namespace = "coverage"

    @tool(ToolKind.READ, takes=LOOK)
    def check_eligibility(self, patient_id: str, service_date: str | None = None) -> str:
        """Check whether a patient is covered on a day, under which plan, and in which network.

        Args:
            patient_id: Id of the patient, such as "PAT-1042".
            service_date: Day of the service, such as "2026-03-20"; today if left out.
        """
        return self.show(self.world.benefits.eligibility(patient_id, service_date))

    @tool(ToolKind.READ, takes=LOOK)
    def check_pa_requirement(
        self, patient_id: str, procedure_code: str, service_date: str | None = None
    ) -> str:
        """Check whether a service needs an authorization under the patient's plan.

        Args:
            patient_id: Id of the patient, such as "PAT-1042".
            procedure_code: CPT or HCPCS code, such as "27447".
            service_date: Day of the service, such as "2026-03-20"; today if left out.
        """
        return self.show(self.world.benefits.requirement(patient_id, procedure_code, service_date))
