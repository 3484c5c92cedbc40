"""Episodes of care management, up to the outreach call."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from healthgym.worlds.managed_care.vocabulary.care import (
    CMCaseStatus,
    CMEngagement,
    CMOutreachOutcome,
    CMPriority,
    CMProgram,
    CMReferralSource,
    ContactMethod,
    RiskLevel,
    SessionStatus,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CMReferral:
    """TODO cmreferral.

    Attributes:
        referral_id: TODO.
        case_id: TODO.
        patient_id: TODO.
        source: TODO.
        source_provider_id: TODO.
        source_encounter_id: TODO.
        referral_date: TODO.
        reason: TODO.
        diagnosis_codes: TODO.
        utilization_flags: TODO.
        risk_score: TODO.
        notes: TODO.
    """

    referral_id: str
    case_id: str
    patient_id: str | None = None
    source: CMReferralSource
    source_provider_id: str | None = None
    source_encounter_id: str | None = None
    referral_date: date
    reason: str
    diagnosis_codes: tuple[str, ...] = ()
    utilization_flags: tuple[str, ...] = ()
    risk_score: float | None = None
    notes: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CMCase:
    """TODO cmcase.

    Attributes:
        case_id: TODO.
        patient_id: TODO.
        referral_source: TODO.
        referral_reason: TODO.
        status: TODO.
        priority: TODO.
        program: TODO.
        assigned_to: TODO.
        opened_at: TODO.
        closed_at: TODO.
        risk_score: TODO.
        risk_factors: TODO.
    """

    case_id: str
    patient_id: str
    referral_source: CMReferralSource
    referral_reason: str
    status: CMCaseStatus
    priority: CMPriority
    program: CMProgram
    assigned_to: str
    opened_at: datetime
    closed_at: datetime | None = None
    risk_score: float | None = None
    risk_factors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CMChartReviewInput:
    """TODO cmchart review input.

    Attributes:
        reviewer_id: TODO.
        primary_concerns: TODO.
        coordination_risks: TODO.
        suspected_barriers: TODO.
        preliminary_risk_level: TODO.
        key_findings: TODO.
        clarification_needed: TODO.
    """

    reviewer_id: str = "care_manager"
    primary_concerns: tuple[str, ...] = ()
    coordination_risks: tuple[str, ...] = ()
    suspected_barriers: tuple[str, ...] = ()
    preliminary_risk_level: RiskLevel = RiskLevel.MODERATE
    key_findings: str = ""
    clarification_needed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CMChartReview:
    """TODO cmchart review.

    Attributes:
        review_id: TODO.
        case_id: TODO.
        reviewer_id: TODO.
        reviewed_at: TODO.
        primary_concerns: TODO.
        coordination_risks: TODO.
        suspected_barriers: TODO.
        preliminary_risk_level: TODO.
        key_findings: TODO.
        clarification_needed: TODO.
    """

    review_id: str
    case_id: str
    reviewer_id: str
    reviewed_at: datetime
    primary_concerns: tuple[str, ...] = ()
    coordination_risks: tuple[str, ...] = ()
    suspected_barriers: tuple[str, ...] = ()
    preliminary_risk_level: RiskLevel = RiskLevel.MODERATE
    key_findings: str = ""
    clarification_needed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationMessage:
    """TODO conversation message.

    Attributes:
        role: TODO.
        content: TODO.
        turn_number: TODO.
        timestamp: TODO.
    """

    role: Literal["care_manager", "patient"]
    content: str
    turn_number: int
    timestamp: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationSession:
    """TODO conversation session.

    Attributes:
        session_id: TODO.
        case_id: TODO.
        patient_name: TODO.
        reason_for_call: TODO.
        created_at: TODO.
        last_activity_at: TODO.
        status: TODO.
        termination_reason: TODO.
        max_turns: TODO.
        timeout_minutes: TODO.
        messages: TODO.
    """

    session_id: str
    case_id: str
    patient_name: str
    reason_for_call: str
    created_at: datetime
    last_activity_at: datetime | None = None
    status: SessionStatus = SessionStatus.ACTIVE
    termination_reason: str | None = None
    max_turns: int = 20
    timeout_minutes: int = 30
    messages: tuple[ConversationMessage, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CMOutreachSummaryInput:
    """TODO cmoutreach summary input.

    Attributes:
        engagement_status: TODO.
        consent_obtained: TODO.
        call_duration_minutes: TODO.
        key_takeaways: TODO.
        patient_concerns: TODO.
        next_steps: TODO.
        preferred_contact: TODO.
        preferred_language: TODO.
        notes: TODO.
    """

    engagement_status: CMEngagement
    consent_obtained: bool
    call_duration_minutes: int | None = None
    key_takeaways: tuple[str, ...] = ()
    patient_concerns: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    preferred_contact: str | None = None
    preferred_language: str | None = None
    notes: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CMOutreachRecord:
    """TODO cmoutreach record.

    Attributes:
        outreach_id: TODO.
        case_id: TODO.
        attempt_number: TODO.
        attempt_date: TODO.
        contact_method: TODO.
        outcome: TODO.
        engagement_status: TODO.
        consent_obtained: TODO.
        patient_reported_issues: TODO.
        preferred_contact: TODO.
        preferred_language: TODO.
        notes: TODO.
    """

    outreach_id: str
    case_id: str
    attempt_number: int
    attempt_date: datetime
    contact_method: ContactMethod
    outcome: CMOutreachOutcome
    engagement_status: CMEngagement
    consent_obtained: bool = False
    patient_reported_issues: tuple[str, ...] = ()
    preferred_contact: str | None = None
    preferred_language: str | None = None
    notes: str | None = None
