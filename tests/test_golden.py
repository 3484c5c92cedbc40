"""Recorded episodes replay to the same text, rewards and verdicts, byte for byte."""

from __future__ import annotations

import pytest

from healthgym.core.trajectory import read_trajectories
from healthgym.testing.replay import replay
from tests.golden.record import RECORDED, path_of


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
