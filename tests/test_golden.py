"""Recorded episodes replay to the same text, rewards and verdicts, byte for byte."""

from __future__ import annotations

import pytest

import healthgym
from healthgym.core.seeding import Split
from healthgym.core.trajectory import read_trajectories
from healthgym.registration import make_health_env
from healthgym.testing.replay import replay
from tests.golden import episodes
from tests.golden.record import RECORDED, path_of
from tests.sized import FULL


@pytest.mark.parametrize("env_id", RECORDED)
def test_golden_trajectories_replay(env_id: str) -> None:
    recorded = list(read_trajectories(path_of(env_id)))
    assert len(recorded) == len(RECORDED[env_id].policies) * RECORDED[env_id].tasks
    for trajectory in recorded:
        replay(trajectory)


@pytest.mark.parametrize("env_id", RECORDED)
def test_golden_trajectories_of_the_oracle_are_successes(env_id: str) -> None:
    for trajectory in list(read_trajectories(path_of(env_id)))[: RECORDED[env_id].tasks]:
        assert trajectory.verdicts["agent"]["strict"]["success"], trajectory.task_id
        assert trajectory.verdicts["agent"]["paper"]["success"], trajectory.task_id


@pytest.mark.parametrize("env_id", healthgym.ids())
def test_recorded_episodes_are_played_and_answered_the_same(env_id: str) -> None:
    recorded = episodes.read(env_id)
    assert {episode["policy"] for episode in recorded} == set(episodes.POLICIES)
    generator = make_health_env(env_id).family.generator
    assert {episode["split"] for episode in recorded} == {s for s in Split if generator.size(s)}
    envs = {name: episodes.opened(env_id, name) for name in episodes.POLICIES}
    seen: set[tuple[str, str]] = set()
    for episode in recorded:
        # One episode of each policy and split in CI.
        kind = (episode["policy"], episode["split"])
        if kind in seen and not FULL:
            continue
        seen.add(kind)
        name, split, index = (episode[key] for key in ("policy", "split", "index"))
        actions = [turn[0] for turn in episode["turns"]]
        again = episodes.play(envs[name], env_id, name, split, index, actions)
        assert again.record == episode
        # What a random policy does next follows the words it read, the database's among them.
        if not (name == "random" and episodes.PLANS[env_id].statements):
            assert again.chosen == actions


@pytest.mark.parametrize("env_id", healthgym.ids())
def test_recorded_oracles_succeed_and_hostile_policies_do_not(env_id: str) -> None:
    for episode in episodes.read(env_id):
        verdicts = episode["verdict"].values()
        if episode["policy"] == "oracle":
            assert episode["submitted"], episode["task_id"]
            assert all(verdict["success"] for verdict in verdicts), episode["task_id"]
        if episode["policy"] == "hostile":
            assert not episode["submitted"], episode["task_id"]
            assert not any(verdict["success"] for verdict in verdicts), episode["task_id"]
