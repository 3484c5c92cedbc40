import gymnasium as gym
import pytest

from healthgym.core.tool import call
from healthgym.errors import ConfigurationError
from healthgym.wrappers import TokenBudget
from tests.core.toys import LEDGER_ID


def test_instruction_actions_and_observations_are_counted_once_each() -> None:
    env = TokenBudget(gym.make(LEDGER_ID), count=len)
    instruction, info = env.reset(seed=0)
    assert info["tokens"] == len(instruction)
    total = len(instruction)
    for action in ["nonsense", '{"name": "list_accounts"}']:
        observation, _, _, truncated, info = env.step(action)
        total += len(action) + len(observation)
        assert (info["tokens"], truncated) == (total, False)
    assert env.reset(seed=0)[1]["tokens"] == len(instruction)


def test_the_estimate_is_four_characters_a_token() -> None:
    env = TokenBudget(gym.make(LEDGER_ID))
    instruction, info = env.reset(seed=0)
    assert info["tokens"] == -(-len(instruction) // 4)


@pytest.mark.parametrize("reward", ["sparse", "shaped"])
def test_an_episode_over_the_limit_is_truncated_and_scored(reward: str) -> None:
    costs = {"unsubmitted": 0.5}
    env = TokenBudget(gym.make(LEDGER_ID, reward=reward, costs=costs), limit=300, count=len)
    env.reset(seed=0)
    assert env.step("x")[3] is False
    _, value, terminated, truncated, info = env.step("x" * 300)
    assert (value, terminated, truncated) == (-0.5, False, True)
    assert info["verdict"].keys() == {"paper", "strict"}
    assert info["success"] is False
    assert "error" in info
    assert info["tokens"] > 300
    assert env.unwrapped.episode.done()


def test_a_submit_beyond_the_limit_still_counts() -> None:
    env = TokenBudget(gym.make(LEDGER_ID), limit=1)
    env.reset(seed=0)
    _, _, terminated, truncated, _ = env.step(call("submit", answer=0))
    assert (terminated, truncated) == (True, False)


def test_a_budget_of_nothing_is_refused() -> None:
    with pytest.raises(ConfigurationError):
        TokenBudget(gym.make(LEDGER_ID), limit=0)
