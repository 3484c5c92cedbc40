"""What a payer's policy asks of one case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from healthgym.core.borders import JsonObject
from healthgym.worlds.managed_care.vocabulary.authorization import (
    AppealOutcome,
    AuthorizationType,
    DecisionOutcome,
    PayerRouteTarget,
    PendReason,
    ReviewType,
    SubmissionChannel,
    UploadableDocumentKind,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CasePolicy:
    """The payer's rule card for one case, from which every right answer follows.

    Attributes:
        id: Id of this record, unique in the world.
        case_id: Id of the authorization case, such as 'CASE-ACT-001'.
        authorization_required: Whether the plan wants a prior authorization at all.
        expected_channel: Channel the payer wants; blank when any will do.
        required_documents: Kinds of document the packet must hold.
        required_questionnaire_answers: Expected answer to each question, by its key.
        required_diagnosis_codes: ICD-10-CM codes the request must carry.
        incomplete_action: What an incomplete packet earns, 'pend' or 'deny'.
        complete_outcome: What a complete packet earns.
        pend_reason: Reason given with a pend.
        deny_reason: Reason given with a denial; blank for a standing phrase.
        appeal_outcome: How an internal appeal ends.
        peer_to_peer_note: What a call between physicians would bring up; blank when nothing.
        modification_note: What an approval changes in the request; blank when nothing.
        external_appeal_outcome: How an external appeal ends; blank when it follows the internal
            one.
        policy_summary: What the payer's policy asks for, in short.
        route_target: Lane for review; blank when the policy names none.
        delegated_program: Name of the delegated entity that reviews; blank when there is none.
        specialty_program: Name of the specialty review program; blank when there is none.
        external_vendor: Name of the outside review vendor; blank when there is none.
        gold_card_eligible: Whether the case qualifies for the trusted providers' lane.
        notification_only: Whether telling the payer is enough.
        allow_nurse_approval: Whether a nurse may approve.
        adverse_requires_physician: Whether only a physician may deny.
        standard_turnaround_hours: Hours to decide a standard request.
        expedited_turnaround_hours: Hours to decide an expedited request.
        policy_version: Edition of the policy.
        policy_citations: Sections of the medical policy that are relied on.
        local_policy_overrides: Local rules that go before the policy.
        submission_requirements: What a submission must contain, in words.
        expected_authorization_type: Type of authorization it ought to be; blank when open.
        expected_review_needed: Whether clinical review ought to follow; blank when open.
        expected_review_type: Sort of review that ought to follow; blank when open.
        policy_family: Name of the family of policies; blank when it has none.
        policy_document_ids: Ids of the policy's texts in the library.
        applicability_summary: When the policy applies, in words; blank when unstated.
        required_form_fields: Keys of the request form that must be filled.
        form_definitions: Questionnaires of the policy, each with its fields.
        unsupported_runtime_features: Rules of the policy that this world does not carry out.
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
