"""The collector of cycles is still while a task is drawn, and as it was afterwards."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest

from healthgym.core.collecting import uncollected
from healthgym.core.seeding import Split
from healthgym.envs.managed_care.utilization_management.family import ReviewFamily


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    on = gc.isenabled()
    yield
    (gc.enable if on else gc.disable)()


@pytest.mark.parametrize("on", [True, False])
def test_it_is_as_it_was_afterwards_whatever_happens(on: bool) -> None:
    (gc.enable if on else gc.disable)()
    with uncollected(), uncollected():
        assert not gc.isenabled()
    assert gc.isenabled() is on
    with pytest.raises(ValueError, match="no task"), uncollected():
        raise ValueError("no task")
    assert gc.isenabled() is on


def test_no_cycles_are_searched_for_while_a_task_is_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gc.enable()
    generator = ReviewFamily("easy").generator
    draw = type(generator).draw
    searching: list[bool] = []

    def watched(self: Any, split: Split, index: int) -> Any:
        searching.append(gc.isenabled())
        return draw(self, split, index)

    monkeypatch.setattr(type(generator), "draw", watched)
    generator.generate(Split.TRAIN, 4243)
    assert searching == [False]
    assert gc.isenabled()
