from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from healthgym.core.clock import Clock
from healthgym.worlds.radiography.archive import RenderedRadiographs, Study
from healthgym.worlds.radiography.scene import Scene, draw_build
from healthgym.worlds.radiography.world import ReadingRoom

DRAFT = ("There is no pneumothorax.", "The heart is enlarged.")
Change = Callable[[ReadingRoom], None]


@pytest.fixture
def room() -> ReadingRoom:
    scene = Scene(draw_build(np.random.default_rng(1)), 1, ())
    study = Study("s1", datetime(2120, 1, 1), ("PA",))
    pictures = RenderedRadiographs([study], [scene], 256)
    return ReadingRoom(pictures, "INDICATION:  x", DRAFT, Clock(datetime(2120, 1, 2, tzinfo=UTC)))


CHANGES: dict[str, Change] = {
    "rewrite": lambda room: room.rewrite(("The heart is normal.",)),
    "notify": lambda room: room.notify("agent", "A new study has arrived."),
    "clock": lambda room: room.clock.advance(timedelta(minutes=1)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_rolled_back_leaves_nothing_behind(room: ReadingRoom, name: str) -> None:
    room.rewrite(("One.", "Two."))
    before = room.digest()
    savepoint = room.journal.begin()
    CHANGES[name](room)
    assert room.digest() != before
    room.journal.rollback(savepoint)
    assert room.digest() == before
    assert room.sentences == ("One.", "Two.")


def test_the_contents_are_the_findings(room: ReadingRoom) -> None:
    before = room.content_digest()
    CHANGES["clock"](room)
    CHANGES["notify"](room)
    assert room.content_digest() == before
    CHANGES["rewrite"](room)
    assert room.content_digest() != before
    room.rewrite(DRAFT)
    assert room.content_digest() == before


def test_clones_share_pictures_and_nothing_that_changes(room: ReadingRoom) -> None:
    twin = room.clone()
    assert twin.digest() == room.digest()
    twin.rewrite(("Other.",))
    assert room.sentences == DRAFT
    assert twin.draft == DRAFT
    assert twin.radiographs is room.radiographs


def test_only_the_findings_change_in_a_call(room: ReadingRoom) -> None:
    room.journal.begin()
    with pytest.raises(TypeError, match="declare it"):
        room.header = "another"
