"""Both halves of a utilization-management task, and how hard it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from healthgym.core.task import Instance, Task, TaskGenerator
from healthgym.envs.managed_care.cases.configuring import (
    adopt_members,
    require_bounds,
    require_chances,
)
from healthgym.envs.managed_care.checks.expectation import DeskReference, Expectation
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.contracts import PeerContract
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.vocabulary.authorization import (
    AppealOutcome,
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
    ServiceTypeCategory,
    SubmissionChannel,
    TriageDisposition,
    TriageUrgency,
)


class StartStage(StrEnum):
    """Where the agent takes a case over; what comes before is done, by named workers."""

    FRONT_DOOR = "front_door"  #: on the extended surface only, whose doors they are
    INTAKE = "intake"
    TRIAGE = "triage"
    NURSE_REVIEW = "nurse_review"
    MD_REVIEW = "md_review"
    PEER_TO_PEER = "p2p"
    APPEAL = "appeal"  #: on the extended surface only, whose desk it is


#: Where the agent can take a case over with the tools that were published.
PUBLISHED_STAGES = tuple(
    stage for stage in StartStage if stage not in (StartStage.FRONT_DOOR, StartStage.APPEAL)
)


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
    RETURNED = "returned"  #: ends at intake: not insured, not in the network, nothing to authorize
    APPEAL_UPHELD = "appeal_upheld"  #: the appeal has no grounds, or the file still falls short
    APPEAL_OVERTURNED = "appeal_overturned"  #: the file shows what was denied, or shows it now


#: How a case is decided that was not decided before.
PUBLISHED_PATHS = tuple(
    path for path in Path if path not in (Path.APPEAL_UPHELD, Path.APPEAL_OVERTURNED)
)
#: The payer's word, by path of such a case; None where it ends without one.
WORDS: Mapping[Path, DeterminationDecision | None] = {
    Path.NURSE_APPROVES: DeterminationDecision.APPROVED,
    Path.PHYSICIAN_APPROVES: DeterminationDecision.APPROVED,
    Path.PARTLY: DeterminationDecision.PARTIALLY_APPROVED,
    Path.DENIED: DeterminationDecision.DENIED,
    Path.INFORMED: DeterminationDecision.APPROVED,
    Path.UNINFORMED: DeterminationDecision.DENIED,
    Path.LANE: DeterminationDecision.APPROVED,
    Path.UPHELD: DeterminationDecision.DENIED,
    Path.OVERTURNED: DeterminationDecision.APPROVED,
    Path.RETURNED: None,
}


@dataclass(frozen=True, slots=True)
class ReviewConfig:
    """What cases are like, and how much stands around them.

    Attributes:
        stages: Where the agent may take a case over; each is drawn as often. Front doors and
            appeals need the extended surface.
        paths: How a case may rightly be decided; each is drawn as often, of those that are
            possible from a stage.
        unreviewed: Share that is kept of the cases drawn that a lane approves or that end with
            intake, which are right without a look at the packet; another path is drawn for the
            rest, where there is one.
        categories: Kinds of service; each is drawn as often, of those in which the path can be.
        criteria: Fewest and most criteria of a policy.
        open_criteria: Most criteria that are open, or that stand against a request.
        patients: Other members.
        twins: Of these, members who resemble the one that is meant.
        same_service: Chance that other members have asked for the same service.
        cases: Open cases of other members, in various stages.
        misleading: Whether the packet holds pages that do not count, where the chart has them.
        rivals: Pages of policies that are nearly the one in force: other plans, other states,
            superseded versions.
        amended: Chance that a later page amends a number of the policy.
        corrected: Chance that a note gives a wrong value that a later one puts right.
        drafted: Chance that a draft which nobody signed gives another value.
        misfiled: Chance that a page of another patient lies in the chart.
        converted: Chance that documents give a value in another unit than the policy.
        slips: Chance that a nurse who hands a case on to the physician who begins has erred on what
            decides it; where no error would mislead, there is none.
        numbers: Whether the numbers of operations that decide a case are the task's own; others
            vary in any case.
    """

    stages: tuple[StartStage, ...] = PUBLISHED_STAGES
    paths: tuple[Path, ...] = PUBLISHED_PATHS
    unreviewed: float = 0.5
    categories: tuple[ServiceTypeCategory, ...] = tuple(ServiceTypeCategory)
    criteria: tuple[int, int] = (2, 14)
    open_criteria: int = 2
    patients: int = 36
    twins: int = 2
    same_service: float = 0.55
    cases: int = 24
    misleading: bool = True
    rivals: int = 3
    amended: float = 0.3
    corrected: float = 0.3
    drafted: float = 0.3
    misfiled: float = 0.2
    converted: float = 0.3
    slips: float = 0.9
    numbers: bool = True

    def __post_init__(self) -> None:
        adopt_members(self, _KINDS)
        require_bounds(self, "members")
        if self.cases > self.patients:
            raise ConfigurationError("Each open case is another member's; ask for more patients.")
        require_chances(self, _CHANCES)


_CHANCES = (
    "unreviewed", "same_service", "amended", "corrected", "drafted", "misfiled", "converted",
    "slips",
)  # fmt: skip
_KINDS: Mapping[str, type[StrEnum]] = {
    "stages": StartStage,
    "paths": Path,
    "categories": ServiceTypeCategory,
}


#: What a name of a difficulty stands for.
PRESETS: Mapping[str, ReviewConfig] = {
    "easy": ReviewConfig(
        stages=(StartStage.INTAKE, StartStage.TRIAGE, StartStage.NURSE_REVIEW),
        paths=(Path.NURSE_APPROVES, Path.DENIED, Path.LANE, Path.RETURNED),
        unreviewed=0.1,
        criteria=(2, 5),
        open_criteria=1,
        patients=12,
        twins=0,
        same_service=0.4,
        cases=4,
        misleading=False,
        rivals=1,
        amended=0.0,
        corrected=0.0,
        drafted=0.0,
        misfiled=0.0,
        converted=0.0,
        slips=0.0,
    ),
    "medium": ReviewConfig(),
    "hard": ReviewConfig(
        criteria=(4, 20),
        open_criteria=4,
        patients=44,
        twins=4,
        same_service=0.8,
        rivals=8,
        amended=0.6,
        corrected=0.6,
        drafted=0.6,
        misfiled=0.5,
        converted=0.6,
    ),
}


#: The same on the extended surface; what is appealed is never easy.
EXTENDED_PRESETS: Mapping[str, ReviewConfig] = {
    name: replace(config, stages=(StartStage.FRONT_DOOR, *config.stages))
    if name == "easy"
    else replace(config, stages=tuple(StartStage), paths=tuple(Path))
    for name, config in PRESETS.items()
}


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
class AppealTruth:
    """How an appeal is to be decided.

    Attributes:
        outcome: How.
        grounded: Whether the appeal names the policy in force and its version.
        turned: Criteria that the denial held against the request, and that the file shows.
        brought: Ids of the documents that came with the appeal.
    """

    outcome: AppealOutcome
    grounded: bool
    turned: frozenset[str]
    brought: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewReference(DeskReference):
    """What the right handling of a case at the payer is.

    Attributes:
        case_id: The case.
        stage: Where the agent takes it over.
        path: How it is rightly decided.
        policy: The policy in force, amendments included.
        postures: How the packet stands to each criterion, by id.
        results: The right finding on each criterion, by id, from what the packet holds when the
            agent begins.
        final: The same once a reply has come in; as before where none comes, or it brings nothing.
        bearing: Documents sent, with a reply or before, that bear on a criterion, by its id.
        packet: Ids of the documents that were sent before the agent begins.
        void: Documents of these that do not count: errors put right, drafts, other patients'.
        reply: Ids of the documents that come when the agent asks, whether they settle it or not.
        answered: Whether a request for information was answered before the agent begins.
        slipped: Criteria on which the nurse before erred who handed the case on.
        lapses: Whether a request for information is never answered, so that it lapses.
        door: The front door at which the request waits; None where it is past it.
        intake: What intake confirms; None where it is done before.
        triage: What triage sets; None where it is done before.
        recommendation: What a nurse recommends first; None where that is done before, or a
            physician reads first.
        wanted: Criteria and kinds of documents about which information is asked for.
        decision: What a physician decides at last; None where none is asked.
        denied_on: Criteria on which an adverse decision rests.
        units: Units approved, where fewer than asked for.
        call: What the clinician on the other side of a call holds; None where none is due.
        uncalled: Whether a call was rightly asked for and the practice let none come about, so that
            the physician decides anew.
        outcome: What comes of the call.
        appeal: How an appeal is to be decided; None where there is none.
        determination: The payer's word; None where the case ends without one.
        letters: Letters that go out, each once.
        notices: Kinds of notices to the member, each once.
        status: Where the case ends.
        paper: What the source's checks expect.
        beside: Other cases that are the desk's own work, too.
        drilled: Whether the findings of the nurse are drilled, or where the case comes in, the word
            of the physician, and nothing else is asked about.
    """

    case_id: str
    stage: StartStage
    path: Path
    policy: Policy
    postures: Mapping[str, Posture]
    results: Mapping[str, CriterionResult]
    final: Mapping[str, CriterionResult]
    bearing: Mapping[str, frozenset[str]] = field(default_factory=dict)
    packet: tuple[str, ...] = ()
    void: frozenset[str] = frozenset()
    reply: tuple[str, ...] = ()
    answered: bool = False
    slipped: frozenset[str] = frozenset()
    lapses: bool = False
    door: SubmissionChannel | None = None
    intake: IntakeTruth | None = None
    triage: TriageTruth | None = None
    recommendation: NurseReviewRecommendation | None = None
    wanted: frozenset[str] = frozenset()
    decision: MdReviewDecision | None = None
    denied_on: frozenset[str] = frozenset()
    units: int | None = None
    call: PeerContract | None = None
    uncalled: bool = False
    outcome: PeerToPeerOutcome | None = None
    appeal: AppealTruth | None = None
    determination: DeterminationDecision | None
    letters: tuple[LetterType, ...]
    notices: tuple[str, ...]
    status: CaseStatus
    paper: Expectation
    beside: frozenset[str] = frozenset()
    drilled: bool = False


ReviewInstance = Instance[Task, ReviewReference, WorldStart]
ReviewTaskGenerator = TaskGenerator[Task, ReviewReference, WorldStart]
