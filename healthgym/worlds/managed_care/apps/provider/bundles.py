"""The packet that is sent to the payer: what it holds, and what goes with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from healthgym.core.records import replace
from healthgym.worlds.managed_care.apps.provider import forms
from healthgym.worlds.managed_care.apps.provider.office import View
from healthgym.worlds.managed_care.apps.provider.readiness import coverage_of
from healthgym.worlds.managed_care.records.chart import DocumentReference
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.apps.provider.documents_and_forms import DocumentsAndForms
    from healthgym.worlds.managed_care.records.case import PriorAuthCase
    from healthgym.worlds.managed_care.world import ManagedCareWorld


def included(packet: DocumentReference) -> tuple[str, ...]:
    """Return the ids of the documents that a packet holds."""
    return tuple(packet.structured_data.get("included_document_ids", ()))


def assemble(
    desk: DocumentsAndForms,
    case: PriorAuthCase,
    chosen: Sequence[DocumentReference],
    readiness: View,
    extras: tuple[bool, bool],
) -> DocumentReference:
    """Return a packet of documents.

    Args:
        desk: Who puts it together.
        case: The case.
        chosen: The documents.
        readiness: What it lacks.
        extras: Whether a summary of the chart, and the answered forms, go with it.
    """
    listed = "\n".join(f"{doc.id} {doc.kind}: {doc.title}" for doc in chosen)
    return DocumentReference(
        id=desk.draw_id("DOC-BUNDLE-"),
        patient_id=case.patient_id,
        case_id=case.id,
        kind=DocumentKind.SUBMISSION_BUNDLE,
        title=f"Packet for {case.external_case_id}",
        content=listed,
        created_at=desk.world.clock.now,
        structured_data={
            "package_id": f"PKG-{case.id}",
            "included_document_ids": tuple(doc.id for doc in chosen),
            "extras": extras,
            "answers": forms.all_answers(forms.of_case(desk.world, case.id)),
            "ready_to_submit": readiness["ready_to_submit"],
        },
    )


def answered_forms(desk: DocumentsAndForms, case: PriorAuthCase) -> list[DocumentReference]:
    """Put the policy's questionnaires on file as documents, once they are answered.

    The request form is the head of the packet itself and becomes no document. A questionnaire that
    is on file with the same answers is used as it is.
    """
    found: list[DocumentReference] = []
    for form in forms.of_case(desk.world, case.id)[1:]:
        answers = forms.own_answers(form, form.answers)
        if not answers:
            continue
        made = DocumentReference(
            id="",
            patient_id=case.patient_id,
            case_id=case.id,
            kind=DocumentKind.QUESTIONNAIRE_FORM,
            title=form.title,
            content="\n".join(f"{q.text}: {answers.get(q.key, '')}" for q in form.questions),
            created_at=desk.world.clock.now,
            structured_data={"form_id": form.form_id, "answers": answers},
        )
        found.append(_same(desk, made) or _kept(desk, made))
    return found


def package(world: ManagedCareWorld, case: PriorAuthCase, packet: DocumentReference) -> View:
    """Return what the payer receives: the request and its documents, rendered from the records."""
    order = world.cases.order(case.service_request_id)
    practitioner = world.staff.practitioners.get(order.ordering_practitioner_id)
    coverage = coverage_of(world, case.patient_id)
    return {
        "package_id": packet.structured_data["package_id"],
        "request": {
            "case_id": case.id,
            "external_case_id": case.external_case_id,
            "urgency": case.urgency,
            "service_type": order.service_type,
            "procedure_code": order.procedure_code,
            "description": order.description,
            "site_of_service": order.site_of_service,
            "requested_date": order.requested_date,
        },
        "coverage": coverage,
        "requesting_provider": practitioner,
        "diagnoses": order.diagnosis_codes,
        "line_items": world.cases.lines_of(case.id),
        "questionnaire_answers": packet.structured_data["answers"],
        "documents": tuple(
            {"id": doc.id, "kind": doc.kind, "title": doc.title}
            for doc in world.documents.included_in(packet.id)
        ),
    }


def require_sound(
    desk: DocumentsAndForms,
    case: PriorAuthCase,
    chosen: Sequence[DocumentReference],
    extras: tuple[bool, bool],
) -> None:
    """Refuse, in a strict world, a packet that says nothing new or holds itself.

    Raises:
        Refusal: If a document is named twice, is a packet itself, or the newest packet of the case
            holds the same documents and answers.
    """
    ids = [doc.id for doc in chosen]
    twice = next((one for one in ids if ids.count(one) > 1), None)
    if twice:
        raise Refusal(RefusalCode.DUPLICATE, f"Document {twice} is named twice; name it once.")
    for doc in chosen:
        if doc.kind is DocumentKind.SUBMISSION_BUNDLE:
            raise Refusal(
                RefusalCode.BAD_ARGUMENT, f"{doc.id} is a packet; name the documents themselves."
            )
    newest = desk.newest_bundle(case.id)
    if newest is None:
        return
    packet = desk.get(newest)
    data = packet.structured_data
    own = set(ids) | {d.id for d in desk.included_in(newest) if "form_id" in d.structured_data}
    answers = forms.all_answers(forms.of_case(desk.world, case.id))
    same_order = set(included(packet)) == own and data["extras"] == extras
    if same_order and data["answers"] == answers:
        raise Refusal(
            RefusalCode.DUPLICATE,
            f"{newest} already holds these documents and answers; use that packet.",
        )


def require_new(desk: DocumentsAndForms, made: DocumentReference) -> None:
    """Refuse a document that is on file for its case already.

    Raises:
        Refusal: If there is one of the same kind, title and text.
    """
    there = _same(desk, made)
    if there is not None:
        raise Refusal(
            RefusalCode.DUPLICATE,
            f"{there.id} is on file for {made.case_id} with the same kind, title and text.",
        )


def _same(desk: DocumentsAndForms, made: DocumentReference) -> DocumentReference | None:
    for doc in desk.documents.values():
        if (doc.case_id, doc.kind, doc.title, doc.content) == (
            made.case_id,
            made.kind,
            made.title,
            made.content,
        ):
            return doc
    return None


def _kept(desk: DocumentsAndForms, made: DocumentReference) -> DocumentReference:
    kept = replace(made, id=desk.draw_id("DOC-FORM-"))
    desk.documents[kept.id] = kept
    return kept
