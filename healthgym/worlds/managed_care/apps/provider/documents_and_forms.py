"""Documents, bundles and questionnaires of a case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from healthgym.core.state import table
from healthgym.worlds.managed_care.apps.provider import bundles, forms, uploads
from healthgym.worlds.managed_care.apps.provider.case_view import listed
from healthgym.worlds.managed_care.apps.provider.forms import Form
from healthgym.worlds.managed_care.apps.provider.office import (
    Limit,
    ProviderApp,
    View,
    listing,
    require_short,
    require_text,
)
from healthgym.worlds.managed_care.apps.provider.readiness import readiness_of
from healthgym.worlds.managed_care.records.case import PriorAuthCase, QuestionnaireResponse
from healthgym.worlds.managed_care.records.chart import DocumentReference
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DocumentKind,
    UploadableDocumentKind,
)

#: Where the provider may still change what is on file.
EDITABLE = frozenset(
    {
        CaseStatus.DRAFT,
        CaseStatus.REQUIREMENT_CHECKED,
        CaseStatus.DOCS_NEEDED,
        CaseStatus.READY_TO_SUBMIT,
    }
)
#: Where a strict world takes evidence: before submission, for a pend, and for an appeal.
TAKES_EVIDENCE = EDITABLE | {
    CaseStatus.PENDED_ACTION_REQUIRED,
    CaseStatus.DENIED,
    CaseStatus.APPEAL_UPHELD,
}
_NO_TEXT = "No text was given with this document."


class DocumentsAndForms(ProviderApp):
    """Documents and forms.

    Attributes:
        documents: Documents of cases, by id; the charts keep the rest.
        responses: Saved answers, by id.
    """

    name = "doc_center"
    documents = table[str, DocumentReference]()
    responses = table[str, QuestionnaireResponse]()

    # What other applications ask for.

    def get(self, document_id: str) -> DocumentReference:
        """Return a document, of a case or of a chart.

        Raises:
            Refusal: If there is none.
        """
        found = self.documents.get(document_id) or self.world.charts.document(document_id)
        if found is None or not self.world.knows(found.patient_id):
            raise Refusal(
                RefusalCode.NOT_FOUND,
                f"There is no document {document_id[:60]!r}; docs.list_case_documents names those "
                "of a case.",
            )
        return found

    def of_case(self, case_id: str) -> tuple[DocumentReference, ...]:
        """Return the documents of a case, and those of its patient that belong to no case.

        Raises:
            Refusal: If there is no such case.
        """
        case = self.world.cases.get(case_id)
        chart = self.world.charts[case.patient_id]
        return (
            *(doc for doc in chart.documents if doc.case_id in (None, case_id)),
            *(doc for doc in self.documents.values() if doc.case_id == case_id),
        )

    def newest_bundle(self, case_id: str) -> str | None:
        """Return the id of the last packet that was put together for a case; None if none was."""
        made = [
            doc.id
            for doc in self.documents.values()
            if doc.case_id == case_id and doc.kind is DocumentKind.SUBMISSION_BUNDLE
        ]
        return made[-1] if made else None

    def bundle(self, case_id: str, document_id: str) -> DocumentReference:
        """Return a packet of a case.

        Raises:
            Refusal: If the case has no such packet.
        """
        found = self.documents.get(document_id)
        if (
            found is None
            or found.case_id != case_id
            or found.kind is not DocumentKind.SUBMISSION_BUNDLE
        ):
            raise Refusal(
                RefusalCode.WRONG_OWNER,
                f"{document_id[:60]!r} is no packet of {case_id}; docs.create_submission_bundle "
                "makes one and names it.",
            )
        return found

    def included_in(self, bundle_id: str) -> tuple[DocumentReference, ...]:
        """Return the documents that a packet holds."""
        packet = self.documents.get(bundle_id)
        return () if packet is None else tuple(map(self.get, bundles.included(packet)))

    def require_of_patient(self, case: PriorAuthCase, document_ids: Sequence[str]) -> None:
        """Refuse documents that are not this patient's, or belong to another case.

        Raises:
            Refusal: If one is unknown, or somebody else's.
        """
        for document_id in document_ids:
            found = self.get(document_id)
            if found.patient_id != case.patient_id or found.case_id not in (None, case.id):
                raise Refusal(
                    RefusalCode.WRONG_OWNER,
                    f"Document {document_id} does not belong to {case.id} or its patient; "
                    "docs.list_case_documents names what does.",
                )

    def list_case_documents(self, case_id: str) -> View:
        """Return the documents on file for a case, without their texts.

        Raises:
            Refusal: If there is no such case.
        """
        found = listing(map(listed, self.of_case(case_id)))
        self.saw("doc_center.list_case_documents", case_id)
        return found

    def read(self, document_id: str) -> DocumentReference:
        """Return a document with its text.

        Raises:
            Refusal: If there is none.
        """
        found = self.get(document_id)
        self.saw("doc_center.get_document", found.case_id or "")
        return found

    def upload_evidence(
        self, case_id: str, kind: UploadableDocumentKind, title: str, content: str | None = None
    ) -> DocumentReference:
        """Put a text on file.

        Args:
            case_id: The case.
            kind: What it is.
            title: Its title.
            content: The text; a strict world wants one.

        Raises:
            Refusal: If there is no such case, or the title is blank. A strict world also refuses a
                missing or oversized text, a case that takes none, what is on file already, and
                a finding that nobody made (:func:`uploads.require_genuine`).
        """
        case = self.world.cases.get(case_id)
        self._require_upload(case, title)
        if self.strict:
            require_text(content, "The document", Limit.CONTENT)
        made = self._file(case, kind, title, content or _NO_TEXT, {})
        self.noted("doc_center.create_document", case_id)
        self.noted("doc_center.upload_evidence", case_id)
        return made

    def upload_evidence_file(
        self,
        case_id: str,
        kind: UploadableDocumentKind,
        title: str,
        filename: str,
        mime_type: str,
        file_bytes: str,
        note: str | None = None,
    ) -> DocumentReference:
        """Put a file on file.

        Args:
            case_id: The case.
            kind: What it is.
            title: Its title.
            filename: Name of the file.
            mime_type: Its media type.
            file_bytes: The file, in base64.
            note: What is to be said about it.

        Raises:
            Refusal: If there is no such case, or the title is blank. A strict world also refuses a
                file that is not what its type says, and what :meth:`upload_evidence` names.
        """
        case = self.world.cases.get(case_id)
        self._require_upload(case, title)
        if self.strict:
            require_text(filename, "The file's name", Limit.TITLE)
            require_short(note or "", "The note", Limit.NOTE)
            raw = uploads.require_file(file_bytes, mime_type, self.world.operations.upload_mib_most)
        else:
            raw = uploads.decoded(file_bytes)
        text = note or (raw.decode(errors="replace") if mime_type == "text/plain" else "")
        file = {"filename": filename, "mime_type": mime_type, "size_bytes": len(raw)}
        made = self._file(case, kind, title, text or filename, {"uploaded_file": file})
        self.noted("doc_center.upload_evidence_file", case_id)
        return made

    def create_submission_bundle(
        self,
        case_id: str,
        document_ids: Sequence[str],
        include_chart_summary: bool = True,
        include_form_responses: bool = True,
    ) -> View:
        """Put a packet together, and say whether it can be sent.

        A draft whose packet is complete becomes ready to submit; a ready case whose packet is not
        goes back to gathering documents.

        Args:
            case_id: The case.
            document_ids: The documents it is to hold.
            include_chart_summary: Whether a summary of the chart goes with it.
            include_form_responses: Whether the answered forms go with it.

        Raises:
            Refusal: If there is no such case, or a document does not belong to it. A strict world
                also refuses a case that was sent or is closed, a document named twice, a packet
                within a packet, and the same packet again.
        """
        case = self.world.cases.get(case_id)
        own = {doc.id: doc for doc in self.of_case(case_id)}
        foreign = [document_id for document_id in document_ids if document_id not in own]
        if foreign:
            raise Refusal(
                RefusalCode.WRONG_OWNER,
                f"Document {foreign[0][:60]!r} is not on file for {case_id}; "
                "docs.list_case_documents names what is.",
            )
        chosen = [own[document_id] for document_id in document_ids]
        extras = (include_chart_summary, include_form_responses)
        if self.strict:
            self._require_evidence_taken(case)
            bundles.require_sound(self, case, chosen, extras)
        if include_form_responses:
            chosen += bundles.answered_forms(self, case)
        readiness = readiness_of(self.world, case, chosen)
        packet = bundles.assemble(self, case, chosen, readiness, extras)
        self.documents[packet.id] = packet
        self._sort(case, ready=bool(readiness["ready_to_submit"]))
        self.noted("doc_center.create_submission_bundle", case_id)
        return {
            "case": self.world.cases.get(case_id),
            "bundle_document": packet,
            "package_artifact": bundles.package(self.world, case, packet),
            "included_document_ids": bundles.included(packet),
            "readiness": readiness,
        }

    def list_required_forms(self, case_id: str, channel: str | None = None) -> View:
        """Return the forms of a case, with their questions.

        Args:
            case_id: The case.
            channel: How it is to be sent; the forms are the same for all.

        Raises:
            Refusal: If there is no such case.
        """
        self.world.cases.get(case_id)
        self.saw("forms.list_required_forms", case_id)
        items = tuple(form.shown() for form in forms.of_case(self.world, case_id))
        return {"channel": channel, "items": items}

    def save_form_response(
        self, case_id: str, answers: Mapping[str, str], form_id: str | None = None
    ) -> View:
        """Save answers; what was answered before stays unless it is answered anew.

        Without a form, the answers go to every form that asks for one of their keys, and to all
        forms if none does.

        Args:
            case_id: The case.
            answers: Answers by key.
            form_id: The form.

        Raises:
            Refusal: If there is no such case or form. A strict world also refuses keys that no
                form asks for, blank or oversized answers, answers of the wrong type, and answers
                that are saved already.
        """
        case = self.world.cases.get(case_id)
        targets = forms.targeted(forms.of_case(self.world, case_id), answers, form_id)
        if self.strict:
            self._require_evidence_taken(case)
            forms.require_sound(targets, answers)
        saved = tuple(self._save(case_id, form, answers) for form in targets)
        self.noted("forms.save_form_response", case_id)
        touched = {response.questionnaire_id for response in saved}
        after = forms.of_case(self.world, case_id)
        return {
            "saved_responses": saved,
            "answers": forms.all_answers([form for form in after if form.form_id in touched]),
            "validation": forms.validation(after),
            "form_validations": tuple(form.status() for form in after),
        }

    def validate_form(self, case_id: str, form_id: str | None = None) -> View:
        """Return what the forms of a case still lack.

        Args:
            case_id: The case.
            form_id: Only this form.

        Raises:
            Refusal: If there is no such case or form.
        """
        self.world.cases.get(case_id)
        chosen = forms.targeted(forms.of_case(self.world, case_id), {}, form_id)
        self.saw("forms.validate_form", case_id)
        return {
            "validation": forms.validation(chosen),
            "form_validations": tuple(form.status() for form in chosen),
        }

    # Helpers.

    def _file(
        self,
        case: PriorAuthCase,
        kind: UploadableDocumentKind,
        title: str,
        content: str,
        data: Mapping[str, object],
    ) -> DocumentReference:
        made = DocumentReference(
            id=self.draw_id("DOC-UP-"),
            patient_id=case.patient_id,
            case_id=case.id,
            kind=DocumentKind(kind),
            title=title,
            content=content,
            created_at=self.world.clock.now,
            structured_data=data,
        )
        if self.strict:
            uploads.require_genuine(self, made)
        self.documents[made.id] = made
        return made

    def _sort(self, case: PriorAuthCase, *, ready: bool) -> None:
        if ready and case.status in EDITABLE - {CaseStatus.READY_TO_SUBMIT}:
            self.world.cases.move(case.id, CaseStatus.READY_TO_SUBMIT)
        elif not ready and case.status is CaseStatus.READY_TO_SUBMIT:
            self.world.cases.move(case.id, CaseStatus.DOCS_NEEDED)

    def _save(self, case_id: str, form: Form, answers: Mapping[str, str]) -> QuestionnaireResponse:
        # A strict world keeps an answer where its question is.
        new = forms.own_answers(form, answers) if self.strict else answers
        response = QuestionnaireResponse(
            id=self.draw_id("QRESP-"),
            case_id=case_id,
            questionnaire_id=form.form_id,
            answers={**form.answers, **new},
            created_at=self.world.clock.now,
        )
        self.responses[response.id] = response
        return response

    def _require_upload(self, case: PriorAuthCase, title: str) -> None:
        if not title.strip():
            raise Refusal(RefusalCode.MISSING_TEXT, "The title is blank; say what the document is.")
        if self.strict:
            self._require_evidence_taken(case)
            require_short(title, "The title", Limit.TITLE)

    def _require_evidence_taken(self, case: PriorAuthCase) -> None:
        if case.status not in TAKES_EVIDENCE:
            raise Refusal(
                RefusalCode.WRONG_STATE,
                f"Case {case.id} is {case.status} and takes no documents or answers now; it does "
                "before submission, while pended, and for an appeal.",
            )
