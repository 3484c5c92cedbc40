"""Records: round trips, and runs that are killed."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from healthgym.core.images import fingerprint
from healthgym.core.tool import call
from healthgym.core.trajectory import (
    SCHEMA_VERSION,
    Trajectory,
    TrajectoryWriter,
    Turn,
    picture_folder,
    read_trajectories,
)
from healthgym.errors import TrajectoryError
from healthgym.presentation.pictures import png
from tests.core.toys import LEDGER_ID

TURN = Turn("agent", "{}", "Error: no", -0.5, "2024-03-01T09:00:00+00:00", ("no",), 1)
TRAJECTORY = Trajectory(
    env_id="A-v0",
    env_kwargs={"reward": "shaped"},
    task_id="a/train/1",
    kind="k",
    instructions={"agent": "Do."},
    tools={"agent": [{"type": "function"}]},
    turns=(TURN, TURN),
    verdicts={"agent": {"strict": {"success": True}}},
    rewards={"agent": 1.0},
    version="0",
)

texts = st.text(st.characters(exclude_categories=()))


@given(texts, texts, st.floats(allow_nan=False, allow_infinity=False), st.lists(texts))
def test_any_text_survives_the_file(
    action: str, observation: str, reward: float, errors: list[str]
) -> None:
    turn = replace(TURN, action=action, observation=observation, reward=reward, errors=(*errors,))
    record = replace(TRAJECTORY, turns=(turn,))
    line = record.to_json()
    assert line.isascii()
    assert "\n" not in line
    assert Trajectory.from_json(line) == record


def test_an_episode_is_recorded_with_all_that_replays_it() -> None:
    env = gym.make(LEDGER_ID, reward="shaped").unwrapped
    env.reset(options={"task_id": "toy-ledger/test/3"})
    env.step("nonsense")
    env.step(call("submit", answer="x"))
    record = env.trajectory()
    assert (record.env_id, record.env_kwargs) == (LEDGER_ID, {"reward": "shaped"})
    assert (record.task_id, record.kind) == ("toy-ledger/test/3", env.episode.task.kind)
    assert record.turns[0].action == "nonsense"
    assert record.turns[0].errors
    assert record.verdicts["agent"].keys() == {"paper", "strict"}
    assert Trajectory.from_json(record.to_json()) == record


def test_pictures_are_named_in_a_record_and_kept_beside_it(tmp_path: Path) -> None:
    picture = np.random.default_rng(0).integers(0, 256, (5, 4, 3), np.uint8)
    named = replace(TURN, images=2, pictures=(fingerprint(picture),) * 2)
    record = replace(TRAJECTORY, turns=(named,))
    with TrajectoryWriter(tmp_path / "runs.jsonl", png=png) as writer:
        writer.keep([picture, picture])
        writer.keep([])
        writer.write(record)
    assert list(read_trajectories(tmp_path / "runs.jsonl")) == [record]
    (file,) = picture_folder(tmp_path / "runs.jsonl").iterdir()
    assert file.read_bytes() == png(picture)
    assert file == tmp_path / "runs.pictures" / f"{named.pictures[0]}.png"


def test_pictures_are_not_kept_unless_asked_for(tmp_path: Path) -> None:
    with TrajectoryWriter(tmp_path / "runs.jsonl") as writer:
        writer.keep([np.zeros((2, 2), np.uint8)])
    assert list(tmp_path.iterdir()) == []


def test_a_record_of_before_pictures_had_names_is_read() -> None:
    assert '"pictures"' not in TRAJECTORY.to_json()
    assert Trajectory.from_json(TRAJECTORY.to_json()).turns[0].pictures == ()


def test_files_grow_by_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "new" / "runs.jsonl"
    with TrajectoryWriter(path) as writer:
        writer.write(TRAJECTORY)
    with TrajectoryWriter(path) as writer:
        writer.write(replace(TRAJECTORY, task_id="a/train/2"))
    assert [record.task_id for record in read_trajectories(path)] == ["a/train/1", "a/train/2"]


@pytest.mark.parametrize("finished", [0, 2])
@pytest.mark.parametrize("cut", [1, 50, 200_000])
def test_a_line_cut_short_is_dropped(tmp_path: Path, finished: int, cut: int) -> None:
    path = tmp_path / "runs.jsonl"
    whole = (TRAJECTORY.to_json() + "\n") * finished
    path.write_text(whole + ("{" * cut), encoding="ascii")
    assert len(list(read_trajectories(path))) == finished
    with TrajectoryWriter(path) as writer:
        assert path.read_text(encoding="ascii") == whole
        writer.write(TRAJECTORY)
    assert len(list(read_trajectories(path))) == finished + 1


def test_a_line_cut_inside_a_character_is_dropped_too(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_bytes(TRAJECTORY.to_json().encode() + b'\n{"turns": "\xc3')
    assert len(list(read_trajectories(path))) == 1


@pytest.mark.parametrize(
    "damaged",
    [
        b"not JSON",
        b"",
        b"[]",
        b"null",
        b"\xff\xfe",
        TRAJECTORY.to_json().encode()[:-9],
        TRAJECTORY.to_json().encode().replace(b'"kind"', b'"sort"'),
        TRAJECTORY.to_json().encode().replace(b'"reward":-0.5', b'"reward":"x"'),
    ],
    ids=[
        "words",
        "empty",
        "list",
        "null",
        "not-utf-8",
        "cut-short",
        "key-renamed",
        "reward-a-text",
    ],
)
def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path, damaged: bytes) -> None:
    path = tmp_path / "runs.jsonl"
    good = TRAJECTORY.to_json().encode()
    path.write_bytes(good + b"\n" + damaged + b"\n" + good + b"\n")
    records = read_trajectories(path)
    assert next(records) == TRAJECTORY
    with pytest.raises(TrajectoryError, match=r"runs\.jsonl, line 2: "):
        next(records)


@pytest.mark.parametrize(
    "verdict",
    [
        5, None, [], {"checks": 5}, {"checks": {"a": 1}}, {"checks": [None]}, {"checks": [{}]},
        {"checks": [{"name": 5, "passed": True}]}, {"checks": [{"name": "a"}]},
        {"checks": [{"name": "a", "passed": 1}]}, {"parts": []}, {"parts": {"a": {"checks": ""}}},
    ],
    ids=str,
)  # fmt: skip
def test_a_verdict_that_is_none_is_named(verdict: object) -> None:
    data = json.loads(TRAJECTORY.to_json())
    (role,) = data["verdicts"]
    data["verdicts"][role]["paper"] = verdict
    with pytest.raises(TrajectoryError, match="Not a recorded trajectory"):
        Trajectory.from_json(json.dumps(data))


def test_what_was_never_a_recording_is_no_line_cut_short(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\x89PNG\r\n"[:4] + bytes(range(128, 200)))
    with pytest.raises(TrajectoryError, match="line 1"):
        list(read_trajectories(tmp_path / "bytes"))


def test_another_schema_version_is_refused() -> None:
    data = json.loads(TRAJECTORY.to_json())
    data["schema_version"] = SCHEMA_VERSION + 1
    with pytest.raises(TrajectoryError, match=f"schema {SCHEMA_VERSION + 1}; .* reads schema"):
        Trajectory.from_json(json.dumps(data))


@pytest.mark.parametrize("line", ['{"a": 1}', "[]", "7", "null", '"text"'])
def test_what_is_no_record_is_not_one_of_another_version(line: str) -> None:
    with pytest.raises(TrajectoryError, match="Not a recorded trajectory"):
        Trajectory.from_json(line)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(TrajectoryError, match="There is no trajectory file"):
        list(read_trajectories(tmp_path / "none.jsonl"))


WRITER = """
import sys
from dataclasses import replace
from healthgym.core.trajectory import TrajectoryWriter
from tests.core.test_trajectory import TRAJECTORY
writer = TrajectoryWriter(sys.argv[1])
for number in range(10_000):
    writer.write(replace(TRAJECTORY, task_id=f"a/train/{number}"))
    print(number, flush=True)
"""


def test_a_killed_run_loses_no_finished_episode(tmp_path: Path, repo_root: Path) -> None:
    path = tmp_path / "runs.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)],
        env={**os.environ, "PYTHONPATH": str(repo_root)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with process.stdout:
        for line in process.stdout:
            if line.strip() == "40":
                process.send_signal(signal.SIGKILL)
                break
        reported = [40, *(int(line) for line in process.stdout if line.endswith("\n"))]
    assert process.wait() == -signal.SIGKILL
    found = [record.task_id for record in read_trajectories(path)]
    assert found == [f"a/train/{number}" for number in range(len(found))]
    assert len(found) > max(reported)
