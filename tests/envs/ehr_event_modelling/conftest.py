from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest

from healthgym.core.levels import Level
from healthgym.core.seeding import Split
from healthgym.core.tool import call
from healthgym.envs.ehr_event_modelling.env import EhrEventModellingEnv
from healthgym.envs.ehr_event_modelling.generator import EventModellingGenerator
from healthgym.envs.ehr_event_modelling.sizes import CohortConfig
from healthgym.envs.ehr_event_modelling.task import EventInstance, Target

# The base install has neither the extra `modelling` nor `workspace`.
collect_ignore_glob = (
    [] if all(find_spec(name) for name in ("lightgbm", "pyarrow", "duckdb")) else ["test_*.py"]
)

#: Small enough to be drawn in some milliseconds, with enough positives to learn from.
TINY = CohortConfig(patients=(260, 120, 260), least_positive=0.25, signal=1.4, expressed=0.95)


@pytest.fixture(scope="session")
def tiny_config() -> CohortConfig:
    return TINY


@pytest.fixture(scope="session")
def tiny_instance() -> EventInstance:
    generator = EventModellingGenerator([Level("tiny", TINY)], tuple(Target), name="tests")
    return generator.generate(Split.TRAIN, list(Target).index(Target.LUPUS))


@pytest.fixture
def desk() -> Callable[..., EhrEventModellingEnv]:
    def open_desk(**kwargs: Any) -> EhrEventModellingEnv:
        env = EhrEventModellingEnv(**{"difficulty": TINY, "targets": ["new_lupus"], **kwargs})
        env.reset(options={"index": 0})
        return env

    return open_desk


@pytest.fixture
def ask() -> Callable[..., str]:
    def send(env: EhrEventModellingEnv, name: str, /, **arguments: Any) -> str:
        return env.step(call(name, **arguments))[0]

    return send
