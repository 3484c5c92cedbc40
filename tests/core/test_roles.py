"""Several roles at one table, played from outside."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from healthgym.core.episode import AnyEpisode, Episode
from healthgym.core.family import EpisodeConfig
from healthgym.core.reward import RewardFunction
from healthgym.core.seeding import Split
from healthgym.core.tool import call
from healthgym.errors import EpisodeStateError
from healthgym.rewards import Costs, PotentialReward, SparseReward
from tests.core.toys import Market


def market(reward: RewardFunction | None = None, max_turns: int = 3) -> tuple[AnyEpisode, int]:
    family = Market()
    instance = family.generator.generate(Split.TRAIN, 5)
    config = EpisodeConfig(max_turns=max_turns)
    limit = instance.start["seller"]
    return Episode(family, instance, reward or SparseReward(), config), limit


def test_each_role_has_its_own_tools_instruction_and_budget() -> None:
    episode, _ = market()
    assert episode.roles == ("buyer", "seller")
    assert episode.instruction("buyer") != episode.instruction("seller")
    assert "no tool named 'read_cost'" in episode.step(call("read_cost"), "buyer").observation
    assert episode.step(call("read_cost"), "seller").errors == ()
    episode.step(call("send_message", text="hello"), "buyer")
    assert "buyer: hello" in episode.step(call("read_messages"), "seller").observation
    assert (episode.turns_left("buyer"), episode.turns_left("seller")) == (1, 1)
    episode.step("", "buyer")
    assert episode.done("buyer")
    assert not episode.done("seller")
    assert not episode.done()


def test_roles_are_scored_when_the_last_of_them_is_done() -> None:
    episode, price = market(SparseReward(Costs(unsubmitted=0.5)))
    first = episode.step(call("agree", price=price), "buyer")
    assert (first.terminated, first.reward, first.settled) == (True, 0.0, {})
    with pytest.raises(EpisodeStateError):
        episode.step(call("read_messages"), "buyer")
    last = episode.step(call("agree", price=price), "seller")
    assert (last.terminated, last.reward, last.settled) == (True, 1.0, {"buyer": 1.0})
    assert {role: episode.total_reward(role) for role in episode.roles} == {
        "buyer": 1.0,
        "seller": 1.0,
    }
    assert episode.verdict("buyer").success


def test_a_role_out_of_turns_is_charged_once_and_at_the_end() -> None:
    episode, price = market(SparseReward(Costs(unsubmitted=0.5)), max_turns=1)
    assert episode.step("", "buyer").reward == 0.0
    last = episode.step(call("agree", price=price), "seller")
    assert (last.reward, last.settled) == (0.0, {"buyer": -0.5})


@given(st.lists(st.tuples(st.sampled_from(["buyer", "seller"]), st.integers(0, 3)), max_size=12))
def test_shaped_rewards_of_every_role_add_up(moves: list[tuple[str, int]]) -> None:
    episode, price = market(PotentialReward())
    actions: list[Any] = [
        "",
        call("read_messages"),
        call("agree", price=price),
        call("agree", price=1),
    ]
    totals = dict.fromkeys(episode.roles, 0.0)
    for role, number in [*moves, *[(role, 0) for role in episode.roles] * 3]:
        if not episode.done(role):
            outcome = episode.step(actions[number], role)
            totals[role] += outcome.reward
            for other, reward in outcome.settled.items():
                totals[other] += reward
    assert episode.done()
    for role in episode.roles:
        assert totals[role] == pytest.approx(episode.verdict(role).progress)
        assert totals[role] == pytest.approx(episode.total_reward(role))


def test_stopping_the_last_role_settles_the_others() -> None:
    episode, price = market(SparseReward(Costs(unsubmitted=0.5)))
    episode.step(call("agree", price=price), "buyer")
    assert episode.stop("seller") == -0.5
    assert episode.done()
    assert (episode.total_reward("buyer"), episode.total_reward("seller")) == (0.0, -0.5)
    first, _ = market(SparseReward(Costs(unsubmitted=0.5)))
    assert first.stop("buyer") == 0.0
    assert not first.done()


@pytest.mark.parametrize("named", ["buyer", "nobody"])
def test_a_turn_of_nobody_who_can_act_is_a_failure_of_ours(named: str) -> None:
    class Confused(Market):
        takes_turns = True

        def to_act(self, world: Any, live: Any) -> str | None:
            return named if len(live) == 1 else "buyer"

    family = Confused()
    instance = family.generator.generate(Split.TRAIN, 5)
    episode = Episode(family, instance, SparseReward(), EpisodeConfig())
    with pytest.raises(EpisodeStateError, match="cannot be the turn"):
        episode.step(call("agree", price=1), "buyer")
    assert not episode.done("buyer")
