from typing import Any

import gymnasium as gym
import pytest

from healthgym.core.env import HealthEnv
from healthgym.core.tool import ToolCall, call
from healthgym.errors import ConfigurationError
from healthgym.wrappers import ActionMenu
from tests.core.toys import LEDGER_ID


def balances(env: HealthEnv) -> list[ToolCall]:
    """One entry for each of the first accounts, as many as the task has letters to spare."""
    names = sorted(env.episode.world.base)[: 2 + len(env.episode.instruction()) % 2]
    return [call("ledger.read_balance", account=name) for name in names]


def test_numbers_stand_for_calls() -> None:
    menu: list[Any] = [call("list_accounts"), '{"name": "nothing"}', {"name": "draw_accounts"}]
    env = ActionMenu(gym.make(LEDGER_ID), menu)
    _, info = env.reset(seed=0)
    assert env.action_space == gym.spaces.Discrete(3)
    assert info["menu"][0] == {"name": "list_accounts", "arguments": {}}
    assert info["action_mask"].tolist() == [1, 1, 1]
    texts = [env.step(number)[0] for number in range(3)]
    assert "no tool named 'nothing'" in texts[1]
    assert "6 bars" in texts[2]


def test_a_menu_may_follow_the_task() -> None:
    env = ActionMenu(gym.make(LEDGER_ID), balances, size=4)
    lengths = set()
    for seed in range(8):
        _, info = env.reset(seed=seed)
        count = len(info["menu"])
        lengths.add(count)
        assert info["action_mask"].tolist() == [1] * count + [0] * (4 - count)
        assert "error" not in env.step(count - 1)[-1]
        _, _, _, _, info = env.step(count)
        assert "No tool call found" in info["error"]
        assert info["action_mask"].sum() == count
    assert lengths == {2, 3}


def test_menus_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="greatest size"):
        ActionMenu(gym.make(LEDGER_ID), balances)
    with pytest.raises(ConfigurationError, match="1 entries, not 2"):
        ActionMenu(gym.make(LEDGER_ID), ["a"], size=2)
    with pytest.raises(ConfigurationError, match="at least one"):
        ActionMenu(gym.make(LEDGER_ID), [])
    env = ActionMenu(gym.make(LEDGER_ID), balances, size=1)
    with pytest.raises(ConfigurationError, match="the space has 1"):
        env.reset(seed=0)
