"""`healthgym score`, interrupted evaluations, and what a terminal is shown."""

from __future__ import annotations

import json
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from healthgym.cli import main
from healthgym.core.env import HealthEnv
from healthgym.core.trajectory import Trajectory, TrajectoryWriter, read_trajectories
from healthgym.errors import TrajectoryError
from healthgym.policies.scripted import ScriptPolicy
from healthgym.presentation.terminal import shown
from healthgym.testing.replay import replay
from healthgym.testing.rescoring import rescore
from tests.cli.terminal import TOY

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def record(tmp_path: Path, capsys: Capture) -> Path:
    path = tmp_path / "runs.jsonl"
    assert main(["eval", TOY, "--episodes", "4", "--record", str(path), "--no-floor"]) == 0
    capsys.readouterr()
    return path


def rewritten(record: Path, **changes: Any) -> Path:
    """Return a recording whose second episode was changed."""
    episodes = list(read_trajectories(record))
    episodes[1] = replace(episodes[1], **changes)
    out = record.with_name("changed.jsonl")
    with TrajectoryWriter(out) as writer:
        for each in episodes:
            writer.write(each)
    return out


def failed(episode: Trajectory) -> Trajectory:
    """Return a record as if its strict verdict had been a failure."""
    verdicts = json.loads(json.dumps(episode.verdicts))
    verdict = verdicts[episode.role]["strict"]
    verdict["success"] = verdict["checks"][0]["passed"] = False
    return replace(episode, verdicts=verdicts, rewards={episode.role: 0.0})


def test_nothing_changed_where_nothing_did(record: Path, capsys: Capture) -> None:
    assert main(["score", str(record)]) == 0
    told = capsys.readouterr().out
    assert "0 of 4 episodes are scored differently than recorded." in told
    row = next(line.split() for line in told.splitlines() if " strict " in line)
    assert row == ["ToyLedger-v0", "strict", "4", "4", "4", "0", "0", "0"]


def test_it_says_which_checks_turned(record: Path, tmp_path: Path, capsys: Capture) -> None:
    episodes = list(read_trajectories(record))
    old = failed(episodes[1])
    changed = rewritten(record, verdicts=old.verdicts, rewards=old.rewards)
    with pytest.raises(TrajectoryError):
        replay(list(read_trajectories(changed))[1])
    out = tmp_path / "scored.json"
    assert main(["score", str(changed), "--json", str(out)]) == 0
    told = capsys.readouterr().out
    name = old.verdicts[old.role]["strict"]["checks"][0]["name"]
    assert "1 of 4 episodes are scored differently than recorded." in told
    assert f"return 0.000 -> 1.000; strict/{name} failed -> passed" in told
    data = json.loads(out.read_text())["episodes"]
    assert [each["changed"] for each in data] == [False, True, False, False]
    assert (data[1]["then"]["strict"], data[1]["now"]["strict"]) == (False, True)


def test_it_goes_on_where_answers_read_differently(record: Path) -> None:
    episode = next(read_trajectories(record))
    other = [replace(turn, observation="otherwise") for turn in episode.turns]
    found = rescore(replace(episode, turns=tuple(other), instructions={episode.role: "else"}))
    assert found.differing == len(other)
    assert not found.changed
    longer = rescore(replace(episode, turns=(*episode.turns, episode.turns[-1])))
    assert not longer.changed
    shorter = rescore(replace(episode, turns=episode.turns[:-1]))
    assert shorter.now == {"strict": False, "paper": False}


def test_what_cannot_be_opened_is_told_and_the_others_are_scored(
    record: Path, capsys: Capture
) -> None:
    changed = rewritten(record, env_id="NoSuch-v0")
    assert main(["score", str(changed)]) == 2
    told = capsys.readouterr()
    assert "toy-ledger/test/1: NoSuch-v0 cannot be made" in told.out
    assert "1 of 4 episodes have no verdict today" in told.err


def test_a_record_imports_nothing(
    record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    (tmp_path / "evil_module.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    changed = rewritten(record, env_id="evil_module:ToyLedger-v0")
    for command in (
        ["replay", str(changed)],
        ["score", str(changed)],
        ["view", str(changed), "--first", "2", "--case", str(tmp_path / "out.html")],
        ["view", str(changed), "--html", str(tmp_path / "out.html"), "--replay"],
        ["demos", "x:evil_module:ToyLedger-v0", "--recorded", str(changed), "--out",
         str(tmp_path / "demos.jsonl")],
    ):  # fmt: skip
        main(command)
    assert "evil_module" not in sys.modules
    assert "would import a module" in capsys.readouterr().err


# -- interruption ----------------------------------------------------------------------------------


def test_ctrl_c_prints_and_saves_what_was_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    record, out = tmp_path / "runs.jsonl", tmp_path / "out.json"
    begin = ScriptPolicy.begin

    def interrupted(self: ScriptPolicy, env: HealthEnv, *rest: Any) -> None:
        if env.episode.task.key.index == 3:
            raise KeyboardInterrupt
        begin(self, env, *rest)

    command = ["eval", TOY, "--episodes", "5", "--record", str(record), "--json", str(out)]
    with monkeypatch.context() as patch:
        patch.setattr(ScriptPolicy, "begin", interrupted)
        assert main(command) == 130
    told = capsys.readouterr()
    row = next(line.split() for line in told.out.splitlines() if line.startswith("all "))
    assert row[:4] == ["all", "3", "3", "100.0%"]
    assert "Stopped early: interrupted" in told.out
    assert "The same command plays what is missing." in told.err
    data = json.loads(out.read_text())
    assert (data["stopped"], len(data["results"])) == ("interrupted", 3)
    assert main(command) == 0
    assert len(json.loads(out.read_text())["results"]) == 5
    assert [each.task_id[-1] for each in read_trajectories(record)] == list("01234")


def test_a_scheduler_s_end_is_an_interruption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin, out = ScriptPolicy.begin, tmp_path / "out.json"
    before = signal.getsignal(signal.SIGTERM)

    def ended(self: ScriptPolicy, env: HealthEnv, *rest: Any) -> None:
        if env.episode.task.key.index == 2:
            signal.raise_signal(signal.SIGTERM)
        begin(self, env, *rest)

    monkeypatch.setattr(ScriptPolicy, "begin", ended)
    assert main(["eval", TOY, "--episodes", "4", "--json", str(out), "--no-floor"]) == 143
    data = json.loads(out.read_text())
    assert (data["stopped"], len(data["results"])) == ("interrupted", 2)
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_run_that_fails_leaves_the_results_of_the_last_one(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    out.write_text("whole")
    assert main(["eval", "NoSuch-v0", "--json", str(out)]) == 2
    assert out.read_text() == "whole"


# -- terminals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a\x1b[2Jb", "a\\x1b[2Jb"),
        ("\x1b]52;c;ZXZpbA==\x07", "\\x1b]52;c;ZXZpbA==\\x07"),
        ("\x9b31m\r\b\x00\x7f", "\\x9b31m\\x0d\\x08\\x00\\x7f"),
        ("\u202eevil\u2066\u200b\u2028", "\\u202eevil\\u2066\\u200b\\u2028"),
        ("\ud800\U000e0041", "\\ud800\\U000e0041"),
        ("Grüße\t≥ 5\n\u00a0½", "Grüße\t≥ 5\n\u00a0½"),
    ],
)
def test_text_is_shown_and_not_obeyed(text: str, seen: str) -> None:
    assert shown(text) == seen


def test_what_an_agent_wrote_does_not_drive_the_terminal(record: Path, capsys: Capture) -> None:
    episode = next(read_trajectories(record))
    turns = (replace(episode.turns[0], action="\x1b]0;owned\x07", observation="\x1b[2J"),)
    changed = rewritten(record, turns=turns, task_id="toy\x1b[1m/test/1")
    for command in (["view", "--text"], ["replay"], ["score"]):
        main([*command, str(changed)])
        told = capsys.readouterr()
        assert "\x1b" not in told.out + told.err
        assert "\x07" not in told.out + told.err
