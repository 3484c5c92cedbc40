"""Business hours: by region, through weekends, holidays and the change of clocks."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from healthgym.worlds.managed_care.calendar import OfficeCalendar, is_state, office_calendar
from healthgym.worlds.managed_care.handbook.rules import OperatingRules

REGIONS = ("", "AZ", "CA", "IL", "LA", "NY", "TX")
HOUR = timedelta(hours=1)

regions = st.sampled_from(REGIONS)
moments = st.datetimes(datetime(2025, 1, 1), datetime(2028, 12, 31)).map(
    lambda at: at.replace(tzinfo=UTC, microsecond=0)
)
amounts = st.integers(1, 200 * 60).map(lambda minutes: timedelta(minutes=minutes))


def _utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("region", "summer", "winter"),
    [("NY", 4, 5), ("TX", 5, 6), ("CO", 6, 7), ("AZ", 6, 7), ("CA", 7, 8), ("HI", 7, 8)],
)
def test_a_region_keeps_the_time_of_its_zone(region: str, summer: int, winter: int) -> None:
    calendar = office_calendar(region)
    assert calendar.utc(date(2026, 7, 1), time(8)) == _utc(f"2026-07-01T{8 + summer:02d}:00")
    assert calendar.utc(date(2026, 12, 1), time(8)) == _utc(f"2026-12-01T{8 + winter:02d}:00")


def test_the_clocks_change_on_the_second_sunday_of_march_and_the_first_of_november() -> None:
    calendar = office_calendar("NY")
    assert calendar.local(_utc("2026-03-08T06:59")) == datetime(2026, 3, 8, 1, 59)
    assert calendar.local(_utc("2026-03-08T07:00")) == datetime(2026, 3, 8, 3, 0)
    assert calendar.local(_utc("2026-11-01T05:59")) == datetime(2026, 11, 1, 1, 59)
    assert calendar.local(_utc("2026-11-01T06:00")) == datetime(2026, 11, 1, 1, 0)


def test_an_office_is_open_from_the_first_minute_to_the_last() -> None:
    calendar = office_calendar("TX")
    answers = [calendar.is_open(_utc(f"2026-03-13T{at}")) for at in ("12:59", "13:00", "21:59")]
    assert answers == [False, True, True]
    assert not calendar.is_open(_utc("2026-03-13T22:00"))


@pytest.mark.parametrize(
    ("at", "opening"),
    [
        ("2026-03-13T15:00", "2026-03-13T15:00"),
        ("2026-03-13T12:00", "2026-03-13T13:00"),
        ("2026-03-13T22:00", "2026-03-16T13:00"),
        ("2026-11-25T23:00", "2026-11-30T14:00"),  # Thanksgiving, the day after, a weekend
        ("2026-07-02T23:00", "2026-07-06T13:00"),  # the Fourth is a Saturday, kept on Friday
    ],
)
def test_the_next_opening_passes_over_nights_weekends_and_holidays(at: str, opening: str) -> None:
    assert office_calendar("TX").next_opening(_utc(at)) == _utc(opening)


def test_business_hours_pass_over_the_weekend() -> None:
    friday = _utc("2026-03-13T21:00")  # an hour before closing
    assert office_calendar("TX").add_business_hours(friday, 3 * HOUR) == _utc("2026-03-16T15:00")


def test_business_days_keep_the_time_of_day_through_the_change_of_clocks() -> None:
    found = office_calendar("NY").add_business_days(_utc("2026-03-06T15:00"), 1)
    assert found == _utc("2026-03-09T14:00")


def test_what_comes_in_on_a_closed_day_counts_from_the_next_business_day() -> None:
    saturday = _utc("2026-03-14T15:00")
    assert office_calendar("TX").add_business_days(saturday, 0) == _utc("2026-03-16T15:00")
    assert office_calendar("TX").add_business_days(saturday, 1) == _utc("2026-03-17T15:00")


def test_a_region_keeps_the_hours_of_the_operating_rules() -> None:
    for region in OperatingRules().regions:
        for state in region.states:
            calendar = office_calendar(state)
            hours = (time(region.opens), time(region.closes))
            assert (calendar.opens, calendar.closes) == hours


def test_the_handbook_lists_the_days_on_which_offices_are_closed() -> None:
    listed = {(each.day, each.state) for each in OperatingRules().holidays}
    for state in ("TX", "NY", "CA", "WY"):
        day = date(2026, 1, 1)
        while day < date(2028, 1, 1):
            closed = (day, "") in listed or (day, state) in listed
            assert closed is (office_calendar(state).holiday(day) is not None)
            day += timedelta(days=1)


def test_an_office_can_keep_hours_of_its_own() -> None:
    calendar = OfficeCalendar("CA", (time(12), time(20)))
    assert calendar.next_opening(_utc("2026-03-13T16:00")) == _utc("2026-03-13T19:00")


def test_states_are_known_by_two_letters() -> None:
    assert is_state("TX")
    assert is_state("DC")
    assert not is_state("XX")
    assert not is_state("Texas")
    assert not is_state("")


@given(regions, moments)
def test_an_opening_is_open_and_not_before(region: str, at: datetime) -> None:
    calendar = office_calendar(region)
    opening = calendar.next_opening(at)
    assert calendar.is_open(opening)
    assert opening >= at
    assert calendar.next_opening(opening) == opening
    assert calendar.business_time(at, opening) == timedelta(0)


@given(regions, moments, amounts, amounts)
def test_business_hours_add_up(
    region: str, at: datetime, first: timedelta, second: timedelta
) -> None:
    calendar = office_calendar(region)
    halfway = calendar.add_business_hours(at, first)
    end = calendar.add_business_hours(halfway, second)
    assert end == calendar.add_business_hours(at, first + second)
    assert calendar.business_time(at, end) == first + second
    # The last minute before the end is one in which the office is open.
    assert calendar.is_open(end - timedelta(minutes=1))


@given(regions, moments, moments, amounts)
def test_who_begins_later_ends_no_earlier(
    region: str, one: datetime, other: datetime, amount: timedelta
) -> None:
    calendar = office_calendar(region)
    early, late = sorted((one, other))
    assert calendar.add_business_hours(early, amount) <= calendar.add_business_hours(late, amount)


@given(regions, moments, st.integers(0, 30), st.integers(0, 30))
def test_business_days_add_up(region: str, at: datetime, first: int, second: int) -> None:
    calendar = office_calendar(region)
    halfway = calendar.add_business_days(at, first)
    assert calendar.is_business_day(calendar.local(halfway).date())
    end = calendar.add_business_days(halfway, second)
    assert calendar.local(end).date() == (
        calendar.local(calendar.add_business_days(at, first + second)).date()
    )


@given(regions, moments)
def test_local_time_and_back(region: str, at: datetime) -> None:
    calendar = office_calendar(region)
    local = calendar.local(at)
    if local.date().weekday() != 6:  # on Sundays the clocks may show an hour twice
        assert calendar.utc(local.date(), local.time()) == at


@given(st.sampled_from(REGIONS), st.lists(moments, min_size=1, max_size=4), st.integers(1, 90))
def test_hours_are_the_same_in_whatever_order_somebody_asks(
    region: str, starts: list[datetime], minutes: int
) -> None:
    asked = OfficeCalendar(region)
    for start in starts:
        for at in (start + timedelta(minutes=minutes) * step for step in range(60)):
            local = asked.local(at)
            expected = asked.is_business_day(local.date()) and (
                asked.opens <= local.time() < asked.closes
            )
            assert asked.is_open(at) is expected
