"""Care plans."""

from __future__ import annotations

from datetime import date

from healthgym.core.records import replace
from healthgym.core.state import table
from healthgym.worlds.managed_care.apps.app import App
from healthgym.worlds.managed_care.apps.care_management.chart import OFFICE
from healthgym.worlds.managed_care.apps.care_management.plan_rules import (
    require_dates,
    require_distinct,
    require_structure,
    require_words,
)
from healthgym.worlds.managed_care.apps.care_management.wording import require_reasonable
from healthgym.worlds.managed_care.records.care_plan import (
    CMCarePlan,
    CMCarePlanInput,
    CMGoal,
    CMIntervention,
    CMProblem,
)
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.vocabulary.care import CMCarePlanStatus, CMCaseStatus


class CarePlans(App):
    """Care plans.

    Attributes:
        plans: Care plans, by id.
    """

    name = "cm_care_plan"
    plans = table[str, CMCarePlan]()

    def create_draft(self, case_id: str) -> CMCarePlan:
        """Begin the care plan; in the source also begin it anew, and lose what it held.

        Raises:
            Refusal: If the assessment is not complete; under strict rules also twice.
        """
        before = self._of(case_id)
        self.world.referrals.move(case_id, CMCaseStatus.CARE_PLAN_DRAFT)
        self.audit("transition_to_care_plan_draft", case_id)
        made = CMCarePlan(
            care_plan_id=self.draw_id("CP-") if before is None else before.care_plan_id,
            case_id=case_id,
            author_id=OFFICE,
            created_at=self.world.clock.now,
        )
        self.plans[made.care_plan_id] = made
        self.audit("create_draft", case_id)
        return made

    def save(self, case_id: str, plan_data: CMCarePlanInput) -> CMCarePlan:
        """Put a plan in the place of what stood there.

        Raises:
            Refusal: If there is no draft; under strict rules also if it is finalized, or the plan
                has blank words, doubled entries or days that lie in the past.
        """
        plan = self._required(case_id)
        if self.strict:
            self.world.referrals.require_status(case_id, CMCaseStatus.CARE_PLAN_DRAFT)
            require_reasonable(plan_data)
            require_words(plan_data)
            require_distinct(plan_data)
            require_dates(plan_data, *self._days())
        saved = replace(
            plan,
            problems=tuple(map(self._numbered, plan_data.problems)),
            escalation_conditions=plan_data.escalation_conditions,
            follow_up_cadence_kind=plan_data.follow_up_cadence_kind,
            follow_up_cadence_notes=plan_data.follow_up_cadence_notes,
            follow_up_start_date=plan_data.follow_up_start_date,
        )
        if self.strict and _unnumbered(saved) == _unnumbered(plan):
            raise Refusal(
                RefusalCode.DUPLICATE,
                f"The plan of case {case_id} says all of that already; save what differs.",
            )
        self.plans[saved.care_plan_id] = saved
        self.audit("save_care_plan", case_id)
        return saved

    def finalize(self, case_id: str) -> CMCarePlan:
        """Finalize the plan, and close the episode with it.

        Raises:
            Refusal: If the plan has no problem with a goal and an intervention, no condition of
                escalation or no cadence, or the episode does not wait for it; under strict rules
                also if a goal or an intervention lacks by when, by what measure or how often.
        """
        plan = self._required(case_id)
        _require_whole(plan)
        if self.strict:
            require_structure(plan, *self._days())
        referrals = self.world.referrals
        referrals.move(case_id, CMCaseStatus.CARE_PLAN_FINALIZED)
        self.audit("transition_to_care_plan_finalized", case_id)
        finalized = replace(
            plan, status=CMCarePlanStatus.FINALIZED, finalized_at=self.world.clock.now
        )
        self.plans[finalized.care_plan_id] = finalized
        referrals.move(case_id, CMCaseStatus.CLOSED)
        self.audit("transition_to_closed", case_id)
        self.audit("finalize", case_id)
        return finalized

    def _days(self) -> tuple[date, int]:
        """Return the day it is, and in how many days a goal is to be reached."""
        return self.world.clock.now.date(), self.world.operations.goal_target_days_most

    def _of(self, case_id: str) -> CMCarePlan | None:
        self.world.referrals.case(case_id)
        return next((plan for plan in self.plans.values() if plan.case_id == case_id), None)

    def _required(self, case_id: str) -> CMCarePlan:
        found = self._of(case_id)
        if found is None:
            raise Refusal(
                RefusalCode.WRONG_STATE,
                f"Case {case_id} has no care plan; cm_care_plan.create_draft begins one.",
            )
        return found

    def _numbered(self, problem: CMProblem) -> CMProblem:
        """Return a problem whose parts have ids."""
        goals = tuple(
            replace(
                goal,
                goal_id=goal.goal_id or self.draw_id("GOAL-"),
                interventions=tuple(map(self._numbered_step, goal.interventions)),
            )
            for goal in problem.goals
        )
        number = problem.problem_id or self.draw_id("PROB-")
        return replace(problem, problem_id=number, goals=goals)

    def _numbered_step(self, step: CMIntervention) -> CMIntervention:
        return replace(step, intervention_id=step.intervention_id or self.draw_id("INTV-"))


def _require_whole(plan: CMCarePlan) -> None:
    """Refuse to finalize a plan of which a part is missing, as the source does."""
    goals: list[CMGoal] = [goal for problem in plan.problems for goal in problem.goals]
    lacks = (
        ("a problem", bool(plan.problems)),
        ("a goal for each problem", all(problem.goals for problem in plan.problems)),
        ("an intervention for each goal", all(goal.interventions for goal in goals)),
        ("a condition of escalation", bool(plan.escalation_conditions)),
        ("a cadence of follow-up", plan.follow_up_cadence_kind is not None),
    )
    for what, there in lacks:
        if not there:
            raise Refusal(
                RefusalCode.INCOMPLETE,
                f"The care plan of case {plan.case_id} lacks {what}; save it with that first.",
            )


def _unnumbered(plan: CMCarePlan) -> CMCarePlan:
    """Return a plan without the ids of its parts, which are drawn anew at each saving."""
    return replace(
        plan,
        problems=tuple(
            replace(
                problem,
                problem_id="",
                goals=tuple(
                    replace(
                        goal,
                        goal_id="",
                        interventions=tuple(
                            replace(step, intervention_id="") for step in goal.interventions
                        ),
                    )
                    for goal in problem.goals
                ),
            )
            for problem in plan.problems
        ),
    )
