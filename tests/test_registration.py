"""The table of environments, and what `import healthgym` does and does not do."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib import import_module

import gymnasium as gym
import pytest
from gymnasium.envs.registration import EnvSpec

import healthgym
from healthgym.errors import ConfigurationError
from healthgym.registration import TABLE, Row, ids, make, make_health_env, register_all
from tests.core.toys import LEDGER_ID


def run(script: str, *, cwd: object = None) -> str:
    command = [sys.executable, "-W", "error", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=cwd)  # type: ignore[call-overload]
    return str(done.stdout).strip()


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.id)
def test_a_row_is_registered_as_it_stands(row: Row) -> None:
    spec = gym.spec(row.id)
    assert spec.entry_point == row.entry_point
    assert spec.kwargs == row.kwargs
    assert spec.max_episode_steps is None
    assert re.fullmatch(r"HealthAgent/[A-Z]\w+-v\d+", row.id)
    assert row.title


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.id)
def test_a_spec_survives_json(row: Row) -> None:
    spec = gym.spec(row.id)
    assert EnvSpec.from_json(spec.to_json()) == spec
    assert json.loads(json.dumps(row.kwargs)) == row.kwargs


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.id)
def test_an_entry_point_exists_and_takes_its_arguments(row: Row) -> None:
    module, _, name = row.entry_point.partition(":")
    assert isinstance(getattr(import_module(module), name), type)
    env = make(row.id)
    assert env.spec is not None
    assert env.spec.kwargs == row.kwargs


def test_ids_are_distinct_and_in_order() -> None:
    assert ids() == tuple(row.id for row in TABLE)
    assert len(set(ids())) == len(ids())


def test_registering_again_changes_nothing() -> None:
    before = dict(gym.registry)
    register_all()
    assert dict(gym.registry) == before
    assert all(gym.registry[name] is before[name] for name in before)


def test_import_registers_and_loads_no_environment() -> None:
    script = (
        "import sys, healthgym, gymnasium; "
        "print(*[n for n in healthgym.ids() if n in gymnasium.registry]); "
        "print(*[m for m in sys.modules if m.split('.')[0] in ('torch', 'httpx', 'pydantic')"
        " or m.startswith(('healthgym.envs', 'healthgym.worlds', 'healthgym.policies'))])"
    )
    registered, *loaded = run(script).split("\n")
    assert registered.split() == list(ids())
    assert loaded == []


def test_gymnasium_finds_an_environment_by_the_packages_name() -> None:
    script = (
        "import gymnasium as gym; env = gym.make('healthgym:HealthAgent/FhirRecord-v1'); "
        "observation, info = env.reset(seed=7); print(info['task_id'])"
    )
    assert re.fullmatch(r".+/train/\d+", run(script))


@pytest.mark.parametrize("name", healthgym.__all__)
def test_the_facade_offers_what_it_lists(name: str) -> None:
    assert getattr(healthgym, name) is not None
    assert name in dir(healthgym)


def test_the_facade_offers_nothing_else() -> None:
    with pytest.raises(AttributeError, match="no attribute 'oracle'"):
        healthgym.oracle  # noqa: B018


def test_an_unknown_id_is_refused_with_those_there_are() -> None:
    with pytest.raises(ConfigurationError, match=r"no environment 'HealthAgent/Nothing-v0'.*Fhir"):
        make("HealthAgent/Nothing-v0")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("HealthAgent/FhirRecrd-v1", "Did you mean HealthAgent/FhirRecord-v1?"),
        ("HealthAgent/FhirRecord-v9", "Did you mean HealthAgent/FhirRecord-v1?"),
        ("fhirrecord", "Did you mean HealthAgent/FhirRecord-v1?"),
        ("HealthAgent/TrialMatchingCanonical", "HealthAgent/TrialMatchingCanonical-v1 or Heal"),
        ("Fhir", "Did you mean HealthAgent/FhirRecord-v1?"),
        ("HealthArena/PriorAuthArena-v1", "HealthAgent/PriorAuthArena-v1 is the same with one"),
        ("Hoper-v5", "There are HealthAgent/FhirRecord-v1, "),
        ("nowhere:HealthAgent/FhirRecord-v1", "No module named 'nowhere'; install its folder"),
    ],
)
def test_a_mistyped_id_is_answered_with_ours(typed: str, meant: str) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        make(typed)
    assert meant in str(refusal.value)
    assert "Hopper" not in str(refusal.value)


def test_an_unknown_argument_is_refused_with_those_there_are() -> None:
    with pytest.raises(ConfigurationError, match=r"no argument turns; it has split, reward"):
        make(LEDGER_ID, {"turns": 3})


def test_a_module_before_the_id_is_imported() -> None:
    assert make(f"tests.core.toys:{LEDGER_ID}", {"max_turns": 2}).spec.id == LEDGER_ID  # type: ignore[union-attr]


def test_an_environment_of_ours_comes_without_wrappers() -> None:
    env = make_health_env(LEDGER_ID, {"max_turns": 2})
    assert env is env.unwrapped
    assert env.config.max_turns == 2


def test_an_environment_of_others_is_not_one_of_ours() -> None:
    with pytest.raises(ConfigurationError, match=r"CartPole.* is not a healthgym environment"):
        make_health_env("CartPole-v1")
