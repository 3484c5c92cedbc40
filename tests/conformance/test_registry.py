"""Every registered environment keeps every promise."""

import pytest

import healthgym
from healthgym import testing

pytestmark = pytest.mark.parametrize("env_id", healthgym.ids())

#: Share of the usual number of tasks for environments whose episodes take seconds, not
#: milliseconds; the tests marked slow play them all.
_SHARES = {
    "EhrEventModelling": 0.2,
    "EhrDataQuality": 0.2,
    "TrialMatching": 0.3,
    "EhrFormat": 0.3,
    "TumorArea": 0.1,
    "CtAbnormality": 0.1,
    "XrayCorrection": 0.25,
    "Marathon": 0.1,
    "PriorAuthArena": 0.2,
    "CareManagement": 0.5,
}


def sized(env_id: str, count: int) -> int:
    """Return how many tasks, or actions, an environment is tried on."""
    for word, share in _SHARES.items():
        if word in env_id:
            return max(round(count * share), 1)
    return count


def test_gym_api(env_id: str) -> None:
    pytest.importorskip("PIL")
    testing.check_gym_api(env_id)


def test_docstring(env_id: str) -> None:
    assert testing.check_docstring(env_id)


def test_schemas(env_id: str) -> None:
    pytest.importorskip("transformers")
    assert testing.check_schemas(env_id)


def test_determinism(env_id: str) -> None:
    assert testing.check_determinism(env_id, seeds=4)


def test_processes(env_id: str) -> None:
    assert testing.check_processes(env_id, tasks=2)


def test_isolation(env_id: str) -> None:
    assert testing.check_isolation(env_id)


def test_clone(env_id: str) -> None:
    assert testing.check_clone(env_id)


def test_oracle(env_id: str) -> None:
    assert testing.check_oracle(env_id, tasks=sized(env_id, 40))


def test_baselines(env_id: str) -> None:
    assert testing.check_baselines(env_id, tasks=sized(env_id, 60))


def test_tool_kinds(env_id: str) -> None:
    assert testing.check_tool_kinds(env_id)


def test_faults(env_id: str) -> None:
    assert testing.check_faults(env_id, tasks=1, faults=sized(env_id, 60))


def test_hostile_actions(env_id: str) -> None:
    assert testing.check_hostile_actions(env_id, sized(env_id, 500))


def test_declared_checks(env_id: str) -> None:
    assert testing.check_declared_checks(env_id, tasks=sized(env_id, 5))


def test_indices(env_id: str) -> None:
    assert testing.check_indices(env_id)


def test_non_interference(env_id: str) -> None:
    assert testing.check_non_interference(env_id)


def test_splits(env_id: str) -> None:
    assert testing.check_splits(env_id, tasks=sized(env_id, 60))


@pytest.mark.slow
def test_oracle_on_many_tasks(env_id: str) -> None:
    assert testing.check_oracle(env_id, tasks=sized(env_id, 1000))


@pytest.mark.slow
def test_hundred_thousand_hostile_actions(env_id: str) -> None:
    assert testing.check_hostile_actions(env_id, sized(env_id, 100_000), seed=1)
