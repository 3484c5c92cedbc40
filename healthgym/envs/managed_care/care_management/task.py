"""Both halves of a care-management task, and how hard it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from healthgym.core.task import Instance, Reference, Task, TaskGenerator
from healthgym.envs.managed_care.checks.expectation import Expectation
from healthgym.worlds.managed_care.conversation.persona import Persona
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.vocabulary.care import (
    AdherenceLevel,
    CMCaseStatus,
    CMInterventionOwner,
    CMPriority,
    CMProblemCategory,
    CMProgram,
    DiseaseControlStatus,
    EscalationReason,
    FollowUpCadence,
    RiskLevel,
)
from healthgym.worlds.managed_care.voices import Topic


class Ending(StrEnum):
    """What is right in the end."""

    PLANNED = "planned"  #: agreed, assessed, planned, closed
    DECLINED = "declined"  #: a refusal for good, respected
    BLOCKED = "blocked"  #: agreed, and the assessment cannot be finished


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What a plan must hold because of what was found.

    Attributes:
        problems_least: Problems at least.
        categories: Kinds of problems that are due.
        owners: Who must own at least one intervention.
        first: Kind of the problem that the person named first, or of safety.
        cadence: How often to follow up.
        escalation: Why somebody is brought in the same day; None if nobody is.
    """

    problems_least: int
    categories: frozenset[CMProblemCategory]
    owners: frozenset[CMInterventionOwner]
    first: CMProblemCategory
    cadence: FollowUpCadence
    escalation: EscalationReason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CareReference(Reference):
    """What the right handling of a referral is.

    Attributes:
        referral_id: The referral that is meant.
        patient_id: Whom it is about.
        case_id: The id that its episode has.
        program: The right programme.
        priority: The right priority.
        risk_level: The right level after the chart review.
        ending: What is right in the end.
        persona: Who answers the phone.
        asked: Subjects that must have been talked about, where neither chart nor an answer settles
            them otherwise.
        phq9: Sum of the PHQ-9 as answered or documented in time; None where the two-question
            screen is negative.
        gad7: Sum of the GAD-7.
        adherence: How each medicine is really taken, by the name in the chart.
        discrepancies: Medicines on which chart and person differ.
        barriers: Whether there is a social barrier, by subject.
        control: How well a condition is controlled, by ICD-10-CM code.
        needs: What the plan must hold; None where there is none.
        paper: What the source's checks expect.
        status: Where the episode ends.
    """

    referral_id: str
    patient_id: str
    case_id: str
    program: CMProgram
    priority: CMPriority
    risk_level: RiskLevel
    ending: Ending
    persona: Persona
    asked: frozenset[Topic] = frozenset()
    phq9: int | None = None
    gad7: int | None = None
    adherence: Mapping[str, AdherenceLevel] = field(default_factory=dict)
    discrepancies: frozenset[str] = frozenset()
    barriers: Mapping[Topic, bool] = field(default_factory=dict)
    control: Mapping[str, DiseaseControlStatus] = field(default_factory=dict)
    needs: Needs | None = None
    paper: Expectation
    status: CMCaseStatus


CareInstance = Instance[Task, CareReference, WorldStart]
CareTaskGenerator = TaskGenerator[Task, CareReference, WorldStart]
