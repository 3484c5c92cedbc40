"""The evaluation loop and its report."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from healthgym.core.env import HealthEnv
from healthgym.core.tool import call
from healthgym.core.trajectory import read_trajectories
from healthgym.errors import (
    ConfigurationError,
    InfrastructureError,
    SeatCrashedError,
    VerifierError,
)
from healthgym.policies.evaluation import EvaluationInterrupted, evaluate
from healthgym.policies.reports import markdown_table, plain_table
from healthgym.policies.results import SCHEMA, EpisodeResult, Evaluation
from healthgym.policies.scripted import NopPolicy, RandomPolicy, ScriptPolicy
from healthgym.policies.statistics import wilson_interval
from healthgym.testing import replay
from tests.core.toys import LEDGER_ID


class Coin:
    """Solves the first attempt at every task and no other."""

    name = "coin"

    def __init__(self) -> None:
        self._oracle = ScriptPolicy("oracle")
        self._seen: set[str] = set()

    def begin(self, env: HealthEnv, observation: str, info: dict[str, Any]) -> None:
        self._honest = info["task_id"] not in self._seen
        self._seen.add(info["task_id"])
        self._oracle.begin(env, observation, info)

    def act(self, observation: str) -> Any:
        return self._oracle.act(observation) if self._honest else call("submit", answer=-1)


class Unlucky(ScriptPolicy):
    """The oracle over a line that breaks on some tasks."""

    def __init__(self, *broken: int) -> None:
        super().__init__("oracle")
        self._broken = broken

    def begin(self, env: HealthEnv, observation: str, info: dict[str, Any]) -> None:
        super().begin(env, observation, info)
        self._lost = env.episode.task.key.index in self._broken

    def act(self, observation: str) -> Any:
        if self._lost:
            raise InfrastructureError("the line broke")
        return super().act(observation)


def test_the_oracle_beside_the_floor() -> None:
    scored = evaluate(LEDGER_ID, "oracle", episodes=30)
    assert scored.success == wilson_interval(30, 30)
    assert [result.index for result in scored.results] == list(range(30))
    assert {result.task_id for result in scored.floor} == {r.task_id for r in scored.results}
    rows = scored.rows()
    assert [row.label for row in rows] == ["report", "transfer", "all"]
    assert sum(row.episodes for row in rows[:-1]) == rows[-1].episodes == 30
    assert rows[-1].floor == 0.0
    assert rows[-1].other == {"paper": 1.0}
    assert rows[0].calls == 2.0
    assert rows[1].calls == 3.0
    assert rows[-1].refused == 0.0
    assert scored.profile == "strict"
    assert all(result.submitted and result.reward == 1.0 for result in scored.results)


def test_the_same_tasks_whatever_the_seed() -> None:
    first = evaluate(LEDGER_ID, "random", episodes=10, seed=1, floor=False)
    second = evaluate(LEDGER_ID, "random", episodes=10, seed=2, floor=False)
    again = evaluate(LEDGER_ID, "random", episodes=10, seed=1, floor=False)
    assert [r.task_id for r in first.results] == [r.task_id for r in second.results]
    assert first.results != second.results
    assert first == again
    assert first.floor == ()


def test_several_attempts_at_a_task() -> None:
    scored = evaluate(LEDGER_ID, Coin(), episodes=20, samples_per_task=3, floor=False)
    assert [(r.index, r.attempt) for r in scored.results[:4]] == [(0, 0), (0, 1), (0, 2), (1, 0)]
    passed = scored.pass_at()
    assert passed[1] == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert passed[2] == (pytest.approx(2 / 3), 0.0)
    assert passed[3] == (1.0, 0.0)
    assert scored.success is not None
    assert scored.success.estimate == pytest.approx(1 / 3)
    assert "pass@k / pass^k: k=1: 33.3% / 33.3%, k=2: 66.7% / 0.0%" in scored.to_text()


def test_attempts_that_all_end_alike_still_leave_doubt() -> None:
    scored = evaluate(LEDGER_ID, "oracle", episodes=5, samples_per_task=4, floor=False)
    assert scored.success == wilson_interval(5, 5)
    scored = evaluate(LEDGER_ID, "prior", episodes=5, samples_per_task=4, floor=False)
    assert scored.success == wilson_interval(0, 5)


def test_a_broken_line_is_no_failure_of_the_policy(tmp_path: Path) -> None:
    record = tmp_path / "episodes.jsonl"
    scored = evaluate(LEDGER_ID, Unlucky(2, 5), episodes=10, record=record)
    assert scored.success == wilson_interval(8, 8)
    assert [result.index for result in scored.errors] == [2, 5]
    assert scored.errors[0].task_id == "toy-ledger/test/2"
    assert scored.stopped == ""
    told = scored.to_text()
    assert "2 of 10 episodes masked, 20.0% (InfrastructureError 2); the first: the line b" in told
    assert "Masked ones counted as failures, success is 80.0% [49.0% – 94.3%]." in told
    data = scored.to_dict()
    assert data["masked"] == {"rate": 0.2, "reasons": {"InfrastructureError": 2}}
    assert data["success_of_all"]["estimate"] == 0.8
    assert len(list(read_trajectories(record))) == 8


def test_a_line_that_stays_broken_ends_the_run() -> None:
    scored = evaluate(LEDGER_ID, Unlucky(*range(3, 100)), episodes=100)
    assert len(scored.scored) == 3
    assert len(scored.errors) == 5
    assert scored.stopped.startswith("5 episodes failed in a row")


def test_a_verifier_that_breaks_is_no_failure_of_the_policy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    env = gym.make(LEDGER_ID, disable_env_checker=True)
    inner = env.unwrapped
    assert isinstance(inner, HealthEnv)

    def broken(*_: object) -> None:
        raise VerifierError("lost the plot")

    monkeypatch.setattr(inner.family.verifier, "judge", broken)
    scored = evaluate(env, "oracle", episodes=3)
    assert scored.success is None
    assert len(scored.errors) == 3


def test_a_bug_is_not_swallowed() -> None:
    class Buggy(ScriptPolicy):
        def act(self, observation: str) -> Any:
            raise ZeroDivisionError

    with pytest.raises(SeatCrashedError, match="agent: ZeroDivisionError") as caught:
        evaluate(LEDGER_ID, Buggy("oracle"), episodes=3)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with pytest.raises(SeatCrashedError):
        evaluate(LEDGER_ID, lambda: Buggy("oracle"), episodes=3, workers=2)


def test_a_policy_that_fails_leaves_the_record_so_far(tmp_path: Path) -> None:
    class Tired(ScriptPolicy):
        def act(self, observation: str) -> Any:
            if "Error" in observation:
                raise KeyError("lost")
            return "no call"

    with pytest.raises(SeatCrashedError):
        evaluate(LEDGER_ID, Tired("oracle"), episodes=3, record=tmp_path / "runs.jsonl")
    (left,) = read_trajectories(tmp_path / "runs.jsonl")
    assert left.fault == "agent: KeyError: 'lost'"
    assert [turn.action for turn in left.turns] == ["no call"]
    assert left.verdicts == {}
    assert not replay(left).success


def test_an_interruption_reaches_workers_in_the_middle_of_an_episode() -> None:
    met = threading.Barrier(2)

    class Endless(NopPolicy):
        """Fails in one worker once the other one is in an endless episode."""

        def begin(self, env: HealthEnv, observation: str, info: dict[str, Any]) -> None:
            self._first = met.wait(300) == 0

        def act(self, observation: str) -> str:
            if self._first:
                raise KeyboardInterrupt
            return ""

    with pytest.raises(EvaluationInterrupted) as caught:
        evaluate(LEDGER_ID, Endless, episodes=2, workers=2, env_kwargs={"max_turns": 1_000_000_000})
    # What was left in the middle is neither scored nor masked.
    assert caught.value.evaluation.results == ()


def test_workers_change_nothing() -> None:
    def make_policy() -> RandomPolicy:
        return RandomPolicy(4)

    alone = evaluate(LEDGER_ID, make_policy, episodes=20, samples_per_task=2, seed=4)
    together = evaluate(LEDGER_ID, make_policy, episodes=20, samples_per_task=2, seed=4, workers=3)
    assert alone == together


def test_every_episode_is_recorded_and_told(tmp_path: Path) -> None:
    record, told = tmp_path / "runs" / "episodes.jsonl", []
    scored = evaluate(
        LEDGER_ID,
        "random",
        episodes=6,
        env_kwargs={"max_turns": 3},
        record=record,
        on_result=told.append,
    )
    trajectories = list(read_trajectories(record))
    assert [t.task_id for t in trajectories] == [r.task_id for r in scored.results]
    assert trajectories[0].env_kwargs == scored.env_kwargs == {"max_turns": 3}
    assert tuple(told) == scored.results
    assert all(result.calls <= 3 for result in scored.results)


def test_an_environment_in_hand_can_be_scored() -> None:
    env = gym.make(LEDGER_ID, disable_env_checker=True, profile="paper")
    scored = evaluate(env, "oracle", episodes=5)
    assert scored.env_id == LEDGER_ID
    assert scored.profile == "paper"
    env.reset()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"episodes": 0}, "at least 1"),
        ({"samples_per_task": 0}, "at least 1"),
        ({"workers": 0}, "at least 1"),
        ({"split": "dev"}, "not a split"),
        ({"episodes": 1001}, "has 1000 tasks"),
        ({"env_kwargs": {"turns": 3}}, "no argument turns; it has split,"),
        ({"policy": ScriptPolicy("oracle"), "workers": 2}, "one episode at a time"),
        ({"env": "Nowhere-v0"}, "no environment 'Nowhere-v0'"),
        ({"env": "no.such.module:Nowhere-v0"}, "no environment"),
        ({"env": "CartPole-v1"}, "not a healthgym environment"),
        ({"policy": "flood"}, "no policy named 'flood'"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(arguments: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        evaluate(**{"env": LEDGER_ID, "policy": "oracle", "episodes": 2, **arguments})


def test_an_environment_in_hand_takes_no_arguments() -> None:
    env = gym.make(LEDGER_ID, disable_env_checker=True)
    with pytest.raises(ConfigurationError, match="given by id"):
        evaluate(env, "oracle", env_kwargs={"max_turns": 3})


def test_json_holds_summary_and_episodes() -> None:
    scored = evaluate(LEDGER_ID, "prior", episodes=4)
    data = json.loads(scored.to_json())
    assert data["schema"] == SCHEMA
    assert data["rows"][-1]["label"] == "all"
    assert len(data["results"]) == len(data["floor"]) == 4
    assert data["results"][0]["success"] == {"paper": False, "strict": False}
    short = json.loads(scored.to_json(episodes=False))
    assert short["results"] == []
    assert short["rows"] == data["rows"]


def test_tokens_are_estimated_from_what_was_read_and_written() -> None:
    result = EpisodeResult("f/test/0", "k", 0, 0, {"strict": True}, characters=401, calls=1)
    scored = Evaluation("E-v0", {}, "p", "test", "strict", 1, 0, (result,))
    assert scored.rows()[-1].tokens == 101


def test_task_types_come_in_the_order_of_their_numbers() -> None:
    kinds = ["v2-t1", "v1-t10", "v1-t9", "v1", "other", "v1-t1"]
    results = tuple(
        EpisodeResult(f"f/test/{n}", kind, n, 0, {"strict": True}) for n, kind in enumerate(kinds)
    )
    scored = Evaluation("E-v0", {}, "p", "test", "strict", 1, 0, results)
    labels = [row.label for row in scored.rows()]
    assert labels == ["other", "v1", "v1-t1", "v1-t9", "v1-t10", "v2-t1", "all"]


def test_tables_align_and_escape() -> None:
    assert plain_table(["a", "bb"], [["long", "1"]]) == "a     bb\n----  --\nlong   1"
    assert markdown_table(["a"], [["x|y\nz"]]) == "| a |\n|---|\n| x\\|y z |"


def test_failure_modes_are_shares_of_the_failed_episodes() -> None:
    modes: list[tuple[bool, tuple[str, ...]]] = [
        (True, ()),
        (False, ("step skipped",)),
        (False, ("policy misread", "step skipped")),
        (False, ()),
    ]
    results = tuple(
        EpisodeResult(f"f/test/{n}", "k", n, 0, {"strict": won}, failure_modes=failed)
        for n, (won, failed) in enumerate(modes)
    )
    scored = Evaluation("E-v0", {}, "p", "test", "strict", 1, 0, results)
    assert list(scored.failure_modes().items()) == [
        ("step skipped", 2 / 3),
        ("policy misread", 1 / 3),
    ]
    told = [" ".join(line.split()) for line in scored.to_text().splitlines()]
    assert {"step skipped 66.7%", "policy misread 33.3%"} <= set(told)
    assert "| policy misread | 33.3% |" in scored.to_markdown()
    data = json.loads(scored.to_json())
    assert data["failure_modes"] == {"step skipped": 2 / 3, "policy misread": 1 / 3}
    assert data["results"][2]["failure_modes"] == ["policy misread", "step skipped"]
    assert "failure_modes" not in data["results"][0]


def test_where_no_failure_has_a_name_none_is_told() -> None:
    scored = evaluate(LEDGER_ID, "prior", episodes=2)
    assert not scored.failure_modes()
    assert "failure" not in scored.to_text()
    assert "failure_modes" not in json.loads(scored.to_json())
