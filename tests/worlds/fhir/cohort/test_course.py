"""Stays, visits and midnights."""

from datetime import datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from healthgym.worlds.fhir.cohort.course import draw_course, local_midnight, spread_out

END = 1_699_870_500
START = END - 5 * 31_556_952


@pytest.mark.parametrize("density", [0.001, 0.02, 1.0])
def test_moments_lie_in_the_window(density: float) -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        course = draw_course(rng, START, END, density)
        moments = course.moments(rng, rng.random(300) < 0.7)
        assert moments.min() >= START - 60
        assert moments.max() < END - 600


def test_stays_are_dense_and_visits_are_not() -> None:
    rng = np.random.default_rng(0)
    course = draw_course(rng, START, END, 0.02)
    days = [
        len(np.unique(course.moments(rng, np.full(400, inpatient)) // 86_400))
        for inpatient in (True, False)
    ]
    assert days[1] <= len(course.visits)
    assert days[0] < 100


def test_nearly_half_of_the_courses_end_in_hospital() -> None:
    current = 0
    for seed in range(300):
        course = draw_course(np.random.default_rng(seed), START, END, 0.02)
        lengths = np.diff(course.cumulative, prepend=0.0)
        current += bool((course.start + lengths).max() > END - 3600)
    assert 0.35 < current / 300 < 0.6


def test_moments_are_spread_until_they_differ() -> None:
    moments = np.array([600, 0, 600, 600, 660])
    assert spread_out(moments).tolist() == [0, 480, 540, 600, 660]


@pytest.mark.parametrize("year", [2008, 2018, 2023, 2024])
def test_midnight_agrees_with_the_time_zone_database(year: int) -> None:
    zone = ZoneInfo("America/Los_Angeles")
    start = int(datetime(year, 1, 1, tzinfo=zone).timestamp())
    moments = np.random.default_rng(year).integers(start, start + 365 * 86_400, 500)
    midnights = local_midnight(moments)
    for moment, midnight in zip(moments.tolist(), midnights.tolist(), strict=True):
        local = datetime.fromtimestamp(moment, zone)
        expected = datetime(local.year, local.month, local.day, tzinfo=zone)
        # On the two days of the change the offset is that of the moment, not of the midnight.
        assert abs(midnight - expected.timestamp()) <= 3600
        if expected.utcoffset() == local.utcoffset():
            assert midnight == expected.timestamp()
