"""Months are read in whatever letters a pattern takes for theirs."""

from __future__ import annotations

from datetime import date

import pytest

from healthgym.worlds.managed_care.stated import stated


@pytest.mark.parametrize("month", ["sep", "SEP", "Sept", "September", "\u017fep", "\u017feptember"])
def test_a_month_is_read_in_any_letters_of_its_name(month: str) -> None:
    assert date(2024, 9, 3) in stated(f"seen on 3 {month} 2024").days
