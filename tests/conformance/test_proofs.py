"""Every registered environment is put to the proof: few tasks in CI, many where it is slow."""

import pytest

import healthgym
from healthgym import testing
from healthgym.core.borders import Settings
from healthgym.core.seeding import Split
from healthgym.registration import make_health_env
from healthgym.testing import Amounts
from tests.conformance.short_queues import SHORT
from tests.sized import some

#: Environments whose episodes take seconds: in CI they are left to the tests marked slow.
_LONG = ("EhrEventModelling", "EhrFormatConversion", "TumorArea", "Marathon", "PriorAuthArena")
#: Most tasks of each side that are drawn for artefacts, where 1500 labels would take too many.
_DRAWN = {"EhrEventModelling": 70, "Marathon": 60, "Arena": 1000}

_IDS = healthgym.ids()
#: Environments of which a constant is tried in CI: one of each family whose episodes are short.
_SHORTEST = (
    "FhirRecord", "MedAgentBenchV", "TrialMatching-", "MedicationReconciliation", "XrayCorrection-",
)  # fmt: skip
_SHORT_IDS = tuple(env_id for env_id in _IDS if not any(word in env_id for word in _LONG))
#: Faces that read or judge otherwise: FHIR as text, all of the source's tools, the other seat.
_FACES = [
    pytest.param(env_id, kwargs, id=f"{env_id}-{next(iter(kwargs.values()))}")
    for word, kwargs in (
        ("FhirRecord", {"protocol": "raw"}),
        ("MedAgentBench", {"protocol": "raw"}),
        ("/PriorAuthorization-", {"tools": "extended"}),
        ("/UtilizationManagement-", {"tools": "extended"}),
        ("/CareManagement-", {"tools": "extended"}),
        ("/UtilizationManagement-", {"rules": "compat", "profile": "paper", "tools": "extended"}),
        ("/CareManagement-", {"rules": "compat", "profile": "paper", "tools": "extended"}),
        ("MedicationReconciliation", {"role": "pharmacist"}),
    )
    for env_id in _IDS
    if word in env_id
]


def _learns(env_id: str) -> bool:
    """Return whether any task is for training: there is nothing to learn from where none is."""
    return make_health_env(env_id).family.generator.size(Split.TRAIN) > 0


def _many(env_id: str) -> int:
    """Return how many tasks are many: a queue is 25 cases."""
    return 1 if "Marathon" in env_id else 30


@pytest.mark.parametrize("env_id", [i for i in _IDS if any(w in i for w in _SHORTEST)])
def test_constants(env_id: str) -> None:
    amounts = Amounts(sources=1, targets=2, learnt=3, draws=8, kinds=1)
    assert testing.check_constants(env_id, amounts)


@pytest.mark.parametrize("env_id", _SHORT_IDS)
def test_corruptions(env_id: str) -> None:
    rates = testing.check_corruptions(env_id, tasks=1)
    assert rates["not_handed_in"].n == 1


@pytest.mark.parametrize("env_id", _SHORT_IDS)
def test_equivalents(env_id: str) -> None:
    assert testing.check_equivalents(env_id, tasks=1)


@pytest.mark.parametrize("env_id", _SHORT_IDS)
def test_distortions(env_id: str) -> None:
    # EhrDataQuality asks its database in a process of its own, for which each episode waits.
    each = 6 if "EhrDataQuality" in env_id else some(25, 15)
    assert testing.check_distortions(env_id, tasks=some(2, 1), each=each)


@pytest.mark.parametrize(("env_id", "kwargs"), _FACES)
def test_distortions_of_other_faces(env_id: str, kwargs: Settings) -> None:
    assert testing.check_distortions(env_id, tasks=some(2, 1), each=some(25, 15), kwargs=kwargs)


def test_artefacts() -> None:
    (tellings,) = testing.check_artefacts("HealthAgent/TrialMatching-v1", tasks=6).values()
    assert {telling.by.split(",")[0] for telling in tellings} == {"what is told", "what is shown"}


@pytest.mark.slow
@pytest.mark.parametrize("env_id", _IDS)
def test_artefacts_of_many_labels(env_id: str) -> None:
    tasks = next((count for word, count in _DRAWN.items() if word in env_id), 1500)
    rates = testing.check_artefacts(env_id, tasks=tasks)
    # Every canonical episode of care management ends with a plan: there is nothing to be told.
    asks = "Marathon" not in env_id and env_id != "HealthAgent/CareManagementCanonical-v1"
    assert rates or not asks or not _learns(env_id)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", _IDS)
def test_constants_of_every_kind(env_id: str) -> None:
    long = any(word in env_id for word in (*_LONG, "Management", "EhrDataQuality", "Ct"))
    amounts = Amounts(sources=1, targets=6, learnt=10, draws=60, kinds=4) if long else None
    assert bool(testing.check_constants(env_id, amounts)) == _learns(env_id)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", _IDS)
def test_many_corruptions(env_id: str) -> None:
    rates = testing.check_corruptions(env_id, tasks=_many(env_id))
    assert sum(rate.n for rate in rates.values())


@pytest.mark.slow
@pytest.mark.parametrize("env_id", [SHORT.get(env_id, env_id) for env_id in _IDS], ids=_IDS)
def test_many_distortions(env_id: str) -> None:
    tasks = 3 if any(word in env_id for word in _LONG) else 20
    assert testing.check_distortions(env_id, tasks=tasks, each=100, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize(("env_id", "kwargs"), _FACES)
def test_many_distortions_of_other_faces(env_id: str, kwargs: Settings) -> None:
    assert testing.check_distortions(env_id, tasks=20, each=100, seed=1, kwargs=kwargs)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", _IDS)
def test_many_equivalents(env_id: str) -> None:
    rates = testing.check_equivalents(env_id, tasks=_many(env_id))
    assert sum(rate.n for rate in rates.values()) >= _many(env_id)
