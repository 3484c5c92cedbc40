"""The payer's intake desk, as its clerks use it."""

from __future__ import annotations

from healthgym.core.tool import ToolKind, tool
from healthgym.envs.managed_care.tools.base import DECISION, ENTRY, LOOK, OfficeToolset
from healthgym.worlds.managed_care.records.intake import (
    IntakeAuthHeaderData,
    IntakeLineItem,
    IntakeProviderInfo,
    SaveDiagnosesPayload,
)
from healthgym.worlds.managed_care.vocabulary.authorization import (
    AuthorizationType,
    ProviderNetworkStatus,
)


class IntakeHubToolset(OfficeToolset):
    """Intake records: what was asked for, by whom, and whether it can be reviewed."""

    namespace = "payer_intake_hub"

    @tool(ToolKind.READ, takes=LOOK)
    def list_intake_queue(self) -> str:
        """List every intake record at the desk, with its status and what is entered."""
        return self.show(self.world.intake.queue())

    @tool(ToolKind.READ, takes=LOOK)
    def get_intake_case(self, case_id: str) -> str:
        """Read the intake record of a case.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
        """
        return self.show(self.world.intake.show(case_id))

    @tool(ToolKind.WRITE, takes=ENTRY)
    def create_intake_case(
        self, case_id: str, auth_type: AuthorizationType = AuthorizationType.SP
    ) -> str:
        """Open the intake record of a submitted case that has none; it begins as new.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            auth_type: "ip" for a hospital stay, "rx" for a drug, "sp" for any other service.
        """
        return self.show(self.world.intake.create(case_id, auth_type))

    @tool(ToolKind.WRITE, takes=ENTRY)
    def save_auth_header(self, case_id: str, data: IntakeAuthHeaderData) -> str:
        """Enter fields of the header; fields left out stay as they are.

        Days may be written 2026-03-13, 03/13/2026 or 03-13-2026. The first entry turns a new
        record into one in progress.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            data: The fields to enter.
        """
        return self.show(self.world.intake.save_header(case_id, data))

    @tool(ToolKind.WRITE, takes=ENTRY)
    def save_diagnoses(self, case_id: str, data: SaveDiagnosesPayload) -> str:
        """Enter the diagnoses of the request; they replace those on file.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            data: All diagnoses, and whether they are medical or behavioral.
        """
        return self.show(self.world.intake.save_diagnoses(case_id, data))

    @tool(ToolKind.WRITE, takes=ENTRY)
    def save_requesting_provider(self, case_id: str, data: IntakeProviderInfo) -> str:
        """Enter who asks for the service; the provider on file is replaced as a whole.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            data: The provider: name, NPI of ten digits, group, specialty, how to call.
        """
        return self.show(self.world.intake.save_provider(case_id, data))

    @tool(ToolKind.WRITE, takes=ENTRY)
    def add_line_item(self, case_id: str, item_data: IntakeLineItem) -> str:
        """Add a line to the request.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            item_data: The line; with line_number 0 it gets the next number.
        """
        return self.show(self.world.intake.add_line(case_id, item_data))

    @tool(ToolKind.WRITE, takes=ENTRY)
    def update_line_item(self, case_id: str, line_number: int, item_data: IntakeLineItem) -> str:
        """Replace a line as a whole: what the new one leaves out is gone.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            line_number: Number of the line to replace; it keeps its number.
            item_data: The line as it is to be.
        """
        return self.show(self.world.intake.update_line(case_id, line_number, item_data))

    @tool(ToolKind.WRITE, takes=ENTRY)
    def remove_line_item(self, case_id: str, line_number: int) -> str:
        """Take a line out of the request.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            line_number: Number of the line.
        """
        return self.show(self.world.intake.remove_line(case_id, line_number))

    @tool(ToolKind.READ, takes=LOOK)
    def list_documents(self, case_id: str) -> str:
        """List the documents that came with a case: id, kind, title, author and date.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
        """
        return self.show(self.world.intake.list_documents(case_id))

    @tool(ToolKind.WRITE, takes=DECISION)
    def confirm_decisions(
        self,
        case_id: str,
        request_complete: bool,
        member_eligible: bool,
        service_covered: bool,
        provider_network_status: ProviderNetworkStatus,
    ) -> str:
        """Confirm the four decisions of intake, which completes it; triage comes next.

        Header (request date, state, source, method, urgency), a diagnosis, the provider's NPI and
        a line with a procedure must be entered before. Only a resubmission or a reply to a request
        for information opens a completed record again.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            request_complete: Whether nothing is missing from the request.
            member_eligible: Whether the member is covered on the day of the request.
            service_covered: Whether the plan covers the service at all.
            provider_network_status: Standing of the requesting provider in the member's plan.
        """
        return self.show(
            self.world.intake.confirm(
                case_id,
                request_complete=request_complete,
                member_eligible=member_eligible,
                service_covered=service_covered,
                network=provider_network_status,
            )
        )
