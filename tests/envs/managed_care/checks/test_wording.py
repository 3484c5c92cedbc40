"""What a text costs that says what nobody could see."""

from __future__ import annotations

import pytest

from healthgym.envs.managed_care.checks.wording import Flaw, share_left


def test_each_text_costs_a_fifth_and_a_grave_one_all() -> None:
    doubt = Flaw("nobody said so")
    assert share_left(()) == 1.0
    assert share_left((doubt,)) == pytest.approx(0.8)
    assert share_left((doubt,) * 3) == pytest.approx(0.4)
    assert share_left((doubt,) * 5) == share_left((doubt,) * 9) == 0.0
    assert share_left((doubt, Flaw("a slot that nobody filled in", grave=True))) == 0.0
