"""Holidays fall where the calendars of three years and five states have them."""

from __future__ import annotations

from datetime import date

import pytest

from healthgym.worlds.managed_care.holidays import easter, holiday, holidays_of, nth_weekday

#: As the federal government published them (the day on which offices close).
FEDERAL = {
    2025: "01-01 01-20 02-17 05-26 06-19 07-04 09-01 10-13 11-11 11-27 12-25",
    2026: "01-01 01-19 02-16 05-25 06-19 07-03 09-07 10-12 11-11 11-26 12-25",
    2027: "01-01 01-18 02-15 05-31 06-18 07-05 09-06 10-11 11-11 11-25 12-24 12-31",
}
#: Of the states: what is theirs, and no federal holiday.
STATES = {
    ("CA", 2025): "03-31 11-28",
    ("CA", 2026): "03-31 11-27",
    ("CA", 2027): "03-31 11-26",
    ("TX", 2025): "11-28 12-24 12-26",
    ("TX", 2026): "11-27 12-24 12-26",
    ("NY", 2025): "02-12 11-04",
    ("NY", 2026): "02-12 11-03",
    ("NY", 2027): "02-12 11-02",
    ("IL", 2025): "02-12",
    ("IL", 2026): "02-12 11-03",
    ("MA", 2026): "04-20",
    ("LA", 2025): "03-04 04-18",
    ("LA", 2026): "02-17 04-03",
    ("LA", 2027): "02-09 03-26",
}


def _days(year: int, listed: str) -> set[date]:
    return {date.fromisoformat(f"{year}-{day}") for day in listed.split()}


@pytest.mark.parametrize("year", FEDERAL)
def test_federal_holidays_fall_as_published(year: int) -> None:
    assert set(holidays_of(year)) == _days(year, FEDERAL[year])


@pytest.mark.parametrize(("state", "year"), STATES, ids=lambda value: str(value))
def test_a_state_keeps_its_own_besides(state: str, year: int) -> None:
    own = set(holidays_of(year, state)) - set(holidays_of(year))
    assert own == _days(year, STATES[state, year])


def test_new_year_on_a_saturday_is_kept_in_the_old_year() -> None:
    assert holiday(date(2021, 12, 31)) == "New Year's Day"
    assert holiday(date(2022, 1, 1)) is None


def test_a_day_has_a_name_or_none() -> None:
    assert holiday(date(2026, 11, 26)) == "Thanksgiving Day"
    assert holiday(date(2026, 11, 27)) is None
    assert holiday(date(2026, 11, 27), "TX") == "Day after Thanksgiving"


@pytest.mark.parametrize(
    ("year", "day"),
    [(2000, "04-23"), (2011, "04-24"), (2024, "03-31"), (2025, "04-20"), (2038, "04-25")],
)
def test_easter_falls_as_the_church_reckons(year: int, day: str) -> None:
    assert easter(year) == date.fromisoformat(f"{year}-{day}")


def test_the_last_monday_of_a_month_of_four_and_of_five() -> None:
    assert nth_weekday(2026, 5, 0, -1) == date(2026, 5, 25)
    assert nth_weekday(2027, 5, 0, -1) == date(2027, 5, 31)
