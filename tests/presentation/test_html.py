"""Episodes as HTML: everything of a recording, and nothing of it as markup."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import gymnasium as gym
import pytest

from healthgym.core.tool import call
from healthgym.core.trajectory import Trajectory
from healthgym.presentation.html import episode, page
from healthgym.presentation.pictures import data_url
from tests.core.signs import SIGNS_ID

HOSTILE = '<script>alert("x")</script><img src=x onerror=alert(1)>&amp;\x00\ud800'
VOID = {"meta", "img", "br"}


class Reader(HTMLParser):
    """Collects tags and text; every tag that is opened has to be closed in its place."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.sources: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        names = dict(attrs)
        assert not any(name.startswith("on") for name in names)
        if tag == "img":
            self.sources.append(str(names["src"]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def run() -> Trajectory:
    env = gym.make(SIGNS_ID).unwrapped
    env.reset(options={"index": 0})
    env.step(call("look"))
    env.step(HOSTILE)
    env.step([call("halves"), call("submit", side="left")])
    return env.trajectory()


def test_an_episode_is_told_in_full(run: Trajectory) -> None:
    shown = Reader(episode(run, 3, lambda name: data_url(name.encode()), opened=True))
    for told in ("3. ", "toy-signs/train/0", "Which half", "32 x 24 pixels", "1 refused", "paper",
                 "strict", "solved", "The half named is the lit one."):  # fmt: skip
        assert told in shown.text
    assert shown.sources == [data_url(n.encode()) for turn in run.turns for n in turn.pictures]
    assert not shown.open


def test_nothing_recorded_becomes_markup(run: Trajectory) -> None:
    hostile = replace(
        run,
        task_id=HOSTILE,
        kind=HOSTILE,
        env_id=HOSTILE,
        env_kwargs={HOSTILE: HOSTILE},
        instructions={HOSTILE: HOSTILE, "agent": HOSTILE},
        turns=tuple(replace(t, role=HOSTILE, observation=HOSTILE, time=HOSTILE) for t in run.turns),
        rewards={HOSTILE: 1.0},
        verdicts={HOSTILE: {HOSTILE: {"success": True, "checks": [{"name": HOSTILE}]}}},
    )
    sections = iter([episode(hostile, 1, lambda name: HOSTILE, opened=True)])
    text = "".join(page(HOSTILE, HOSTILE, sections))
    text.encode("utf-8")
    shown = Reader(text)
    assert "script" not in shown.tags
    assert 'alert("x")' in shown.text
    assert not shown.open


def test_pictures_that_are_not_at_hand_are_counted(run: Trajectory) -> None:
    shown = Reader(episode(run, 1, opened=False))
    assert not shown.sources
    assert "1 picture not at hand" in shown.text
    assert "2 pictures not at hand" in shown.text


def test_an_episode_of_before_pictures_had_names_is_shown(run: Trajectory) -> None:
    old = replace(run, turns=tuple(replace(turn, pictures=()) for turn in run.turns))
    assert "2 pictures not at hand" in Reader(episode(old, 1, lambda n: n, opened=True)).text


def test_an_episode_without_steps_is_shown(run: Trajectory) -> None:
    assert "Nothing was done." in Reader(episode(replace(run, turns=()), 1, opened=True)).text
