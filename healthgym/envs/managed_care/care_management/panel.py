"""The plan's members who may be referred: their illnesses and charts before any referral.

As the clinic's patients, they come in groups of some who are easily taken for each other. Each
condition has groups of its own, and each split has its own of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial

import numpy as np

from healthgym.core.seeding import Split
from healthgym.envs.managed_care.care_management.conditions import CareCondition, care_conditions
from healthgym.envs.managed_care.cases.clinic import CHARTED, workforce
from healthgym.worlds.managed_care.facts import AnyFact, Intolerance, Measurement, MedicationCourse
from healthgym.worlds.managed_care.population.background import (
    Background,
    DeferredBackground,
    Years,
    draw_background,
)
from healthgym.worlds.managed_care.population.conditions import conditions
from healthgym.worlds.managed_care.records.chart import Patient

#: Groups of a condition, and how many are in one.
GROUPS, ALIKE = 12, 5
#: Members of whom is kept what was drawn, of some 30 KB each: a split's 440, and some besides.
KNOWN = 512
#: Entropy of the panel: its own, so that no task's stream is part of it.
_PANEL = 20260305
_PERSON, _STANDING, _CHART = range(3)
#: Numbers of patients: prime to their count, the step scatters a group over all of them.
_FIRST_NUMBER, _NUMBERS, _STEP = 1001, 8900, 3571
#: How many diseases go with the one of the referral, by how often.
_BESIDE = (0.2, 0.3, 0.3, 0.2)


@dataclass(frozen=True, slots=True)
class Member:
    """Which member of the plan somebody is.

    Attributes:
        condition: Name of the condition with which they are referred.
        group: The group of those who are easily taken for each other.
        place: Place in it.
    """

    condition: str
    group: int
    place: int

    @property
    def background(self) -> Background:
        """The member before any referral."""
        return _background(self)

    @property
    def patient(self) -> Patient:
        """Who it is, which is all that most queues have of somebody."""
        return _patient(self)

    def stream(self) -> np.random.Generator:
        """Return where a referral comes from that stands in other members' queues."""
        return _stream(_STANDING, _place_of(self.condition), self.group, self.place)

    def chart_stream(self) -> np.random.Generator:
        """Return where the chart comes from that belongs to such a referral."""
        return _stream(_CHART, _place_of(self.condition), self.group, self.place)


@cache
def members(split: Split, condition: str) -> tuple[Member, ...]:
    """Return the members of a split with a condition."""
    own = range(list(Split).index(split), GROUPS, len(Split))
    return tuple(Member(condition, group, place) for group in own for place in range(ALIKE))


@cache
def _patient(member: Member) -> Patient:
    return _background(member).patient


@lru_cache(maxsize=KNOWN)
def _background(member: Member) -> Background:
    condition = care_conditions()[member.condition]
    like = _background(replace(member, place=0)) if member.place else None
    rng = _stream(_PERSON, _place_of(member.condition), member.group, member.place)
    own, others = _diseases(condition, rng)
    known = conditions()
    if like is not None:
        # Who resembles somebody is as old.
        others = tuple(name for name in others if _fits(known[name].ages, like))
    having = (*own, *others)
    ranges = [known[name].ages for name in having]
    if condition.event:
        ranges = [condition.event.ages]
    least, most = max(low for low, _ in ranges), min(high for _, high in ranges)
    drawn = draw_background(
        _number(member),
        workforce(),
        rng,
        CHARTED,
        like=like,
        rank=max(member.place, 1),
        having=having,
        ages=(least, max(least, most)),
    )
    # A member is covered.
    latest = replace(drawn.coverages[0], active=True, termination_date=None)
    return DeferredBackground.later(
        partial(_years, drawn, condition.never),
        patient=drawn.patient,
        coverages=(latest, *drawn.coverages[1:]),
        habits=drawn.habits,
        illnesses=drawn.illnesses,
    )


def _years(drawn: Background, never: frozenset[str]) -> Years:
    return Years(_tolerated(_measured_once(drawn.diseases), never), drawn.orders)


def _measured_once(diseases: Mapping[str, tuple[AnyFact, ...]]) -> dict[str, tuple[AnyFact, ...]]:
    """Return diseases of which each measures what none before it does.

    Two that follow one measure would give it two values on a day.
    """
    found: dict[str, tuple[AnyFact, ...]] = {}
    owned: set[str] = set()
    for name, facts in diseases.items():
        kept = [x for x in facts if not (isinstance(x, Measurement) and x.code in owned)]
        owned |= {x.code for x in kept if isinstance(x, Measurement)}
        found[name] = tuple(kept)
    return found


def _tolerated(
    diseases: Mapping[str, tuple[AnyFact, ...]], never: frozenset[str]
) -> dict[str, tuple[AnyFact, ...]]:
    """Return diseases without what is never given, and without allergies to what is taken."""
    kept = {
        name: [x for x in facts if not (isinstance(x, MedicationCourse) and x.drug_class in never)]
        for name, facts in diseases.items()
    }
    going = {
        x.medication
        for facts in kept.values()
        for x in facts
        if isinstance(x, MedicationCourse) and x.ended is None
    }
    return {
        name: tuple(x for x in facts if not (isinstance(x, Intolerance) and x.substance in going))
        for name, facts in kept.items()
    }


def _fits(ages: tuple[int, int], like: Background) -> bool:
    return ages[0] <= (CHARTED - like.patient.dob).days // 365 <= ages[1]


def _diseases(
    condition: CareCondition, rng: np.random.Generator
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Draw the diseases of the referral, and those that go with them."""
    own = tuple(each[int(rng.integers(len(each)))] for each in condition.diseases)
    count = int(rng.choice(len(_BESIDE), p=_BESIDE))
    count = max(count, 1) if not own else count
    order = rng.permutation(len(condition.beside))[:count]
    return own, tuple(condition.beside[int(place)] for place in order)


def _place_of(condition: str) -> int:
    return list(care_conditions()).index(condition)


def _number(member: Member) -> int:
    place = (_place_of(member.condition) * GROUPS + member.group) * ALIKE + member.place
    return _FIRST_NUMBER + place * _STEP % _NUMBERS


def _stream(*key: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(_PANEL, spawn_key=key)))
