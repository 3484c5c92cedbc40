"""Whether a care plan follows from what was found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from healthgym.envs.managed_care.care_management.advice import harmful, told_in, unhelped, unsafe
from healthgym.envs.managed_care.care_management.clauses import Speaks
from healthgym.envs.managed_care.care_management.grounds import Grounds
from healthgym.envs.managed_care.care_management.task import Needs
from healthgym.envs.managed_care.care_management.witness import Witness
from healthgym.worlds.managed_care.apps.care_management.sections import barriers_of
from healthgym.worlds.managed_care.records.assessment import CMAssessment
from healthgym.worlds.managed_care.records.care_plan import (
    CMCarePlan,
    CMGoal,
    CMIntervention,
    CMProblem,
)
from healthgym.worlds.managed_care.vocabulary.care import AdherenceLevel, CMProblemCategory

#: From which sum on a screening is a finding at all (mild, for both instruments).
_MILD = 5
#: Within how many days after finalizing the follow-up begins.
_BEGINS = timedelta(days=7)
#: How notes say how often somebody is called.
_INTERVAL = re.compile(r"\bevery (?:(\d+) )?(day|week|month)s?\b")
_DAYS = {"day": 1, "week": 7, "month": 30}
#: Fewest words by which one sees what is measured.
_WORDS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """Compares a plan with what it must hold.

    Attributes:
        plan: The plan.
        assessment: The assessment that it comes from.
        needs: What it must hold.
        grounds: What is on file.
        witness: What was said in words, on file and on the phone.
        most_days: In how many days a goal is to be reached.
    """

    plan: CMCarePlan
    assessment: CMAssessment
    needs: Needs
    grounds: Grounds
    witness: Witness
    most_days: int

    def wrong(self) -> tuple[str, ...]:
        """Return what is not as it should be; empty if nothing is."""
        return (
            *self._missing(),
            *self._linked(),
            *self._shaped(),
            *self._followed(),
            *self._worded(),
        )

    def _missing(self) -> Iterator[str]:
        problems, needs = self.plan.problems, self.needs
        if len(problems) < needs.problems_least:
            yield f"{len(problems)} problems"
        categories = {each.category for each in problems}
        yield from (f"no {each} problem" for each in sorted(needs.categories - categories))
        owners = {step.owner for each in problems for _, step in _steps(each)}
        yield from (f"nothing for the {each}" for each in sorted(needs.owners - owners))
        if problems and problems[0].category is not needs.first:
            yield f"a {problems[0].category} problem comes first"
        if self.plan.follow_up_cadence_kind is not needs.cadence:
            yield f"{self.plan.follow_up_cadence_kind} follow-up"

    def _linked(self) -> Iterator[str]:
        """Yield problems of a kind of which nothing was found."""
        for problem in self.plan.problems:
            source = problem.source_assessment
            if source is None:
                yield f"no section is named for {problem.description[:40]!r}"
            elif (CMProblemCategory.SDOH in {problem.category, source}) and (
                problem.category is not source
            ):
                yield f"{problem.description[:40]!r} is of {problem.category}, not of {source}"
            elif not self._found(problem.category) or not self._found(source):
                yield f"nothing was found of {problem.description[:40]!r}"
            codes = self.grounds.unfounded_codes(problem.description)
            yield from (f"{code} is not known" for code in codes)

    def _found(self, kind: CMProblemCategory) -> bool:
        match kind:
            case CMProblemCategory.SDOH:
                data = self.assessment.sdoh
                return data is not None and any(barriers_of(data).values())
            case CMProblemCategory.MEDICATION:
                return self._medicines() or self._due(kind)
            case CMProblemCategory.BEHAVIORAL_HEALTH:
                return self._mood() or self._due(kind)
            case CMProblemCategory.CLINICAL:
                clinical = self.assessment.clinical
                return clinical is not None and bool(clinical.major_diagnoses)
            case CMProblemCategory.COORDINATION:
                return True

    def _due(self, kind: CMProblemCategory) -> bool:
        """Return whether a kind of problem is due whatever the sections say."""
        return kind in self.needs.categories

    def _medicines(self) -> bool:
        data = self.assessment.medication
        if data is None:
            return False
        taken = {entry.adherence for entry in data.current_medications}
        missed = bool(taken & {AdherenceLevel.PARTIAL, AdherenceLevel.NON_ADHERENT})
        return bool(missed or data.discrepancies or data.pharmacist_referral_needed)

    def _mood(self) -> bool:
        data = self.assessment.behavioral_health
        if data is None:
            return False
        scored = max(data.phq9_score or 0, data.gad7_score or 0) >= _MILD
        return scored or data.substance_use_concerns or data.safety_concerns

    def _shaped(self) -> Iterator[str]:
        """Yield problems without a goal, goals without day or measure, and steps without either."""
        made = self.plan.finalized_at or self.plan.created_at
        latest = made.date() + timedelta(days=self.most_days)
        for problem in self.plan.problems:
            if not problem.goals:
                yield f"no goal for {problem.description[:40]!r}"
            for goal in problem.goals:
                if not _is_goal(goal, made.date(), latest):
                    yield f"no goal: {goal.description[:40]!r}"
            for _, step in _steps(problem):
                if not _is_step(step):
                    yield f"no day or frequency: {step.description[:40]!r}"
        if not any(each.strip() for each in self.plan.escalation_conditions):
            yield "no condition of escalation"

    def _worded(self) -> Iterator[str]:
        """Yield texts that claim what nobody said, say nothing, or advise what harms."""
        problems = tuple(each.description for each in self.plan.problems)
        yield from self.witness.unfounded(*problems)
        goals = [goal for each in self.plan.problems for goal in each.goals]
        steps = [step.description for goal in goals for step in goal.interventions]
        aims = [text for goal in goals for text in (goal.description, goal.measurable_criteria)]
        conditions = self.plan.escalation_conditions
        yield from self.witness.says_nothing(*problems, *aims, *steps, *conditions)
        yield from self.witness.presumed(*aims, speaks=Speaks.AIMS)
        yield from self.witness.presumed(*steps, speaks=Speaks.PLANS)
        yield from self.witness.presumed(*conditions, speaks=Speaks.SUPPOSES)
        yield from harmful(*aims, *steps, *map(told_in, conditions))
        yield from self.witness.begun(*aims, *steps)
        yield from unsafe(*aims)
        yield from unhelped(*conditions)

    def _followed(self) -> Iterator[str]:
        begins, made = self.plan.follow_up_start_date, self.plan.finalized_at
        if begins is None:
            yield "no day of the first contact"
        for number, unit in _INTERVAL.findall(self.plan.follow_up_cadence_notes.lower()):
            # As a float: of thousands of digits no integer is read.
            if float(number or 1) * _DAYS[unit] != self.needs.cadence.days:
                yield f"notes of a contact every {number} {unit}"
        if begins is not None and made is not None and begins > made.date() + _BEGINS:
            yield f"follow-up begins on {begins}"


def _steps(problem: CMProblem) -> Iterator[tuple[CMGoal, CMIntervention]]:
    return ((goal, step) for goal in problem.goals for step in goal.interventions)


def _is_goal(goal: CMGoal, first: date, last: date) -> bool:
    dated = goal.target_date is not None and first < goal.target_date <= last
    measured = len(goal.measurable_criteria.split()) >= _WORDS
    return dated and measured and bool(goal.description.strip()) and bool(goal.interventions)


def _is_step(step: CMIntervention) -> bool:
    timed = step.due_date is not None or bool((step.frequency or "").strip())
    return timed and bool(step.description.strip())
