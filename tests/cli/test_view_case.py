"""The case of a recorded episode as a page."""

from __future__ import annotations

from pathlib import Path

import gymnasium as gym
import pytest

from healthgym.cli import main
from healthgym.core.tool import call
from healthgym.envs.managed_care.timeline.page import case_page
from healthgym.wrappers import RecordTrajectories
from tests.core.signs import SIGNS_ID
from tests.envs.managed_care.timeline.played import ID, make, play


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "runs.jsonl"
    env = RecordTrajectories(gym.make(f"healthgym:{ID}", difficulty="easy"), path)
    for index in (1, 2):
        env.reset(options={"index": index})
        env.step(call("cases.get_case", case_id="CASE-NOT-THERE"))
        env.step(call("finish"))
    env.close()
    return path


def test_the_first_chosen_episode_becomes_a_page(recording: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "case.html"
    assert main(["view", str(recording), "--case", str(out), "--first", "2"]) == 0
    page = out.read_text(encoding="utf-8")
    assert "prior-authorization/train/2" in page
    assert "CASE-NOT-THERE" in page
    assert "What is right" in page
    assert page != case_page(play(make("easy"), 2))


def test_what_has_no_case_is_told(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "case.html"
    assert main(["view", str(recording), "--case", str(out), "--first", "3"]) == 2
    path = tmp_path / "signs.jsonl"
    env = RecordTrajectories(gym.make(SIGNS_ID), path)
    env.reset(options={"index": 0})
    env.step(call("submit", side="left"))
    env.close()
    assert main(["view", str(path), "--case", str(out)]) == 2
    told = capsys.readouterr().err
    assert "No episode of the recording is chosen." in told
    assert "has no cases to show" in told
    assert not out.exists()
