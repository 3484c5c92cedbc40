"""Prior-authorization cases, as the provider's office opens and reads them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from healthgym.core.tool import ToolKind, tool
from healthgym.envs.managed_care.layouts import case_page
from healthgym.envs.managed_care.tools.base import ENTRY, LOOK, OfficeToolset
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    PlaceOfService,
    ServiceTypeCategory,
    Urgency,
)


class CasesToolset(OfficeToolset):
    """Open a case for an order, and look at cases."""

    namespace = "cases"

    def show(self, result: object) -> str:
        """Return a result as the agent reads it; a case without the row of its work list."""
        return super().show(case_page(result) if isinstance(result, Mapping) else result)

    @tool(ToolKind.WRITE, takes=ENTRY)
    def create_from_order(
        self,
        patient_id: str,
        ordering_practitioner_id: str,
        service_type: ServiceTypeCategory,
        procedure_code: str,
        description: str,
        priority: Urgency,
        diagnosis_codes: list[str],
        site_of_service: PlaceOfService,
        source_order_id: str | None = None,
        requested_date: datetime | None = None,
    ) -> str:
        """Open an authorization case for a service that was ordered for a patient.

        The case begins as a draft, with one line. A service that a case already asks for is not
        asked for twice.

        Args:
            patient_id: Patient id, such as "P1".
            ordering_practitioner_id: Id of the clinician who orders, such as "PR-1";
                people.list_ordering_providers names them.
            service_type: Category of the service.
            procedure_code: CPT or HCPCS code, five characters, such as "27447".
            description: The service in words, such as "Total knee replacement, right".
            priority: Whether the request is urgent.
            diagnosis_codes: ICD-10-CM codes with their dot, at least one, such as ["M17.11"].
            site_of_service: Where it is to be done.
            source_order_id: Order of this patient to take over, such as "SR-010"; a new order is
                written if left out.
            requested_date: When the service is wanted, with its offset from UTC, such as
                "2026-03-20T09:00:00Z"; if left out, the date of the order that is taken over, and
                now for a new one.
        """
        return self.show(
            self.world.cases.create_from_order(
                patient_id,
                ordering_practitioner_id,
                service_type,
                procedure_code,
                description,
                priority,
                diagnosis_codes,
                site_of_service,
                source_order_id,
                requested_date,
            )
        )

    @tool(ToolKind.READ, takes=LOOK)
    def get_case(self, case_id: str) -> str:
        """Read a case with all that belongs to it: order, forms, packets, letters, next actions.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
        """
        return self.show(self.world.cases.get_case(case_id))

    @tool(ToolKind.READ, takes=LOOK)
    def list_cases(self, status: CaseStatus | None = None) -> str:
        """List the open cases, expedited ones first; closed ones are not listed.

        Args:
            status: Only cases in this status, such as "docs_needed".
        """
        return self.show(self.world.cases.list_cases(status))
