"""Triage, routing and clinical review."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from healthgym.core.borders import Json
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CriterionResult,
    DecisionOutcome,
    MdReviewDecision,
    NurseReviewRecommendation,
    PayerReviewStatus,
    PayerRole,
    PayerRouteTarget,
    ReviewPriority,
    ReviewType,
    TriageDisposition,
    TriageUrgency,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TriageRecord:
    """Triage's answers: how fast, and by whom, a request is reviewed.

    Attributes:
        id: Id of this record, unique in the world.
        case_id: Id of the authorization case, such as 'CASE-ACT-001'.
        intake_case_id: Id of the intake record of the case.
        urgency_level: How fast it must be decided.
        receipt_timestamp: When the request arrived, in UTC.
        state: State whose rule was asked for, by its two letters; blank when unknown.
        sla_deadline: When the decision is due, in UTC; blank until worked out.
        sla_hours: Hours allowed for the decision; blank until worked out.
        sla_rule_source: Rule behind the hours, 'cms' or 'state:TX'; blank until worked out.
        gold_card_eligible: Whether the provider is trusted for this service.
        gold_card_provider_npi: NPI that was checked; blank until checked.
        gold_card_service_category: Category of service that was checked; blank until checked.
        disposition: Who reviews next; blank until decided.
        disposition_reason: Why; blank until decided.
        created_at: When it was written, in UTC.
        actor: Id of the worker who did it.
    """

    id: str
    case_id: str
    intake_case_id: str
    urgency_level: TriageUrgency
    receipt_timestamp: datetime
    state: str | None = None
    sla_deadline: datetime | None = None
    sla_hours: int | None = None
    sla_rule_source: str | None = None
    gold_card_eligible: bool = False
    gold_card_provider_npi: str | None = None
    gold_card_service_category: str | None = None
    disposition: TriageDisposition | None = None
    disposition_reason: str | None = None
    created_at: datetime
    actor: str = "SYSTEM"


@dataclass(frozen=True, slots=True, kw_only=True)
class PayerRoutingRecord:
    """The lane that a case was sent down.

    Attributes:
        id: Id of this record, unique in the world.
        case_id: Id of the authorization case, such as 'CASE-ACT-001'.
        intake_case_id: Id of the intake record of the case.
        recommended_target: The lane.
        reason: Why that lane.
        delegated_program: Name of the delegated entity that reviews; blank when there is none.
        specialty_program: Name of the specialty review program; blank when there is none.
        external_vendor: Name of the outside review vendor; blank when there is none.
        created_at: When it was written, in UTC.
        actor: Id of the worker who did it.
    """

    id: str
    case_id: str
    intake_case_id: str
    recommended_target: PayerRouteTarget
    reason: str
    delegated_program: str | None = None
    specialty_program: str | None = None
    external_vendor: str | None = None
    created_at: datetime
    actor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PayerReviewTask:
    """A piece of work in a reviewers' queue.

    Attributes:
        id: Id of this record, unique in the world.
        case_id: Id of the authorization case, such as 'CASE-ACT-001'.
        intake_case_id: Id of the intake record of the case; blank when there is none.
        route_target: Lane the case was sent down.
        required_role: Who may do it.
        review_type: Sort of review.
        priority: How soon it is to be done.
        status: How far it has come.
        queue_name: Name of the queue.
        program_name: Program or vendor that reviews; blank for the plan's own staff.
        assigned_to: Id of the reviewer who has it; blank while nobody does.
        assigned_role: Role of that reviewer; blank while nobody has it.
        decision: How it ended; blank while it is open.
        description: What to look at; blank when nothing is said.
        sla_due_at: When it is due, in UTC; blank without a deadline.
        created_at: When it was written, in UTC.
        updated_at: When it last changed, in UTC.
    """

    id: str
    case_id: str
    intake_case_id: str | None = None
    route_target: PayerRouteTarget
    required_role: PayerRole
    review_type: ReviewType = ReviewType.CLINICAL_REVIEW
    priority: ReviewPriority = ReviewPriority.STANDARD
    status: PayerReviewStatus = PayerReviewStatus.QUEUED
    queue_name: str
    program_name: str | None = None
    assigned_to: str | None = None
    assigned_role: PayerRole | None = None
    decision: DecisionOutcome | None = None
    description: str | None = None
    sla_due_at: datetime | None = None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ClinicalEvidenceItemObservation:
    """What a reviewer found in the record for one item of a criterion.

    Attributes:
        item_id: Id of the item, as the policy lists it.
        observed_value: Value found, such as 9.1, true, 'stage 3' or a list; blank if the record has
            none.
        observed_unit: Unit of the value, such as '%' or 'weeks'; blank when it has none.
        item_result: Whether the value meets the item.
        source_refs_used: Ids of the documents or records it was read from, such as 'DOC-1'.
        notes: Where it stands in the record, such as 'note of 2026-02-01'; may be blank.
    """

    item_id: str
    observed_value: Json | None = None
    observed_unit: str = ""
    item_result: CriterionResult = CriterionResult.UNCLEAR
    source_refs_used: tuple[str, ...] = ()
    notes: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClinicalEvidenceItemTemplate:
    """One item that a criterion asks to be looked up.

    Attributes:
        item_id: Id of the item.
        label: What to look up.
        comparison_mode: How the value is compared.
        operator: Comparison with the threshold; blank for a result alone.
        threshold_value: Value to compare with; blank when there is none.
        threshold_unit: Unit of the threshold; blank when it has none.
    """

    item_id: str
    label: str
    comparison_mode: str = "result_only"
    operator: str | None = None
    threshold_value: Json | None = None
    threshold_unit: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClinicalCriterionCatalogItem:
    """A criterion of medical necessity, as the policy lists it.

    Attributes:
        criterion_id: Id of the criterion.
        line_number: Number of the requested line it applies to, from 1.
        stage: Stage of review that judges it, such as 'nurse_review'.
        criterion_text: The criterion in words.
        criteria_source: Policy or guideline it is taken from; blank when unstated.
        criteria_version: Edition of that source; blank when unstated.
        evidence_items: What to look up for it.
    """

    criterion_id: str
    line_number: int = 1
    stage: str
    criterion_text: str
    criteria_source: str = ""
    criteria_version: str = ""
    evidence_items: tuple[ClinicalEvidenceItemTemplate, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NurseCriterionEvaluation:
    """A reviewer's finding on one criterion of the policy.

    Attributes:
        criterion_id: Id of the criterion, as the policy lists it.
        criterion_text: The criterion in the policy's words.
        criteria_source: Policy or guideline it is taken from, such as 'MP-KNEE-01'; may be blank.
        criteria_version: Edition of that source, such as '2026.03'; may be blank.
        result: Whether the record shows it.
        notes: What the record says on it, with its day, such as 'diagnosed 2024-03-08' or 'seen
            2026-02-01'.
        source_refs_used: Ids of the documents or records relied on, such as 'DOC-1'.
        item_observations: Findings on the criterion's items; empty for a criterion without items.
    """

    criterion_id: str
    criterion_text: str
    criteria_source: str = ""
    criteria_version: str = ""
    result: CriterionResult
    notes: str = ""
    source_refs_used: tuple[str, ...] = ()
    item_observations: tuple[ClinicalEvidenceItemObservation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LineReview:
    """A reviewer's findings on one requested line.

    Attributes:
        id: Id of this record, unique in the world.
        case_id: Id of the authorization case, such as 'CASE-ACT-001'.
        intake_case_id: Id of the intake record of the case.
        triage_record_id: Id of the triage that sent the case here.
        line_number: Number of the requested line, from 1.
        reviewer_id: Id of the reviewer, as in the directory.
        criteria_evaluations: Findings, one for each criterion of the policy.
        created_at: When it was written, in UTC.
        updated_at: When it last changed, in UTC.
    """

    id: str
    case_id: str
    intake_case_id: str
    triage_record_id: str
    line_number: int
    reviewer_id: str = "SYSTEM"
    criteria_evaluations: tuple[NurseCriterionEvaluation, ...] = ()
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NurseReviewRecord(LineReview):
    """The nurse's findings on one requested line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppealReview(LineReview):
    """What the reviewer of an appeal found anew on one requested line.

    Attributes:
        appeal_id: Id of the appeal, such as 'APL-0001'.
    """

    appeal_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NurseCaseRecommendation:
    """What the nurse recommends for the case.

    Attributes:
        id: Id of this record, unique in the world.
        case_id: Id of the authorization case, such as 'CASE-ACT-001'.
        intake_case_id: Id of the intake record of the case.
        reviewer_id: Id of the reviewer, as in the directory.
        recommendation: Approve, hand to a physician, or ask for more.
        clinical_notes: What the nurse found; may be blank.
        info_requested: What the office is asked to send; blank unless asked.
        info_deadline: Day by which to send it, in ISO form; blank unless asked.
        superseded_by: Why it no longer counts, such as a reply to a pend; blank while it is active.
        created_at: When it was written, in UTC.
    """

    id: str
    case_id: str
    intake_case_id: str
    reviewer_id: str = "SYSTEM"
    recommendation: NurseReviewRecommendation
    clinical_notes: str = ""
    info_requested: str = ""
    info_deadline: str = ""
    superseded_by: str | None = None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MdLineItemDecision:
    """The physician's decision on one requested line.

    Attributes:
        line_number: Number of the line, from 1.
        decision: What is decided on it.
        approved_units: Units granted, fewer than or equal to those requested, such as 6; blank for
            all or none.
        denial_rationale: Clinical reason against the line, naming the unmet criterion by its
            number; blank unless adverse.
    """

    line_number: int
    decision: MdReviewDecision
    approved_units: int | None = None
    denial_rationale: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MdReviewRecord(LineReview):
    """The physician's findings on one requested line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MdCaseDecision:
    """What the physician decides on the case.

    Attributes:
        id: Id of this record, unique in the world.
        case_id: Id of the authorization case, such as 'CASE-ACT-001'.
        intake_case_id: Id of the intake record of the case.
        reviewer_id: Id of the reviewer, as in the directory.
        clinical_notes: What the physician found; may be blank.
        determination_rationale: Why it is decided so; may be blank.
        similar_case_notes: How like cases were decided; may be blank.
        decision: What is decided.
        line_item_decisions: Decisions on single lines; empty when one holds for all.
        denial_rationale: Clinical reason against the request; blank unless adverse.
        info_requested: What the office is asked to send; blank unless asked.
        info_deadline: Day by which to send it, in ISO form; blank unless asked.
        signed_off: Whether the physician signed.
        p2p_request_id: Id of the peer-to-peer request; blank without one.
        superseded_by: Why it no longer counts, such as a reply to a pend; blank while it is active.
        created_at: When it was written, in UTC.
    """

    id: str
    case_id: str
    intake_case_id: str
    reviewer_id: str = "SYSTEM"
    clinical_notes: str = ""
    determination_rationale: str = ""
    similar_case_notes: str = ""
    decision: MdReviewDecision
    line_item_decisions: tuple[MdLineItemDecision, ...] = ()
    denial_rationale: str = ""
    info_requested: str = ""
    info_deadline: str = ""
    signed_off: bool = False
    p2p_request_id: str | None = None
    superseded_by: str | None = None
    created_at: datetime
