"""What a body or a prescriber does not do: pressures that meet, and medicines that clash."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from functools import cache
from itertools import combinations

import numpy as np

from healthgym.worlds.managed_care.facts import Measurement, MedicationCourse
from healthgym.worlds.managed_care.population.background import Background, draw_background
from healthgym.worlds.managed_care.population.companions import companions
from healthgym.worlds.managed_care.population.pressure import LOWER, UPPER, below
from healthgym.worlds.managed_care.population.staff import draw_workforce
from healthgym.worlds.managed_care.population.suitability import closed_by, ruled_out
from tests.worlds.managed_care.population.test_companions import NOTE, TODAY, coronary

#: Who has these is treated by several hands.
BURDENED = ("hypertension", "heart_failure", "kidney", "depression", "anxiety", "coronary")
BLOCKERS, SEROTONERGIC = {"ace_inhibitor", "arb", "arni"}, {"ssri", "snri"}


@cache
def burdened() -> tuple[Background, ...]:
    staff = draw_workforce(np.random.default_rng(3))
    day = date(2026, 3, 13)
    return tuple(
        draw_background(
            number,
            staff,
            np.random.default_rng([7, number]),
            day,
            having=(*BURDENED, *(("migraine",) if number % 2 else ("osteoarthritis",))),
        )
        for number in range(40)
    )


def courses(one: Background) -> list[MedicationCourse]:
    return [fact for fact in one.facts if isinstance(fact, MedicationCourse)]


def pairs(one: Background) -> Iterator[tuple[float, float]]:
    values = {(x.code, x.taken): x.value for x in one.facts if isinstance(x, Measurement)}
    for (code, day), value in values.items():
        if code == UPPER and (LOWER, day) in values:
            yield value, values[LOWER, day]


def test_pressures_never_meet() -> None:
    found = [pair for one in burdened() for pair in pairs(one)]
    assert len(found) > 400
    assert min(upper - lower for upper, lower in found) >= 20


def test_a_lower_pressure_is_left_where_it_fits_and_drawn_down_where_not() -> None:
    assert below(80.0, None) == below(80.0, 118.0) == 80.0
    drawn = [below(value, 100.0) for value in (68.0, 75.0, 84.0, 99.0, 130.0)]
    assert drawn == sorted(drawn)
    assert drawn[0] == 68.0
    assert drawn[-1] < 80.0


def test_no_two_medicines_do_the_same_work_at_the_same_time() -> None:
    taken = 0
    for one in burdened():
        for group in (BLOCKERS, SEROTONERGIC):
            mine = [each for each in courses(one) if each.drug_class in group]
            taken += len(mine)
            for first, second in combinations(sorted(mine, key=lambda x: x.started), 2):
                assert (first.ended or TODAY) <= second.started, (first, second)
    assert taken > 60


def test_nobody_is_given_what_their_illness_rules_out() -> None:
    given = {each.drug_class for one in burdened() for each in courses(one)}
    assert given.isdisjoint({"nsaid", "triptan", "rate_control"})
    assert ruled_out(["kidney"]) == {"nsaid"}
    assert ruled_out(["gout"]) == frozenset()


def test_one_class_closes_those_that_do_its_work() -> None:
    assert closed_by({"arb", "statin"}) == {*BLOCKERS, "statin"}
    assert closed_by(()) == frozenset()


def test_a_companion_does_not_join_what_it_would_replace() -> None:
    one = next(x for x in companions([coronary()], (), (), NOTE, TODAY) if "pril" in x.medication)
    other = MedicationCourse(
        id="F-2",
        medication="losartan",
        drug_class="arb",
        dose="50 mg",
        frequency="once daily",
        started=one.started,
    )
    found = companions([coronary()], (other,), (), NOTE, TODAY)
    assert {x.medication for x in found} == {"aspirin", "atorvastatin"}
