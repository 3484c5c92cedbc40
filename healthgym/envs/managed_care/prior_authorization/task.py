"""Both halves of a prior-authorization task, and how hard it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from healthgym.core.task import Instance, Task, TaskGenerator
from healthgym.envs.managed_care.cases.configuring import (
    adopt_members,
    require_bounds,
    require_chances,
)
from healthgym.envs.managed_care.cases.situations import Bar, Course, Gap
from healthgym.envs.managed_care.checks.expectation import DeskReference, Expectation
from healthgym.worlds.managed_care.deferred import Deferred
from healthgym.worlds.managed_care.facts import AnyFact
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    PlaceOfService,
    Posture,
    ProviderDeterminationAction,
    ServiceTypeCategory,
    Urgency,
)


@dataclass(frozen=True, slots=True)
class AuthorizationConfig:
    """What requests are like, and how much stands around them.

    Attributes:
        actions: What may be right to do; each is drawn as often.
        courses: What may become of a submitted request.
        gaps: Why evidence may have to be gathered.
        bars: Why a request may not be to be submitted.
        categories: Kinds of service; each is drawn as often, of those in which the ending can be.
        criteria: Fewest and most criteria of a policy.
        open_criteria: Most criteria that are open, or that stand against a request.
        patients: Other patients on the roster.
        twins: Of these, patients who resemble the one that is meant.
        same_service: Chance that other patients hold orders for the same service, those who
            resemble the one that is meant before others.
        cases: Open cases of other patients.
        rivals: Pages of policies that are nearly the one in force: other plans, other states,
            superseded versions.
        amended: Chance that a later page amends a number of the policy.
        corrected: Chance that a note gives a wrong value that a later one puts right.
        drafted: Chance that a draft which nobody signed gives another value.
        misfiled: Chance that a page of another patient lies in the chart.
        converted: Chance that documents give a value in another unit than the policy.
        numbers: Whether the numbers of operations that decide a submission are the task's own;
            others vary in any case.
    """

    actions: tuple[ProviderDeterminationAction, ...] = tuple(ProviderDeterminationAction)
    courses: tuple[Course, ...] = tuple(Course)
    gaps: tuple[Gap, ...] = tuple(Gap)
    bars: tuple[Bar, ...] = tuple(Bar)
    categories: tuple[ServiceTypeCategory, ...] = tuple(ServiceTypeCategory)
    criteria: tuple[int, int] = (2, 14)
    open_criteria: int = 2
    patients: int = 7
    twins: int = 2
    same_service: float = 0.55
    cases: int = 2
    rivals: int = 3
    amended: float = 0.3
    corrected: float = 0.3
    drafted: float = 0.3
    misfiled: float = 0.2
    converted: float = 0.3
    numbers: bool = True

    def __post_init__(self) -> None:
        adopt_members(self, _KINDS)
        require_bounds(self, "patients")
        require_chances(self, _CHANCES)

    def ways(self) -> Mapping[ProviderDeterminationAction, tuple[Course | Gap | Bar, ...]]:
        """Return in which ways a request may end, by the action that is right."""
        ways: Mapping[ProviderDeterminationAction, tuple[Course | Gap | Bar, ...]] = {
            ProviderDeterminationAction.SUBMIT_PA: self.courses,
            ProviderDeterminationAction.GATHER_MORE_EVIDENCE: self.gaps,
            ProviderDeterminationAction.DO_NOT_SUBMIT: self.bars,
        }
        return {action: ways[action] for action in self.actions}


_CHANCES = ("same_service", "amended", "corrected", "drafted", "misfiled", "converted")
_KINDS: Mapping[str, type[StrEnum]] = {
    "actions": ProviderDeterminationAction,
    "courses": Course,
    "gaps": Gap,
    "bars": Bar,
    "categories": ServiceTypeCategory,
}


#: What a name of a difficulty stands for.
PRESETS: Mapping[str, AuthorizationConfig] = {
    "easy": AuthorizationConfig(
        courses=(Course.APPROVED, Course.GOLD_CARD),
        criteria=(2, 5),
        open_criteria=1,
        patients=3,
        twins=0,
        same_service=0.4,
        cases=0,
        rivals=1,
        amended=0.0,
        corrected=0.0,
        drafted=0.0,
        misfiled=0.0,
        converted=0.0,
    ),
    "medium": AuthorizationConfig(),
    "hard": AuthorizationConfig(
        criteria=(4, 20),
        open_criteria=4,
        patients=15,
        twins=4,
        same_service=0.8,
        cases=8,
        rivals=8,
        amended=0.6,
        corrected=0.6,
        drafted=0.6,
        misfiled=0.5,
        converted=0.6,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationReference(DeskReference):
    """What the right handling of a request is.

    Attributes:
        action: What the provider is to decide.
        patient_id: The patient who is meant.
        order_id: The order on file that the case takes over.
        practitioner_id: Who ordered.
        procedure_code: CPT or HCPCS code.
        diagnosis_codes: ICD-10-CM codes of the order.
        service_type: Service category.
        site: Place of service.
        urgency: How urgent it is.
        policy: The policy in force, amendments included.
        postures: How the chart stands to each criterion, by id.
        gaps: Criteria that are open, or that stand against it.
        missing: Kinds of required documents that are not on file.
        bar: Why it is not to be submitted; None if it may be.
        needed: Facts that show what is satisfied.
        documents: Documents on file that bear on the policy, by id.
        kinds: Kinds of documents that the policy requires.
        answers: Answers to the policy's questions, by key; the rest is not documented.
        silent: Keys of questions on which the chart has nothing at all, and of which none, no and
            not documented say the same.
        course: What becomes of it; None if it is not submitted.
        on_request: Kinds of documents that the payer will ask for.
        told: Facts that no document shows, and that the clinician can tell the payer.
        status: The status in which the case ends.
        drilled: The case that is open from the beginning, where only the decision is drilled;
            empty in every other task.
        beside: Cases that others work in the same offices.
        paper: What the source's checks expect.
    """

    action: ProviderDeterminationAction
    patient_id: str
    order_id: str
    practitioner_id: str
    procedure_code: str
    diagnosis_codes: tuple[str, ...]
    service_type: ServiceTypeCategory
    site: PlaceOfService
    urgency: Urgency
    policy: Policy
    postures: Mapping[str, Posture]
    gaps: frozenset[str] = frozenset()
    missing: frozenset[str] = frozenset()
    bar: Bar | None = None
    needed: frozenset[str] = frozenset()
    documents: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    answers: Mapping[str, str] = field(default_factory=dict)
    silent: frozenset[str] = frozenset()
    course: Course | None = None
    on_request: tuple[str, ...] = ()
    told: tuple[AnyFact, ...] = ()
    status: CaseStatus
    drilled: str = ""
    beside: frozenset[str] = frozenset()
    paper: Expectation


class UnreadReference(Deferred, AuthorizationReference):
    """What is right, of which some is found out when somebody asks.

    Which pages of a chart show which facts is known once they are written.
    """

    __slots__ = ("_write",)

    plain = AuthorizationReference
    late = ("documents", "answers", "silent", "paper")


AuthorizationInstance = Instance[Task, AuthorizationReference, WorldStart]
AuthorizationTaskGenerator = TaskGenerator[Task, AuthorizationReference, WorldStart]
