"""A prior-authorization case on the provider's side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from healthgym.core.borders import JsonObject
from healthgym.worlds.managed_care.records.intake import (
    IntakeProviderInfo,
)
from healthgym.worlds.managed_care.vocabulary.authorization import (
    AppealOutcome,
    AuthorizationType,
    CaseStatus,
    DecisionOutcome,
    PayerRouteTarget,
    PendReason,
    ProviderCaseStrength,
    ProviderDeterminationAction,
    ProviderFindingCode,
    RequirementOutcome,
    ReviewType,
    SubmissionChannel,
    UploadableDocumentKind,
    Urgency,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorAuthCase:
    """TODO prior auth case.

    Attributes:
        id: TODO.
        external_case_id: TODO.
        patient_id: TODO.
        service_request_id: TODO.
        status: TODO.
        urgency: TODO.
        requested_by: TODO.
        assigned_to: TODO.
        created_at: TODO.
        updated_at: TODO.
        decision_due_at: TODO.
        pend_due_at: TODO.
        expires_at: TODO.
        appeal_due_at: TODO.
        submission_channel: TODO.
        outcome_reason: TODO.
        authorization_number: TODO.
        payer_intake_case_id: TODO.
    """

    id: str
    external_case_id: str
    patient_id: str
    service_request_id: str
    status: CaseStatus
    urgency: Urgency
    requested_by: str
    assigned_to: str
    created_at: datetime
    updated_at: datetime
    decision_due_at: datetime
    pend_due_at: datetime | None = None
    expires_at: datetime | None = None
    appeal_due_at: datetime | None = None
    submission_channel: SubmissionChannel | None = None
    outcome_reason: str | None = None
    authorization_number: str | None = None
    payer_intake_case_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorAuthLine:
    """TODO prior auth line.

    Attributes:
        id: TODO.
        case_id: TODO.
        line_number: TODO.
        procedure_code: TODO.
        diagnosis_codes: TODO.
        site_of_service: TODO.
        status: TODO.
        decision: TODO.
        line_type: TODO.
        medication_name: TODO.
        drug_code: TODO.
        benefit_type: TODO.
        quantity: TODO.
        days_supply: TODO.
        requested_units: TODO.
        unit_type: TODO.
        procedure_name: TODO.
        procedure_code_set: TODO.
        servicing_provider: TODO.
        same_as_requesting_provider: TODO.
    """

    id: str
    case_id: str
    line_number: int
    procedure_code: str
    diagnosis_codes: tuple[str, ...]
    site_of_service: str
    status: str | None = None
    decision: str | None = None
    line_type: str = "procedure"
    medication_name: str | None = None
    drug_code: str | None = None
    benefit_type: str | None = None
    quantity: str | None = None
    days_supply: str | None = None
    requested_units: int | None = None
    unit_type: str | None = None
    procedure_name: str | None = None
    procedure_code_set: str | None = None
    servicing_provider: IntakeProviderInfo | None = None
    same_as_requesting_provider: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CasePolicy:
    """TODO case policy.

    Attributes:
        id: TODO.
        case_id: TODO.
        authorization_required: TODO.
        expected_channel: TODO.
        required_documents: TODO.
        required_questionnaire_answers: TODO.
        required_diagnosis_codes: TODO.
        incomplete_action: TODO.
        complete_outcome: TODO.
        pend_reason: TODO.
        deny_reason: TODO.
        appeal_outcome: TODO.
        peer_to_peer_note: TODO.
        modification_note: TODO.
        external_appeal_outcome: TODO.
        policy_summary: TODO.
        route_target: TODO.
        delegated_program: TODO.
        specialty_program: TODO.
        external_vendor: TODO.
        gold_card_eligible: TODO.
        notification_only: TODO.
        allow_nurse_approval: TODO.
        adverse_requires_physician: TODO.
        standard_turnaround_hours: TODO.
        expedited_turnaround_hours: TODO.
        policy_version: TODO.
        policy_citations: TODO.
        local_policy_overrides: TODO.
        submission_requirements: TODO.
        expected_authorization_type: TODO.
        expected_review_needed: TODO.
        expected_review_type: TODO.
        policy_family: TODO.
        policy_document_ids: TODO.
        applicability_summary: TODO.
        required_form_fields: TODO.
        form_definitions: TODO.
        unsupported_runtime_features: TODO.
    """

    id: str
    case_id: str
    authorization_required: bool = True
    expected_channel: SubmissionChannel | None = None
    required_documents: tuple[UploadableDocumentKind, ...] = ()
    required_questionnaire_answers: Mapping[str, str] = field(default_factory=dict)
    required_diagnosis_codes: tuple[str, ...] = ()
    incomplete_action: str = "pend"
    complete_outcome: DecisionOutcome = DecisionOutcome.APPROVED
    pend_reason: PendReason = PendReason.MISSING_DOCUMENTS
    deny_reason: str | None = None
    appeal_outcome: AppealOutcome = AppealOutcome.APPEAL_UPHELD
    peer_to_peer_note: str | None = None
    modification_note: str | None = None
    external_appeal_outcome: AppealOutcome | None = None
    policy_summary: str = ""
    route_target: PayerRouteTarget | None = None
    delegated_program: str | None = None
    specialty_program: str | None = None
    external_vendor: str | None = None
    gold_card_eligible: bool = False
    notification_only: bool = False
    allow_nurse_approval: bool = True
    adverse_requires_physician: bool = True
    standard_turnaround_hours: int = 168
    expedited_turnaround_hours: int = 72
    policy_version: str = "2026.03"
    policy_citations: tuple[str, ...] = ()
    local_policy_overrides: tuple[str, ...] = ()
    submission_requirements: tuple[str, ...] = ()
    expected_authorization_type: AuthorizationType | None = None
    expected_review_needed: bool | None = None
    expected_review_type: ReviewType | None = None
    policy_family: str | None = None
    policy_document_ids: tuple[str, ...] = ()
    applicability_summary: str | None = None
    required_form_fields: tuple[str, ...] = ()
    form_definitions: tuple[JsonObject, ...] = ()
    unsupported_runtime_features: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementCheck:
    """TODO requirement check.

    Attributes:
        id: TODO.
        case_id: TODO.
        channel: TODO.
        outcome: TODO.
        required_documents: TODO.
        created_at: TODO.
    """

    id: str
    case_id: str
    channel: SubmissionChannel
    outcome: RequirementOutcome
    required_documents: tuple[UploadableDocumentKind, ...]
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderDeterminationPreview:
    """TODO provider determination preview.

    Attributes:
        case_id: TODO.
        bundle_document_id: TODO.
        authorization_required: TODO.
        requirement_outcome: TODO.
        strength: TODO.
        recommended_action: TODO.
        finding_codes: TODO.
        rationale: TODO.
        missing_document_kinds: TODO.
        missing_form_fields: TODO.
        missing_questionnaire_answers: TODO.
        missing_diagnosis_codes: TODO.
        policy_summary: TODO.
        policy_citations: TODO.
    """

    case_id: str
    bundle_document_id: str | None = None
    authorization_required: bool
    requirement_outcome: RequirementOutcome
    strength: ProviderCaseStrength
    recommended_action: ProviderDeterminationAction
    finding_codes: tuple[ProviderFindingCode, ...] = ()
    rationale: str
    missing_document_kinds: tuple[UploadableDocumentKind, ...] = ()
    missing_form_fields: tuple[str, ...] = ()
    missing_questionnaire_answers: tuple[str, ...] = ()
    missing_diagnosis_codes: tuple[str, ...] = ()
    policy_summary: str = ""
    policy_citations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderDeterminationRecord:
    """TODO provider determination record.

    Attributes:
        id: TODO.
        case_id: TODO.
        bundle_document_id: TODO.
        authorization_required: TODO.
        requirement_outcome: TODO.
        strength: TODO.
        recommended_action: TODO.
        final_action: TODO.
        overridden: TODO.
        override_reason: TODO.
        finding_codes: TODO.
        rationale: TODO.
        missing_document_kinds: TODO.
        missing_form_fields: TODO.
        missing_questionnaire_answers: TODO.
        missing_diagnosis_codes: TODO.
        policy_summary: TODO.
        policy_citations: TODO.
        created_at: TODO.
        created_by: TODO.
    """

    id: str
    case_id: str
    bundle_document_id: str | None = None
    authorization_required: bool
    requirement_outcome: RequirementOutcome
    strength: ProviderCaseStrength
    recommended_action: ProviderDeterminationAction
    final_action: ProviderDeterminationAction
    overridden: bool = False
    override_reason: str = ""
    finding_codes: tuple[ProviderFindingCode, ...] = ()
    rationale: str
    missing_document_kinds: tuple[UploadableDocumentKind, ...] = ()
    missing_form_fields: tuple[str, ...] = ()
    missing_questionnaire_answers: tuple[str, ...] = ()
    missing_diagnosis_codes: tuple[str, ...] = ()
    policy_summary: str = ""
    policy_citations: tuple[str, ...] = ()
    created_at: datetime
    created_by: str = "agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Questionnaire:
    """TODO questionnaire.

    Attributes:
        id: TODO.
        case_id: TODO.
        title: TODO.
        questions: TODO.
    """

    id: str
    case_id: str
    title: str
    questions: tuple[JsonObject, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionnaireResponse:
    """TODO questionnaire response.

    Attributes:
        id: TODO.
        case_id: TODO.
        questionnaire_id: TODO.
        answers: TODO.
        created_at: TODO.
    """

    id: str
    case_id: str
    questionnaire_id: str
    answers: Mapping[str, str]
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionLineUpdate:
    """TODO submission line update.

    Attributes:
        line_id: TODO.
        diagnosis_codes: TODO.
    """

    line_id: str
    diagnosis_codes: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionPacket:
    """TODO submission packet.

    Attributes:
        id: TODO.
        case_id: TODO.
        channel: TODO.
        payload: TODO.
        source_surface: TODO.
        attached_document_ids: TODO.
        submitted_at: TODO.
        status: TODO.
    """

    id: str
    case_id: str
    channel: SubmissionChannel
    payload: JsonObject
    source_surface: str | None = None
    attached_document_ids: tuple[str, ...] = ()
    submitted_at: datetime
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """TODO message.

    Attributes:
        id: TODO.
        case_id: TODO.
        kind: TODO.
        box: TODO.
        subject: TODO.
        body: TODO.
        created_at: TODO.
        action_required: TODO.
        read_at: TODO.
    """

    id: str
    case_id: str | None = None
    kind: str
    box: str
    subject: str
    body: str
    created_at: datetime
    action_required: bool = False
    read_at: datetime | None = None
