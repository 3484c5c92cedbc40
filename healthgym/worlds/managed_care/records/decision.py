"""Determinations, letters and appeals."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from healthgym.worlds.managed_care.vocabulary.authorization import (
    AppealOutcome,
    DecisionOutcome,
    DeterminationDecision,
    ReviewRoute,
    SubmissionChannel,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewDecision:
    """TODO review decision.

    Attributes:
        id: TODO.
        case_id: TODO.
        route: TODO.
        outcome: TODO.
        rationale: TODO.
        reviewer_role: TODO.
        reviewer_id: TODO.
        policy_citations: TODO.
        supporting_basis: TODO.
        created_at: TODO.
    """

    id: str
    case_id: str
    route: ReviewRoute
    outcome: DecisionOutcome
    rationale: str
    reviewer_role: str
    reviewer_id: str | None = None
    policy_citations: tuple[str, ...] = ()
    supporting_basis: str | None = None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DeterminationRecord:
    """TODO determination record.

    Attributes:
        id: TODO.
        case_id: TODO.
        intake_case_id: TODO.
        source: TODO.
        source_record_id: TODO.
        original_recommendation: TODO.
        final_decision: TODO.
        overridden: TODO.
        override_reason: TODO.
        determined_by: TODO.
        superseded_by: TODO.
        created_at: TODO.
    """

    id: str
    case_id: str
    intake_case_id: str
    source: str
    source_record_id: str
    original_recommendation: str
    final_decision: DeterminationDecision
    overridden: bool = False
    override_reason: str = ""
    determined_by: str = "SYSTEM"
    superseded_by: str | None = None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """TODO letter.

    Attributes:
        id: TODO.
        case_id: TODO.
        letter_type: TODO.
        subject: TODO.
        body: TODO.
        created_at: TODO.
        reason_code: TODO.
        supporting_basis: TODO.
        policy_citations: TODO.
        appeal_information: TODO.
        delivery_channel: TODO.
        delivered_at: TODO.
        reissued_from_letter_id: TODO.
    """

    id: str
    case_id: str
    letter_type: str
    subject: str
    body: str
    created_at: datetime
    reason_code: str | None = None
    supporting_basis: str | None = None
    policy_citations: tuple[str, ...] = ()
    appeal_information: str | None = None
    delivery_channel: SubmissionChannel | None = None
    delivered_at: datetime | None = None
    reissued_from_letter_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PayerLetterRequest:
    """TODO payer letter request.

    Attributes:
        id: TODO.
        case_id: TODO.
        letter_type: TODO.
        rationale: TODO.
        supporting_basis: TODO.
        policy_citations: TODO.
        appeal_information: TODO.
        requested_by: TODO.
        requested_at: TODO.
        generated_letter_id: TODO.
    """

    id: str
    case_id: str
    letter_type: str
    rationale: str
    supporting_basis: str | None = None
    policy_citations: tuple[str, ...] = ()
    appeal_information: str | None = None
    requested_by: str | None = None
    requested_at: datetime
    generated_letter_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Appeal:
    """TODO appeal.

    Attributes:
        id: TODO.
        case_id: TODO.
        rationale: TODO.
        filed_at: TODO.
        status: TODO.
        level: TODO.
        outcome: TODO.
        outcome_reason: TODO.
        decided_at: TODO.
        assigned_reviewer_id: TODO.
        assigned_reviewer_role: TODO.
        original_reviewer_id: TODO.
        independence_validated: TODO.
        external_vendor: TODO.
        binding_result: TODO.
    """

    id: str
    case_id: str
    rationale: str
    filed_at: datetime
    status: str
    level: str = "internal"
    outcome: AppealOutcome | None = None
    outcome_reason: str | None = None
    decided_at: datetime | None = None
    assigned_reviewer_id: str | None = None
    assigned_reviewer_role: str | None = None
    original_reviewer_id: str | None = None
    independence_validated: bool | None = None
    external_vendor: str | None = None
    binding_result: bool = False
