"""Vectors of environments: the right text, whichever way it travels."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import (
    create_shared_memory,
    read_from_shared_memory,
    write_to_shared_memory,
)

from healthgym.spaces import JsonText, UnicodeText
from tests.core.toys import LEDGER_ID

COUNT = 3
LIST = json.dumps({"name": "list_accounts", "arguments": {}})
ODD = json.dumps({"name": "nothing\u00e9\U0001f600"}, ensure_ascii=False)
SUBMIT = json.dumps({"name": "submit", "arguments": {"answer": 0}})
SCRIPT = [[LIST, ODD, ""], [ODD, LIST, SUBMIT], [LIST, SUBMIT, LIST], [SUBMIT, LIST, LIST]]

VECTORS = [
    ("sync", {}),
    ("sync", {"copy": False}),
    ("async", {"shared_memory": True}),
    ("async", {"shared_memory": False}),
    ("async", {"shared_memory": True, "copy": False}),
    ("async", {"shared_memory": False, "copy": False}),
    ("async", {"shared_memory": True, "context": "spawn"}),
]


class AsDict(gym.ObservationWrapper[dict[str, str], Any, str]):
    """The text in a Dict, beside its length."""

    def __init__(self, env: gym.Env[str, Any]) -> None:
        super().__init__(env)
        length = spaces.Box(0, 100_000, (1,), np.int64)
        self.observation_space = spaces.Dict({"text": env.observation_space, "length": length})

    def observation(self, observation: str) -> Any:
        return {"text": observation, "length": np.array([len(observation)])}


def expected(mode: AutoresetMode) -> list[list[str]]:
    """The same script played in single environments."""
    columns = []
    for number in range(COUNT):
        env = gym.make(LEDGER_ID)
        texts = [env.reset(seed=number)[0]]
        over = False
        for actions in SCRIPT:
            if over and mode is AutoresetMode.NEXT_STEP:
                texts.append(env.reset()[0])
                over = False
                continue
            text, _, terminated, truncated, _ = env.step(actions[number])
            over = terminated or truncated
            if over and mode is AutoresetMode.SAME_STEP:
                text = env.reset()[0]
            texts.append(text)
        columns.append(texts)
    return [list(row) for row in zip(*columns, strict=True)]


@contextmanager
def vector(mode: str, **kwargs: Any) -> Iterator[VectorEnv[Any, Any, Any]]:
    wrappers = kwargs.pop("wrappers", None)
    envs = gym.make_vec(
        LEDGER_ID, COUNT, vectorization_mode=mode, vector_kwargs=kwargs, wrappers=wrappers
    )
    try:
        yield envs
    finally:
        envs.close()


@pytest.mark.parametrize(("mode", "kwargs"), VECTORS)
@pytest.mark.parametrize("autoreset", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_every_vector_gives_the_right_text(
    mode: str, kwargs: dict[str, Any], autoreset: AutoresetMode
) -> None:
    with vector(mode, autoreset_mode=autoreset, **kwargs) as envs:
        texts = [list(envs.reset(seed=list(range(COUNT)))[0])]
        for actions in SCRIPT:
            texts.append(list(envs.step(tuple(actions))[0]))
    assert texts == expected(autoreset)
    assert len({text for row in texts for text in row}) > 8


@pytest.mark.parametrize(("mode", "kwargs"), VECTORS[:4])
def test_text_inside_a_dict_is_right_too(mode: str, kwargs: dict[str, Any]) -> None:
    with vector(mode, wrappers=[AsDict], **kwargs) as envs:
        first, _ = envs.reset(seed=list(range(COUNT)))
        texts, lengths = [list(first["text"])], [first["length"][:, 0].tolist()]
        for actions in SCRIPT:
            observation = envs.step(tuple(actions))[0]
            texts.append(list(observation["text"]))
            lengths.append(observation["length"][:, 0].tolist())
    assert texts == expected(AutoresetMode.NEXT_STEP)
    assert [list(map(len, row)) for row in texts] == lengths


@pytest.mark.parametrize(("mode", "kwargs"), [v for v in VECTORS if "copy" not in v[1]])
def test_earlier_observations_stay_as_they_were(mode: str, kwargs: dict[str, Any]) -> None:
    with vector(mode, **kwargs) as envs:
        first, _ = envs.reset(seed=list(range(COUNT)))
        kept = list(first)
        envs.step(tuple(SCRIPT[0]))
        assert list(first) == kept


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_infos_and_rewards_come_along(mode: str) -> None:
    with vector(mode, autoreset_mode=AutoresetMode.SAME_STEP) as envs:
        _, infos = envs.reset(seed=list(range(COUNT)))
        assert len(set(infos["task_id"])) == COUNT
        _, rewards, terminated, _, infos = envs.step((SUBMIT, LIST, SUBMIT))
        assert rewards.tolist() == [0.0, 0.0, 0.0]
        assert terminated.tolist() == [True, False, True]
        assert infos["final_info"]["_success"].tolist() == [True, False, True]


def test_a_vector_takes_samples_of_its_action_space() -> None:
    with vector("sync") as envs:
        envs.reset(seed=0)
        envs.action_space.seed(0)
        texts, *_ = envs.step(envs.action_space.sample())
        assert all("There is no tool named" in text for text in texts)


def test_text_spaces() -> None:
    space = UnicodeText(5, seed=0)
    assert "" in space
    assert "a\u00e9\U0001f600\n\t" in space
    assert "123456" not in space
    assert 5 not in space
    assert all(space.sample() in space for _ in range(50))
    assert space == UnicodeText(5) != UnicodeText(6)
    assert hash(space) == hash(UnicodeText(5))
    assert repr(space) == "UnicodeText(5)"
    calls = JsonText(200, seed=0)
    assert all(set(json.loads(calls.sample())) == {"name", "arguments"} for _ in range(50))
    assert calls != UnicodeText(200)


def test_text_too_long_for_the_shared_memory_is_refused() -> None:
    space = UnicodeText(4)
    memory = create_shared_memory(space, n=2)
    texts = read_from_shared_memory(space, memory, n=2)
    write_to_shared_memory(space, 1, "1234", memory)
    write_to_shared_memory(space, 0, "\U0001f600" * 4, memory)
    with pytest.raises(ValueError, match="longer than 4 characters"):
        write_to_shared_memory(space, 0, "\U0001f600" * 5, memory)
    assert list(texts) == ["\U0001f600" * 4, "1234"]
    assert texts[-1] == "1234"
    assert texts[:1] == ("\U0001f600" * 4,)
    with pytest.raises(IndexError):
        texts[2]
