"""Which criteria a text names, and of which it says that they are shown."""

from __future__ import annotations

import pytest

from healthgym.worlds.managed_care.policies.naming import (
    criteria_conceded,
    criteria_left,
    criteria_named,
)


@pytest.mark.parametrize(
    ("text", "conceded"),
    [
        ("Although C2 is now found to be met, C1 and C3 are not.", {"C2"}),
        ("C1, C2 and C3 are shown; C4 is not shown.", {"C1", "C2", "C3"}),
        ("Criteria 1 and 2 are met, C5 is open.", {"C1", "C2"}),
        ("C2 is not met.", set()),
        ("C3 is hardly met.", set()),
        ("C7 is open, and so is C8.", set()),
        ("Beside C4 one of the two is needed.", {"C4"}),
        ("C4 alone is not enough.", {"C4"}),
        ("I mean to deny on C6 alone.", set()),
        (
            "C1 is open, although care (C4), units (C8) and setting (C9) are shown.",
            {"C4", "C8", "C9"},
        ),
        ("**Met:** C3, C5\n**Open:** C1", {"C3", "C5"}),
        ("The branch fails, although a mood disorder (C7) is present.", {"C7"}),
        ("C3 is fine (43 % on file); C6 is not in dispute.", {"C3", "C6"}),
        ("C1 and C2 must be met. C5 is to be shown.", set()),
        ("C7 asks that rest is shown, and nothing shows it.", set()),
    ],
)
def test_what_is_granted_is_told_from_what_is_held_against(text: str, conceded: set[str]) -> None:
    assert criteria_conceded(text) == conceded
    assert conceded <= criteria_named(text)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("C1 is not shown, but C7 and C9 are.", {"C1"}),
        ("C1 need not be met: C7 and C9 are shown.", {"C1"}),
        ("The denial rested on C1; C7 and C9 make it needless.", {"C1"}),
        ("C7 and C9 carry the request without C1.", {"C1"}),
        ("C7 and C9 are shown.", set()),
    ],
)
def test_what_is_not_needed_is_told_from_what_carries(text: str, left: set[str]) -> None:
    assert criteria_left(text) == left
