"""What can be wrong with a package or a submission, by the editions before the public one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from healthgym.envs.managed_care.checks.expectation import Contract, Expectation, Stage
from healthgym.envs.managed_care.checks.submission_expectation import (
    CoverageExpectation,
    ExactOrder,
    ExpectedDocument,
    LineExpectation,
    SubmissionExpectation,
)
from healthgym.worlds.managed_care.charts.chart import ChartLibrary
from healthgym.worlds.managed_care.records.case import SubmissionPacket
from healthgym.worlds.managed_care.records.chart import DocumentReference
from healthgym.worlds.managed_care.records.intake import IntakeProviderInfo
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DocumentKind,
    SubmissionChannel,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.envs.managed_care.checks.mutation import (
    Break,
    Expect,
    Mutation,
    change,
    empty,
    forget,
    newest,
)

_RUN = "v-pa-01"
_LETTER, _COPY = DocumentKind.LETTER_OF_MEDICAL_NECESSITY, "DOC-COPY"
_EXPECTED = SubmissionExpectation(
    coverage=CoverageExpectation(
        payer_name="Meridian Health",
        plan_name="Gold PPO",
        member_number="M-1003",
        group_number="G1",
    ),
    service_request=ExactOrder(
        service_type="cardiology",
        procedure_code="93653",
        description="ablation",
        site_of_service="outpatient_hospital",
    ),
    requesting_provider=IntakeProviderInfo(
        provider_name="Dr Orsini",
        provider_id="PR-1",
        npi="1111111111",
        in_network=True,
        provider_group_name="Harbor Clinic",
        provider_specialty="Cardiology",
    ),
    anchor_diagnosis_codes=("I48.0",),
    line=LineExpectation(
        procedure_code="93653",
        procedure_name="Ablation",
        service_type="cardiology",
        place_of_service="22",
        requested_units=1,
    ),
    documents=(
        ExpectedDocument(kind=_LETTER, title="LMN", role="letter"),
        ExpectedDocument(
            kind=DocumentKind.CHART_NOTE,
            title="N",
            content="x",
            source_slot="DOC-31",
            role="evidence",
        ),
    ),
    required_source_slots=("DOC-31",),
    attach_document_kinds=(_LETTER, DocumentKind.CHART_NOTE),
    questionnaire_answers=(("q", "yes"),),
    artifact_types=("submission_package", "other"),
    audit_actions=("create_submission_bundle",),
)


def _expect(stage: Stage, **fields: Any) -> Expect:
    def expect(expected: Expectation) -> Expectation:
        return replace(
            expected,
            contract=Contract.V4,
            stages=(stage,),
            submission=replace(_EXPECTED, **fields),
        )

    return expect


def _letter(world: ManagedCareWorld) -> str:
    kept = world.documents.documents
    return next(key for key, doc in kept.items() if doc.kind is _LETTER)


def _bundle(world: ManagedCareWorld) -> str:
    kept = world.documents.documents
    return next(key for key, doc in kept.items() if doc.kind is DocumentKind.SUBMISSION_BUNDLE)


def _put(key_of: Any, **fields: Any) -> Break:
    """Return what gives a document of the case other values."""

    def do(world: ManagedCareWorld) -> None:
        kept = world.documents.documents
        key = key_of if isinstance(key_of, str) else key_of(world)
        kept[key] = replace(kept[key], **fields)

    return do


def _hold(world: ManagedCareWorld, documents: Sequence[str]) -> None:
    """Let bundle and packet hold these documents."""
    kept, key = world.documents.documents, _bundle(world)
    data = {**kept[key].structured_data, "included_document_ids": tuple(documents)}
    kept[key] = replace(kept[key], structured_data=data)
    if world.authorizations.packets:
        change(world.authorizations.packets, attached_document_ids=tuple(documents))


def _sound(world: ManagedCareWorld) -> None:
    """Give the submission what the public task does not ask of it."""
    kept = world.documents.documents
    authored = {"slot_key": "letter", "derivation_relation": "authored", "role": "letter"}
    copied = {"slot_key": "DOC-31", "derivation_relation": "copy", "role": "evidence"}
    _put(_letter, structured_data=authored)(world)
    kept[_COPY] = DocumentReference(
        id=_COPY,
        patient_id="P3",
        case_id=next(iter(world.cases.cases)),
        kind=DocumentKind.CHART_NOTE,
        title="N",
        content="x",
        created_at=world.clock.now,
        structured_data=copied,
    )
    further = replace(kept[_COPY], id="DOC-FURTHER", kind=DocumentKind.OTHER, content="z")
    kept[further.id] = replace(
        further, structured_data=authored | {"slot_key": "other", "role": "other"}
    )
    _hold(world, (_letter(world), _COPY))
    change(world.cases.lines, requested_units=1, procedure_name="Ablation")
    packet = world.authorizations.packets[newest(world.authorizations.packets)]
    payload = {**packet.payload, "questionnaire_answers": {"q": "yes"}}
    change(world.authorizations.packets, payload=payload)


def _unsent(world: ManagedCareWorld) -> None:
    """Take the submission back to the package that it was."""
    _sound(world)
    empty(world.authorizations.packets)
    change(world.cases.cases, status=CaseStatus.READY_TO_SUBMIT, submission_channel=None)


def _sent(check: str, do: Break, *also: str, **expected: Any) -> Mutation:
    others = frozenset(f"provider.{name}" for name in also)
    return Mutation(
        f"provider.{check}", _RUN, do, others, _expect(Stage.SUBMISSION, **expected), _sound
    )


def _packed(check: str, do: Break, *also: str) -> Mutation:
    others = frozenset(f"provider.{name}" for name in also)
    expect = _expect(Stage.REQUEST_PACKAGE, questionnaire_answers=())
    return Mutation(f"provider.{check}", _RUN, do, others, expect, _unsent)


def _uncovered(world: ManagedCareWorld) -> None:
    charts = [replace(chart, coverages=()) for chart in world.charts.values()]
    world.__dict__["charts"] = ChartLibrary(charts)


def _other_source(world: ManagedCareWorld) -> None:
    charts = [
        replace(chart, documents=tuple(replace(doc, content="changed") for doc in chart.documents))
        for chart in world.charts.values()
    ]
    world.__dict__["charts"] = ChartLibrary(charts)


def _send(world: ManagedCareWorld) -> None:
    world.authorizations.packets["SUB-X"] = SubmissionPacket(
        id="SUB-X",
        case_id=next(iter(world.cases.cases)),
        channel=SubmissionChannel.PORTAL,
        payload={},
        attached_document_ids=(_letter(world), _COPY),
        submitted_at=world.clock.now,
        status="submitted",
    )


def _from_elsewhere(world: ManagedCareWorld) -> None:
    """Say that the copy comes from another slot, so that nothing covers the required one."""
    other = {"slot_key": "DOC-32", "derivation_relation": "copy", "role": "evidence"}
    _put(_COPY, structured_data=other, content="y")(world)


_IN_ALL = (
    "bundle_includes_expected_documents",
    "documents_match",
    "manifest_documents_match",
)
_SENT = (
    _sent(
        "packet_exists",
        lambda w: empty(w.authorizations.packets),
        "questionnaire_answers_match",
    ),
    _sent(
        "manifest_exists",
        lambda w: _hold(w, ()),
        "attach_document_kinds_match",
        "bundle_includes_expected_documents",
        "bundle_source_slots_covered",
        "manifest_documents_match",
    ),
    _sent(
        "channel_consistent",
        lambda w: change(w.cases.cases, submission_channel=SubmissionChannel.FAX),
    ),
    _sent(
        "manifest_documents_match",
        lambda w: change(
            w.authorizations.packets, attached_document_ids=(_letter(w), "DOC-32", _COPY)[:1]
        ),
        "attach_document_kinds_match",
    ),
    _sent(
        "bundle_document_exists",
        _put(_bundle, kind=DocumentKind.OTHER),
        "bundle_source_slots_covered",
        "workspace_artifacts",
        "provenance_complete",
    ),
    _sent("coverage_matches", _uncovered, "requesting_provider_matches"),
    _sent("service_request_matches", lambda w: change(w.cases.orders, description="other")),
    _sent(
        "requesting_provider_matches",
        lambda w: change(w.cases.orders, ordering_practitioner_id="PR-2"),
    ),
    _sent("diagnoses_match", lambda w: change(w.cases.lines, diagnosis_codes=("Z00.0",))),
    _sent("line_items_match", lambda w: change(w.cases.lines, requested_units=2)),
    _sent(
        "required_source_slots_covered",
        _from_elsewhere,
        "bundle_source_slots_covered",
        *_IN_ALL,
    ),
    _sent(
        "bundle_source_slots_covered",
        lambda w: _put(
            _bundle,
            structured_data={"included_document_ids": (_letter(w),)},
        )(w),
        "bundle_includes_expected_documents",
    ),
    _sent(
        "provenance_complete",
        _put(_letter, structured_data={"role": "letter"}),
    ),
    _sent(
        "required_submission_roles_present",
        _put(_letter, structured_data={"slot_key": "letter", "derivation_relation": "authored"}),
    ),
    _sent("source_documents_consistent", _other_source),
    _sent(
        "attach_document_kinds_match",
        lambda w: change(
            w.authorizations.packets, attached_document_ids=(_letter(w), _COPY, "DOC-32")
        ),
    ),
    _sent(
        "bundle_includes_expected_documents",
        lambda w: _put(_bundle, structured_data={"included_document_ids": (_COPY,)})(w),
    ),
    _sent(
        "documents_match",
        _put(_letter, title="Another letter"),
        "bundle_includes_expected_documents",
        "manifest_documents_match",
    ),
    _sent(
        "questionnaire_answers_match",
        lambda w: change(w.authorizations.packets, payload={"questionnaire_answers": {"q": "no"}}),
    ),
    _sent("workspace_artifacts", lambda w: w.documents.documents.discard("DOC-FURTHER")),
    _sent("audit", forget("create_submission_bundle")),
)
_PACKED = (
    Mutation(
        "provider.case_exists",
        _RUN,
        lambda w: empty(w.cases.cases),
        frozenset({"cross.forward_transitions"}),
        _expect(Stage.REQUEST_PACKAGE, questionnaire_answers=()),
        _unsent,
    ),
    _packed("case_status_ready", lambda w: change(w.cases.cases, status=CaseStatus.DOCS_NEEDED)),
    _packed("packet_absent", _send),
    _packed(
        "package_artifact_exists",
        _put(_bundle, kind=DocumentKind.OTHER),
        "bundle_document_exists",
        "attach_document_kinds_match",
        "bundle_source_slots_covered",
        "workspace_artifacts",
        "provenance_complete",
    ),
)
MUTATIONS = (*_SENT, *_PACKED)
