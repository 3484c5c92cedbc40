"""Whatever write fails, on any surface, in whatever state: the call leaves nothing behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial

import numpy as np
import pytest

from healthgym.core.journal import InjectedFault
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.sized import some
from tests.worlds.managed_care.clerks import draw_legal, draw_pause, house, let_happen
from tests.worlds.managed_care.replay import call

#: Calls of one house; then another one is opened.
CALLS = 120
RULES = pytest.mark.parametrize("rules", Rules)


def fail_each(world: ManagedCareWorld, act: Callable[[], object]) -> int:
    """Make each write of something fail, the first, the second, and so on; then let it pass.

    Returns:
        The number of writes that were made to fail.
    """
    before, writes = world.digest(), 0
    for number in range(1, 500):
        fated = world.journal.writes + number
        world.journal.fail_at(number)
        try:
            act()
        except InjectedFault:
            writes = number
            assert not world.journal.open
            assert world.digest() == before, f"write {number}"
            continue
        world.journal.fail_at(None)
        assert world.journal.writes < fated, f"write {number} failed, and nobody said so"
        return writes
    raise AssertionError("it writes for ever")


def days(rules: Rules) -> Iterator[tuple[ManagedCareWorld, Callable[[], object]]]:
    """Yield what is done and what falls due, in one house after the other, before it is done."""
    seed = 0
    while True:
        rng = np.random.default_rng([seed, list(Rules).index(rules), 3])
        world = house(rules)
        for _ in range(CALLS):
            yield world, partial(call, world, *draw_legal(world, rng))
            until, agenda = world.clock.now + draw_pause(world, rng), world.clock.agenda
            while (due := agenda.first()) is not None and due.at <= until:
                world.clock.advance(max(due.at - world.clock.now, timedelta(0)))
                yield world, partial(let_happen, world, due)
            world.clock.advance(until - world.clock.now)
        seed += 1


def fail(rules: Rules, wanted: int) -> None:
    made = 0
    for world, act in days(rules):
        made += fail_each(world, act)
        if made >= wanted:
            return


@RULES
def test_hundreds_of_faults_leave_nothing(rules: Rules) -> None:
    fail(rules, some(300, 100))


@pytest.mark.slow
@RULES
def test_ten_thousand_faults_leave_nothing(rules: Rules) -> None:
    fail(rules, 10_000)


def test_what_is_left_would_be_seen() -> None:
    world = house(Rules.STRICT)

    def leaves() -> None:
        world.counters.draw("LET-")
        world.counters.draw("LET-")

    with pytest.raises(AssertionError, match="write 2"):
        fail_each(world, leaves)
