"""Whether the records of a care-management episode are there and complete (edition 4)."""

from __future__ import annotations

from healthgym.envs.managed_care.checks.care_expectation import CareExpectation, PlanStructure
from healthgym.envs.managed_care.checks.case_file import CaseFile
from healthgym.envs.managed_care.checks.rule import Answer, rule
from healthgym.worlds.managed_care.records.assessment import CMAssessment
from healthgym.worlds.managed_care.records.care_plan import (
    CMCarePlan,
    CMGoal,
    CMIntervention,
    CMProblem,
)
from healthgym.worlds.managed_care.vocabulary.care import CMAssessmentStatus


def care(case: CaseFile) -> CareExpectation:
    """Return what is expected of the episode."""
    return case.expectation.care or CareExpectation()


def reaches_status(case: CaseFile) -> bool:
    """Return whether the episode stands where it should."""
    held = case.world.referrals.cases.get(case.case_id)
    return held is not None and held.status == care(case).target_status


def actions_logged(case: CaseFile) -> bool:
    """Return whether every required action is in the episode's log."""
    return case.acted(*care(case).audit_actions)


def hands_off(case: CaseFile) -> bool:
    """Return whether nothing was written about other people's episodes; looking is free."""
    foreign = case.expectation.forbidden_case_ids
    return not any(row.case_id in foreign for row in case.world.history.entries)


def anchored(intervention: CMIntervention) -> bool:
    """Return whether an intervention has a date or a frequency."""
    return intervention.due_date is not None or bool((intervention.frequency or "").strip())


def _reviewed(case: CaseFile) -> Answer:
    return bool(case.of(case.world.care_chart.reviews.values()))


def _assessment(case: CaseFile) -> CMAssessment | None:
    """Return the assessment that was completed last, or else the newest."""
    made = case.of(case.world.assessments.assessments.values())
    complete = tuple(one for one in made if one.status == CMAssessmentStatus.COMPLETE)
    chosen = complete or made
    return chosen[-1] if chosen else None


def _assessed(case: CaseFile) -> Answer:
    return _assessment(case) is not None


def _completed(case: CaseFile) -> Answer:
    made = _assessment(case)
    return None if made is None else made.status == care(case).assessment_status


def _sections(case: CaseFile) -> Answer:
    made = _assessment(case)
    if made is None:
        return None
    return all(getattr(made, section) is not None for section in care(case).required_sections)


def _plan(case: CaseFile) -> CMCarePlan | None:
    return case.last(case.world.plans.plans.values())


def _planned(case: CaseFile) -> Answer:
    return _plan(case) is not None


def _finalized(case: CaseFile) -> Answer:
    plan = _plan(case)
    return None if plan is None else plan.status == care(case).plan_status


def _problems(case: CaseFile) -> Answer:
    plan = _plan(case)
    return None if plan is None else len(plan.problems) >= care(case).plan.min_problem_count


def _goals(case: CaseFile) -> Answer:
    plan, asked = _plan(case), care(case).plan
    return None if plan is None else all(_has_goals(one, asked) for one in plan.problems)


def _has_goals(problem: CMProblem, asked: PlanStructure) -> bool:
    if asked.require_goal_per_problem and not problem.goals:
        return False
    dated = all(goal.target_date for goal in problem.goals)
    measured = all(goal.measurable_criteria.strip() for goal in problem.goals)
    return (dated or not asked.require_goal_target_date) and (
        measured or not asked.require_goal_measurable_criteria
    )


def _interventions(case: CaseFile) -> Answer:
    plan, asked = _plan(case), care(case).plan
    if plan is None:
        return None
    return all(_has_interventions(goal, asked) for one in plan.problems for goal in one.goals)


def _has_interventions(goal: CMGoal, asked: PlanStructure) -> bool:
    if asked.require_intervention_per_goal and not goal.interventions:
        return False
    owned = all(one.owner for one in goal.interventions)
    timed = all(map(anchored, goal.interventions))
    return (owned or not asked.require_intervention_owner) and (
        timed or not asked.require_intervention_temporal_anchor
    )


def _escalates(case: CaseFile) -> Answer:
    plan = _plan(case)
    if plan is None:
        return None
    return bool(plan.escalation_conditions) or not care(case).plan.require_escalation_conditions


def _follows_up(case: CaseFile) -> Answer:
    plan = _plan(case)
    if plan is None:
        return None
    asked = care(case).plan.require_follow_up_cadence_kind
    return plan.follow_up_cadence_kind is not None or not asked


def _status(case: CaseFile) -> Answer:
    return None if care(case).target_status is None else reaches_status(case)


def _audit(case: CaseFile) -> Answer:
    return actions_logged(case) if care(case).audit_actions else None


def _no_foreign(case: CaseFile) -> Answer:
    return hands_off(case) if case.expectation.forbidden_case_ids else None


CHART_REVIEW = (rule("cm.chart_review.record_exists", _reviewed),)
ASSESSMENT = (
    rule("cm.assessment.record_exists", _assessed),
    rule("cm.assessment.completed", _completed),
    rule("cm.assessment.required_sections_present", _sections),
)
CARE_PLAN = (
    rule("cm.care_plan.record_exists", _planned),
    rule("cm.care_plan.finalized", _finalized),
    rule("cm.care_plan.problem_count", _problems),
    rule("cm.care_plan.goal_structure", _goals),
    rule("cm.care_plan.intervention_structure", _interventions),
    rule("cm.care_plan.escalation_conditions_present", _escalates),
    rule("cm.care_plan.follow_up_cadence_present", _follows_up),
)
CROSS = (
    rule("cm.cross_stage.target_status", _status),
    rule("cm.cross_stage.audit_actions", _audit),
    rule("cm.cross_stage.no_forbidden_mutations", _no_foreign),
)
