"""Review, calls between physicians, decisions and appeals."""

from __future__ import annotations

from enum import StrEnum


class ReviewRoute(StrEnum):
    """Kind of review that led to a decision."""

    AUTO_APPROVE = "auto_approve"
    PEND = "pend"
    #: A nurse reviewed.
    CLINICAL_SPECIALIST = "clinical_specialist"
    PHYSICIAN_REVIEW = "physician_review"
    DENY = "deny"


class DecisionOutcome(StrEnum):
    """How the payer's review of a request ends."""

    APPROVED = "approved"
    #: Approved in part, or with changes.
    APPROVED_MODIFIED = "approved_modified"
    PENDED = "pended"
    DENIED = "denied"
    NOT_REQUIRED = "not_required"


class PendReason(StrEnum):
    """Why the payer sets a request aside until the office replies."""

    MISSING_DOCUMENTS = "missing_documents"
    MISSING_QUESTIONNAIRE = "missing_questionnaire"
    INVALID_DIAGNOSIS_ASSOCIATION = "invalid_diagnosis_association"
    NEEDS_CLINICAL_REVIEW = "needs_clinical_review"


class PayerReviewStatus(StrEnum):
    """How far a review task has come."""

    QUEUED = "queued"
    CLAIMED = "claimed"
    COMPLETED = "completed"
    RETURNED = "returned"


class NurseReviewRecommendation(StrEnum):
    """What a review nurse may recommend; a nurse cannot deny."""

    APPROVE = "approve"
    #: Hand the case to a physician.
    ESCALATE = "escalate"
    REQUEST_INFO = "request_info"


class MdReviewDecision(StrEnum):
    """What a physician reviewer may decide."""

    APPROVE = "approve"
    DENY = "deny"
    PARTIAL_APPROVE = "partial_approve"
    REQUEST_INFO = "request_info"
    #: Talk to the ordering physician before deciding.
    P2P_REVIEW = "p2p_review"


class PeerToPeerStatus(StrEnum):
    """How far a peer-to-peer request has come."""

    REQUESTED = "requested"
    SLOTS_OFFERED = "slots_offered"
    SLOT_SELECTED = "slot_selected"
    SCHEDULED = "scheduled"
    #: The call is going on.
    EVENT_OPEN = "event_open"
    COMPLETED = "completed"


class PeerToPeerOutcome(StrEnum):
    """What a peer-to-peer call does to the decision that was intended."""

    UPHOLD_INTENDED_ADVERSE_DECISION = "uphold_intended_adverse_decision"
    OVERTURN_TO_APPROVAL = "overturn_to_approval"


class RevealMode(StrEnum):
    """When the other side of a peer-to-peer call gives away a fact."""

    #: Unasked, in its first words.
    OPENING = "opening"
    #: After any question.
    VOLUNTEER_AFTER_PROMPT = "volunteer_after_prompt"
    #: After a question about that very fact.
    REVEAL_IF_ASKED = "reveal_if_asked"
    NEVER = "never"


class SlotRule(StrEnum):
    """Which of the offered times the other side takes."""

    FIRST_OFFERED = "first_offered"
    LAST_OFFERED = "last_offered"
    MIDDLE_OFFERED = "middle_offered"


class DeterminationDecision(StrEnum):
    """The payer's formal determination."""

    APPROVED = "approved"
    DENIED = "denied"
    PARTIALLY_APPROVED = "partially_approved"


class DeterminationSource(StrEnum):
    """Kind of record that a determination rests on."""

    NURSE_RECOMMENDATION = "nurse_recommendation"
    MD_DECISION = "md_decision"
    TRIAGE_AUTO_APPROVE = "triage_auto_approve"


class AppealOutcome(StrEnum):
    """How an appeal ends: the denial is upheld, or overturned."""

    APPEAL_UPHELD = "appeal_upheld"
    APPEAL_OVERTURNED = "appeal_overturned"
    EXTERNAL_APPEAL_UPHELD = "external_appeal_upheld"
    EXTERNAL_APPEAL_OVERTURNED = "external_appeal_overturned"
