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
    """TODO triage record.

    Attributes:
        id: TODO.
        case_id: TODO.
        intake_case_id: TODO.
        urgency_level: TODO.
        receipt_timestamp: TODO.
        state: TODO.
        sla_deadline: TODO.
        sla_hours: TODO.
        sla_rule_source: TODO.
        gold_card_eligible: TODO.
        gold_card_provider_npi: TODO.
        gold_card_service_category: TODO.
        disposition: TODO.
        disposition_reason: TODO.
        created_at: TODO.
        actor: TODO.
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
    """TODO payer routing record.

    Attributes:
        id: TODO.
        case_id: TODO.
        intake_case_id: TODO.
        recommended_target: TODO.
        reason: TODO.
        delegated_program: TODO.
        specialty_program: TODO.
        external_vendor: TODO.
        created_at: TODO.
        actor: TODO.
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
    """TODO payer review task.

    Attributes:
        id: TODO.
        case_id: TODO.
        intake_case_id: TODO.
        route_target: TODO.
        required_role: TODO.
        review_type: TODO.
        priority: TODO.
        status: TODO.
        queue_name: TODO.
        program_name: TODO.
        assigned_to: TODO.
        assigned_role: TODO.
        decision: TODO.
        description: TODO.
        sla_due_at: TODO.
        created_at: TODO.
        updated_at: TODO.
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
    """TODO clinical evidence item observation.

    Attributes:
        item_id: TODO.
        observed_value: TODO.
        observed_unit: TODO.
        item_result: TODO.
        source_refs_used: TODO.
        notes: TODO.
    """

    item_id: str
    observed_value: Json | None = None
    observed_unit: str = ""
    item_result: CriterionResult = CriterionResult.UNCLEAR
    source_refs_used: tuple[str, ...] = ()
    notes: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClinicalEvidenceItemTemplate:
    """TODO clinical evidence item template.

    Attributes:
        item_id: TODO.
        label: TODO.
        comparison_mode: TODO.
        operator: TODO.
        threshold_value: TODO.
        threshold_unit: TODO.
    """

    item_id: str
    label: str
    comparison_mode: str = "result_only"
    operator: str | None = None
    threshold_value: Json | None = None
    threshold_unit: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClinicalCriterionCatalogItem:
    """TODO clinical criterion catalog item.

    Attributes:
        criterion_id: TODO.
        line_number: TODO.
        stage: TODO.
        criterion_text: TODO.
        criteria_source: TODO.
        criteria_version: TODO.
        evidence_items: TODO.
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
    """TODO nurse criterion evaluation.

    Attributes:
        criterion_id: TODO.
        criterion_text: TODO.
        criteria_source: TODO.
        criteria_version: TODO.
        result: TODO.
        notes: TODO.
        source_refs_used: TODO.
        item_observations: TODO.
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
class NurseReviewRecord:
    """TODO nurse review record.

    Attributes:
        id: TODO.
        case_id: TODO.
        intake_case_id: TODO.
        triage_record_id: TODO.
        line_number: TODO.
        reviewer_id: TODO.
        criteria_evaluations: TODO.
        created_at: TODO.
        updated_at: TODO.
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
class NurseCaseRecommendation:
    """TODO nurse case recommendation.

    Attributes:
        id: TODO.
        case_id: TODO.
        intake_case_id: TODO.
        reviewer_id: TODO.
        recommendation: TODO.
        clinical_notes: TODO.
        info_requested: TODO.
        info_deadline: TODO.
        superseded_by: TODO.
        created_at: TODO.
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
    """TODO md line item decision.

    Attributes:
        line_number: TODO.
        decision: TODO.
        approved_units: TODO.
        denial_rationale: TODO.
    """

    line_number: int
    decision: MdReviewDecision
    approved_units: int | None = None
    denial_rationale: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MdReviewRecord:
    """TODO md review record.

    Attributes:
        id: TODO.
        case_id: TODO.
        intake_case_id: TODO.
        triage_record_id: TODO.
        line_number: TODO.
        reviewer_id: TODO.
        criteria_evaluations: TODO.
        created_at: TODO.
        updated_at: TODO.
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
class MdCaseDecision:
    """TODO md case decision.

    Attributes:
        id: TODO.
        case_id: TODO.
        intake_case_id: TODO.
        reviewer_id: TODO.
        clinical_notes: TODO.
        determination_rationale: TODO.
        similar_case_notes: TODO.
        decision: TODO.
        line_item_decisions: TODO.
        denial_rationale: TODO.
        info_requested: TODO.
        info_deadline: TODO.
        signed_off: TODO.
        p2p_request_id: TODO.
        superseded_by: TODO.
        created_at: TODO.
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
