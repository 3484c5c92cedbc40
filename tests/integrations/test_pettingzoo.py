"""The PettingZoo face: its own conformance tests, turn order, settlement, self-play."""

import builtins
import importlib
import sys
from typing import Any

import pytest

pytest.importorskip("pettingzoo")

from healthgym.core.arena import Arena, parallel
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test

from healthgym.core import arena
from healthgym.core.family import EpisodeConfig
from healthgym.core.tool import call
from healthgym.errors import ConfigurationError, EpisodeStateError, MissingDependencyError
from healthgym.rewards import Costs, PotentialReward, SparseReward
from tests.core.toys import Market

# PettingZoo would rather see numbers; text in a Dict is allowed, and that is all it says of it.
NOT_BOXES = [
    "ignore:Observation space for each agent probably should be",
    "ignore:Action space for each agent probably should be",
    "ignore:Observation is not a NumPy array",
]
pytestmark = [pytest.mark.filterwarnings(line) for line in NOT_BOXES]


def make(**kwargs: Any) -> Arena:
    kwargs.setdefault("reward", SparseReward())
    kwargs.setdefault("config", EpisodeConfig(max_turns=4))
    return Arena(Market(), **kwargs)


def test_api() -> None:
    api_test(make(), num_cycles=50)


def test_seeds() -> None:
    seed_test(make, num_cycles=20)


def test_parallel_api() -> None:
    parallel_api_test(parallel(make()), num_cycles=50)
    parallel_seed_test(lambda: parallel(make()), num_cycles=20)


def limits(env: Arena) -> dict[str, int]:
    instance = env.family.generator.generate(env.episode.task.key.split, env.episode.task.key.index)
    return dict(instance.start)


def test_agents_read_what_their_role_may_read() -> None:
    env = make()
    env.reset(seed=0)
    assert env.agents == ["buyer_0", "seller_0"]
    buyer, seller = (env.observe(agent)["text"] for agent in env.agents)
    assert "buyer" in buyer
    assert "seller" in seller
    names = {
        agent: {tool["function"]["name"] for tool in env.infos[agent]["tools"]}
        for agent in env.agents
    }
    assert names["seller_0"] - names["buyer_0"] == {"read_cost"}
    env.step(call("read_cost"))
    assert "no tool named 'read_cost'" in env.observe("buyer_0")["text"]
    assert env.observe("seller_0")["text"] == seller
    assert "error" in env.infos["buyer_0"]


def test_turns_go_round_and_pass_over_roles_that_are_done() -> None:
    env = make()
    env.reset(seed=0)
    order = []
    for action in [call("agree", price=1), "x", "x", "x", "x"]:
        order.append(env.agent_selection)
        assert env.infos["seller_0"]["turn"] == env.agent_selection
        env.step(action)
    assert order == ["buyer_0", "seller_0", "seller_0", "seller_0", "seller_0"]
    assert env.terminations == {"buyer_0": True, "seller_0": False}
    assert env.truncations == {"buyer_0": False, "seller_0": True}
    with pytest.raises(ValueError, match="only valid action is None"):
        env.step("x")


def test_both_sides_are_paid_when_the_deal_is_made() -> None:
    env = make()
    env.reset(seed=0)
    price = limits(env)["seller"]
    env.step(call("agree", price=price))
    assert env.rewards == {"buyer_0": 0.0, "seller_0": 0.0}
    assert not any(env.terminations.values())
    env.step(call("agree", price=price))
    assert env.rewards == {"buyer_0": 1.0, "seller_0": 1.0}
    assert all(env.terminations.values())
    assert all(env.infos[agent]["success"] for agent in env.agents)
    assert env.infos["buyer_0"]["verdict"].keys() == {"paper", "strict"}
    while env.agents:
        assert env.last()[1] == 1.0
        env.step(None)
    with pytest.raises(EpisodeStateError, match="over"):
        env.step(None)


def test_self_play() -> None:
    """Two scripted players over several episodes; returns follow from who kept to their limit."""
    env = make(reward=PotentialReward(Costs(unsubmitted=1.0)), render_mode="ansi")
    env.reset(seed=3)
    for episode in range(4):
        if episode:
            env.reset()
        price = limits(env)["seller"]
        plans = {
            "buyer_0": iter([call("send_message", text=str(price)), call("agree", price=price)]),
            "seller_0": iter([call("read_messages"), call("agree", price=price - (episode % 2))]),
        }
        returns = dict.fromkeys(env.agents, 0.0)
        read = []
        for agent in env.agent_iter(50):
            observation, reward, terminated, truncated, _ = env.last()
            returns[agent] += reward
            read.append(observation["text"])
            env.step(None if terminated or truncated else next(plans[agent]))
        assert any(f"buyer: {price}" in text for text in read)
        if episode % 2:
            assert returns == {"buyer_0": 0.5, "seller_0": 0.0}
        else:
            assert returns == {"buyer_0": 1.0, "seller_0": 1.0}
    assert "=== seller: failure" in str(env.render())


def test_the_reset_options_are_those_of_the_gymnasium_face() -> None:
    env = make(split="validation")
    env.reset(options={"index": 3})
    assert env.infos["buyer_0"]["task_id"] == "toy-market/validation/3"
    with pytest.raises(ConfigurationError, match="Unknown reset option"):
        env.reset(options={"tasks": 3})
    with pytest.raises(ConfigurationError, match="render_mode"):
        make(render_mode="rgb_array")
    with pytest.raises(EpisodeStateError, match=r"reset\(\) first"):
        _ = make().episode
    assert make().render() is None


def test_without_pettingzoo_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("pettingzoo"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.delitem(sys.modules, arena.__name__)
    with pytest.raises(MissingDependencyError, match=r"healthgym\[pettingzoo\]"):
        importlib.import_module(arena.__name__)
