"""The page of episodes as a file: all of a recording is in it, and none of it as markup."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import gymnasium as gym
import pytest

from healthgym.core.tool import ToolCall, call
from healthgym.core.trajectory import Trajectory
from healthgym.errors import ConfigurationError
from healthgym.presentation.pictures import data_url
from healthgym.presentation.viewer import Answer, PageData, Section, Shown, page
from healthgym.presentation.viewer.page import CHUNK
from tests.core.signs import SIGNS_ID
from tests.presentation.pages import blocks, bodies, index, pictures

pytest.importorskip("jinja2")

HOSTILE = '</script><script>alert("x")</script><img src=x onerror=alert(1)>&amp;\x00\ud800'


class Reader(HTMLParser):
    """Collects tags with their attributes, and text outside of scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def run() -> Trajectory:
    env = gym.make(SIGNS_ID).unwrapped
    env.reset(options={"index": 0})
    env.step(call("look"))
    env.step(HOSTILE.replace("\x00\ud800", ""))
    env.step([call("halves"), call("submit", side="left")])
    return env.trajectory()


def test_an_episode_is_told_in_full(run: Trajectory) -> None:
    text = page(PageData("Signs", [Shown(run, "mine")]), lambda name: data_url(name.encode()))
    (told,) = bodies(text)
    assert told["instructions"] == run.instructions
    assert told["verdicts"] == run.verdicts
    assert [turn["result"] for turn in told["turns"]] == [turn.observation for turn in run.turns]
    assert told["turns"][0]["calls"] == [["look", {}]]
    assert "said" not in told["turns"][0]
    assert told["turns"][1]["said"].startswith("</script>")
    assert len(told["turns"][1]["errors"]) == 1
    assert "answer" not in told
    # Pictures are in the page once each, in the order they were shown.
    shown = [name for turn in run.turns for name in turn.pictures]
    assert pictures(text) == [data_url(name.encode()) for name in shown]
    assert [place for turn in told["turns"] for place in turn.get("pictures", [])] == [0, 1, 2]


def test_the_index_says_what_the_table_shows(run: Trajectory) -> None:
    table = index(page(PageData("Signs", [Shown(run, "one"), Shown(run, "two")])))
    assert table["runs"] == ["one", "two"]
    assert table["kinds"] == [run.kind]
    first, second = table["rows"]
    assert (first[0], second[0]) == (0, 1)
    assert first[1:] == second[1:]
    assert first[3] == run.task_id
    assert first[5:9] == [run.rewards["agent"], len(run.turns), 1, 3]
    failed = [c["name"] for c in run.verdicts["agent"]["strict"]["checks"] if not c["passed"]]
    assert {table["checks"][place] for place in first[9]} == set(failed)


def test_several_roles_are_paid_as_the_one_that_earned_least(run: Trajectory) -> None:
    """Such an episode is solved if each of them is: 1.0 beside "not solved" told of one of two."""
    both = replace(run, rewards={"provider": 1.0, "payer": 0.25})
    (row,) = index(page(PageData("Two", [Shown(both, "")])))["rows"]
    assert row[5] == 0.25


def test_nothing_recorded_becomes_markup(run: Trajectory) -> None:
    hostile = replace(
        run,
        task_id=HOSTILE,
        kind=HOSTILE,
        env_id=HOSTILE,
        env_kwargs={HOSTILE: HOSTILE},
        instructions={HOSTILE: HOSTILE, "agent": HOSTILE},
        turns=tuple(
            replace(t, role=HOSTILE, observation=HOSTILE, time=HOSTILE, pictures=(HOSTILE,))
            for t in run.turns
        ),
        rewards={HOSTILE: 1.0},
        verdicts={HOSTILE: {HOSTILE: {"success": True, "checks": [{"name": HOSTILE}]}}},
    )
    section = Section(HOSTILE, [[HOSTILE], [HOSTILE]], alt=HOSTILE, notes=[HOSTILE])
    data = PageData(HOSTILE, [Shown(hostile, HOSTILE)], HOSTILE, [section], (HOSTILE, HOSTILE))
    text = page(data, lambda name: HOSTILE)
    text.encode("utf-8")
    shown = Reader(text)
    # The page's own: two packed blocks and its program.
    assert shown.tags.count("script") == 3
    assert "img" not in shown.tags
    assert not any(name.startswith("on") for name, _ in shown.attributes)
    assert 'alert("x")' in shown.text
    assert bodies(text)[0]["turns"][0]["result"] == HOSTILE


def test_a_browser_is_told_to_run_nothing_else(run: Trajectory) -> None:
    text = page(PageData("Signs", [Shown(run, "mine")]))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].replace("&#39;", "'").split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"].startswith("'sha256-")
    assert rules["img-src"] == "data:"
    assert "http" not in text.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")


def test_what_is_no_picture_is_not_put_into_the_page(run: Trajectory) -> None:
    for wrong in ("https://x.example/a.png", "data:image/svg+xml;base64,AAAA", 'data:image/png"'):
        text = page(PageData("Signs", [Shown(run, "mine")]), lambda name, wrong=wrong: wrong)
        assert pictures(text) == []
        assert bodies(text)[0]["turns"][0]["missing"] == 1
        with pytest.raises(ConfigurationError, match="no data URL"):
            page(PageData("Signs", [], sections=[Section("Curves", picture=wrong)]))


def test_answers_are_where_they_were_asked_for(run: Trajectory) -> None:
    answer = Answer((ToolCall("submit", {"side": "right"}),), {"side": "right"})
    shared = page(PageData("Signs", [Shown(run, "mine")]))
    assert 'id="answers"' not in shared
    told = page(PageData("Signs", [Shown(run, "mine", answer)], answers=True))
    assert 'id="answers"' in told
    assert bodies(told)[0]["answer"] == {
        "calls": [["submit", {"side": "right"}]],
        "reference": {"side": "right"},
    }


def test_many_episodes_go_into_blocks(run: Trajectory) -> None:
    count = 2 * CHUNK + 1
    text = page(PageData("Signs", (Shown(run, "mine") for _ in range(count))))
    assert sum(name.startswith("block-") for name in blocks(text)) == 3
    assert len(bodies(text)) == len(index(text)["rows"]) == count


def test_a_page_without_episodes_is_one() -> None:
    assert index(page(PageData("Nothing", [])))["rows"] == []


def test_an_episode_of_before_pictures_had_names_is_shown(run: Trajectory) -> None:
    old = replace(run, turns=tuple(replace(turn, pictures=()) for turn in run.turns))
    (told,) = bodies(page(PageData("Old", [Shown(old, "mine")])))
    assert [turn.get("missing", 0) for turn in told["turns"]] == [turn.images for turn in old.turns]
