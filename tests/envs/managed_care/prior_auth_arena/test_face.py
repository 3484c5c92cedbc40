"""The two desks as a PettingZoo environment."""

from __future__ import annotations

import pytest

pytest.importorskip("pettingzoo")

from numpy.random import default_rng
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from healthgym.core.tool import ToolCall
from healthgym.envs.managed_care.prior_auth_arena.family import ArenaFamily
from healthgym.integrations.pettingzoo import Arena, parallel
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER
from tests.envs.managed_care.prior_auth_arena.table import FAMILY, first, joint

pytestmark = [
    # PettingZoo would rather see numbers; text in a Dict is allowed, and that is all it says of it.
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be"),
    pytest.mark.filterwarnings("ignore:Action space for each agent probably should be"),
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array"),
]


def arena() -> Arena:
    return Arena(ArenaFamily("easy"))


def test_the_api() -> None:
    api_test(OrderEnforcingWrapper(arena()), num_cycles=60)
    parallel_api_test(parallel(arena()), num_cycles=60)


def test_seeds() -> None:
    seed_test(lambda: OrderEnforcingWrapper(arena()), num_cycles=30)
    parallel_seed_test(lambda: parallel(arena()), num_cycles=30)


def test_two_who_read_hold_a_call_through_it() -> None:
    task, table = first("said"), Arena(FAMILY, split="test")
    table.reset(options={"task_id": task.task.task_id})
    players = {
        agent: FAMILY.player("reader", task, default_rng(0), str(table.infos[agent]["role"]))
        for agent in table.agents
    }
    spoke: list[str] = []
    for agent in table.agent_iter(400):
        shown, _, terminated, truncated, _ = table.last()
        action = None if terminated or truncated else players[agent].act(shown["text"])
        if isinstance(action, ToolCall) and action.name == "call.speak":
            spoke.append(str(table.infos[agent]["role"]))
        table.step(action)
    assert spoke[:2] == [PROVIDER, PAYER]
    assert joint(table.episode)
