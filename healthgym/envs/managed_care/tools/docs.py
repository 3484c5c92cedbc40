"""Documents of a case, and the packet that is made of them."""

from __future__ import annotations

from collections.abc import Mapping

from healthgym.core.tool import ToolKind, tool
from healthgym.envs.managed_care.layouts import document_page, packet_page
from healthgym.envs.managed_care.tools.base import ENTRY, LOOK, WRITING, OfficeToolset
from healthgym.worlds.managed_care.records.chart import DocumentReference
from healthgym.worlds.managed_care.vocabulary.authorization import UploadableDocumentKind


class DocsToolset(OfficeToolset):
    """Read documents, put new ones on file, and put packets together."""

    namespace = "docs"

    def show(self, result: object) -> str:
        """Return a result as the agent reads it; a packet says each thing once."""
        if isinstance(result, DocumentReference):
            return super().show(document_page(result))
        if isinstance(result, Mapping) and "bundle_document" in result:
            return super().show(packet_page(result))
        return super().show(result)

    @tool(ToolKind.READ, takes=LOOK)
    def list_case_documents(self, case_id: str) -> str:
        """List the documents on file for a case, those of its patient's chart included.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
        """
        return self.show(self.world.documents.list_case_documents(case_id))

    @tool(ToolKind.READ, takes=LOOK)
    def get_document(self, document_id: str) -> str:
        """Read a document with its text.

        Args:
            document_id: Id of the document, such as "DOC-1".
        """
        return self.show(self.world.documents.read(document_id))

    @tool(ToolKind.WRITE, takes=WRITING)
    def upload_evidence(
        self,
        case_id: str,
        kind: UploadableDocumentKind,
        title: str,
        content: str | None = None,
    ) -> str:
        """Put a text on file for a case, such as a letter of medical necessity.

        Notes, reports and results can only be copied from the patient's chart, word for word.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            kind: What the document is.
            title: Its title, at most 200 characters, such as "Letter of medical necessity".
            content: Its text, at most 20,000 characters; a document without text is refused.
        """
        return self.show(self.world.documents.upload_evidence(case_id, kind, title, content))

    @tool(ToolKind.WRITE, takes=ENTRY)
    def upload_evidence_file(
        self,
        case_id: str,
        kind: UploadableDocumentKind,
        title: str,
        filename: str,
        mime_type: str,
        file_bytes: str,
        note: str | None = None,
    ) -> str:
        """Put a file on file for a case; it must be what its type says.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            kind: What the document is.
            title: Its title, at most 200 characters, such as "INR of March".
            filename: Name of the file, such as "inr.pdf".
            mime_type: Media type, such as "application/pdf", "image/png" or "text/plain".
            file_bytes: The file in base64, such as "JVBERi0xLjQK"; plain text as it is.
            note: What is to be said about it, at most 4,000 characters.
        """
        return self.show(
            self.world.documents.upload_evidence_file(
                case_id, kind, title, filename, mime_type, file_bytes, note
            )
        )

    @tool(ToolKind.WRITE, takes=ENTRY)
    def create_submission_bundle(
        self,
        case_id: str,
        document_ids: list[str],
        include_chart_summary: bool = True,
        include_form_responses: bool = True,
    ) -> str:
        """Put a packet for the payer together from documents, and see what it lacks.

        A complete packet makes the case ready to submit. The packet holds exactly the documents
        that are named, and the questionnaires that were answered.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            document_ids: Ids of the documents, each once, such as ["DOC-1", "DOC-UP-0001"].
            include_chart_summary: Whether a summary of the chart goes with it.
            include_form_responses: Whether the answered questionnaires go with it.
        """
        return self.show(
            self.world.documents.create_submission_bundle(
                case_id, document_ids, include_chart_summary, include_form_responses
            )
        )
