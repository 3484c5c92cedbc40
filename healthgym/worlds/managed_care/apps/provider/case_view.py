"""A case as the provider sees it, gathered from the applications that hold its parts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol, TypeVar

from healthgym.worlds.managed_care.apps.provider import forms
from healthgym.worlds.managed_care.apps.provider.office import View
from healthgym.worlds.managed_care.apps.provider.readiness import coverage_of
from healthgym.worlds.managed_care.records.chart import DocumentReference
from healthgym.worlds.managed_care.workflow import next_actions, state_of

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.records.case import PriorAuthCase
    from healthgym.worlds.managed_care.world import ManagedCareWorld


class _OfCase(Protocol):
    @property
    def case_id(self) -> str | None: ...


Part = TypeVar("Part", bound=_OfCase)


def of_case(world: ManagedCareWorld, case: PriorAuthCase) -> View:
    """Return a case with everything that belongs to it and the provider may see."""
    chart = world.charts[case.patient_id]
    intake = next(iter(_own(world.intake.intakes.values(), case.id)), None)
    return {
        "case": case,
        "summary": summary_of(world, case),
        "workflow_state": state_of(world, case.id),
        "next_actions": next_actions(world, case.id),
        "patient": chart.patient,
        "coverage": coverage_of(world, case.patient_id),
        "service_request": world.cases.order(case.service_request_id),
        "lines": world.cases.lines_of(case.id),
        "documents": tuple(map(listed, world.documents.of_case(case.id))),
        "forms": tuple(
            {"form_id": form.form_id, "complete": not form.missing(), "missing": form.missing()}
            for form in forms.of_case(world, case.id)
        ),
        "packets": _own(world.authorizations.packets.values(), case.id),
        "messages": world.inbox.visible(case.id),
        "letters": _own(world.letters.letters.values(), case.id),
        "review_decisions": _own(world.determinations.decisions.values(), case.id),
        "peer_to_peer_requests": _own(world.peer.requests.values(), case.id),
        "appeals": _own(world.appeals.appeals.values(), case.id),
        "payer_intake": intake
        and {"id": intake.id, "status": intake.status, "received_at": intake.received_at},
    }


def summary_of(world: ManagedCareWorld, case: PriorAuthCase) -> View:
    """Return a case as one row of the work list."""
    patient = world.charts[case.patient_id].patient
    order = world.cases.order(case.service_request_id)
    return {
        "id": case.id,
        "patient_id": patient.id,
        "patient_name": f"{patient.first_name} {patient.last_name}",
        "procedure_code": order.procedure_code,
        "description": order.description,
        "status": case.status,
        "urgency": case.urgency,
        "stage": state_of(world, case.id).workflow_stage,
        "assigned_to": case.assigned_to,
        "decision_due_at": case.decision_due_at,
        "pend_due_at": case.pend_due_at,
        "appeal_due_at": case.appeal_due_at,
        "updated_at": case.updated_at,
    }


def listed(document: DocumentReference) -> View:
    """Return a document without its text, which :meth:`DocumentsAndForms.read` gives."""
    return {
        "id": document.id,
        "kind": document.kind,
        "title": document.title,
        "case_id": document.case_id,
        "encounter_id": document.encounter_id,
        "created_at": document.created_at,
        "author_name": document.author_name,
        "signed_at": document.signed_at,
    }


def _own(records: Iterable[Part], case_id: str) -> tuple[Part, ...]:
    return tuple(record for record in records if record.case_id == case_id)
