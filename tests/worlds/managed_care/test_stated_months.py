"""Months are read in whatever letters a pattern takes for theirs."""

from __future__ import annotations

from datetime import date

import pytest

from healthgym.worlds.managed_care.stated import days_in, stated, unknown


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


@pytest.mark.parametrize(
    ("text", "days", "loose", "numbers"),
    [
        (
            "ED 2025-06-20, 09-24, 10-23, 11-04",
            {date(2025, 6, 20)},
            {(0, 9, 24), (0, 10, 23), (0, 11, 4)},
            set(),
        ),
        ("BP 91/60 (12-29), 2026-03-10", {date(2026, 3, 10)}, {(0, 12, 29)}, {"91", "60"}),
        ("In 2025-02-14/20", {date(2025, 2, 14), date(2025, 2, 20)}, set(), set()),
        ("In 2025-02-27/03-01", {date(2025, 2, 27), date(2025, 3, 1)}, set(), set()),
        ("2026-01-02: 10-15 sessions, 10-20 mg", {date(2026, 1, 2)}, set(), {"10", "15", "20"}),
        ("Takes 10-14 a day", set(), set(), {"10", "14"}),
    ],
)
def test_days_of_the_last_months_are_read_beside_whole_ones_and_amounts_are_none(
    text: str, days: set[date], loose: set[tuple[int, int, int]], numbers: set[str]
) -> None:
    found = stated(text)
    assert (found.days, found.loose, found.numbers) == (days, loose, numbers)


def test_the_category_of_a_known_code_is_known() -> None:
    known = {"I69.351", "E11.9"}
    assert unknown({"I69", "E11.9", "I69.351"}, known) == frozenset()
    assert unknown({"I6", "I69.35", "M54.16"}, known) == {"I6", "I69.35", "M54.16"}
