"""Who a case is about: one of the clinic's patients, drawn for a policy."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import date

import numpy as np

from healthgym.core.seeding import Split
from healthgym.envs.managed_care.cases.clinic import (
    ALIKE,
    CHARTED,
    GROUPS,
    chart,
    first_of,
    group_of_age,
    person,
)
from healthgym.worlds.managed_care.charts.ages import age_on
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.policies.criteria import DiagnosisCriterion
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.population.background import Background
from healthgym.worlds.managed_care.records.chart import Patient

#: How often somebody is drawn who is to be nobody of some.
_DRAWS = 12


@dataclass(frozen=True, slots=True)
class Subject:
    """Which of the clinic's patients a task is about.

    Attributes:
        group: The group of those who are easily taken for each other.
        place: Place in it.
    """

    group: int
    place: int

    @property
    def background(self) -> Background:
        """The patient before the case."""
        return person(self.group, self.place)


def draw_subject(
    rng: np.random.Generator, policy: Policy, split: Split, taken: Collection[str] = ()
) -> Subject:
    """Return somebody for whom something under a policy may be ordered; each split has its own.

    Args:
        rng: Where chance comes from.
        policy: The policy.
        split: The split.
        taken: Ids of who is not meant, unless nobody else is found soon.
    """
    own = range(list(Split).index(split), GROUPS, len(Split))
    women, senior = _for_women(policy), MEDICARE in policy.plans
    others = any(plan != MEDICARE for plan in policy.plans)

    def insurable(who: Patient) -> bool:
        old = age_on(who.dob, CHARTED) >= SENIOR
        return (senior if old else others) and (who.sex == "F" or not women)

    for _ in range(_DRAWS if taken else 1):
        group, place = own[int(rng.integers(len(own)))], int(rng.integers(ALIKE))
        found = Subject(_nearest(group, insurable), place)
        if found.background.patient.id not in taken:
            break
    return found


def fitting(subject: Subject, age: int, today: date) -> Subject:
    """Return somebody of the age that a request needs: a birthday is not moved for a case.

    Args:
        subject: Who was drawn; taken if the age is right.
        age: The age.
        today: The day of the request.
    """
    own = subject.background.patient
    if age_on(own.dob, today) == age:
        return subject
    other = Subject(
        _nearest(subject.group, lambda who: who.sex == own.sex and age_on(who.dob, today) == age),
        subject.place,
    )
    if age_on(other.background.patient.dob, today) == age:
        return other
    # A group besides is everybody's: each split asks for others of it.
    return Subject(group_of_age(age), subject.place + ALIKE * (subject.group % len(Split)))


def _nearest(group: int, wanted: Callable[[Patient], bool]) -> int:
    """Return the split's next group whose first member is as wanted; the same if none is."""
    order = ((group + step) % GROUPS for step in range(0, GROUPS, len(Split)))
    return next((each for each in order if wanted(first_of(each))), group)


def _for_women(policy: Policy) -> bool:
    """Return whether the conditions that a policy asks for are those of women."""
    named = [
        example
        for item in criteria(policy.criteria)
        if isinstance(item, DiagnosisCriterion) and item.wanted
        for example in item.examples
    ]
    return any(code.startswith(_WOMEN) for code in named)


def draw_others(
    subject: Subject, count: int, twins: int, rng: np.random.Generator
) -> tuple[PatientChart, ...]:
    """Return the charts of other patients of the clinic.

    Args:
        subject: Who is meant.
        count: How many others.
        twins: How many of them resemble who is meant, by name, birthday and place.
        rng: Where chance comes from.
    """
    places = [n for n in range(max(ALIKE, twins + 1)) if n != subject.place]
    alike = [places[int(n)] for n in rng.permutation(len(places))[:twins]]
    groups = rng.permutation(GROUPS * ALIKE).tolist()
    rest = [divmod(n, ALIKE) for n in groups[: count - twins + ALIKE]]
    others = [each for each in rest if each[0] != subject.group][: count - twins]
    return tuple(chart(*each) for each in [*((subject.group, n) for n in alike), *others])


#: The plan of those of 65 years and more; younger people have another.
MEDICARE, SENIOR = "Larkfield Advantage Medicare", 65
#: Beginnings of codes that say "female" in their titles, or can be nobody else's.
_WOMEN = ("C50", "C56", "O")
