"""Evaluations and demonstrations on a cluster, which Ray starts on this machine."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from healthgym.core.env import HealthEnv
from healthgym.core.trajectory import read_trajectories
from healthgym.errors import ConfigurationError
from healthgym.policies.base import Policy
from healthgym.policies.evaluation import evaluate
from healthgym.policies.results import EpisodeResult
from healthgym.policies.scripted import resolve
from healthgym.registration import make_health_env

ray = pytest.importorskip("ray")

from healthgym.integrations.cluster import (  # noqa: E402
    LOST,
    Cluster,
    demonstrations_on,
    evaluate_on,
)
from healthgym.integrations.spreading import spread  # noqa: E402
from healthgym.integrations.trl.demonstrations import demonstrations  # noqa: E402

ENV = "HealthAgent/MedAgentBenchV1-v1"
TASKS = 14


@pytest.fixture(scope="module", autouse=True)
def _cluster() -> Iterator[None]:
    """Start one cluster for all tests: that takes seconds."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(num_cpus=3, include_dashboard=False, object_store_memory=100 * 2**20)
    yield
    ray.shutdown()


class Mortal:
    """A policy in whose hands its process dies, as often as there are files to be taken."""

    name = "random"

    def __init__(self, lives: Path, index: int) -> None:
        self._policy: Policy = resolve("random", 3)
        self._lives, self._index = lives, index

    def begin(self, env: HealthEnv, observation: str, info: dict[str, object]) -> None:
        if env.episode.task.key.index == self._index:
            for life in self._lives.iterdir():
                life.unlink()
                os.kill(os.getpid(), signal.SIGKILL)
        self._policy.begin(env, observation, info)

    def act(self, observation: str) -> object:
        return self._policy.act(observation)


def _mortal(lives: Path, index: int) -> Callable[[], Policy]:
    return lambda: Mortal(lives, index)


def _lives(folder: Path, count: int) -> Path:
    lives = folder / "lives"
    lives.mkdir()
    for number in range(count):
        (lives / str(number)).touch()
    return lives


def test_results_are_those_of_one_process() -> None:
    seen: list[EpisodeResult] = []
    alone = evaluate(ENV, "random", episodes=TASKS, seed=3, samples_per_task=2)
    spread_out = evaluate_on(
        Cluster(block=3), ENV, "random", episodes=TASKS, seed=3, samples_per_task=2,
        on_result=seen.append,
    )  # fmt: skip
    assert spread_out == alone
    assert len(seen) == 2 * TASKS
    assert spread_out.floor


def test_a_process_that_dies_is_replaced_and_its_block_repeated(tmp_path: Path) -> None:
    lives = _lives(tmp_path, 1)
    record = tmp_path / "episodes.jsonl"
    policy = partial(_mortal, lives, 4)
    found = evaluate_on(Cluster(block=3), ENV, policy, episodes=TASKS, seed=3, record=record)
    assert not list(lives.iterdir()), "no process died"
    assert found == evaluate(ENV, "random", episodes=TASKS, seed=3)
    episodes = [(each.task_id, each.attempt) for each in found.results]
    assert len(episodes) == len(set(episodes)) == TASKS
    kept = [each.task_id for each in read_trajectories(record)]
    assert sorted(kept) == sorted(task for task, _ in episodes)


def test_what_dies_twice_has_no_score_and_the_rest_has(tmp_path: Path) -> None:
    policy = partial(_mortal, _lives(tmp_path, 2), 4)
    found = evaluate_on(Cluster(block=3), ENV, policy, episodes=TASKS, seed=3)
    assert [each.index for each in found.errors] == [3, 4, 5]
    assert found.reasons == {LOST: 3}
    alone = evaluate(ENV, "random", episodes=TASKS, seed=3)
    ids = {each.task_id for each in found.errors}
    assert found.scored == tuple(each for each in alone.results if each.task_id not in ids)
    assert {each.task_id for each in found.errors} < {each.task_id for each in alone.results}


def test_a_run_goes_on_from_its_record(tmp_path: Path) -> None:
    record = tmp_path / "episodes.jsonl"
    of = {"policy": "random", "seed": 3}
    evaluate(ENV, "random", episodes=5, seed=3, record=record, resume=of)
    before = record.read_bytes()
    whole = evaluate_on(
        Cluster(block=4), ENV, "random", episodes=TASKS, seed=3, record=record, resume=of
    )
    assert replace(whole, floor=()) == evaluate(ENV, "random", episodes=TASKS, seed=3, floor=False)
    assert record.read_bytes().startswith(before)
    assert len(list(read_trajectories(record))) == TASKS
    again = evaluate_on(
        Cluster(), ENV, "random", episodes=TASKS, seed=3, record=record, resume=of, floor=False
    )
    assert again.results == whole.results
    assert len(list(read_trajectories(record))) == TASKS


def test_demonstrations_come_in_their_order() -> None:
    env = make_health_env(ENV)
    alone = list(demonstrations(env, "train", 9, first=2, system="Be brief."))
    how = {"system": "Be brief."}
    found = demonstrations_on(Cluster(block=2), ENV, "train", 9, first=2, how=how)
    assert list(found) == alone


def test_mistakes_are_told_before_anything_is_started() -> None:
    with pytest.raises(ConfigurationError, match="tasks"):
        evaluate_on(Cluster(), ENV, "oracle", episodes=10**9, split="test")
    with pytest.raises(ConfigurationError, match="give a record"):
        evaluate_on(Cluster(), ENV, "oracle", episodes=2, resume={})
    with pytest.raises(ConfigurationError, match="at least 1"):
        Cluster(block=0)
    with pytest.raises(ConfigurationError, match="at least 1"):
        Cluster(actors=0)


def test_what_the_work_raises_is_raised_here() -> None:
    with pytest.raises(ConfigurationError, match="wondrous"):
        evaluate_on(Cluster(), ENV, "wondrous", episodes=2)


def _doubled() -> Callable[[range], int]:
    return lambda block: 2 * block.start


def test_no_more_is_taken_up_than_there_are_processes() -> None:
    taken: list[int] = []

    def blocks() -> Iterator[range]:
        for number in range(12):
            taken.append(number)
            yield range(number, number + 1)

    most = 0
    found = []
    for block, twice in spread(Cluster(actors=2), _doubled, blocks()):
        found.append((block.start, twice))
        most = max(most, len(taken) - len(found))
    assert sorted(found) == [(n, 2 * n) for n in range(12)]
    assert most <= 2
