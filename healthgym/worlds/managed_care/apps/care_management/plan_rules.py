"""What a strict world asks of a care plan: words, days to come, and nothing left open."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

from healthgym.worlds.managed_care.apps.care_management.wording import require_filled
from healthgym.worlds.managed_care.records.care_plan import (
    CMCarePlan,
    CMCarePlanInput,
    CMGoal,
    CMIntervention,
    CMProblem,
)
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.vocabulary.care import FollowUpCadence

_DUE = "due_date"


def require_words(plan: CMCarePlanInput) -> None:
    """Refuse blank descriptions.

    Raises:
        Refusal: Naming what is blank.
    """
    texts = {"A problem's description": [problem.description for problem in plan.problems]}
    texts["A goal's description"] = [goal.description for _, goal in _goals(plan)]
    texts["An intervention's description"] = [step.description for _, _, step in _steps(plan)]
    texts["A condition of escalation"] = list(plan.escalation_conditions)
    for name, values in texts.items():
        for value in values:
            require_filled({name: value})


def require_distinct(plan: CMCarePlanInput) -> None:
    """Refuse entries that are there twice: a plan is no longer for repeating itself.

    Raises:
        Refusal: Naming what is doubled.
    """
    problems = [problem.description for problem in plan.problems]
    for what, words in (
        ("problem", problems),
        ("condition of escalation", list(plan.escalation_conditions)),
        ("problem_id", [problem.problem_id for problem in plan.problems]),
        ("goal_id", [goal.goal_id for _, goal in _goals(plan)]),
        ("intervention_id", [step.intervention_id for _, _, step in _steps(plan)]),
    ):
        met: set[str] = set()
        for word in (" ".join(text.casefold().split()) for text in words):
            if word and word in met:
                raise Refusal(
                    RefusalCode.DUPLICATE, f"The {what} {word[:60]!r} is there twice; name it once."
                )
            met.add(word)


def require_dates(plan: CMCarePlanInput | CMCarePlan, today: date, most_days: int) -> None:
    """Refuse days that have passed, and goals that lie too far away.

    Args:
        plan: The plan.
        today: The day it is, in UTC.
        most_days: In how many days a goal is to be reached at the latest.

    Raises:
        Refusal: Naming the day.
    """
    days = [("target_date", goal.target_date) for _, goal in _goals(plan)]
    days += [(_DUE, step.due_date) for _, _, step in _steps(plan)]
    days.append(("follow_up_start_date", plan.follow_up_start_date))
    for name, day in days:
        at_once = name == _DUE and day == today  # what has to be done the same day
        if day is not None and day <= today and not at_once:
            raise Refusal(
                RefusalCode.IMPLAUSIBLE_DATE,
                f"{name} {day} is not to come; it is {today}, and later days are accepted.",
            )
        if name == "target_date" and day is not None and day > today + timedelta(days=most_days):
            raise Refusal(
                RefusalCode.IMPLAUSIBLE_DATE,
                f"{name} {day} is too far away; a goal is reached within {most_days} days.",
            )


def require_structure(plan: CMCarePlan, today: date, most_days: int) -> None:
    """Refuse to finalize a plan that nobody could follow.

    Args:
        plan: The plan.
        today: The day it is, in UTC.
        most_days: In how many days a goal is to be reached at the latest.

    Raises:
        Refusal: Naming what a goal or an intervention lacks.
    """
    require_dates(plan, today, most_days)
    for problem, goal in _goals(plan):
        where = f"goal {goal.goal_id} of problem {problem.problem_id}"
        if goal.target_date is None:
            raise _lacks(where, "a target_date")
        if not goal.measurable_criteria.strip():
            raise _lacks(where, "measurable_criteria")
    for _, goal, step in _steps(plan):
        if step.due_date is None and not (step.frequency or "").strip():
            where = f"intervention {step.intervention_id} of goal {goal.goal_id}"
            raise _lacks(where, "a due_date or a frequency")
    custom = plan.follow_up_cadence_kind is FollowUpCadence.CUSTOM
    if custom and not plan.follow_up_cadence_notes.strip():
        raise _lacks("custom follow-up", "follow_up_cadence_notes that say how often")


def _lacks(where: str, what: str) -> Refusal:
    return Refusal(
        RefusalCode.INCOMPLETE, f"The {where} lacks {what}; save the plan with that first."
    )


def _goals(plan: CMCarePlanInput | CMCarePlan) -> Iterator[tuple[CMProblem, CMGoal]]:
    return ((problem, goal) for problem in plan.problems for goal in problem.goals)


def _steps(
    plan: CMCarePlanInput | CMCarePlan,
) -> Iterator[tuple[CMProblem, CMGoal, CMIntervention]]:
    return ((problem, goal, step) for problem, goal in _goals(plan) for step in goal.interventions)
