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
    """A referral of a member to care management.

    Attributes:
        referral_id: Id of the referral.
        case_id: Id the case is to have; blank when one is to be made.
        patient_id: Id of the patient in the chart; blank while unmatched.
        source: Where it comes from.
        source_provider_id: Id of the provider who referred; blank when none did.
        source_encounter_id: Id of the visit that led to it; blank when none did.
        referral_date: Day of the referral.
        reason: Why the member is referred.
        diagnosis_codes: ICD-10-CM codes that come with it.
        utilization_flags: Marks of heavy use, such as repeated emergency visits.
        risk_score: Predicted risk from 0 to 1; blank when not scored.
        notes: Remarks of the referrer; blank when there are none.
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
    """A member's episode of care management.

    Attributes:
        case_id: Id of the episode.
        patient_id: Id of the patient in the chart.
        referral_source: Where the referral came from.
        referral_reason: Why the member was referred.
        status: How far the episode has come.
        priority: How soon to begin.
        program: Program the member is enrolled in.
        assigned_to: Id of the care manager.
        opened_at: When it was opened, in UTC.
        closed_at: When it ended, in UTC; blank while it runs.
        risk_score: Predicted risk from 0 to 1; blank when not scored.
        risk_factors: What raises the risk.
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
    """What the care manager concludes from the chart before calling.

    Attributes:
        reviewer_id: Id of the care manager to whom the case is assigned.
        primary_concerns: The clinical problems that matter most, such as 'HbA1c 10.2 % on two
            agents'.
        coordination_risks: What may fall between providers, such as 'no visit booked after
            discharge'.
        suspected_barriers: What may keep the patient from following through, such as 'no car'.
        preliminary_risk_level: Risk tier judged from the chart alone.
        key_findings: What the chart shows, in a few sentences with dates and values.
        clarification_needed: Questions that only the patient can answer.
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
    """A finished chart review.

    Attributes:
        review_id: Id of the review.
        case_id: Id of the episode.
        reviewer_id: Id of the care manager to whom the case is assigned.
        reviewed_at: When it was handed in, in UTC.
        primary_concerns: The clinical problems that matter most, such as 'HbA1c 10.2 % on two
            agents'.
        coordination_risks: What may fall between providers, such as 'no visit booked after
            discharge'.
        suspected_barriers: What may keep the patient from following through, such as 'no car'.
        preliminary_risk_level: Risk tier judged from the chart alone.
        key_findings: What the chart shows, in a few sentences with dates and values.
        clarification_needed: Questions that only the patient can answer.
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
    """One thing said in an outreach call.

    Attributes:
        role: Who said it.
        content: What was said.
        turn_number: Number in the call.
        timestamp: When it was said, in UTC.
    """

    role: Literal["care_manager", "patient", "other"]
    content: str
    turn_number: int
    timestamp: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationSession:
    """An outreach call to a member.

    Attributes:
        session_id: Id of the call.
        case_id: Id of the episode.
        patient_name: Name of the member.
        reason_for_call: Why the member is called.
        created_at: When it was written, in UTC.
        last_activity_at: When something was last said, in UTC; blank before the first word.
        status: Whether the call goes on.
        termination_reason: Why it ended; blank while it goes on.
        max_turns: Messages of both sides after which it ends.
        timeout_minutes: Minutes of silence after which it ends.
        messages: What was said so far.
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
    """What the care manager notes after the call.

    Attributes:
        engagement_status: How far the member wants to take part.
        consent_obtained: Whether the member agreed to care management in the call.
        call_duration_minutes: Length of the call in minutes, such as 15; blank when not timed.
        key_takeaways: What was learned, such as 'skips insulin when short of money'.
        patient_concerns: What worries the member, such as 'cannot get to dialysis'.
        next_steps: What was agreed, such as 'assessment on 2026-03-20'.
        preferred_contact: How the patient wants to be reached, such as 'phone, mornings'; blank
            when unsaid.
        preferred_language: Language the patient wants to speak, such as 'Spanish'; blank when
            unsaid.
        notes: Anything else worth keeping; may be blank.
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
    """One attempt to reach a member, and what came of it.

    Attributes:
        outreach_id: Id of the attempt.
        case_id: Id of the episode.
        attempt_number: Number of the attempt, from 1.
        attempt_date: When it was made, in UTC.
        contact_method: How the member was contacted.
        outcome: Whether the member was reached.
        engagement_status: How far the member wants to take part.
        consent_obtained: Whether the member agreed to care management.
        patient_reported_issues: What the member said is wrong.
        preferred_contact: How the patient wants to be reached, such as 'phone, mornings'; blank
            when unsaid.
        preferred_language: Language the patient wants to speak, such as 'Spanish'; blank when
            unsaid.
        notes: Remarks; blank when there are none.
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
