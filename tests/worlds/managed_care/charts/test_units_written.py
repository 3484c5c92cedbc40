"""A measurement is written with the decimals of the unit it is written in, whatever its own is."""

from __future__ import annotations

from datetime import date

import pytest

from healthgym.worlds.managed_care.charts.knowledge import flagged
from healthgym.worlds.managed_care.charts.prose import written_value
from healthgym.worlds.managed_care.facts import Measurement


def measured(code: str, value: float, unit: str) -> Measurement:
    """Return a measurement that nothing but its value is known of."""
    return Measurement(
        id="F-1", noted_in=(), code=code, display="", value=value, unit=unit, taken=date(2026, 1, 2)
    )


@pytest.mark.parametrize(
    ("fact", "unit", "text"),
    [
        # 7.796 %, which whole numbers would call 8, and a limit is.
        (measured("4548-4", 61.7, "mmol/mol"), "%", "7.8%"),
        (measured("4548-4", 7.8, "%"), "mmol/mol", "62 mmol/mol"),
        (measured("718-7", 124.0, "g/L"), "g/dL", "12.4 g/dL"),
        (measured("718-7", 12.4, "g/dL"), "g/L", "124 g/L"),
    ],
)
def test_a_value_in_another_unit_has_that_units_decimals(
    fact: Measurement, unit: str, text: str
) -> None:
    assert written_value(fact, unit) == text


@pytest.mark.parametrize(
    ("fact", "flag"),
    [
        (measured("2345-7", 11.1, "mmol/L"), "high"),
        (measured("2345-7", 5.0, "mmol/L"), "normal"),
        (measured("2345-7", 60.0, "mg/dL"), "low"),
        (measured("4548-4", 61.7, "mmol/mol"), "high"),
        (measured("718-7", 124.0, "g/L"), "normal"),
        (measured("2345-7", 200.0, ""), "high"),
        (measured("0000-0", 1.0, "mg/dL"), None),
    ],
)
def test_a_value_is_flagged_by_its_own_unit(fact: Measurement, flag: str | None) -> None:
    assert flagged(fact) == flag
