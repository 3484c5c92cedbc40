"""A prior-authorization case on the provider's side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from healthgym.core.borders import JsonObject
from healthgym.worlds.managed_care.records.intake import (
    IntakeProviderInfo,
)
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    ProviderCaseStrength,
    ProviderDeterminationAction,
    ProviderFindingCode,
    RequirementOutcome,
    SubmissionChannel,
    UploadableDocumentKind,
    Urgency,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorAuthCase:
    """A request for prior authorization, from draft to closure.

    Attributes:
        id: Id of the case, such as 'CASE-ACT-001'.
        external_case_id: Number that both sides quote, such as 'PA-ACT-001'.
        patient_id: Id of the patient in the chart.
        service_request_id: Id of the order it asks for.
        status: Where the case stands.
        urgency: Speed of review the office asks for.
        requested_by: Id of the person who opened the case.
        assigned_to: Id of the person who works on it.
        created_at: When it was written, in UTC.
        updated_at: When it last changed, in UTC.
        decision_due_at: When the payer's answer is due, in UTC.
        pend_due_at: When the reply to a pend is due, in UTC; blank when none is awaited.
        expires_at: When an approval lapses, in UTC; blank without one.
        appeal_due_at: Last moment to appeal a denial, in UTC; blank when none is set.
        submission_channel: How it was sent; blank before submission.
        outcome_reason: Reason given with the outcome; blank before there is one.
        authorization_number: Number of the approval; blank without one.
        payer_intake_case_id: Id of the payer's intake record; blank before submission.
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

    @property
    def letter_channel(self) -> SubmissionChannel:
        """How the payer's letters on it go out: as it came in, of a call by fax."""
        came = self.submission_channel or SubmissionChannel.PORTAL
        return SubmissionChannel.FAX if came is SubmissionChannel.PHONE else came


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorAuthLine:
    """One requested service or drug of a case.

    Attributes:
        id: Id of this record, unique in the world.
        case_id: Id of the authorization case, such as 'CASE-ACT-001'.
        line_number: Number of the requested line, from 1.
        procedure_code: CPT or HCPCS code.
        diagnosis_codes: ICD-10-CM codes that justify the line.
        site_of_service: Place where it is to be done, such as 'outpatient_hospital'.
        status: Where the line stands; blank before review.
        decision: What was decided on it; blank before a decision.
        line_type: Sort of line, 'procedure' unless a drug.
        medication_name: Name of the drug; blank for procedures.
        drug_code: NDC or HCPCS code of the drug; blank for procedures.
        benefit_type: Benefit that pays for a drug, medical or pharmacy; blank for procedures.
        quantity: Amount of the drug with its unit; blank for procedures.
        days_supply: Days the amount lasts; blank for procedures.
        requested_units: Units asked for, in ``unit_type``; blank when unstated.
        unit_type: What a unit is, such as 'visits'; blank when unstated.
        procedure_name: Wording of the code; blank when unstated.
        procedure_code_set: Code system of the code, such as 'CPT'; blank when unstated.
        servicing_provider: Who carries it out; blank when unstated.
        same_as_requesting_provider: Whether that is who asked for it.
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
class RequirementCheck:
    """The plan's answer to whether a service needs authorization.

    Attributes:
        id: Id of this record, unique in the world.
        case_id: Id of the authorization case, such as 'CASE-ACT-001'.
        channel: Way the question was asked.
        outcome: What the plan says.
        required_documents: Kinds of document to send along.
        created_at: When it was written, in UTC.
    """

    id: str
    case_id: str
    channel: SubmissionChannel
    outcome: RequirementOutcome
    required_documents: tuple[UploadableDocumentKind, ...]
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderDeterminationPreview:
    """What the office's own check advises before it commits.

    Attributes:
        case_id: Id of the authorization case, such as 'CASE-ACT-001'.
        bundle_document_id: Id of the assembled packet that was looked at; blank when there is none.
        authorization_required: Whether the plan wants a prior authorization at all.
        requirement_outcome: What the plan says of this service.
        strength: How well the packet supports the request.
        recommended_action: What the office ought to do next.
        finding_codes: Reasons found against filing now; empty when there are none.
        rationale: Reasons, in full sentences.
        missing_document_kinds: Kinds of document that the payer wants and the case lacks.
        missing_form_fields: Keys of the request form that are still blank.
        missing_questionnaire_answers: Keys of the policy's questions that are unanswered or
            answered wrongly.
        missing_diagnosis_codes: ICD-10-CM codes that the policy asks for and the request lacks.
        policy_summary: What the payer's policy asks for, in short.
        policy_citations: Sections of the medical policy that are relied on.
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
    """The office's decision to file, gather more or let be.

    Attributes:
        id: Id of this record, unique in the world.
        case_id: Id of the authorization case, such as 'CASE-ACT-001'.
        bundle_document_id: Id of the assembled packet that was looked at; blank when there is none.
        authorization_required: Whether the plan wants a prior authorization at all.
        requirement_outcome: What the plan says of this service.
        strength: How well the packet supports the request.
        recommended_action: What the office ought to do next.
        final_action: What the office decided.
        overridden: Whether that differs from the advice.
        override_reason: Why it differs; blank when it does not.
        finding_codes: Reasons found against filing now; empty when there are none.
        rationale: Reasons, in full sentences.
        missing_document_kinds: Kinds of document that the payer wants and the case lacks.
        missing_form_fields: Keys of the request form that are still blank.
        missing_questionnaire_answers: Keys of the policy's questions that are unanswered or
            answered wrongly.
        missing_diagnosis_codes: ICD-10-CM codes that the policy asks for and the request lacks.
        policy_summary: What the payer's policy asks for, in short.
        policy_citations: Sections of the medical policy that are relied on.
        created_at: When it was written, in UTC.
        created_by: Id of the person who decided.
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
    """The payer's questions on a case.

    Attributes:
        id: Id of this record, unique in the world.
        case_id: Id of the authorization case, such as 'CASE-ACT-001'.
        title: Heading.
        questions: Questions, each with its key, wording and sort of answer.
    """

    id: str
    case_id: str
    title: str
    questions: tuple[JsonObject, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionnaireResponse:
    """The office's answers to a questionnaire.

    Attributes:
        id: Id of this record, unique in the world.
        case_id: Id of the authorization case, such as 'CASE-ACT-001'.
        questionnaire_id: Id of the questionnaire.
        answers: Answer to each question, by its key.
        created_at: When it was written, in UTC.
    """

    id: str
    case_id: str
    questionnaire_id: str
    answers: Mapping[str, str]
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionLineUpdate:
    """A last change to a line at the moment of submission.

    Attributes:
        line_id: Id of the line, such as 'LINE-CASE-ACT-001'.
        diagnosis_codes: ICD-10-CM codes that replace the line's, such as 'M17.11'; leave out to
            keep them.
    """

    line_id: str
    diagnosis_codes: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionPacket:
    """What was sent to the payer.

    Attributes:
        id: Id of this record, unique in the world.
        case_id: Id of the authorization case, such as 'CASE-ACT-001'.
        channel: Way it was sent.
        payload: The request as it was sent.
        source_surface: Screen or system it was sent from; blank when unrecorded.
        attached_document_ids: Ids of the documents sent along.
        submitted_at: When it was sent, in UTC.
        status: What became of it, such as 'submitted'.
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
    """A message in somebody's inbox.

    Attributes:
        id: Id of this record, unique in the world.
        case_id: Id of the case it is about; blank for others.
        kind: Sort of message, such as 'pend_request'.
        box: Inbox it lies in.
        subject: Subject line.
        body: Text.
        created_at: When it was written, in UTC.
        action_required: Whether the reader must do something.
        read_at: When it was read, in UTC; blank while unread.
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
