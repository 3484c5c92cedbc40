"""A task begun again is not drawn again, whichever environment begins it."""

from __future__ import annotations

import gc
import subprocess
import sys
from dataclasses import replace

import gymnasium
import pytest

from healthgym.core.drawn import DrawnInstances, same_draws
from healthgym.core.seeding import Split
from tests.core.toys.ledger import LedgerGenerator


class Counting:
    """Draws, and counts how often."""

    def __init__(self) -> None:
        self.drawn = 0

    def __call__(self) -> Counting:
        """Return something that can be told from what is drawn elsewhere."""
        self.drawn += 1
        return Counting()


def test_an_instance_is_drawn_once_while_it_is_among_the_last() -> None:
    shared, draw = DrawnInstances(2), Counting()
    first = shared.get("a", draw)
    assert shared.get("a", draw) is first
    assert draw.drawn == 1


def test_what_was_asked_for_longest_ago_goes_first_unless_somebody_holds_it() -> None:
    shared, draw = DrawnInstances(2), Counting()
    held = shared.get("a", draw)
    for key in "bcd":
        shared.get(key, draw)
    gc.collect()
    shared.get("b", draw)
    assert (draw.drawn, shared.get("a", draw) is held) == (5, True)


def test_two_environments_of_the_same_arguments_begin_from_one_instance() -> None:
    kinds = [gymnasium.make("healthgym:HealthAgent/UtilizationManagement-v1") for _ in range(2)]
    other = gymnasium.make("healthgym:HealthAgent/UtilizationManagement-v1", difficulty="easy")
    drawn = [one.unwrapped.family.generator.generate(Split.TEST, 0) for one in (*kinds, other)]
    assert drawn[0] is drawn[1]
    assert drawn[0] is not drawn[2]


def test_episodes_of_one_instance_end_alike() -> None:
    env = gymnasium.make("healthgym:HealthAgent/UtilizationManagement-v1")
    seen = [env.reset(options={"index": 1})[0] for _ in range(2)]
    assert seen[0] == seen[1]


def test_a_generator_that_cannot_be_compared_shares_with_itself_only() -> None:
    first, second = LedgerGenerator(), LedgerGenerator()
    first.notes, second.notes = {}, {}  # type: ignore[attr-defined]
    assert same_draws(first) == same_draws(first) != same_draws(second)


def test_a_generator_that_was_changed_draws_anew() -> None:
    generator = gymnasium.make(
        "healthgym:HealthAgent/UtilizationManagement-v1"
    ).unwrapped.family.generator
    before = same_draws(generator)
    generator.config = replace(generator.config, twins=0)
    assert same_draws(generator) != before


@pytest.mark.parametrize("lasting", [True, False])
def test_what_is_read_from_files_is_read_each_time(lasting: bool) -> None:
    generator = LedgerGenerator()
    generator.lasting = lasting
    pair = [generator.generate(Split.TRAIN, 3) for _ in range(2)]
    assert (pair[0] is pair[1]) is lasting


#: CPython 3.12.2 and 3.12.3 take ``Generic`` for a class that can be referred to.
_AS_ON_3_12_3 = """
import dataclasses, typing, weakref

known = dataclasses._get_slots

def mistaken(cls):
    return iter(("__dict__", "__weakref__")) if cls is typing.Generic else known(cls)

dataclasses._get_slots = mistaken
from healthgym.core.task import Instance
from healthgym.registration import make_health_env

weakref.ref(Instance(None, None, None))
make_health_env("HealthAgent/FhirRecord-v1", {}).reset(seed=0)
"""


def test_instances_are_shared_where_generics_are_denied_their_slot() -> None:
    subprocess.run([sys.executable, "-c", _AS_ON_3_12_3], check=True)
