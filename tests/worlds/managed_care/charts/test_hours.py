"""When things happen: in the office hours of the patient's site, the same each time."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import date, timedelta

import pytest

from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.charts.hours import (
    business_day,
    drawn_at,
    some_business_day,
    visit_start,
)
from healthgym.worlds.managed_care.charts.knowledge import measures
from healthgym.worlds.managed_care.population.drawing import Population

DAY = date(2026, 1, 6)


@pytest.mark.parametrize("state", ["TX", "CA", "NY", "FL", "IL", "WA"])
def test_visits_and_blood_draws_are_in_local_hours_of_the_same_utc_day(
    population: Population, state: str
) -> None:
    who = replace(population.backgrounds[0].patient, address_state=state)
    office = office_calendar(state)
    hours: Counter[int] = Counter()
    for step in range(365):
        day = DAY + timedelta(days=step)
        seen, drawn = visit_start(who, day), drawn_at(who, day)
        assert seen.date() == drawn.date() == day
        assert 8 <= office.local(seen).hour < 17
        assert 7 <= office.local(drawn).hour < 10
        hours[office.local(seen).hour] += 1
    assert len(hours) >= 5


def test_the_nearest_business_day_is_no_weekend_and_no_holiday() -> None:
    assert business_day(date(2025, 12, 25)) == date(2025, 12, 24)
    assert business_day(date(2026, 1, 10)) == date(2026, 1, 9)
    assert business_day(date(2026, 1, 11)) == date(2026, 1, 12)
    assert business_day(DAY) == DAY


def test_days_that_are_moved_prefer_no_weekday() -> None:
    moved: Counter[int] = Counter()
    for step in range(3 * 365):
        day = DAY + timedelta(days=step)
        other = some_business_day(day)
        assert abs((other - day).days) <= 3
        moved[other.weekday()] += 1
    assert set(moved) == set(range(5))
    assert max(moved.values()) < 1.2 * min(moved.values())


def test_weekdays_are_about_as_likely_as_one_another(population: Population) -> None:
    days = Counter(
        each.occurred_at.weekday()
        for chart in population.charts.values()
        for each in chart.encounters
    )
    assert set(days) == set(range(5))
    mean = sum(days.values()) / 5
    assert all(abs(count - mean) < 4 * mean**0.5 for count in days.values()), days


def test_what_is_measured_at_a_visit_has_the_time_of_the_visit(population: Population) -> None:
    for chart in population.charts.values():
        seen = {each.occurred_at.date(): each.occurred_at for each in chart.encounters}
        for each in chart.observations:
            known = measures().get(each.code)
            start = seen.get(each.observed_at.date())
            if known is not None and known.vital and start is not None:
                assert timedelta() < each.observed_at - start < timedelta(minutes=30)
