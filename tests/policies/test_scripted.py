"""Scripted policies."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any

import pytest

from healthgym.core.tool import ToolCall, ToolKind
from healthgym.errors import ConfigurationError
from healthgym.policies.base import Policy
from healthgym.policies.scripted import NopPolicy, RandomPolicy, ScriptPolicy, resolve
from tests.core.toys import make_ledger


def play(policy: Policy, index: int = 0, **options: Any) -> tuple[list[Any], dict[str, Any]]:
    env = make_ledger(**options)
    observation, info = env.reset(options={"split": "test", "index": index})
    policy.begin(env, observation, info)
    actions: list[Any] = []
    over = False
    while not over:
        actions.append(policy.act(observation))
        observation, _, terminated, truncated, info = env.step(actions[-1])
        over = terminated or truncated
    return actions, info


def test_nop_makes_no_call_until_the_turns_are_over() -> None:
    actions, info = play(NopPolicy(), max_turns=4)
    assert actions == ["", "", "", ""]
    assert not info["success"]


@pytest.mark.parametrize("index", range(20))
def test_the_oracle_plays_the_familys_script(index: int) -> None:
    actions, info = play(ScriptPolicy("oracle"), index)
    assert info["success"]
    assert actions[-1].name == "submit"


def test_a_script_that_is_over_does_nothing_more() -> None:
    policy = ScriptPolicy("prior")
    play(policy)
    assert policy.act("") == ""


def test_a_solver_is_sent_every_observation(monkeypatch: pytest.MonkeyPatch) -> None:
    env, sent = make_ledger(), []

    def solver(instruction: str) -> Generator[Any, str, None]:
        sent.append(instruction)
        for _ in range(2):
            sent.append((yield "not a call"))

    monkeypatch.setattr(env.family, "solvers", lambda: {"solver": solver})
    observation, info = env.reset(seed=0)
    policy, seen = ScriptPolicy("solver"), [observation]
    policy.begin(env, observation, info)
    for expected in ("not a call", "not a call", ""):
        action = policy.act(seen[-1])
        assert action == expected
        seen.append(env.step(action)[0])
    assert sent == seen[:3]


def test_an_unknown_baseline_is_refused_with_those_there_are() -> None:
    with pytest.raises(ConfigurationError, match=r"'flood' here; use nop, oracle, prior, random"):
        play(ScriptPolicy("flood"))


@pytest.mark.parametrize(
    ("name", "kind"), [("nop", NopPolicy), ("random", RandomPolicy), ("oracle", ScriptPolicy)]
)
def test_a_policy_is_found_by_name(name: str, kind: type) -> None:
    policy = resolve(name)
    assert isinstance(policy, kind)
    assert policy.name == name


def test_random_play_follows_from_seed_task_and_attempt() -> None:
    first, second = RandomPolicy(1), RandomPolicy(1)
    play(second, 7)
    assert play(first, 5)[0] == play(second, 5)[0]
    assert play(first, 5)[0] == play(second, 5)[0]
    assert play(RandomPolicy(1), 5)[0] != play(RandomPolicy(2), 5)[0]
    again = RandomPolicy(1)
    assert play(again, 5)[0] != play(again, 5)[0]


def test_random_play_hands_in_an_answer() -> None:
    policy = RandomPolicy(0, submit_rate=0.0)
    for index in range(20):
        actions, _ = play(policy, index)
        assert len(actions) == 6
        assert actions[-1].name == "ledger__submit"


@pytest.mark.parametrize("rate", [-0.1, 1.1])
def test_a_rate_that_is_no_probability_is_refused(rate: float) -> None:
    with pytest.raises(ConfigurationError, match="probability"):
        RandomPolicy(submit_rate=rate)


def fits(value: object, schema: Mapping[str, Any]) -> bool:
    """Whether a value is one that a tool schema describes."""
    if "enum" in schema:
        return value in schema["enum"]
    if "anyOf" in schema:
        return any(fits(value, option) for option in schema["anyOf"])
    kinds = schema.get("type")
    types = {
        "string": str, "integer": int, "number": (int, float), "boolean": bool,
        "array": list, "object": dict, "null": type(None),
    }  # fmt: skip
    for kind in [kinds] if isinstance(kinds, str) else kinds or types:
        if not isinstance(value, types[kind]) or (isinstance(value, bool) and kind != "boolean"):
            continue
        if isinstance(value, list):
            return all(fits(item, schema.get("items", {})) for item in value)
        if isinstance(value, dict):
            inner = schema.get("additionalProperties", {})
            return all(fits(item, inner) for item in value.values())
        return True
    return False


def test_random_arguments_fit_the_tools_schemas() -> None:
    policy, used = RandomPolicy(3, submit_rate=0.05), set()
    for index in range(60):
        env = make_ledger()
        catalog = env.open_episode("test", index).seat().catalog
        for action in play(policy, index)[0]:
            assert isinstance(action, ToolCall)
            schema = catalog.resolve(action.name)[0].parameters
            assert set(schema.get("required", [])) <= set(action.arguments)
            for name, value in action.arguments.items():
                assert fits(value, schema["properties"][name]), (action, name)
            used.add(action.name)
    assert used == {spec.identifier for spec in catalog.specs}


def test_random_text_comes_from_what_was_read() -> None:
    env = make_ledger()
    policy, hits = RandomPolicy(0), 0
    for index in range(100):
        observation, info = env.reset(options={"split": "test", "index": index})
        policy.begin(env, observation, info)
        over = False
        while not over:
            observation, _, terminated, truncated, info = env.step(policy.act(observation))
            over = terminated or truncated
        kinds = {event.kind for event in env.episode.events if not event.error}
        hits += ToolKind.WRITE in kinds
    assert hits > 10
