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
    """The outcome of review, as the office is told.

    Attributes:
        id: Id of this record, unique in the world.
        case_id: Id of the authorization case, such as 'CASE-ACT-001'.
        route: Kind of review that led to it.
        outcome: How it ended.
        rationale: Reasons, in full sentences.
        reviewer_role: Role of the reviewer.
        reviewer_id: Id of the reviewer; blank for a machine's decision.
        policy_citations: Sections of the medical policy that are relied on.
        supporting_basis: Facts of the chart that the text rests on; blank when none is named.
        created_at: When it was written, in UTC.
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
    """The payer's formal determination on a case.

    Attributes:
        id: Id of this record, unique in the world.
        case_id: Id of the authorization case, such as 'CASE-ACT-001'.
        intake_case_id: Id of the intake record of the case.
        source: Kind of record it rests on.
        source_record_id: Id of that record.
        original_recommendation: What that record said.
        final_decision: What was determined.
        overridden: Whether it departs from the record.
        override_reason: Why it departs; blank when it does not.
        determined_by: Id of the worker who determined.
        superseded_by: Why it no longer counts, such as a reply to a pend; blank while it is active.
        created_at: When it was written, in UTC.
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
    """A letter from the payer.

    Attributes:
        id: Id of this record, unique in the world.
        case_id: Id of the authorization case, such as 'CASE-ACT-001'.
        letter_type: Kind of letter, such as 'denial'.
        subject: Subject line.
        body: Text.
        created_at: When it was written, in UTC.
        reason_code: Code of the reason; blank when there is none.
        supporting_basis: Facts of the chart that the text rests on; blank when none is named.
        policy_citations: Sections of the medical policy that are relied on.
        appeal_information: How and until when to appeal; blank when nothing can be appealed.
        delivery_channel: How it was sent; blank until then.
        delivered_at: When it was sent, in UTC; blank until then.
        reissued_from_letter_id: Id of the letter it replaces; blank for a first one.
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
    """An order to the letter center to write a letter.

    Attributes:
        id: Id of this record, unique in the world.
        case_id: Id of the authorization case, such as 'CASE-ACT-001'.
        letter_type: Kind of letter, such as 'denial'.
        rationale: Reasons, in full sentences.
        supporting_basis: Facts of the chart that the text rests on; blank when none is named.
        policy_citations: Sections of the medical policy that are relied on.
        appeal_information: How and until when to appeal; blank when nothing can be appealed.
        requested_by: Id of the worker who ordered it; blank when unrecorded.
        requested_at: When it was ordered, in UTC.
        generated_letter_id: Id of the letter written; blank until then.
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
    """An appeal against a denial, inside the plan or outside of it.

    Attributes:
        id: Id of this record, unique in the world.
        case_id: Id of the authorization case, such as 'CASE-ACT-001'.
        rationale: Reasons, in full sentences.
        filed_at: When it was filed, in UTC.
        status: How far it has come, such as 'filed'.
        level: Who hears it, 'internal' or 'external'.
        outcome: How it ended; blank until decided.
        outcome_reason: Why; blank until decided.
        decided_at: When it was decided, in UTC; blank until then.
        assigned_reviewer_id: Id of who hears it; blank until assigned.
        assigned_reviewer_role: Role of that reviewer; blank until assigned.
        original_reviewer_id: Id of who denied the request; blank when unrecorded.
        independence_validated: Whether the two are different people; blank until checked.
        external_vendor: Name of the outside review vendor; blank when there is none.
        binding_result: Whether the plan must follow it.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class AppealReceipt:
    """Word to whoever appealed that the appeal has come in.

    Attributes:
        id: Id of this record, unique in the world.
        appeal_id: Id of the appeal, such as 'APL-0001'.
        case_id: Id of the authorization case, such as 'CASE-ACT-001'.
        acknowledged_by: Id of the worker who acknowledged it.
        acknowledged_at: When, in UTC.
    """

    id: str
    appeal_id: str
    case_id: str
    acknowledged_by: str
    acknowledged_at: datetime
