"""A secret where only the verifier may look, for code in a box to hunt for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from healthgym.core.env import HealthEnv
from healthgym.core.seeding import Split
from healthgym.core.task import AnyGenerator, Instance, Reference, Task, TaskGenerator
from healthgym.registration import make_health_env

PLANTED = "CANARY-c0ffee-CANARY"


@dataclass(frozen=True, slots=True)
class Noted(Reference):
    note: str = PLANTED


class PlantedGenerator(TaskGenerator[Task, Noted, Any]):
    """Tasks whose references hold the secret."""

    def __init__(self, inner: AnyGenerator) -> None:
        self._inner = inner
        self.name, self.tests = inner.name, inner.tests

    def draw(self, split: Split, index: int) -> Instance[Task, Noted, Any]:
        instance = self._inner.draw(split, index)
        return Instance(instance.task, Noted(), instance.start)


def planted_env(env_id: str, **arguments: Any) -> HealthEnv:
    """Return an environment with the secret in its references; no episode of it can be judged."""
    env = make_health_env(env_id, arguments)
    env.family.generator = PlantedGenerator(env.family.generator)
    return env
