"""The gates of care management's edition 3: all must hold. Records are taken first in order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from healthgym.envs.managed_care.checks.care_expectation import Willingness
from healthgym.envs.managed_care.checks.case_file import CaseFile, Row
from healthgym.envs.managed_care.checks.cm import (
    actions_logged,
    anchored,
    care,
    hands_off,
    reaches_status,
)
from healthgym.envs.managed_care.checks.rule import Answer, rule
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.records.assessment import (
    BehavioralHealthAssessment,
    CMAssessment,
)
from healthgym.worlds.managed_care.records.care_plan import CMCarePlan, CMGoal, CMIntervention
from healthgym.worlds.managed_care.vocabulary.care import (
    CMInterventionOwner,
    CMProblemCategory,
    CMProgram,
    DiseaseControlStatus,
    FollowUpCadence,
)

_Owner, _Control = CMInterventionOwner, DiseaseControlStatus
#: LOINC code of HbA1c, in %, and the condition that it classifies, as the source writes it.
HBA1C, DIABETES = "4548-4", "diabetes_mellitus"
#: HbA1c in %: controlled below the first, suboptimal up to the second.
CONTROLLED_BELOW, SUBOPTIMAL_TO = 7.0, 9.0
#: Active medicines from which a pharmacist must look at them.
POLYPHARMACY = 10
#: PHQ-9 from which a problem, a provider's intervention and an escalation are due.
PHQ9_PROBLEM, PHQ9_PROVIDER, PHQ9_ESCALATION = 10, 15, 20
#: Problems that a plan needs at least; one where the program is unknown.
MINIMA = {
    CMProgram.COMPLEX_CARE: 3,
    CMProgram.CHRONIC_DISEASE: 2,
    CMProgram.TRANSITIONS_OF_CARE: 2,
    CMProgram.BEHAVIORAL_HEALTH: 2,
}


def _first(rows: tuple[Row, ...]) -> Row | None:
    return rows[0] if rows else None


def _plan(case: CaseFile) -> CMCarePlan | None:
    return _first(case.of(case.world.plans.plans.values()))


def _assessment(case: CaseFile) -> CMAssessment | None:
    return _first(case.of(case.world.assessments.assessments.values()))


def _mood(case: CaseFile) -> BehavioralHealthAssessment | None:
    made = _assessment(case)
    return made.behavioral_health if made else None


def _chart(case: CaseFile) -> PatientChart | None:
    held = case.world.referrals.cases.get(case.case_id)
    return case.world.charts.get(held.patient_id) if held else None


def _goals(case: CaseFile) -> Iterator[CMGoal]:
    plan = _plan(case)
    return chain.from_iterable(one.goals for one in (plan.problems if plan else ()))


def _interventions(case: CaseFile) -> Iterator[CMIntervention]:
    return chain.from_iterable(goal.interventions for goal in _goals(case))


def _owned_by(case: CaseFile, owner: CMInterventionOwner) -> bool:
    return any(one.owner == owner for one in _interventions(case))


def _mood_problems(case: CaseFile) -> bool:
    plan = _plan(case)
    wanted = CMProblemCategory.BEHAVIORAL_HEALTH
    return any(one.category == wanted for one in (plan.problems if plan else ()))


def _consent(case: CaseFile) -> Answer:
    record = _first(case.of(case.world.outreach.records.values()))
    if record is None:
        return False
    return record.consent_obtained or care(case).willingness == Willingness.INITIALLY_REFUSES


def _screenings(case: CaseFile) -> Answer:
    # The flags of substance use and safety are always there in a section that is.
    mood = _mood(case)
    return mood is not None and mood.phq9_score is not None and mood.gad7_score is not None


def _smart(case: CaseFile) -> Answer:
    if _plan(case) is None:
        return False
    return all(
        goal.description.strip() and goal.target_date and goal.measurable_criteria.strip()
        for goal in _goals(case)
    )


def _owned(case: CaseFile) -> Answer:
    if _plan(case) is None:
        return False
    return all(one.owner and anchored(one) for one in _interventions(case))


def _minima(case: CaseFile) -> Answer:
    plan, program = _plan(case), care(case).program
    least = MINIMA[program] if program else 1
    return plan is not None and len(plan.problems) >= least


def _control(case: CaseFile) -> Answer:
    made, chart = _assessment(case), _chart(case)
    if made is None or made.clinical is None:
        return False
    classed = [one for one in made.clinical.disease_control if one.condition == DIABETES]
    if not classed:
        return True
    values = [
        one.value_quantity for one in (chart.observations if chart else ()) if one.code == HBA1C
    ]
    if not values or values[0] is None:
        return False
    return all(one.status == _class_of(values[0]) for one in classed)


def _class_of(hba1c: float) -> DiseaseControlStatus:
    if hba1c < CONTROLLED_BELOW:
        return _Control.CONTROLLED
    return _Control.SUBOPTIMAL if hba1c <= SUBOPTIMAL_TO else _Control.UNCONTROLLED


def _pharmacist(case: CaseFile) -> Answer:
    chart = _chart(case)
    if chart is None:
        return False
    active = sum(one.status == "active" for one in chart.medications)
    return active < POLYPHARMACY or _owned_by(case, _Owner.PHARMACIST)


def _depression(case: CaseFile) -> Answer:
    mood = _mood(case)
    if mood is None or mood.phq9_score is None:
        return False
    if mood.phq9_score >= PHQ9_PROVIDER:
        provider = _owned_by(case, _Owner.BEHAVIORAL_HEALTH_PROVIDER)
        return provider and (mood.phq9_score < PHQ9_ESCALATION or mood.escalation_required)
    return mood.phq9_score < PHQ9_PROBLEM or _mood_problems(case)


def _risk(case: CaseFile) -> Answer:
    expected = care(case).risk_level
    review = _first(case.of(case.world.care_chart.reviews.values()))
    if expected is None:
        return True
    return review is not None and review.preliminary_risk_level == expected


def _elsewhere(case: CaseFile) -> bool:
    """Return whether the program is another than behavioral health, whose gates then hold."""
    return care(case).program != CMProgram.BEHAVIORAL_HEALTH


def _program_problem(case: CaseFile) -> Answer:
    return _elsewhere(case) or _mood_problems(case)


def _program_intervention(case: CaseFile) -> Answer:
    return _elsewhere(case) or _owned_by(case, _Owner.BEHAVIORAL_HEALTH_PROVIDER)


def _program_cadence(case: CaseFile) -> Answer:
    plan = _plan(case)
    biweekly = plan is not None and plan.follow_up_cadence_kind == FollowUpCadence.BIWEEKLY
    return _elsewhere(case) or biweekly


#: The gates of editions 1 to 3.
FIRST = (
    rule("gate_final_status", reaches_status),
    rule("gate_audit_actions", actions_logged),
    rule("gate_no_forbidden", hands_off),
)
#: What edition 3 adds.
FURTHER = (
    rule("gate_consent_documented", _consent),
    rule("gate_required_screenings", _screenings),
    rule("gate_smart_goal_structure", _smart),
    rule("gate_intervention_completeness", _owned),
    rule("gate_program_minima", _minima),
    rule("gate_disease_control_classification", _control),
    rule("gate_pharmacist_referral_trigger", _pharmacist),
    rule("gate_phq9_action_threshold", _depression),
    rule("gate_chart_review_risk_level", _risk),
    rule("gate_program_bh_problem_count", _program_problem),
    rule("gate_program_bh_intervention_count", _program_intervention),
    rule("gate_program_cadence", _program_cadence),
)
