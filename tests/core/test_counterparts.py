"""Seats filled by scripted counterparts: the same family as a single-agent environment."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from healthgym.core.env import HealthEnv
from healthgym.core.family import EpisodeConfig
from healthgym.core.players import Player
from healthgym.core.tool import call
from healthgym.errors import ConfigurationError, EpisodeStateError
from healthgym.presentation.render import transcript
from healthgym.rewards import resolve
from healthgym.testing import replay
from tests.core.playing import snapshot_of
from tests.core.toys import Ledger, Market, MarketWorld
from tests.core.toys.relay import Relay

READ = call("read_messages")


def market(
    role: str = "buyer", other: str = "firm", reward: str = "shaped", max_turns: int = 8
) -> HealthEnv:
    name = "seller" if role == "buyer" else "buyer"
    config = EpisodeConfig(max_turns=max_turns)
    return HealthEnv(
        Market(), resolve(reward), config=config, role=role, counterparts={name: other}
    )


def limit(env: HealthEnv, role: str) -> int:
    key = env.episode.task.key
    return int(env.family.generator.generate(key.split, key.index).start[role])


def test_the_other_side_answers_between_the_agents_turns() -> None:
    env = market()
    observation, info = env.reset(seed=0)
    assert observation.startswith("You are the buyer")
    assert {each["function"]["name"] for each in info["tools"]} >= {"agree"}
    price = limit(env, "seller")
    assert env.step(READ)[0].endswith("no messages")  # it is the buyer who begins
    assert env.step(READ)[0].endswith(f"seller: not below {price}")
    env.step(call("send_message", text=str(price)))
    *_, terminated, _, info = env.step(call("agree", price=price))
    assert terminated
    # The seller reads the offer and agrees in its own time, before the episode is scored.
    assert info["success"]
    assert env.episode.total_reward("buyer") == env.episode.total_reward("seller") == 1.0
    assert [turn.role for turn in env.episode.turns[:4]] == ["buyer", "seller", "buyer", "seller"]
    assert "=== seller: success" in transcript(env.episode)


def test_the_agent_may_take_the_other_seat_and_be_second() -> None:
    env = market("seller", "eager")
    observation, _ = env.reset(seed=0)
    assert observation.startswith("You are the seller")
    assert [turn.role for turn in env.episode.turns] == ["buyer"]
    offer = limit(env, "buyer")
    observation, *_ = env.step(READ)
    assert observation.endswith(f"buyer: {offer}")
    *_, info = env.step(call("agree", price=offer))
    assert info["success"]
    assert info["turns_left"] == 6


def test_counterparts_pay_from_their_own_budget() -> None:
    env = market(max_turns=3)
    env.reset(seed=0)
    for _ in range(2):
        env.step(READ)
    assert (env.episode.turns_left("buyer"), env.episode.turns_left("seller")) == (1, 1)
    *_, truncated, _ = env.step(READ)
    assert truncated
    assert env.episode.done()


def test_a_counterpart_that_leaves_is_out_of_the_game() -> None:
    env = market(other="silent")
    env.reset(seed=0)
    env.step(READ)
    assert env.episode.stopped("seller")
    assert not env.episode.done()
    *_, terminated, _, info = env.step(call("agree", price=1))
    assert (terminated, info["success"]) == (True, False)


def test_the_same_seed_and_actions_give_the_same_bytes() -> None:
    def played(actions: list[Any]) -> tuple[Any, ...]:
        env = market()
        env.reset(seed=3)
        outcomes = [env.step(action)[:4] for action in actions]
        return outcomes, snapshot_of(env.episode)

    actions = [READ, "nonsense", call("send_message", text="1"), READ]
    assert played(actions) == played(actions)


def test_an_episode_with_a_counterpart_is_cloned_at_every_step() -> None:
    env = market()
    env.reset(seed=1)
    price = limit(env, "seller")
    script = [READ, READ, call("send_message", text=str(price)), READ, call("agree", price=price)]
    twins = []
    for action in script:
        twins.append(env.episode.clone())
        env.step(action)
    for number, twin in enumerate(twins):
        # Two lives of the same clone: a player stands where its original stood.
        for life in (twin.clone(), twin):
            for action in script[number:]:
                life.step(action, "buyer")
            assert snapshot_of(life) == snapshot_of(env.episode)


def test_an_episode_with_a_counterpart_replays_to_the_same_bytes() -> None:
    env = market()
    env.reset(seed=1)
    price = limit(env, "seller")
    for action in (READ, "nonsense", call("send_message", text=str(price)), READ):
        env.step(action)
    env.step(call("agree", price=price))
    recorded = env.trajectory()
    assert {turn.role for turn in recorded.turns} == {"buyer", "seller"}
    assert replay(recorded, market()).success


def test_an_episode_in_which_a_counterpart_left_replays() -> None:
    env = market(other="silent")
    env.reset(seed=1)
    env.step(READ)
    env.stop()
    recorded = env.trajectory()
    assert recorded.stopped == ("buyer", "seller")
    assert replay(recorded, market(other="silent")).turns == len(recorded.turns)


def test_a_failure_of_ours_puts_the_counterpart_back_too() -> None:
    class Breaking(Market):
        def to_act(self, world: MarketWorld, live: Any) -> str | None:
            if getattr(world, "broken", False) and len(world.messages) > 1:
                raise RuntimeError("nobody knows")
            return super().to_act(world, live)

    env = HealthEnv(Breaking(), resolve("shaped"), role="buyer", counterparts={"seller": "firm"})
    env.reset(seed=0)
    before = snapshot_of(env.episode)
    said = call("send_message", text="hello")
    env.episode.world.broken = True
    for _ in range(2):
        with pytest.raises(RuntimeError):
            env.episode.step(said, "buyer")
        assert snapshot_of(env.episode) == before
    env.episode.world.broken = False
    env.step(said)
    assert [who for who, _ in env.episode.world.messages] == ["buyer", "seller"]


def test_a_counterpart_plays_all_its_turns_until_it_hands_over() -> None:
    env = HealthEnv(
        Relay(), resolve("sparse"), config=Relay.rules, counterparts={"editor": "prompt"}
    )
    assert env.role == "writer"
    env.reset(seed=0)
    env.step(call("write_line", text="first line"))
    observation, *_ = env.step(call("hand_over", to="editor"))
    assert "Bo hands you the pen." in observation
    assert list(env.episode.world.lines)[1].endswith("0: I read er (Ada): first line")
    assert [turn.role for turn in env.episode.turns] == ["writer", "writer", *["editor"] * 3]
    assert env.episode.turns[2].news.endswith("Ada hands you the pen.")
    *_, terminated, _, info = env.step([call("hand_over", to="editor"), call("finish")])
    assert terminated
    assert info["success"]


@pytest.mark.parametrize(
    ("role", "counterparts"),
    [
        ("buyer", {}),
        ("", {}),
        ("", {"buyer": "eager"}),
        ("buyer", {"buyer": "eager", "seller": "firm"}),
        ("buyer", {"seller": "firm", "judge": "stern"}),
        ("judge", {"buyer": "eager", "seller": "firm"}),
    ],
)
def test_every_seat_is_filled_once(role: str, counterparts: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError, match="has the roles buyer, seller"):
        HealthEnv(Market(), resolve("sparse"), role=role, counterparts=counterparts)


def test_a_counterpart_that_does_not_exist_is_named() -> None:
    env = market(other="stern")
    with pytest.raises(ConfigurationError, match=r"no policy named 'stern' here; use firm, .*"):
        env.reset(seed=0)


def test_a_family_with_one_role_needs_none() -> None:
    assert HealthEnv(Ledger(), resolve("sparse")).role == "agent"


def test_players_who_never_let_the_agent_act_are_a_fault_of_ours() -> None:
    class Greedy(Market):
        def to_act(self, world: MarketWorld, live: Any) -> str | None:
            return "seller"

        def counterparts(self) -> Any:
            return {"seller": {"endless": endless}}

    def endless(_: str) -> Generator[Any, str, None]:
        while True:
            yield []  # no call at all

    env = HealthEnv(
        Greedy(),
        resolve("sparse"),
        config=EpisodeConfig(max_turns=10**6),
        role="buyer",
        counterparts={"seller": "endless"},
    )
    with pytest.raises(EpisodeStateError, match="nobody outside is ever to act again"):
        env.reset(seed=0)


# -- players -----------------------------------------------------------------------------------


def test_a_player_of_a_script_and_one_of_a_solver() -> None:
    script = Player.of_script(["a", "b"])
    assert [script.act(text) for text in ("", "x", "y", "z")] == ["a", "b", None, None]

    def solver(instruction: str) -> Generator[Any, str, None]:
        shown = instruction
        while shown != "stop":
            shown = yield f"saw {shown}"

    player = Player.of_solver(solver, "go")
    assert [player.act(text) for text in ("ignored", "x", "stop", "y")] == [
        "saw go", "saw x", None, None,
    ]  # fmt: skip


def test_a_player_is_cloned_where_it_stands() -> None:
    def solver(_: str) -> Generator[Any, str, None]:
        heard: list[str] = []
        while True:
            heard.append((yield tuple(heard)))

    player = Player.of_solver(solver, "")
    for text in ("", "a", "b"):
        player.act(text)
    twin = player.clone()
    assert twin.position == player.position == 3
    assert twin.act("c") == ("a", "b", "c")
    assert player.act("d") == ("a", "b", "d")
    assert player.at(1).act("e") == ("e",)
    assert player.at(0).act("ignored") == ()
