"""Every registered arena keeps PettingZoo's promises, and ours that concern several agents."""

import re
import sys
from dataclasses import replace
from itertools import count
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pettingzoo")

from gymnasium.utils.env_checker import data_equivalence
from pettingzoo.test import (
    api_test,
    parallel_api_test,
    parallel_seed_test,
    performance_benchmark,
    seed_test,
)

import healthgym
from healthgym.core.trajectory import Trajectory
from healthgym.errors import ConformanceError
from healthgym.integrations.pettingzoo import Arena, env, parallel_env, raw_env
from healthgym.registration import arena_family, arena_row
from healthgym.testing import check_careless, replay
from healthgym.testing.hostile import hostile_actions, odd_calls

pytestmark = [
    pytest.mark.parametrize("arena_id", healthgym.arena_ids()),
    # PettingZoo would rather see numbers; text in a Dict is allowed, and that is all it says of it.
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be"),
    pytest.mark.filterwarnings("ignore:Action space for each agent probably should be"),
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array"),
]


def test_the_row(arena_id: str) -> None:
    row = arena_row(arena_id)
    assert re.fullmatch(r"HealthArena/[A-Z]\w+-v\d+", row.id)
    assert row.title
    made = raw_env(arena_id)
    assert len(made.possible_agents) > 1
    assert re.fullmatch(r"[a-z_]+_v\d+", made.metadata["name"])
    assert all(re.fullmatch(r"[a-z]+_0", agent) for agent in made.possible_agents)


def test_the_api(arena_id: str) -> None:
    api_test(env(arena_id), num_cycles=100)


def test_the_parallel_api(arena_id: str) -> None:
    parallel_api_test(parallel_env(arena_id), num_cycles=100)


def test_seeds(arena_id: str) -> None:
    seed_test(lambda: env(arena_id), num_cycles=40)
    parallel_seed_test(lambda: parallel_env(arena_id), num_cycles=40)


def test_the_performance_benchmark_runs(
    arena_id: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # It plays for five seconds of this clock, which has a few looks in them.
    ticks = count(0, 1.0)
    module = sys.modules["pettingzoo.test.performance_benchmark"]
    monkeypatch.setattr(module, "time", SimpleNamespace(time=lambda: next(ticks)))
    performance_benchmark(env(arena_id))
    assert "turns per second" in capsys.readouterr().out


def odd_actions(arena: Arena, seed: int) -> list[Any]:
    """What the first role may send, and what no role may."""
    arena.reset(options={"index": seed})
    rng = np.random.default_rng(seed)
    specs = [
        spec for role in arena.episode.roles for spec in arena.episode.seat(role).catalog.specs
    ]
    pairs = zip(hostile_actions(rng, specs, 60), odd_calls(rng, specs, 60), strict=True)
    return [action for pair in pairs for action in pair]


def test_the_same_actions_come_out_the_same(arena_id: str) -> None:
    one, other = raw_env(arena_id), raw_env(arena_id)
    for seed in range(3):
        actions = odd_actions(one, seed)
        other.reset(options={"index": seed})
        for action in actions:
            if any(one.truncations.values()) or any(one.terminations.values()):
                break
            one.step(action)
            other.step(action)
            assert one.agent_selection == other.agent_selection
            assert data_equivalence(one.last(), other.last())
        assert one.episode.world.digest() == other.episode.world.digest()


def test_no_action_raises_and_a_refused_one_leaves_no_trace(arena_id: str) -> None:
    arena = raw_env(arena_id, max_turns=200)
    # Where a turn passes by itself after so many calls, time does, too, whatever the last one was.
    arena.config = replace(arena.config, spell=None)
    refused = 0
    for seed in range(3):
        for action in odd_actions(arena, seed):
            if any(arena.truncations.values()) or any(arena.terminations.values()):
                break
            agent, digest = arena.agent_selection, arena.episode.world.digest()
            events = len(arena.episode.events)
            arena.step(action)
            assert (
                len(arena.observe(agent)["text"])
                <= arena.observation_space(agent)["text"].max_length
            )
            if all(event.kind is None for event in arena.episode.events[events:]):
                refused += 1
                assert arena.episode.world.digest() == digest
                assert arena.infos[agent]["error"]
    assert refused > 100


def test_every_seat_can_be_filled(arena_id: str) -> None:
    arena = raw_env(arena_id)
    counterparts = arena.family.counterparts()
    assert set(counterparts) == set(arena.family.roles)
    for role, players in counterparts.items():
        for name in players:
            filled = raw_env(arena_id, counterparts={role: name})
            filled.reset(seed=0)
            assert f"{role}_0" not in filled.agents
            while filled.agents:
                over = filled.terminations[filled.agent_selection]
                over = over or filled.truncations[filled.agent_selection]
                filled.step(None if over else "")


def test_a_record_replays_to_the_same_bytes(arena_id: str) -> None:
    arena = raw_env(arena_id, split="test", reward="shaped")
    for seed in range(3):
        for action in odd_actions(arena, seed):
            if arena.episode.done():
                break
            arena.step(action)
        for role in arena.episode.roles:
            if not arena.episode.done(role):
                arena.episode.stop(role)
        record = Trajectory.from_json(arena.trajectory().to_json())
        assert record.env_id == arena_id
        assert {turn.role for turn in record.turns} == set(arena.episode.roles)
        assert replay(record).turns == len(record.turns)


@pytest.mark.parametrize("tasks", [1, pytest.param(40, marks=pytest.mark.slow)])
def test_who_does_not_do_the_work_gets_nothing_for_it(arena_id: str, tasks: int) -> None:
    assert set(check_careless(arena_id, tasks).values()) <= {0.0}


def test_who_is_wrongly_called_careless_is_found(
    arena_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    family = arena_family(arena_id)
    if not family.careless():
        pytest.skip("nobody is careless there by name")
    role = list(family.roles)[-1]
    monkeypatch.setattr(type(family), "careless", lambda self: {role: ("honest",)})
    with pytest.raises(ConformanceError, match=f"with {role} honest all succeed in 100%"):
        check_careless(arena_id, tasks=2)
