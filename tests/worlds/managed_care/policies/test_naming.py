"""Which criteria a text names, and of which it says that they are shown."""

from __future__ import annotations

import pytest

from healthgym.worlds.managed_care.policies.naming import criteria_conceded, criteria_named


@pytest.mark.parametrize(
    ("text", "conceded"),
    [
        ("Although C2 is now found to be met, C1 and C3 are not.", {"C2"}),
        ("C1, C2 and C3 are shown; C4 is not shown.", {"C1", "C2", "C3"}),
        ("Criteria 1 and 2 are met, C5 is open.", {"C1", "C2"}),
        ("C2 is not met.", set()),
        ("C3 is hardly met.", set()),
        ("C7 is open, and so is C8.", set()),
    ],
)
def test_what_is_granted_is_told_from_what_is_held_against(text: str, conceded: set[str]) -> None:
    assert criteria_conceded(text) == conceded
    assert conceded <= criteria_named(text)
