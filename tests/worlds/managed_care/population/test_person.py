"""Who patients are: names, languages and plans that go together."""

from __future__ import annotations

from collections import Counter
from datetime import date

import numpy as np
import pytest

from healthgym.worlds.managed_care.population.drawing import Population, draw_population
from healthgym.worlds.managed_care.population.origins import origin_of, origins
from healthgym.worlds.managed_care.population.person import group_number
from healthgym.worlds.managed_care.records.chart import Patient

TODAY = date(2026, 3, 13)


@pytest.fixture(scope="module")
def people() -> Population:
    return draw_population(np.random.SeedSequence(7), TODAY, 40)


def age(patient: Patient, day: date) -> float:
    return (day - patient.dob).days / 365.25


def test_names_race_and_language_are_of_one_origin(people: Population) -> None:
    for chart in people.charts.values():
        who = chart.patient
        origin = origin_of(who.last_name)
        assert who.last_name in origin.last
        assert who.first_name in origin.first_names(who.sex)
        assert who.race in origin.races
        assert who.ethnicity == origin.ethnicity
        assert who.preferred_language in origin.languages


def test_no_last_name_is_of_two_origins() -> None:
    counted = Counter(name for each in origins() for name in each.last)
    assert [name for name, times in counted.items() if times > 1] == []


def test_medicare_begins_at_65_and_is_all_there_is_from_then_on(people: Population) -> None:
    seen = set()
    for chart in people.charts.values():
        for each in chart.coverages:
            assert each.effective_date is not None
            senior = age(chart.patient, each.effective_date) >= 65
            medicare = each.plan_name.endswith("Medicare")
            assert medicare == senior, (chart.patient, each)
            seen.add(medicare)
    assert seen == {True, False}


def test_a_group_number_begins_with_the_plan(people: Population) -> None:
    assert group_number("Larkfield Select HMO", 1234) == "HMO-1234"
    for chart in people.charts.values():
        for each in chart.coverages:
            if each.group_number is not None:
                number = int(each.group_number.rpartition("-")[2])
                assert each.group_number == group_number(each.plan_name, number)


def test_heights_are_those_of_women_and_men(people: Population) -> None:
    heights: dict[str, list[float]] = {"F": [], "M": []}
    for chart in people.charts.values():
        heights[chart.patient.sex] += [
            each.value_quantity
            for each in chart.observations
            if each.code == "8302-2" and each.value_quantity is not None
        ]
    assert 157 < np.mean(heights["F"]) < 167
    assert 170 < np.mean(heights["M"]) < 181
    assert max(heights["F"]) < 180
