"""Both halves of a prior-authorization task, and how hard it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from healthgym.core.task import Instance, Reference, Task, TaskGenerator
from healthgym.envs.managed_care.cases.situations import Bar, Course
from healthgym.envs.managed_care.checks.expectation import Expectation
from healthgym.errors import ConfigurationError
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
        criteria: Fewest and most criteria of a policy.
        gaps: Fewest and most gaps where evidence is to be gathered.
        courses: What may become of a submitted request.
        patients: Other patients on the roster.
        twins: Of these, patients who resemble the one that is meant.
        cases: Open cases of other patients.
        rivals: Pages of policies that are nearly the one in force: other plans, other states,
            superseded versions.
        amended: Chance that a later page amends a number of the policy.
        units: Whether charts may give values in other units than the policy.
        noise: Documents on file that do not matter.
        numbers: Whether the numbers of operations that decide a submission are the task's own;
            others vary in any case.
    """

    criteria: tuple[int, int] = (2, 6)
    gaps: tuple[int, int] = (1, 2)
    courses: tuple[Course, ...] = tuple(Course)
    patients: int = 7
    twins: int = 2
    cases: int = 2
    rivals: int = 3
    amended: float = 0.3
    units: bool = True
    noise: int = 4
    numbers: bool = True

    def __post_init__(self) -> None:
        for name in ("criteria", "gaps"):
            low, high = getattr(self, name)
            if not 1 <= low <= high <= 20:
                raise ConfigurationError(
                    f"{name} is a lowest and a highest number from 1 to 20, not {(low, high)!r}."
                )
        if not self.courses:
            raise ConfigurationError("courses: at least one of them.")
        bounds = {"patients": 60, "cases": 24, "rivals": 8, "noise": 30}
        for name, most in bounds.items():
            if not 0 <= getattr(self, name) <= most:
                raise ConfigurationError(f"{name} lies between 0 and {most}.")
        if not 0 <= self.twins <= self.patients:
            raise ConfigurationError("twins are among the patients; there are not more of them.")
        if not 0 <= self.amended <= 1:
            raise ConfigurationError(f"amended is a probability, not {self.amended!r}.")


#: What a name of a difficulty stands for.
PRESETS: Mapping[str, AuthorizationConfig] = {
    "easy": AuthorizationConfig(
        criteria=(2, 3),
        gaps=(1, 1),
        courses=(Course.APPROVED, Course.GOLD_CARD),
        patients=3,
        twins=0,
        cases=0,
        rivals=1,
        amended=0.0,
        units=False,
        noise=1,
        numbers=False,
    ),
    "medium": AuthorizationConfig(),
    "hard": AuthorizationConfig(
        criteria=(4, 20),
        gaps=(1, 4),
        patients=15,
        twins=4,
        cases=8,
        rivals=8,
        amended=0.6,
        noise=10,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationReference(Reference):
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
        course: What becomes of it; None if it is not submitted.
        on_request: Kinds of documents that the payer will ask for.
        status: The status in which the case ends.
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
    course: Course | None = None
    on_request: tuple[str, ...] = ()
    status: CaseStatus
    paper: Expectation


AuthorizationInstance = Instance[Task, AuthorizationReference, WorldStart]
AuthorizationTaskGenerator = TaskGenerator[Task, AuthorizationReference, WorldStart]
