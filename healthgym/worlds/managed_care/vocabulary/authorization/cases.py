"""What a case is about, and where it stands."""

from __future__ import annotations

from enum import StrEnum


class CaseStatus(StrEnum):
    """Where a prior-authorization case stands."""

    DRAFT = "draft"
    REQUIREMENT_CHECKED = "requirement_checked"
    DOCS_NEEDED = "docs_needed"
    READY_TO_SUBMIT = "ready_to_submit"
    SUBMITTED = "submitted"
    #: The payer waits for the office.
    PENDED_ACTION_REQUIRED = "pended_action_required"
    UNDER_REVIEW = "under_review"
    APPROVED = "approved"
    PARTIALLY_APPROVED = "partially_approved"
    DENIED = "denied"
    RESUBMITTED = "resubmitted"
    APPEALED = "appealed"
    APPEAL_UPHELD = "appeal_upheld"
    APPEAL_OVERTURNED = "appeal_overturned"
    EXTERNAL_APPEALED = "external_appealed"
    EXTERNAL_APPEAL_UPHELD = "external_appeal_upheld"
    EXTERNAL_APPEAL_OVERTURNED = "external_appeal_overturned"
    CLOSED = "closed"


class WorkflowStage(StrEnum):
    """Stage of a case as both sides see it, derived from its records."""

    PRE_SUBMISSION = "pre_submission"
    PAYER_INTAKE = "payer_intake"
    CLINICAL_REVIEW = "clinical_review"
    PEER_TO_PEER = "peer_to_peer"
    AWAITING_PROVIDER_DOCS = "awaiting_provider_docs"
    DETERMINATION = "determination"
    INTERNAL_APPEAL = "internal_appeal"
    EXTERNAL_APPEAL = "external_appeal"
    CLOSED = "closed"


class StartStage(StrEnum):
    """Stage at which a payer's task begins."""

    INTAKE = "intake"
    TRIAGE = "triage"
    NURSE_REVIEW = "nurse_review"
    MD_REVIEW = "md_review"
    P2P = "p2p"


class Urgency(StrEnum):
    """Speed of review that the ordering office asks for."""

    STANDARD = "standard"
    EXPEDITED = "expedited"


class ServiceTypeCategory(StrEnum):
    """Category of service of a line."""

    MEDICAL = "medical"
    SURGICAL = "surgical"
    BEHAVIORAL_HEALTH = "behavioral_health"
    REHAB_THERAPY = "rehab_therapy"
    RADIOLOGY = "radiology"
    CARDIOLOGY = "cardiology"
    #: Durable medical equipment.
    DME = "dme"
    HOME_HEALTH = "home_health"
    SKILLED_NURSING = "skilled_nursing"
    TRANSPLANT = "transplant"
    ONCOLOGY = "oncology"
    PAIN_MANAGEMENT = "pain_management"
    OTHER = "other"


class PlaceOfService(StrEnum):
    """Place where a service is given."""

    OFFICE = "office"
    INPATIENT_HOSPITAL = "inpatient_hospital"
    OUTPATIENT_HOSPITAL = "outpatient_hospital"
    AMBULATORY_SURGICAL_CENTER = "ambulatory_surgical_center"
    EMERGENCY_ROOM = "emergency_room"
    SKILLED_NURSING_FACILITY = "skilled_nursing_facility"
    HOME = "home"
    TELEHEALTH = "telehealth"
    URGENT_CARE = "urgent_care"
    REHABILITATION_FACILITY = "rehabilitation_facility"
    HOSPICE = "hospice"
    OTHER = "other"


class UnitType(StrEnum):
    """What the units of a line count."""

    DAYS = "days"
    VISITS = "visits"
    HOURS = "hours"
    UNITS = "units"
    PROCEDURES = "procedures"
    SESSIONS = "sessions"
    TREATMENTS = "treatments"


class LineItemType(StrEnum):
    """Why a line is requested, in relation to the service."""

    INITIAL = "initial"
    #: While the service is being given.
    CONCURRENT = "concurrent"
    EXTENSION = "extension"
    RETROSPECTIVE = "retrospective"


class AuthorizationType(StrEnum):
    """Type of authorization."""

    #: Inpatient stay.
    IP = "ip"
    #: Drug.
    RX = "rx"
    #: Service or procedure.
    SP = "sp"


class ReviewType(StrEnum):
    """Sort of review that a task asks for."""

    CLINICAL_REVIEW = "clinical_review"
    #: By a physician.
    ADVISOR_REVIEW = "advisor_review"


class ReviewPriority(StrEnum):
    """How soon a review task is to be done."""

    URGENT = "urgent"
    HIGH = "high"
    STANDARD = "standard"
    ROUTINE = "routine"
