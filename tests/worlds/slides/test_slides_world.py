"""The world: a selection over a slide that cannot be changed, and counted looks."""

from datetime import UTC, datetime

import pytest

from healthgym.core.clock import Clock
from healthgym.errors import ToolError
from healthgym.worlds.slides.synthetic import SyntheticSlide
from healthgym.worlds.slides.world import SlideWorld


@pytest.fixture
def world(scene) -> SlideWorld:
    return SlideWorld(SyntheticSlide(scene), Clock(datetime(2024, 1, 1, tzinfo=UTC)), 2, "this")


def test_the_selection_is_the_content(world: SlideWorld) -> None:
    empty, fresh = world.content_digest(), world.digest()
    world.look()
    assert world.content_digest() == empty
    assert world.digest() != fresh
    world.mark(frozenset({(1, 2)}))
    marked = world.content_digest()
    assert marked != empty
    world.write("[]")
    assert world.content_digest() not in (empty, marked)
    world.mark(frozenset())
    assert world.content_digest() == empty


@pytest.mark.parametrize(
    "change",
    [
        lambda world: world.look(),
        lambda world: world.mark(frozenset({(3, 4)})),
        lambda world: world.write("[]"),
        lambda world: (world.write("[]"), world.mark(frozenset())),
    ],
    ids=["look", "mark", "write", "write-mark"],
)
def test_what_a_failed_call_changed_is_undone(world: SlideWorld, change) -> None:
    world.mark(frozenset({(1, 2)}))
    before = world.digest()
    savepoint = world.journal.begin()
    change(world)
    assert world.digest() != before
    world.journal.rollback(savepoint)
    assert world.digest() == before
    assert (world.tiles, world.text, world.taken) == ({(1, 2)}, None, 0)


def test_looks_run_out(world: SlideWorld) -> None:
    world.look()
    world.look()
    with pytest.raises(ToolError, match="All 2 looks"):
        world.look()
    assert world.looks_left == 0


def test_a_clone_goes_its_own_way(world: SlideWorld) -> None:
    world.mark(frozenset({(0, 0)}))
    world.look()
    twin = world.clone()
    assert (twin.digest(), twin.taken, twin.name) == (world.digest(), 1, "this")
    twin.mark(frozenset({(1, 1)}))
    twin.look()
    assert world.tiles == {(0, 0)}
    assert world.taken == 1
    assert twin.slide is world.slide
