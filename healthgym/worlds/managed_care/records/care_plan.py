"""Care plans."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from healthgym.worlds.managed_care.vocabulary.care import (
    CMCarePlanStatus,
    CMInterventionOwner,
    CMInterventionStatus,
    CMProblemCategory,
    FollowUpCadence,
    PriorityLevel,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CMIntervention:
    """TODO cmintervention.

    Attributes:
        intervention_id: TODO.
        description: TODO.
        owner: TODO.
        due_date: TODO.
        frequency: TODO.
        status: TODO.
    """

    intervention_id: str = ""
    description: str
    owner: CMInterventionOwner
    due_date: date | None = None
    frequency: str | None = None
    status: CMInterventionStatus = CMInterventionStatus.PLANNED


@dataclass(frozen=True, slots=True, kw_only=True)
class CMGoal:
    """TODO cmgoal.

    Attributes:
        goal_id: TODO.
        description: TODO.
        target_date: TODO.
        measurable_criteria: TODO.
        interventions: TODO.
    """

    goal_id: str = ""
    description: str
    target_date: date | None = None
    measurable_criteria: str = ""
    interventions: tuple[CMIntervention, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CMProblem:
    """TODO cmproblem.

    Attributes:
        problem_id: TODO.
        description: TODO.
        category: TODO.
        priority: TODO.
        source_assessment: TODO.
        goals: TODO.
    """

    problem_id: str = ""
    description: str
    category: CMProblemCategory
    priority: PriorityLevel = PriorityLevel.MEDIUM
    source_assessment: CMProblemCategory | None = None
    goals: tuple[CMGoal, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CMCarePlanInput:
    """TODO cmcare plan input.

    Attributes:
        problems: TODO.
        escalation_conditions: TODO.
        follow_up_cadence_kind: TODO.
        follow_up_cadence_notes: TODO.
        follow_up_start_date: TODO.
    """

    problems: tuple[CMProblem, ...]
    escalation_conditions: tuple[str, ...]
    follow_up_cadence_kind: FollowUpCadence
    follow_up_cadence_notes: str = ""
    follow_up_start_date: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CMCarePlan:
    """TODO cmcare plan.

    Attributes:
        care_plan_id: TODO.
        case_id: TODO.
        author_id: TODO.
        created_at: TODO.
        finalized_at: TODO.
        status: TODO.
        problems: TODO.
        escalation_conditions: TODO.
        follow_up_cadence_kind: TODO.
        follow_up_cadence_notes: TODO.
        follow_up_start_date: TODO.
    """

    care_plan_id: str
    case_id: str
    author_id: str
    created_at: datetime
    finalized_at: datetime | None = None
    status: CMCarePlanStatus = CMCarePlanStatus.DRAFT
    problems: tuple[CMProblem, ...] = ()
    escalation_conditions: tuple[str, ...] = ()
    follow_up_cadence_kind: FollowUpCadence | None = None
    follow_up_cadence_notes: str = ""
    follow_up_start_date: date | None = None
