"""Months are read in whatever letters a pattern takes for theirs."""

from __future__ import annotations

from datetime import date

import pytest

from healthgym.worlds.managed_care.stated import days_in, stated


@pytest.mark.parametrize("month", ["sep", "SEP", "Sept", "September", "\u017fep", "\u017feptember"])
def test_a_month_is_read_in_any_letters_of_its_name(month: str) -> None:
    assert date(2024, 9, 3) in stated(f"seen on 3 {month} 2024").days


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("taken on 2/19/26", {date(2026, 2, 19)}),
        ("born 3/12/96, seen 3/12/25", {date(1996, 3, 12), date(2025, 3, 12)}),
        ("from 12/29/25 to 1/28/26", {date(2025, 12, 29), date(2026, 1, 28)}),
        ("from December 25 to 31, 2025", {date(2025, 12, 25), date(2025, 12, 31)}),
        ("on Mar 3 and 4, 2026, of 12", {date(2026, 3, 3), date(2026, 3, 4)}),
        ("strength 4/5, pressure 120/80", set()),
        ("13/45/26", set()),
    ],
)
def test_a_year_may_have_two_digits(text: str, days: set[date]) -> None:
    assert days_in(text) == days
