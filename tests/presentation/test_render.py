"""Transcripts as pictures: where the pictures go, and what is left out."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from healthgym.core.tool import call
from healthgym.presentation.render import _grid, draw_transcript
from tests.core.signs import SIGNS_ID
from tests.core.toys import make_ledger

pytest.importorskip("PIL")
PAPER = (250, 250, 247)
RED = np.full((8, 8, 3), (255, 0, 0), np.uint8)
GREY = np.full((300, 200), 100, np.uint8)


def ink(page: Any) -> Any:
    return (page != PAPER).any(axis=2)


def test_without_pictures_text_has_the_whole_width() -> None:
    page = draw_transcript("word " * 400)
    assert page.shape == (640, 960, 3)
    assert page.dtype == np.uint8
    assert ink(page)[:, 700:].any()


def test_pictures_stand_on_the_right_and_text_keeps_off() -> None:
    page = draw_transcript("W" * 2000, [RED])
    red = (page == (255, 0, 0)).all(axis=2)
    assert red[:, 480:].sum() == 48 * 48  # enlarged six times, and no more
    assert not red[:, :480].any()
    assert not ink(page)[:, 464:490].any()


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 16, 60])
@pytest.mark.parametrize("shape", [(512, 512), (64, 512), (512, 64), (8, 8)])
def test_all_pictures_fit_and_none_overlap(count: int, shape: tuple[int, int]) -> None:
    cells = _grid(count, 448, 580, [np.zeros(shape, np.uint8)] * count)
    assert len(cells) == count
    covered = np.zeros((580, 448), int)
    for left, top, width, height in cells:
        assert 0 <= left <= left + width <= 448
        assert 0 <= top + 15 <= top + 15 + height <= 580
        assert abs(width / height - shape[1] / shape[0]) < 0.35 * shape[1] / shape[0]
        covered[top + 15 : top + 15 + height, left : left + width] += 1
    assert covered.max() == 1


def test_pictures_of_several_sizes_are_laid_out_together() -> None:
    page = draw_transcript("text", [RED, GREY, RED], "Shown in step 3")
    red = (page == (255, 0, 0)).all(axis=2)
    grey = (page == (100, 100, 100)).all(axis=2)
    assert red.sum() > 2000
    assert grey.sum() > 10_000


def test_a_long_transcript_is_cut_at_its_beginning() -> None:
    lines = [f"line {n}" for n in range(500)]
    last = draw_transcript("\n".join(lines))
    assert (draw_transcript("\n".join(["something else", *lines[5:]])) == last).all()
    assert (draw_transcript("\n".join([*lines[:-1], "line 4990"])) != last).any()
    short = draw_transcript("\n".join(lines[:30]))
    assert (short[:17] != last[:17]).any() or (short[17:34] != last[17:34]).any()


@pytest.mark.parametrize(
    "text", ["", "\n\n\n", "x" * 16_000, "\t\x00\x1b[31m", "π × µm ≥ 2 – 😀 ½"]
)
def test_any_text_can_be_drawn(text: str) -> None:
    assert draw_transcript(text, [RED]).shape == (640, 960, 3)


def test_what_the_agent_sees_now_is_what_is_drawn() -> None:
    env = gym.make(SIGNS_ID, render_mode="rgb_array")
    env.reset(options={"index": 0})
    before = env.render()
    env.step(call("look"))
    looked = env.render()
    env.step(call("ask"))
    asked = env.render()
    env.step(call("halves"))
    assert not ink(before)[100:, 480:].any()
    # The picture stays in view until the next one, and the text beside it goes on.
    assert (looked[:, 480:] == asked[:, 480:]).all()
    assert (looked[:, :480] != asked[:, :480]).any()
    assert (env.render()[:, 480:] != asked[:, 480:]).any()
    env.reset(options={"index": 0})
    assert (env.render() == before).all()


def test_the_text_form_counts_pictures() -> None:
    env = make_ledger(render_mode="ansi")
    env.reset(seed=0)
    env.step(call("draw_accounts"))
    assert "bars\n(1 picture)" in env.render()
