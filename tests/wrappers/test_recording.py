from pathlib import Path
from typing import Any

import gymnasium as gym
from gymnasium.vector import AutoresetMode

from healthgym.core.tool import call
from healthgym.core.trajectory import picture_folder, read_trajectories
from healthgym.wrappers import RecordTrajectories, TokenBudget
from tests.core.signs import SIGNS_ID
from tests.core.toys import LEDGER_ID

SUBMIT = '{"name": "submit", "arguments": {"answer": 0}}'


def test_finished_episodes_are_written_when_they_finish(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "runs.jsonl"
    env = RecordTrajectories(gym.make(LEDGER_ID, max_turns=2), path)
    env.reset(options={"index": 1})
    env.step(call("list_accounts"))
    assert not path.exists()
    env.step(SUBMIT)
    assert len(list(read_trajectories(path))) == 1
    env.reset(options={"index": 2})
    env.step("")
    env.step("")  # out of turns
    env.reset(options={"index": 3})
    env.step("")  # and never finished
    env.reset(options={"index": 4})
    env.step(SUBMIT)
    env.close()
    records = list(read_trajectories(path))
    assert [record.task_id for record in records] == [f"toy-ledger/train/{i}" for i in (1, 2, 4)]
    assert [len(record.turns) for record in records] == [2, 2, 1]
    assert records[0].turns[0].action == '{"name": "list_accounts", "arguments": {}}'
    assert records[1].verdicts["agent"]["strict"]["success"] is False
    assert records[0].env_kwargs["max_turns"] == 2


def test_pictures_are_kept_where_asked_for(tmp_path: Path) -> None:
    for pictures in (True, False):
        path = tmp_path / f"{pictures}.jsonl"
        env = RecordTrajectories(gym.make(SIGNS_ID), path, pictures)
        env.reset(options={"index": 0})
        env.step(call("look"))
        env.step([call("halves"), call("submit", side="left")])
        env.close()
        (record,) = read_trajectories(path)
        names = {name for turn in record.turns for name in turn.pictures}
        assert len(names) == 3
        folder = picture_folder(path)
        kept = {file.stem for file in folder.iterdir()} if folder.is_dir() else set()
        assert kept == (names if pictures else set())


def test_a_second_run_appends(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    for index in range(2):
        env = RecordTrajectories(gym.make(LEDGER_ID), path)
        env.reset(options={"index": index})
        env.step(SUBMIT)
        env.close()
        env.close()
    assert len(list(read_trajectories(path))) == 2


def test_an_episode_stopped_by_a_budget_is_written_in_full(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    inner = gym.make(LEDGER_ID, costs={"unsubmitted": 0.5})
    env = RecordTrajectories(TokenBudget(inner, limit=10), path)
    env.reset(seed=0)
    env.step("")
    env.close()
    (record,) = read_trajectories(path)
    assert record.stopped == ("agent",)
    assert record.rewards == {"agent": -0.5}


def test_workers_may_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"

    def recorded(env: gym.Env[Any, Any]) -> gym.Env[Any, Any]:
        return RecordTrajectories(env, path)

    envs = gym.make_vec(
        LEDGER_ID,
        2,
        "async",
        vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP},
        wrappers=[recorded],
    )
    envs.reset(seed=0)
    for _ in range(20):
        envs.step((SUBMIT, SUBMIT))
    envs.close()
    assert len({record.task_id for record in read_trajectories(path)}) == 40
