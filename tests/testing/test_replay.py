"""Recorded episodes come out the same, and the first difference is told."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from healthgym.core.images import fingerprint
from healthgym.core.tool import call
from healthgym.core.trajectory import Trajectory, read_trajectories
from healthgym.errors import TrajectoryError
from healthgym.registration import make_health_env
from healthgym.testing import ReplayReport, hostile_actions, replay
from healthgym.testing.replay import replayed_pictures
from healthgym.wrappers import RecordTrajectories, TokenBudget
from tests.core.toys import LEDGER_ID, make_ledger
from tests.sized import some


def record(actions: list[Any], **kwargs: Any) -> Trajectory:
    env = make_health_env(LEDGER_ID, kwargs)
    env.reset(options={"task_id": "toy-ledger/test/4"})
    for action in actions:
        env.step(action)
    return Trajectory.from_json(env.trajectory().to_json())


SUBMIT = call("submit", answer=0)


def test_an_episode_comes_out_the_same() -> None:
    recorded = record([call("draw_accounts"), "nonsense", [call("list_accounts"), SUBMIT]])
    assert replay(recorded) == ReplayReport("toy-ledger/test/4", 3, False)


def test_pictures_are_compared_by_their_names_and_handed_over() -> None:
    recorded = record([call("draw_accounts"), call("draw_accounts", scale=2), SUBMIT])
    assert [len(turn.pictures) for turn in recorded.turns] == [1, 1, 0]
    seen: list[str] = []
    replay(recorded, on_images=lambda images: seen.extend(map(fingerprint, images)))
    assert seen == [name for turn in recorded.turns for name in turn.pictures]


def test_pictures_of_another_machine_are_only_counted() -> None:
    recorded = record([call("draw_accounts"), call("draw_accounts", scale=2), SUBMIT])
    other = replace(recorded.turns[0], pictures=("0" * 32,))
    elsewhere = replace(recorded, turns=(other, *recorded.turns[1:]))
    with pytest.raises(TrajectoryError, match="turn 1, pictures"):
        replay(elsewhere)
    assert replay(elsewhere, exact_pictures=False).turns == len(recorded.turns)
    assert set(replayed_pictures(elsewhere)) == {"0" * 32, *recorded.turns[1].pictures}


def test_a_record_of_before_pictures_had_names_replays() -> None:
    recorded = record([call("draw_accounts"), SUBMIT])
    old = tuple(replace(turn, pictures=()) for turn in recorded.turns)
    assert replay(replace(recorded, turns=old)).turns == 2


def test_an_oracle_episode_is_told_to_be_a_success() -> None:
    env = make_health_env(LEDGER_ID, {"reward": "shaped"})
    _, info = env.reset(seed=1)
    key = env.episode.task.key
    instance = env.family.generator.generate(key.split, key.index)
    script = env.family.oracle(instance, np.random.default_rng(0))
    for action in script:
        env.step(action)
    report = replay(env.trajectory())
    assert report == ReplayReport(info["task_id"], len(script), True)


def test_hostile_episodes_come_out_the_same() -> None:
    specs = make_ledger().family.roles["agent"].catalog.specs
    for seed in range(some(10, 3)):
        actions = list(hostile_actions(np.random.default_rng(seed), specs, 40))
        assert replay(record(actions, max_turns=50)).turns == 40


def test_arguments_of_the_environment_are_part_of_the_record() -> None:
    recorded = record([""] * 2, max_turns=2, costs={"unsubmitted": 0.5}, render_mode="ansi")
    assert replay(recorded).turns == 2
    assert recorded.rewards == {"agent": -0.5}


def test_an_episode_stopped_from_outside_comes_out_the_same(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    inner = gym.make(LEDGER_ID, reward="shaped", costs={"unsubmitted": 0.25})
    env = RecordTrajectories(TokenBudget(inner, limit=20), path)
    env.reset(seed=0)
    env.step("x" * 100)
    env.close()
    (recorded,) = read_trajectories(path)
    assert replay(recorded).turns == 1
    with pytest.raises(TrajectoryError, match="verdicts"):
        replay(replace(recorded, stopped=()))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda r: {"kind": "other"}, "kind: recorded"),
        (lambda r: {"instructions": {"agent": "Do."}}, "instructions"),
        (lambda r: {"tools": {"agent": []}}, "tools"),
        (lambda r: {"turns": (replace(r.turns[0], observation="x"), *r.turns[1:])},
         "turn 1, observation: recorded"),
        (lambda r: {"turns": (r.turns[0], replace(r.turns[1], reward=0.5))}, "turn 2, reward"),
        (lambda r: {"turns": (replace(r.turns[0], time="x"), *r.turns[1:])}, "turn 1, time"),
        (lambda r: {"turns": (replace(r.turns[0], images=0), *r.turns[1:])}, "turn 1, images"),
        (lambda r: {"turns": (replace(r.turns[0], pictures=("0" * 32,)), *r.turns[1:])},
         "turn 1, pictures: recorded"),
        (lambda r: {"turns": (*r.turns, r.turns[0])}, "turn 3: .*agent is done"),
        (lambda r: {"turns": (replace(r.turns[0], role="judge"),)}, "judge is done"),
        (lambda r: {"turns": r.turns[:1]}, "verdicts"),
        (lambda r: {"rewards": {"agent": 1.0}}, "rewards"),
        (lambda r: {"task_id": "toy-ledger/test/5000"}, "cannot be opened"),
        (lambda r: {"task_id": "nonsense"}, "cannot be opened"),
        (lambda r: {"env_id": ""}, "without an id"),
        (lambda r: {"env_id": "Nothing-v0"}, "Nothing-v0 cannot be made"),
        (lambda r: {"env_kwargs": {"colour": "red"}}, "cannot be made"),
    ],
    ids=[
        "kind", "instructions", "tools", "observation", "reward", "time", "images", "pictures",
        "turn-too-many", "role", "turn-missing", "rewards", "index", "task-id", "no-env-id",
        "unknown-env", "arguments",
    ],
)  # fmt: skip
def test_the_first_difference_is_told(change: Any, reason: str) -> None:
    recorded = record([call("draw_accounts"), SUBMIT])
    with pytest.raises(TrajectoryError, match=reason):
        replay(replace(recorded, **change(recorded)))


def test_an_environment_made_by_hand_may_be_given() -> None:
    env = make_ledger()
    env.reset(seed=0)
    env.step(SUBMIT)
    recorded = env.trajectory()
    assert replay(recorded, make_ledger()).turns == 1
    with pytest.raises(TrajectoryError, match="without an id"):
        replay(recorded)
