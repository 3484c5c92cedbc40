"""Parts of worlds belong to one world: what is shared by accident is found at once."""

from __future__ import annotations

from typing import Any

import pytest

from healthgym.core.clock import Clock
from healthgym.core.episode import Episode
from healthgym.core.seeding import Split
from healthgym.core.state import Stateful
from healthgym.core.tool import call
from healthgym.rewards import SparseReward
from tests.core.toys import START, Desk, DeskWorld
from tests.core.toys.desk import Drawer


class OneDrawer(Desk):
    """A family whose worlds have one drawer between them."""

    def __init__(self) -> None:
        super().__init__()
        self.drawer = Drawer()

    def open(self, instance: Any) -> DeskWorld:
        world = DeskWorld()
        world.drawer = self.drawer
        return world


def test_a_part_of_a_world_in_use_cannot_join_another() -> None:
    family = OneDrawer()
    instance = family.generator.generate(Split.TRAIN, 0)
    episode = Episode(family, instance, SparseReward())
    episode.step(call("crash"))
    with pytest.raises(TypeError, match="part of another world that is in use"):
        Episode(family, instance, SparseReward())
    assert episode.world.drawer.journal is episode.world.journal


def test_a_part_that_was_taken_away_is_missed() -> None:
    first, second = DeskWorld(), DeskWorld()
    second.drawer = first.drawer
    with pytest.raises(TypeError, match=r"DeskWorld\.drawer is part of another world"):
        first.clone()
    second.clone()


def test_parts_may_be_put_together_in_any_order() -> None:
    class Room(Stateful):
        def __init__(self, clock: Clock) -> None:
            self.clock = clock

    clock = Clock(START)
    house, rooms = DeskWorld(), [Room(clock), Room(clock)]
    for number, room in enumerate(rooms):
        setattr(house, f"room_{number}", room)
    house.clock = clock
    assert {part.journal for part in (*rooms, clock, clock.agenda)} == {house.journal}
    twin = house.clone()
    assert twin.room_0.clock is twin.room_1.clock is twin.clock  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["answers", "mood", "drawer"])
def test_nothing_of_a_world_can_be_taken_away(name: str) -> None:
    world = DeskWorld()
    world.scribble("a")
    digest = world.digest()
    with pytest.raises(TypeError, match="cannot be taken away"):
        delattr(world, name)
    assert world.digest() == digest
