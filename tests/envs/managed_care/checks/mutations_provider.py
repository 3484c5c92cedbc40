"""What can be wrong with a prior authorization, before and at its submission."""

from __future__ import annotations

from dataclasses import replace

from healthgym.envs.managed_care.checks.expectation import PreSubmission
from healthgym.worlds.managed_care.records.case import SubmissionPacket
from healthgym.worlds.managed_care.records.chart import DocumentReference
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DocumentKind,
    ProviderDeterminationAction,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.envs.managed_care.checks.mutation import (
    Mutation,
    change,
    drop,
    empty,
    names,
    with_fields,
)

_SUBMITTED, _GATHERED, _LET_BE = "v-pa-01", "v-pa-05", "v-pa-08"
_OF_CASE = frozenset(
    {
        "new_referral.case_created",
        "new_referral.case_status",
        "provider_pre_submission.required_documents_present",
        "cross.forward_transitions",
    }
)
_OF_ORDER = names(
    "new_referral",
    ("procedure_code", "required_diagnosis_codes", "service_type", "site_of_service"),
)


def _second_order(world: ManagedCareWorld) -> None:
    order = next(iter(world.cases.orders.values()))
    world.cases.orders["SR-X"] = replace(order, id="SR-X")


def _no_letter(world: ManagedCareWorld) -> None:
    kept = world.documents.documents
    wanted = DocumentKind.LETTER_OF_MEDICAL_NECESSITY
    kept.keep([key for key, doc in kept.items() if doc.kind is not wanted])


def _sent(world: ManagedCareWorld) -> None:
    case = next(iter(world.cases.cases))
    world.authorizations.packets["SUB-X"] = SubmissionPacket(
        id="SUB-X",
        case_id=case,
        channel="portal",  # type: ignore[arg-type]
        payload={},
        submitted_at=world.clock.now,
        status="submitted",
    )


def _image(world: ManagedCareWorld) -> None:
    world.documents.documents["DOC-X"] = DocumentReference(
        id="DOC-X",
        patient_id="P3",
        case_id=next(iter(world.cases.cases)),
        kind=DocumentKind.IMAGING_REPORT,
        title="Echo",
        content="e",
        created_at=world.clock.now,
    )


def _order(**fields: object) -> Mutation:
    name = next(iter(fields))
    checks = {"procedure_code": "procedure_code", "diagnosis_codes": "required_diagnosis_codes"}
    check = f"new_referral.{checks.get(name, name)}"
    return Mutation(check, _SUBMITTED, lambda w: change(w.cases.orders, **fields))


_ABSENT = with_fields(
    pre_submission=PreSubmission(
        final_action=ProviderDeterminationAction.GATHER_MORE_EVIDENCE,
        absent_document_kinds=(DocumentKind.IMAGING_REPORT,),
    )
)

MUTATIONS = (
    Mutation(
        "new_referral.service_request_created", _SUBMITTED, _second_order, _OF_CASE | _OF_ORDER
    ),
    _order(procedure_code="99999"),
    _order(diagnosis_codes=("Z00.0",)),
    _order(service_type="radiology"),
    _order(site_of_service="office"),
    Mutation("new_referral.case_created", _SUBMITTED, lambda w: drop(w.cases.cases), _OF_CASE),
    Mutation(
        "new_referral.case_status",
        _SUBMITTED,
        lambda w: change(w.cases.cases, status=CaseStatus.DRAFT),
    ),
    Mutation(
        "provider_pre_submission.provider_determination_present",
        _GATHERED,
        lambda w: empty(w.authorizations.determinations),
        frozenset({"provider_pre_submission.final_action"}),
    ),
    Mutation(
        "provider_pre_submission.final_action",
        _GATHERED,
        lambda w: change(
            w.authorizations.determinations,
            final_action=ProviderDeterminationAction.DO_NOT_SUBMIT,
        ),
    ),
    Mutation("provider_pre_submission.packet_absent", _GATHERED, _sent),
    Mutation("provider_pre_submission.required_documents_present", _SUBMITTED, _no_letter),
    Mutation(
        "provider_pre_submission.document_absent.imaging_report",
        _GATHERED,
        _image,
        expect=_ABSENT,
    ),
    Mutation(
        "cross.closed_backed_by_provider_determination",
        _LET_BE,
        lambda w: change(
            w.authorizations.determinations,
            final_action=ProviderDeterminationAction.GATHER_MORE_EVIDENCE,
        ),
        frozenset({"provider_pre_submission.final_action"}),
    ),
)
