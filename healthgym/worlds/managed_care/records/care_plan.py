"""Care plans."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated

from pydantic import Field

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
    """One thing that somebody does towards a goal.

    Attributes:
        intervention_id: Id of the intervention; leave blank for a new one.
        description: What is done, such as 'teach daily weighing and when to call'.
        owner: Who does it.
        due_date: Day by which it is done, such as '2026-04-01'; blank when open.
        frequency: How often, such as 'weekly'; blank when done once.
        status: How far it has come.
    """

    intervention_id: str = ""
    description: str
    owner: CMInterventionOwner
    due_date: date | None = None
    frequency: str | None = None
    status: CMInterventionStatus = CMInterventionStatus.PLANNED


@dataclass(frozen=True, slots=True, kw_only=True)
class CMGoal:
    """A goal of the care plan, measurable and with a date.

    Attributes:
        goal_id: Id of the goal; leave blank for a new one.
        description: What is to be reached, such as 'HbA1c below 8 %'.
        target_date: Day by which it is reached, such as '2026-06-15'; blank when open.
        measurable_criteria: How one sees that it is reached, such as 'HbA1c of June below 8 %'.
        interventions: What is done towards it.
    """

    goal_id: str = ""
    description: str
    target_date: date | None = None
    measurable_criteria: str = ""
    interventions: tuple[CMIntervention, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CMProblem:
    """A problem of the care plan, with its goals.

    Attributes:
        problem_id: Id of the problem; leave blank for a new one.
        description: The problem, such as 'uncontrolled type 2 diabetes'.
        category: Domain of the problem.
        priority: How much it matters.
        source_assessment: Section of the assessment that it comes from; blank when none.
        goals: What is to be reached.
    """

    problem_id: str = ""
    description: str
    category: CMProblemCategory
    priority: PriorityLevel = PriorityLevel.MEDIUM
    source_assessment: CMProblemCategory | None = None
    goals: tuple[CMGoal, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CMCarePlanInput:
    """A care plan, to be finalized.

    Attributes:
        problems: Problems with their goals and interventions; at least one.
        escalation_conditions: Events that call for escalation, such as 'weight gain over 3 lb in a
            day'; at least one.
        follow_up_cadence_kind: How often the care manager follows up.
        follow_up_cadence_notes: Details of the follow-up; wanted where the cadence is custom, else
            may be blank.
        follow_up_start_date: Day of the first follow-up, such as '2026-03-20'; blank when not
            booked.
    """

    problems: Annotated[tuple[CMProblem, ...], Field(min_length=1)]
    escalation_conditions: Annotated[tuple[str, ...], Field(min_length=1)]
    follow_up_cadence_kind: FollowUpCadence
    follow_up_cadence_notes: str = ""
    follow_up_start_date: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CMCarePlan:
    """A member's care plan.

    Attributes:
        care_plan_id: Id of the plan.
        case_id: Id of the episode.
        author_id: Id of the care manager.
        created_at: When it was written, in UTC.
        finalized_at: When it was finalized, in UTC; blank until then.
        status: How far it has come.
        problems: Problems with their goals and interventions.
        escalation_conditions: Events that call for escalation, such as 'weight gain over 3 lb in a
            day'.
        follow_up_cadence_kind: How often the care manager follows up; blank in a draft.
        follow_up_cadence_notes: Details of the follow-up; wanted where the cadence is custom, else
            may be blank.
        follow_up_start_date: Day of the first follow-up, such as '2026-03-20'; blank when not
            booked.
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
