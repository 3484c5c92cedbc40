"""The tools: what they show, count and refuse."""

import json
import re

import gymnasium as gym
import numpy as np
import pytest

import healthgym
from healthgym.core.tool import call
from healthgym.envs.tumor_area.wording import tile_ranges
from healthgym.worlds.slides.source import view


@pytest.fixture
def env():
    made = gym.make(
        "HealthAgent/TumorAreaSelection-v1", difficulty="easy", disable_env_checker=True
    ).unwrapped
    made.reset(options={"index": 3})
    return made


def act(env, name, **arguments):
    text, _, _, _, info = env.step(call(name, **arguments))
    return text.partition("\n")[2], info


def test_slide_info(env) -> None:
    text, _ = act(env, "slide_info")
    slide, grid = env.episode.world.slide, env.episode.world.grid
    assert f"{slide.width} x {slide.height} px at level 0, 0.25 um/px" in text
    assert f"grid: {grid.columns} columns x {grid.rows} rows" in text
    assert f"task_id: {env.episode.task.task_id}" in text
    assert text.endswith("8 of 8 looks left")


def test_a_region_is_what_the_slide_shows(env) -> None:
    text, info = act(env, "view_region", level=2, x=4096, y=2048, width=200, height=100)
    (picture,) = info["images"]
    assert picture.shape == (100, 200, 3)
    assert np.array_equal(picture, view(env.episode.world.slide, 4, 4096, 2048, 200, 100))
    assert "level-0 x 4096 to 4896, y 2048 to 2448" in text
    assert "tiles (1,0) to (1,0)" in text
    assert "7 of 8 looks left" in text


@pytest.mark.parametrize(
    ("arguments", "accepted"),
    [
        ({"level": 9}, "level lies between 0 and"),
        ({"level": -1}, "level lies between 0 and"),
        ({"width": 0}, "between 1 and 1024"),
        ({"height": 1025}, "between 1 and 1024"),
        ({"x": -1}, "x lies between 0 and"),
        ({"y": 10**7}, "y between 0 and"),
    ],
)
def test_a_region_elsewhere_is_refused(env, arguments, accepted: str) -> None:
    whole = {"level": 0, "x": 0, "y": 0, "width": 10, "height": 10} | arguments
    text, _ = act(env, "view_region", **whole)
    assert accepted in text
    assert env.episode.world.taken == 0


def test_the_overview_shows_grid_and_selection(env) -> None:
    _, info = act(env, "view_overview")
    (plain,) = info["images"]
    assert max(plain.shape) < 1100
    act(env, "select_tiles", tiles=[[1, 1], [2, 1]])
    text, info = act(env, "show_selection")
    (marked,) = info["images"]
    changed = (plain != marked).any(axis=2)
    assert plain.shape == marked.shape
    grid = env.episode.world.grid
    assert 0.5 < changed.mean() * grid.columns * grid.rows / 2 < 1.3
    assert text.startswith("2 tiles selected.")
    assert "y=1: x 1-2" in text


@pytest.mark.parametrize("power", ["low", "high"])
def test_a_contact_sheet(env, power: str) -> None:
    text, info = act(env, "contact_sheet", tiles=[[0, 0], [1, 1], [2, 1]], power=power)
    assert info["images"][0].shape[1] > 3 * 190
    assert "(0,0), (1,1), (2,1)" in text
    assert env.episode.world.taken == 1


def test_the_survey_leaves_glass_out(env) -> None:
    text, _ = act(env, "survey_tiles")
    tiles = int(re.match(r"(\d+) of \d+ tiles have tissue", text)[1])
    assert len(re.findall(r"\d+:\d+/-?\d+/-?\d+", text)) == tiles
    assert env.episode.world.taken == 0


def test_statistics_of_named_tiles_and_by_page(env) -> None:
    text, _ = act(env, "tile_statistics", tiles=[[1, 1], [0, 0]])
    assert len(re.findall(r"^\(\d+,\d+\) ", text, re.MULTILINE)) == 2
    text, _ = act(env, "tile_statistics")
    assert re.search(r"page 1 of \d; four fields of 320 px a tile; 6 of 8 looks left", text)
    text, _ = act(env, "tile_statistics", page=50)
    assert "page lies between 1 and" in text
    text, _ = act(env, "tile_statistics", tiles=[[0, 0]] * 13)
    assert "1 to 12 tiles" in text
    assert env.episode.world.taken == 2


def test_looks_run_out_and_the_rest_goes_on(env) -> None:
    for _ in range(8):
        act(env, "view_region", level=0, x=0, y=0, width=8, height=8)
    for name in ("tile_statistics", "contact_sheet"):
        text, info = act(env, name, tiles=[[0, 0]])
        assert "All 8 looks are taken" in text
        assert info["error"]
    assert "error" not in act(env, "survey_tiles")[1]
    assert "error" not in act(env, "select_tiles", tiles=[[0, 0]])[1]


def test_selecting(env) -> None:
    assert act(env, "select_rectangle", left=0, top=0, right=2, bottom=1)[0] == "6 tiles selected."
    assert act(env, "unselect_tiles", tiles=[[0, 0], [0, 0]])[0] == "5 tiles selected."
    assert act(env, "select_tiles", tiles=[[3, 3]])[0] == "6 tiles selected."
    done = act(env, "unselect_rectangle", left=1, top=0, right=3, bottom=0)[0]
    assert done == "4 tiles selected."
    assert env.episode.world.tiles == {(0, 1), (1, 1), (2, 1), (3, 3)}


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("select_tiles", {"tiles": []}, "at least one tile"),
        ("select_tiles", {"tiles": [[1]]}, "a pair [x, y]"),
        ("select_tiles", {"tiles": [[99, 0]]}, "There is no tile (99,0)"),
        ("select_tiles", {"tiles": [[-1, 0]]}, "There is no tile"),
        ("select_rectangle", {"left": 2, "top": 0, "right": 1, "bottom": 0}, "A rectangle has"),
        ("unselect_tiles", {"tiles": [[0, 0]]}, "changes nothing"),
        ("write_selection", {"text": "x" * 70_000}, "60000 characters"),
    ],
)
def test_what_cannot_be_selected(env, name: str, arguments, reason: str) -> None:
    before = env.episode.world.digest()
    text, info = act(env, name, **arguments)
    assert reason in text
    assert info["error"]
    assert env.episode.world.digest() == before


def test_a_text_is_kept_and_read_by_the_next_change(env) -> None:
    task_id = env.episode.task.task_id
    row = {"task_id": task_id, "predicted_tumor_tiles": [{"x": 1, "y": 1}]}
    text = json.dumps([row])
    assert act(env, "write_selection", text=text)[0] == "The text is kept. 1 tile selected."
    assert env.episode.world.text == text
    assert "reads so already" in act(env, "write_selection", text=text)[0]
    assert act(env, "select_tiles", tiles=[[2, 1]])[0] == "2 tiles selected."
    assert env.episode.world.text is None


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            lambda row: "nothing",
            "0 tiles selected. Its form is at fault: it is no JSON list of rows. Wr",
        ),
        (
            lambda row: [row | {"rationale": "big"}],
            "1 tile selected. Its form is at fault: what 'rationale' says",
        ),
        (lambda row: row | {"predicted_tumor_tiles": [[9, 99]]}, "there is no tile [9, 99]: x lie"),
        (lambda row: row, "1 tile selected. The published evaluator reads 0 of them. Write"),
    ],
)
def test_a_text_that_is_not_plain_is_told_at_once(env, change, told: str) -> None:
    task_id = env.episode.task.task_id
    made = change({"task_id": task_id, "predicted_tumor_tiles": [{"x": 1, "y": 1}]})
    answer, info = act(env, "write_selection", text=json.dumps(made))
    assert told in answer
    assert f'Write [{{"task_id": "{task_id}", "contains_tumor": true' in answer
    assert told.partition(". ")[0] in act(env, "show_selection")[0]
    assert "error" not in info


def test_ranges() -> None:
    assert tile_ranges([(3, 2), (5, 2), (4, 2), (8, 2), (0, 1)]) == "y=1: x 0\ny=2: x 3-5, 8"
    assert tile_ranges([]) == ""


def test_healthgym_offers_call() -> None:
    assert healthgym.call("submit") == call("submit")
