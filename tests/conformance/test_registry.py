"""Every registered environment keeps every promise."""

import pytest

import healthgym
from healthgym import testing
from tests.conformance.short_queues import SHORT
from tests.sized import FULL, some

#: Of a class alone, or of its first tasks; and of episodes, which may be played with fewer cases.
told = pytest.mark.parametrize("env_id", healthgym.ids())
played = pytest.mark.parametrize(
    "env_id", [SHORT.get(env_id, env_id) for env_id in healthgym.ids()], ids=healthgym.ids()
)
#: A canonical set is its environment with other tasks: what holds of the class is tried on it by
#: `make test-slow`.
of_its_class = pytest.mark.parametrize(
    "env_id",
    [
        pytest.param(
            SHORT.get(env_id, env_id),
            id=env_id,
            marks=[pytest.mark.slow] if "Canonical" in env_id else [],
        )
        for env_id in healthgym.ids()
    ],
)

#: Share of the usual number of tasks for environments whose episodes take seconds, not
#: milliseconds; others have half of it, and `make test-slow` plays twice as many.
_SHARES = {
    "EhrEventModelling": 0.05,
    "EhrDataQuality": 0.1,
    "TrialMatching": 0.15,
    "EhrFormat": 0.15,
    "TumorArea": 0.05,
    "CtAbnormality": 0.05,
    "XrayCorrection": 0.25,
    "Marathon": 0.05,
    "PriorAuthArena": 0.1,
    "CareManagement": 0.15,
    "UtilizationManagement": 0.15,
    "PriorAuthorization": 0.2,
    "Canonical": 0.25,
}


#: Who orders there without a look wins or loses a whole order: it takes more tasks to settle what
#: that earns on average.
_SPREAD = ("FhirRecord", "MedAgentBench")


def sized(env_id: str, count: int, least: int = 1) -> int:
    """Return how many tasks, or actions, an environment is tried on."""
    share = next((share for word, share in _SHARES.items() if word in env_id), 0.5)
    return max(round(count * (2 * share if FULL else share)), least)


@played
def test_gym_api(env_id: str) -> None:
    pytest.importorskip("PIL")
    testing.check_gym_api(env_id)


@told
def test_docstring(env_id: str) -> None:
    assert testing.check_docstring(env_id)


@told
def test_schemas(env_id: str) -> None:
    pytest.importorskip("transformers")
    assert testing.check_schemas(env_id)


@of_its_class
def test_determinism(env_id: str) -> None:
    assert testing.check_determinism(env_id, seeds=sized(env_id, 4, least=2))


#: A canonical set is drawn by its environment's generator.
_CANONICAL = [SHORT.get(env_id, env_id) for env_id in healthgym.ids() if "Canonical" in env_id]
_DRAWN = [SHORT.get(env_id, env_id) for env_id in healthgym.ids() if "Canonical" not in env_id]


#: Together, for a process takes seconds to start, whatever it plays.
@pytest.mark.parametrize(
    "env_ids",
    [
        pytest.param([i for i in _DRAWN if not any(w in i for w in _SHARES)], id="quick"),
        pytest.param(
            [i for i in _DRAWN if any(w in i for w in _SHARES)], id="long", marks=pytest.mark.slow
        ),
        pytest.param(_CANONICAL, id="canonical", marks=pytest.mark.slow),
    ],
)
def test_processes(env_ids: list[str]) -> None:
    assert testing.check_processes(*env_ids, tasks=1).keys() == set(env_ids)


@of_its_class
def test_isolation(env_id: str) -> None:
    assert testing.check_isolation(env_id, tasks=sized(env_id, 4))


@of_its_class
def test_clone(env_id: str) -> None:
    assert testing.check_clone(env_id, tasks=sized(env_id, 3), futures=8)


@pytest.mark.slow
@of_its_class
def test_clone_at_every_step(env_id: str) -> None:
    assert testing.check_clone(env_id, tasks=sized(env_id, 3))


@played
def test_oracle(env_id: str) -> None:
    assert testing.check_oracle(env_id, tasks=sized(env_id, 40))


@of_its_class
def test_baselines(env_id: str) -> None:
    # Who trusts the nurse is right in one of thirty: a share of few tasks says nothing of that, so
    # those of this desk play in tests of its own, and here in `make test-slow`.
    if env_id == "HealthAgent/UtilizationManagement-v1" and not FULL:
        pytest.skip("played in tests/envs/managed_care/utilization_management/test_blind.py")
    assert testing.check_baselines(env_id, tasks=some(60, sized(env_id, 60)))


@pytest.mark.parametrize(
    "env_id", [env_id for env_id in healthgym.ids() if not any(w in env_id for w in _SHARES)]
)
def test_blind(env_id: str) -> None:
    assert testing.check_blind(env_id, tasks=8, settled=False)


@of_its_class
def test_tool_kinds(env_id: str) -> None:
    assert testing.check_tool_kinds(env_id, tasks=sized(env_id, 10))


@of_its_class
def test_faults(env_id: str) -> None:
    assert testing.check_faults(env_id, tasks=1, faults=sized(env_id, 60, least=6))


@of_its_class
def test_hostile_actions(env_id: str) -> None:
    assert testing.check_hostile_actions(env_id, sized(env_id, 500, least=100))


@of_its_class
def test_total(env_id: str) -> None:
    assert testing.check_total(env_id, sized(env_id, 200, least=60))


@played
def test_declared_checks(env_id: str) -> None:
    assert testing.check_declared_checks(env_id, tasks=sized(env_id, 5))


@told
def test_indices(env_id: str) -> None:
    assert testing.check_indices(env_id)


@of_its_class
def test_non_interference(env_id: str) -> None:
    assert testing.check_non_interference(env_id, tasks=sized(env_id, 5))


@of_its_class
def test_splits(env_id: str) -> None:
    assert testing.check_splits(env_id, tasks=sized(env_id, 40))


@pytest.mark.slow
@played
def test_oracle_on_many_tasks(env_id: str) -> None:
    assert testing.check_oracle(env_id, tasks=sized(env_id, 1000, least=100))


@pytest.mark.slow
@played
def test_blind_on_many_tasks(env_id: str) -> None:
    tasks = 1200 if any(word in env_id for word in _SPREAD) else 600
    assert testing.check_blind(env_id, tasks=sized(env_id, tasks, least=60))


@pytest.mark.slow
@played
def test_hundred_thousand_hostile_actions(env_id: str) -> None:
    assert testing.check_hostile_actions(env_id, sized(env_id, 100_000, least=20_000), seed=1)


#: Words of the ids whose tools draw pictures or run code.
_HEAVY = ("CtAbnormality", "TumorArea", "XrayCorrection", "EhrEventModelling", "EhrDataQuality",
          "EhrFormatConversion")  # fmt: skip


@pytest.mark.slow
@played
def test_a_million_calls_in_all(env_id: str) -> None:
    heavy = any(word in env_id for word in _HEAVY)
    same = [other for other in healthgym.ids() if any(w in other for w in _HEAVY) == heavy]
    calls = (50_000 if heavy else 1_000_000) // len(same)
    assert testing.check_total(env_id, calls, seed=1)
