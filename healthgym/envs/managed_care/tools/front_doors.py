"""The payer's front doors, as its people use them; part of the extended surface."""

from __future__ import annotations

from healthgym.core.tool import ToolKind, tool
from healthgym.envs.managed_care.tools.base import DECISION, ENTRY, LOOK, WRITING, OfficeToolset
from healthgym.worlds.managed_care.vocabulary.authorization import (
    DocumentKind,
    SubmissionChannel,
    UploadableDocumentKind,
)


class FaxRoomToolset(OfficeToolset):
    """Faxes: they are indexed and attached before anybody sees them."""

    namespace = "payer_fax_room"

    @tool(ToolKind.READ, takes=LOOK)
    def receive(self) -> str:
        """Look at the faxes that wait: cover, pages, and until when each is to be indexed."""
        return self.show(self.world.doors.tray())

    @tool(ToolKind.WRITE, takes=ENTRY)
    def index(self, fax_id: str, case_id: str, member_id: str, document_kind: DocumentKind) -> str:
        """Index a fax: to which case and member it belongs, and what it is.

        Args:
            fax_id: Id of the fax, such as "FAX-0001".
            case_id: Id of the case, such as "CASE-ACT-001".
            member_id: Member id as on the cover.
            document_kind: What the fax is; a request with its papers is a "submission_bundle".
        """
        return self.show(self.world.doors.index(fax_id, case_id, member_id, document_kind))

    @tool(ToolKind.WRITE, takes=ENTRY)
    def attach(self, fax_id: str) -> str:
        """Attach an indexed fax to its case, which opens the request at the intake desk.

        Args:
            fax_id: Id of the fax, such as "FAX-0001".
        """
        return self.show(self.world.doors.attach(fax_id))

    @tool(ToolKind.WRITE, takes=ENTRY)
    def mark_unreadable(self, fax_id: str, note: str = "") -> str:
        """Put aside a fax that cannot be read, and ask the sender for it again.

        Args:
            fax_id: Id of the fax, such as "FAX-0001".
            note: Which pages, and why, such as "Page 2 is black.".
        """
        return self.show(self.world.doors.mark_unreadable(fax_id, note))


class EdiGatewayToolset(OfficeToolset):
    """EDI: a 278 needs its envelope, a 275 the number of its request."""

    namespace = "payer_edi_gateway"

    @tool(ToolKind.WRITE, takes=ENTRY)
    def submit_278_request(
        self, case_id: str, sender_id: str, receiver_id: str, control_number: str
    ) -> str:
        """Take a 278 with its envelope, which opens the request at the intake desk.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            sender_id: Id of the sender, from the envelope (ISA06).
            receiver_id: Id of the receiver, the payer's organization.
            control_number: Number of the interchange (ISA13), nine digits, such as "000000017".
        """
        return self.show(
            self.world.doors.open_envelope(case_id, sender_id, receiver_id, control_number)
        )

    @tool(ToolKind.WRITE, takes=ENTRY)
    def submit_275_attachment_ref(self, control_number: str, document_id: str) -> str:
        """Take a 275: a document that belongs to a request.

        Args:
            control_number: Number of the request's interchange, nine digits.
            document_id: Id of the document.
        """
        return self.show(self.world.doors.reference(control_number, document_id))

    @tool(ToolKind.READ, takes=LOOK)
    def inquire_status(self, control_number: str = "") -> str:
        """Ask where an EDI request stands, or which interchanges wait to be taken in.

        Args:
            control_number: Number of the request's interchange, nine digits; left out, what waits.
        """
        if not control_number.strip():
            return self.show(self.world.doors.basket())
        return self.show(self.world.doors.inquire(control_number))


class CallCenterToolset(OfficeToolset):
    """Calls: a request by telephone exists once its note is filed."""

    namespace = "payer_call_center"

    @tool(ToolKind.READ, takes=LOOK)
    def create_intake(self, case_id: str) -> str:
        """Take up the request that a caller makes, in the caller's words; its note opens it.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
        """
        return self.show(self.world.doors.answer(case_id))

    @tool(ToolKind.WRITE, takes=ENTRY)
    def record_note(
        self,
        case_id: str,
        caller: str,
        callback_number: str,
        member_id: str,
        service: str,
        urgency_words: str = "",
    ) -> str:
        """File the note of a call; a request by telephone is opened by it.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            caller: Name of the caller.
            callback_number: Number for calling back, such as "617-555-0100".
            member_id: Member id.
            service: The service, in the caller's words.
            urgency_words: The caller's own words in which urgency was claimed; blank if it was not.
        """
        return self.show(
            self.world.doors.note(
                case_id,
                caller=caller,
                callback_number=callback_number,
                member_id=member_id,
                service=service,
                urgency_words=urgency_words,
            )
        )

    @tool(ToolKind.WRITE, takes=ENTRY)
    def create_callback(self, case_id: str, number: str, at: str) -> str:
        """Promise a call in the office hours of the caller's region.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            number: Number to call, such as "617-555-0100".
            at: When, in UTC, such as "2026-03-16T15:00".
        """
        return self.show(self.world.doors.call_back(case_id, number, at))


class ApiGatewayToolset(OfficeToolset):
    """The API: a request is open at once, and its sender may take it back."""

    namespace = "payer_api_gateway"

    @tool(ToolKind.WRITE, takes=ENTRY)
    def submit_request(self, case_id: str, bundle_document_id: str | None = None) -> str:
        """Send a request by the API.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            bundle_document_id: The packet that goes with it, such as "DOC-BUNDLE-0001".
        """
        send = self.world.authorizations.submit
        return self.show(send(case_id, SubmissionChannel.API, bundle_document_id))

    @tool(ToolKind.WRITE, takes=ENTRY)
    def update_request(self, case_id: str, note: str, document_ids: list[str] | None = None) -> str:
        """Send what the payer asked for, as an update to a request that is pended.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            note: What the update says.
            document_ids: Documents that go with it.
        """
        return self.show(self.world.authorizations.respond_to_pend(case_id, note, document_ids))

    @tool(ToolKind.READ, takes=LOOK)
    def status_inquiry(self, case_id: str) -> str:
        """Ask where a request stands.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
        """
        return self.show(self.world.authorizations.check_status(case_id, SubmissionChannel.API))

    @tool(ToolKind.WRITE, takes=DECISION)
    def cancel_request(self, case_id: str, reason: str = "") -> str:
        """Withdraw a request that is not decided yet; the case is closed for good.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            reason: Why, such as "The member has chosen another treatment.".
        """
        return self.show(self.world.intake.withdraw(case_id, reason))


class PortalToolset(OfficeToolset):
    """The portal: a request is open when the receipt is shown."""

    namespace = "payer_portal"

    @tool(ToolKind.WRITE, takes=ENTRY)
    def submit(self, case_id: str, bundle_document_id: str | None = None) -> str:
        """Send a request by the portal.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            bundle_document_id: The packet that goes with it, such as "DOC-BUNDLE-0001".
        """
        send = self.world.authorizations.submit
        return self.show(send(case_id, SubmissionChannel.PORTAL, bundle_document_id))

    @tool(ToolKind.WRITE, takes=ENTRY)
    def upload(self, case_id: str, kind: UploadableDocumentKind, title: str, content: str) -> str:
        """Put a text on file for a case.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            kind: What it is.
            title: Its title, such as "Letter of medical necessity".
            content: The text.
        """
        return self.show(self.world.documents.upload_evidence(case_id, kind, title, content))

    @tool(ToolKind.READ, takes=LOOK)
    def status(self, case_id: str) -> str:
        """Look up where a request stands.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
        """
        return self.show(self.world.authorizations.check_status(case_id, SubmissionChannel.PORTAL))

    @tool(ToolKind.WRITE, takes=WRITING)
    def appeal(self, case_id: str, rationale: str, document_ids: list[str] | None = None) -> str:
        """Appeal a denial by the portal.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            rationale: Why the denial is wrong, criterion by criterion.
            document_ids: Documents that go with it.
        """
        return self.show(self.world.authorizations.file_appeal(case_id, rationale, document_ids))
