"""Both halves of a utilization-management task, and how hard it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from healthgym.core.task import Instance, Reference, Task, TaskGenerator
from healthgym.envs.managed_care.checks.expectation import Expectation
from healthgym.worlds.managed_care.contracts import PeerContract
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    CriterionResult,
    DeterminationDecision,
    LetterType,
    MdReviewDecision,
    NurseReviewRecommendation,
    PayerRouteTarget,
    PeerToPeerOutcome,
    Posture,
    ProviderNetworkStatus,
    TriageDisposition,
    TriageUrgency,
)


class StartStage(StrEnum):
    """Where the agent takes a case over; what comes before is done, by named workers."""

    INTAKE = "intake"
    TRIAGE = "triage"
    NURSE_REVIEW = "nurse_review"
    MD_REVIEW = "md_review"
    PEER_TO_PEER = "p2p"


class Path(StrEnum):
    """How a case is rightly decided."""

    NURSE_APPROVES = "nurse_approves"
    PHYSICIAN_APPROVES = "physician_approves"  #: reserved by policy, or escalated needlessly
    PARTLY = "partly"  #: less is approved than was asked for
    DENIED = "denied"  #: a criterion is contradicted
    INFORMED = "informed"  #: information is asked for, comes, and carries the request
    UNINFORMED = "uninformed"  #: information is asked for and does not come, or does not carry
    LANE = "lane"  #: gold card or notification, approved at triage
    UPHELD = "upheld"  #: a call of peers establishes nothing new
    OVERTURNED = "overturned"  #: a call of peers establishes what was missing


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeTruth:
    """What intake has to confirm.

    Attributes:
        complete: Whether all required documents are there.
        eligible: Whether the member was insured on the day of the request.
        covered: Whether the service is one of the plan.
        network: Standing of the requesting provider.
    """

    complete: bool
    eligible: bool
    covered: bool
    network: ProviderNetworkStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class TriageTruth:
    """What triage has to set.

    Attributes:
        urgency: How urgent the request is.
        deadline: When it is to be decided, in UTC.
        gold_card: Whether the provider is exempt for the service.
        disposition: Who looks first.
        target: The lane.
    """

    urgency: TriageUrgency
    deadline: datetime
    gold_card: bool
    disposition: TriageDisposition
    target: PayerRouteTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewReference(Reference):
    """What the right handling of a case at the payer is.

    Attributes:
        case_id: The case.
        stage: Where the agent takes it over.
        path: How it is rightly decided.
        policy: The policy in force, amendments included.
        postures: How the packet stands to each criterion, by id.
        results: The right finding on each criterion, by id, from what the packet holds.
        bearing: Documents of the packet that bear on a criterion, by its id.
        intake: What intake confirms; None where it is done before.
        triage: What triage sets; None where it is done before.
        recommendation: What a nurse recommends first; None where that is done before.
        wanted: Criteria and kinds of documents about which information is asked for.
        decision: What a physician decides at last; None where none is asked.
        denied_on: Criteria on which an adverse decision rests.
        units: Units approved, where fewer than asked for.
        call: What the clinician on the other side of a call holds; None where none is due.
        outcome: What comes of the call.
        determination: The payer's word.
        letters: Letters that go out, each once.
        notices: Kinds of notices to the member, each once.
        status: Where the case ends.
        paper: What the source's checks expect.
    """

    case_id: str
    stage: StartStage
    path: Path
    policy: Policy
    postures: Mapping[str, Posture]
    results: Mapping[str, CriterionResult]
    bearing: Mapping[str, frozenset[str]] = field(default_factory=dict)
    intake: IntakeTruth | None = None
    triage: TriageTruth | None = None
    recommendation: NurseReviewRecommendation | None = None
    wanted: frozenset[str] = frozenset()
    decision: MdReviewDecision | None = None
    denied_on: frozenset[str] = frozenset()
    units: int | None = None
    call: PeerContract | None = None
    outcome: PeerToPeerOutcome | None = None
    determination: DeterminationDecision
    letters: tuple[LetterType, ...]
    notices: tuple[str, ...]
    status: CaseStatus
    paper: Expectation


ReviewInstance = Instance[Task, ReviewReference, WorldStart]
ReviewTaskGenerator = TaskGenerator[Task, ReviewReference, WorldStart]
