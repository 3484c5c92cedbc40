"""What is expected of a care-management episode."""

from __future__ import annotations

from enum import StrEnum

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from healthgym.worlds.managed_care.vocabulary.care import (
    CMAssessmentSection,
    CMAssessmentStatus,
    CMCarePlanStatus,
    CMCaseStatus,
    CMProgram,
    RiskLevel,
)

#: An unknown key in a file is an error, not a silent expectation.
STRICT = ConfigDict(extra="forbid")


class Willingness(StrEnum):
    """How a member meets the offer of care management."""

    READY = "ready"
    HESITANT = "hesitant"
    INITIALLY_REFUSES = "initially_refuses"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class PlanStructure:
    """How a care plan must be built; what is not required passes.

    Attributes:
        min_problem_count: Problems at least.
        require_goal_per_problem: Whether each problem needs a goal.
        require_goal_target_date: Whether each goal needs a date.
        require_goal_measurable_criteria: Whether each goal needs a measure.
        require_intervention_per_goal: Whether each goal needs an intervention.
        require_intervention_owner: Whether each intervention needs an owner.
        require_intervention_temporal_anchor: Whether each needs a date or a frequency.
        require_escalation_conditions: Whether the plan must say when to escalate.
        require_follow_up_cadence_kind: Whether it must say how often to follow up.
    """

    min_problem_count: int = 0
    require_goal_per_problem: bool = False
    require_goal_target_date: bool = False
    require_goal_measurable_criteria: bool = False
    require_intervention_per_goal: bool = False
    require_intervention_owner: bool = False
    require_intervention_temporal_anchor: bool = False
    require_escalation_conditions: bool = False
    require_follow_up_cadence_kind: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class CareExpectation:
    """What is expected of an episode.

    Attributes:
        target_status: Where it must stand; None where the expectation is silent.
        audit_actions: Actions that its log must have.
        assessment_status: How the assessment must stand.
        required_sections: Sections that it must have.
        plan_status: How the care plan must stand.
        plan: How the care plan must be built.
        program: The program, for the gates; None where the source has no rule for it.
        risk_level: The risk that the chart review must find, for the gates.
        willingness: How the member meets the offer, for the gates.
    """

    target_status: CMCaseStatus | None = None
    audit_actions: tuple[str, ...] = ()
    assessment_status: CMAssessmentStatus = CMAssessmentStatus.COMPLETE
    required_sections: tuple[CMAssessmentSection, ...] = ()
    plan_status: CMCarePlanStatus = CMCarePlanStatus.FINALIZED
    plan: PlanStructure = PlanStructure()
    program: CMProgram | None = None
    risk_level: RiskLevel | None = None
    willingness: Willingness | None = None
