"""What can be wrong with an episode of care management, by the records and by the gates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from healthgym.worlds.managed_care.charts.chart import ChartLibrary, PatientChart
from healthgym.worlds.managed_care.records.care_plan import CMCarePlan, CMGoal, CMIntervention
from healthgym.worlds.managed_care.vocabulary.care import (
    CMAssessmentStatus,
    CMCarePlanStatus,
    CMCaseStatus,
    CMInterventionOwner,
    CMProblemCategory,
    CMProgram,
    DiseaseControlStatus,
    FollowUpCadence,
    RiskLevel,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.envs.managed_care.checks.mutation import (
    Break,
    Expect,
    Mutation,
    change,
    empty,
    forget,
    newest,
    with_care,
)

_DONE, _GATED = "v-cm-01", "v-gate-01"
_MOOD = with_care(program=CMProgram.BEHAVIORAL_HEALTH)


def _plan(world: ManagedCareWorld) -> CMCarePlan:
    return world.plans.plans[newest(world.plans.plans)]


def _goals(alter: Callable[[CMGoal], CMGoal]) -> Break:
    """Return what alters every goal of the plan."""

    def do(world: ManagedCareWorld) -> None:
        problems = tuple(
            replace(problem, goals=tuple(map(alter, problem.goals)))
            for problem in _plan(world).problems
        )
        change(world.plans.plans, problems=problems)

    return do


def _interventions(**fields: Any) -> Break:
    """Return what gives every intervention of the plan other values."""

    def other(one: CMIntervention) -> CMIntervention:
        return replace(one, **fields)

    return _goals(lambda goal: replace(goal, interventions=tuple(map(other, goal.interventions))))


def _fewer(keep: int) -> Break:
    return lambda world: change(world.plans.plans, problems=_plan(world).problems[:keep])


def _section(name: str, **fields: Any) -> Break:
    """Return what gives a section of the assessment other values."""

    def do(world: ManagedCareWorld) -> None:
        table = world.assessments.assessments
        made = getattr(table[newest(table)], name)
        change(table, **{name: replace(made, **fields)})

    return do


def _control(status: DiseaseControlStatus) -> Break:
    def do(world: ManagedCareWorld) -> None:
        table = world.assessments.assessments
        clinical = table[newest(table)].clinical
        assert clinical is not None
        classed = tuple(replace(one, status=status) for one in clinical.disease_control)
        change(table, clinical=replace(clinical, disease_control=classed))

    return do


def _many_medicines(world: ManagedCareWorld) -> None:
    def more(chart: PatientChart) -> PatientChart:
        active = next(one for one in chart.medications if one.status == "active")
        others = tuple(replace(active, id=f"MR-{number}") for number in range(10))
        return replace(chart, medications=others)

    world.__dict__["charts"] = ChartLibrary(map(more, world.charts.values()))


def _other_category(world: ManagedCareWorld) -> None:
    problems = tuple(
        replace(problem, category=CMProblemCategory.CLINICAL) for problem in _plan(world).problems
    )
    change(world.plans.plans, problems=problems)


def _foreign(world: ManagedCareWorld) -> None:
    world.history.audit("cm_chart", "submit_chart_review", "CM-OTHER", "care_manager")


def _care(check: str, do: Break, *also: str) -> Mutation:
    return Mutation(f"cm.{check}", _DONE, do, frozenset(f"cm.{name}" for name in also))


def _gate(
    check: str, do: Break, *also: str, expect: Expect = lambda same: same, mend: Break = id
) -> Mutation:
    others = frozenset(f"gate_{name}" for name in also)
    return Mutation(f"gate_{check}", _GATED, do, others, expect, mend)


_RECORDS = (
    _care("chart_review.record_exists", lambda w: empty(w.care_chart.reviews)),
    _care("assessment.record_exists", lambda w: empty(w.assessments.assessments)),
    _care(
        "assessment.completed",
        lambda w: change(w.assessments.assessments, status=CMAssessmentStatus.BLOCKED),
    ),
    _care(
        "assessment.required_sections_present",
        lambda w: change(w.assessments.assessments, sdoh=None),
    ),
    _care("care_plan.record_exists", lambda w: empty(w.plans.plans)),
    _care("care_plan.finalized", lambda w: change(w.plans.plans, status=CMCarePlanStatus.REVISED)),
    _care("care_plan.problem_count", _fewer(1)),
    _care("care_plan.goal_structure", _goals(lambda goal: replace(goal, target_date=None))),
    _care("care_plan.intervention_structure", _interventions(frequency=None, due_date=None)),
    _care(
        "care_plan.escalation_conditions_present",
        lambda w: change(w.plans.plans, escalation_conditions=()),
    ),
    _care(
        "care_plan.follow_up_cadence_present",
        lambda w: change(w.plans.plans, follow_up_cadence_kind=None),
    ),
    _care(
        "cross_stage.target_status",
        lambda w: change(w.referrals.cases, status=CMCaseStatus.CARE_PLAN_DRAFT),
    ),
    _care("cross_stage.audit_actions", forget("end_outreach_call")),
    _care("cross_stage.no_forbidden_mutations", _foreign),
)
_GATES = (
    _gate("final_status", lambda w: change(w.referrals.cases, status=CMCaseStatus.CARE_PLAN_DRAFT)),
    _gate("audit_actions", forget("open_case")),
    _gate("no_forbidden", _foreign),
    _gate("consent_documented", lambda w: change(w.outreach.records, consent_obtained=False)),
    _gate("required_screenings", _section("behavioral_health", gad7_score=None)),
    _gate("smart_goal_structure", _goals(lambda goal: replace(goal, measurable_criteria=" "))),
    _gate("intervention_completeness", _interventions(frequency=None, due_date=None)),
    _gate(
        "program_minima",
        _fewer(1),
        expect=with_care(program=CMProgram.COMPLEX_CARE),
        mend=_section("behavioral_health", phq9_score=3),
    ),
    _gate("disease_control_classification", _control(DiseaseControlStatus.CONTROLLED)),
    _gate("pharmacist_referral_trigger", _many_medicines),
    _gate("phq9_action_threshold", _section("behavioral_health", phq9_score=20)),
    _gate(
        "chart_review_risk_level",
        lambda w: change(w.care_chart.reviews, preliminary_risk_level=RiskLevel.LOW),
    ),
    _gate(
        "program_bh_problem_count",
        _other_category,
        expect=_MOOD,
        mend=_section("behavioral_health", phq9_score=3),
    ),
    _gate(
        "program_bh_intervention_count",
        _interventions(owner=CMInterventionOwner.CARE_MANAGER),
        expect=_MOOD,
        mend=_section("behavioral_health", phq9_score=3),
    ),
    _gate(
        "program_cadence",
        lambda w: change(w.plans.plans, follow_up_cadence_kind=FollowUpCadence.WEEKLY),
        expect=_MOOD,
    ),
)
MUTATIONS = (*_RECORDS, *_GATES)
