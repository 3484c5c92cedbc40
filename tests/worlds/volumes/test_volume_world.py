"""The world: a volume that cannot be changed, and the lines written about it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from healthgym.core.clock import Clock
from healthgym.worlds.volumes.volume import SyntheticVolume
from healthgym.worlds.volumes.world import VolumeWorld


@pytest.fixture
def world(chest: SyntheticVolume) -> VolumeWorld:
    return VolumeWorld(chest, ("Nodule",), Clock(datetime(2024, 1, 1, tzinfo=UTC)))


def test_only_the_lines_are_content(world: VolumeWorld) -> None:
    before = world.content_digest()
    world.clock.advance(timedelta(minutes=1))
    assert world.content_digest() == before
    world.write(("Nodule: yes",))
    assert world.content_digest() != before


def test_what_a_failed_call_wrote_is_undone(world: VolumeWorld) -> None:
    world.write(("Nodule: yes",))
    before = world.digest()
    savepoint = world.journal.begin()
    world.write(())
    assert world.digest() != before
    world.journal.rollback(savepoint)
    assert world.lines == ("Nodule: yes",)
    assert world.digest() == before


def test_a_clone_goes_its_own_way(world: VolumeWorld) -> None:
    world.write(("Nodule: yes",))
    twin = world.clone()
    assert twin.digest() == world.digest()
    twin.write(())
    assert world.lines == ("Nodule: yes",)
    assert twin.source is world.source
