"""Numbers that a nurse works out of two values or days are hers; others have to be on file."""

from __future__ import annotations

from datetime import date

import pytest

from healthgym.envs.managed_care.care_management.reckoned import reckoned

_TODAY = date(2026, 3, 31)
_MEASURED = (
    ("Hemoglobin A1c", (7.9, 5.8, 6.4)),
    ("Systolic pressure", (148.0, 109.0, 131.0)),
    ("NT-proBNP", (1460.0, 900.0)),
)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("HbA1c 7.9 % on 2026-02-10, up 2.1 points from 5.8 %.", "2.1"),
        ("A1c rose by 1.5 to 7.9 %.", "1.5"),
        ("Pressure 148/81 mmHg, up 39 from 109.", "39"),
        ("NT-proBNP rose by about 560 in a month.", "560"),
        ("Discharged 2025-12-05, first seen 2026-02-10, 67 days later.", "67"),
        ("5.8 % on 2025-11-18 (133 days ago).", "133"),
        ("From 2025-10-24 to 2026-03-13 in 20 weeks.", "20"),
        ("Values of 2026-01-09; A1c of 2025-11-18 (52 days).", "52"),
        ("A1c 7.9 % on 01/07; none since, 83 d on 2026-03-31.", "83"),
    ],
)
def test_what_follows_from_values_and_days_is_worked_out(text: str, number: str) -> None:
    assert number in reckoned(text, _MEASURED, _TODAY)


@pytest.mark.parametrize(
    "text",
    [
        "A1c rose by 3.7 to 7.9 %.",
        "Pressure up 61 from 109.",
        "Pressure down 17.",  # by which two values differ, of which none is told
        "LDL up 2.1 points.",  # as another value did
        "Discharged 2025-12-05, first seen 2026-02-10, 31 days later.",
        "Waited 67 days.",  # from no day to no day
        "2026-01-09; 2026-02-10; 2026-03-01; 2026-03-05, 32 days.",  # of days told long before
        "NT-proBNP rose by 800.",
        "A1c 6.4 % and 148 mmHg.",  # no change and no time
    ],
)
def test_nothing_else_is(text: str) -> None:
    assert reckoned(text, _MEASURED, _TODAY) == frozenset()
