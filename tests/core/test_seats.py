"""Seats filled by argument: endpoints that play and lie and stall, and policies that crash."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from healthgym.core.borders import JsonDict
from healthgym.core.endpoint import Endpoint
from healthgym.core.env import HealthEnv
from healthgym.core.family import EpisodeConfig
from healthgym.core.players import Filling, Player
from healthgym.core.spending import Budget
from healthgym.core.tool import call
from healthgym.core.trajectory import Trajectory, read_trajectories
from healthgym.errors import (
    BudgetExceededError,
    ConfigurationError,
    EndpointAnswerError,
    EndpointError,
    EndpointTimeoutError,
    EndpointUnreachableError,
    EpisodeStateError,
    SeatCrashedError,
    TrajectoryError,
)
from healthgym.integrations.trl.environment import environment_class
from healthgym.integrations.trl.rewards import episode_reward
from healthgym.policies.seats import EndpointSeat
from healthgym.rewards import resolve
from healthgym.testing import replay
from healthgym.wrappers import RecordTrajectories
from tests.core.playing import snapshot_of
from tests.core.toys import Market
from tests.standin import Reply, StandIn, completion, stand_in

READ = call("read_messages")
SAYS = completion(calls=[("send_message", '{"text": "not below 7"}')])
AGREES = completion(calls=[("agree", '{"price": 7}')])


def market(seller: Filling, role: str = "buyer") -> HealthEnv:
    other = "seller" if role == "buyer" else "buyer"
    config = EpisodeConfig(max_turns=8)
    return HealthEnv(
        Market(), resolve("shaped"), config=config, role=role, counterparts={other: seller}
    )


def seat(server: StandIn, **options: Any) -> EndpointSeat:
    return EndpointSeat(Endpoint(server.base_url, "m", **{"retries": 0, **options}))


def kept(record: Trajectory) -> Trajectory:
    """Return a record as a file keeps it."""
    return Trajectory.from_json(record.to_json())


@dataclass(frozen=True)
class Crashing:
    """Somebody whose policy fails at their second move."""

    first: str = '{"name": "send_message", "arguments": {"text": "hello"}}'

    def sit(self, role: str, instruction: str, tools: Sequence[JsonDict]) -> Player:
        def play(_: str) -> Generator[object, str, None]:
            yield self.first
            raise KeyError("no such thought")

        return Player.of_solver(play, instruction)


# -- an endpoint in a seat ----------------------------------------------------------------------


def test_an_endpoint_plays_a_seat_with_its_own_instruction_and_tools() -> None:
    with stand_in(SAYS, AGREES) as server:
        env = market(seat(server))
        env.reset(seed=0)
        env.step(READ)
        observation, *_ = env.step(READ)
        assert observation.endswith("seller: not below 7")
        assert env.episode.submitted("seller")
    first, second = server.requests
    assert first["messages"][0]["content"].startswith("You are the seller")
    assert {tool["function"]["name"] for tool in first["tools"]} >= {"read_cost", "agree"}
    assert [message["role"] for message in second["messages"]] == ["user", "assistant", "tool"]


def test_what_an_endpoint_played_is_played_again_without_it() -> None:
    with stand_in(SAYS, AGREES) as server:
        env = market(seat(server))
        env.reset(seed=0)
        env.step(READ)
        env.step(call("agree", price=7))
        record = kept(env.trajectory())
    # Nobody listens at the address any more.
    again = market({"endpoint": asdict(Endpoint("http://127.0.0.1:9/v1", "gone"))})
    assert replay(record, again).turns == len(record.turns) == 4


def test_nonsense_from_a_model_is_a_turn_of_its_own() -> None:
    with stand_in(completion("I would rather talk."), completion(calls=[("fly", "{oh")])) as server:
        env = market(seat(server))
        env.reset(seed=0)
        env.step(READ)
        env.step(READ)
        own = [turn for turn in env.episode.turns if turn.role == "seller"]
        assert all(turn.errors for turn in own)
        assert replay(kept(env.trajectory()), market(seat(server)))


@pytest.mark.parametrize(
    ("reply", "options", "kind"),
    [
        (Reply("{}", delay=30.0), {"timeout": 2.0}, EndpointTimeoutError),
        (replace(SAYS, cut=20), {}, EndpointUnreachableError),
        (Reply("{oh"), {}, EndpointAnswerError),
    ],
)
def test_an_outage_changes_nothing_and_may_pass(
    reply: Reply, options: dict[str, Any], kind: type[EndpointError]
) -> None:
    with stand_in(SAYS, reply, AGREES) as server:
        env = market(seat(server, **options))
        env.reset(seed=0)
        env.step(READ)
        before = snapshot_of(env.episode)
        with pytest.raises(kind):
            env.step(READ)
        assert snapshot_of(env.episode) == before
        assert env.episode.crash is None
        env.step(READ)
        assert env.episode.submitted("seller")
    # The question that failed was asked again, word for word.
    assert server.requests[1]["messages"] == server.requests[2]["messages"]


def test_a_server_that_is_too_busy_for_a_moment_costs_nothing() -> None:
    with stand_in(Reply("{}", 429, {"Retry-After": "0"}), SAYS) as server:
        env = market(seat(server, retries=1))
        env.reset(seed=0)
        env.step(READ)
        assert [turn.role for turn in env.episode.turns] == ["buyer", "seller"]


def test_a_budget_of_requests_holds_over_episodes() -> None:
    with stand_in(SAYS) as server:
        env = market(seat(server, budget=Budget(requests=1)))
        env.reset(seed=0)
        env.step(READ)
        env.reset(seed=1)
        with pytest.raises(BudgetExceededError):
            env.step(READ)
    assert len(server.requests) == 1


def test_clones_ask_for_themselves_and_know_what_was_said() -> None:
    with stand_in(SAYS, AGREES) as server:
        env = market(seat(server))
        env.reset(seed=0)
        env.step(READ)
        twin = env.episode.clone()
        env.step(READ)
        twin.step(READ)
        assert snapshot_of(twin) == snapshot_of(env.episode)
    assert [len(request["messages"]) for request in server.requests] == [1, 3, 3]


def test_trainers_mask_an_episode_whose_other_side_is_out_of_reach() -> None:
    with stand_in(Reply("{}", 503)) as server:
        rollout = environment_class(market(seat(server)))()
        rollout.reset(split="train", index=0)
        rollout.read_messages()
        assert episode_reward([rollout]) == [None]


@pytest.mark.parametrize(
    ("filling", "reason"),
    [
        ({"endpoint": {"base_url": "ftp://x", "model": "m"}}, "must begin with http"),
        ({"endpoint": {"base_url": "http://x", "model": "m"}, "colour": "red"}, "colour"),
        ({"oracle": True}, "one of endpoint, checkpoint"),
        ({}, "one of endpoint, checkpoint"),
        (7, "cannot fill a seat"),
    ],
)
def test_who_cannot_fill_a_seat_is_told_at_once(filling: Any, reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        market(filling)


# -- a policy that crashes ------------------------------------------------------------------------


def crashed() -> HealthEnv:
    env = market(Crashing())
    env.reset(seed=0)
    env.step(READ)
    with pytest.raises(SeatCrashedError, match="seller: KeyError: 'no such thought'") as caught:
        env.step(READ)
    assert isinstance(caught.value.__cause__, KeyError)
    return env


def test_a_seat_that_crashes_ends_the_episode_without_a_score() -> None:
    env = crashed()
    assert env.episode.done()
    assert not env.episode.settled
    with pytest.raises(EpisodeStateError, match="over"):
        env.step(READ)
    for asked in (env.episode.verdict, env.episode.settle, env.episode.stop):
        with pytest.raises(EpisodeStateError):
            asked()
    assert env.episode.total_reward("buyer") == 0
    env.reset(seed=0)
    assert env.step(READ)[0]


def test_the_record_of_a_crash_has_all_that_was_done_and_replays() -> None:
    record = kept(crashed().trajectory())
    assert [turn.role for turn in record.turns] == ["buyer", "seller", "buyer"]
    assert record.fault == "seller: KeyError: 'no such thought'"
    assert record.verdicts == {}
    report = replay(record, market({"endpoint": {"base_url": "http://h/v1", "model": "m"}}))
    assert (report.turns, report.success) == (3, False)


def test_a_crash_is_written_by_whoever_records(tmp_path: Path) -> None:
    env = RecordTrajectories(market(Crashing()), tmp_path / "runs.jsonl")
    env.reset(seed=0)
    env.step(READ)
    with pytest.raises(SeatCrashedError):
        env.step(READ)
    env.close()
    (record,) = read_trajectories(tmp_path / "runs.jsonl")
    assert record.fault
    assert len(record.turns) == 3


def test_a_crash_before_anybody_acted_is_told_by_reset() -> None:
    class Stillborn:
        def sit(self, role: str, instruction: str, tools: Sequence[JsonDict]) -> Player:
            def play(_: str) -> Generator[object, str, None]:
                raise RuntimeError("not today")
                yield

            return Player.of_solver(play, instruction)

    env = market(Stillborn(), role="seller")
    with pytest.raises(SeatCrashedError, match="buyer: RuntimeError: not today"):
        env.reset(seed=0)
    assert env.trajectory().turns == ()
    rollout = environment_class(market("eager", role="seller"))()
    rollout._env = env
    rollout.reset(split="train", index=0)
    assert episode_reward([rollout]) == [None]


def test_a_clone_from_before_a_crash_goes_on() -> None:
    env = market(Crashing())
    env.reset(seed=0)
    env.step(READ)
    twin = env.episode.snapshot()
    with pytest.raises(SeatCrashedError):
        env.step(READ)
    env.episode.restore(twin)
    assert not env.episode.done()
    with pytest.raises(SeatCrashedError):
        env.step(READ)


# -- what is heard from outside -------------------------------------------------------------------


def test_a_tape_that_has_somebody_elses_words_is_a_difference() -> None:
    env = market("firm")
    env.reset(seed=0)
    world = env.episode.world
    assert world.hear("caller", lambda: "hello") == "hello"
    record = kept(env.trajectory())
    assert [(each.speaker, each.text) for each in record.said] == [("caller", "hello")]
    env.reset(options={"index": 0, "record": record})
    taped = env.episode.world
    with pytest.raises(TrajectoryError, match=r"Words of judge are due; .* those of caller"):
        taped.hear("judge", lambda: "asked anyway")
    assert taped.hear("caller", lambda: "asked anyway") == "hello"
    with pytest.raises(TrajectoryError, match="those of nobody"):
        taped.hear("caller", lambda: "asked anyway")


def test_records_without_anything_from_outside_are_as_they_were() -> None:
    env = market("firm")
    env.reset(seed=0)
    data = json.loads(env.trajectory().to_json())
    assert not data.keys() & {"said", "fault"}
