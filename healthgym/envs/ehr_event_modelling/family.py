"""The parts of the family, put together for the engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from healthgym.core.family import AGENT, Baseline, Family, Script, Seat, Solver
from healthgym.core.task import Instance, Reference, Task, TaskGenerator
from healthgym.core.tool import ToolCatalog, Toolset
from healthgym.envs.ehr_event_modelling import oracle, solver
from healthgym.envs.ehr_event_modelling.toolset import ModellingTools
from healthgym.envs.ehr_event_modelling.verifier import EventModellingVerifier
from healthgym.envs.ehr_event_modelling.world import ModellingWorld, StudyStart
from healthgym.worlds.workspace import FileTools, TableTools, python_tools


class EventModellingFamily(Family[ModellingWorld]):
    """Risk models of first diagnoses.

    Args:
        generator: Draws the tasks.
        python: Which Python is offered; see :func:`~healthgym.worlds.workspace.python_tools`.
    """

    name: ClassVar[str] = "ehr-event-modelling"

    def __init__(self, generator: TaskGenerator, *, python: str = "sandbox") -> None:
        self.generator = generator
        self.verifier = EventModellingVerifier()
        toolsets: list[type[Toolset[Any]]] = [FileTools, TableTools]
        toolsets += [*python_tools(python), ModellingTools]
        self._seats = {AGENT: Seat(ToolCatalog(toolsets))}

    def open(self, instance: Instance[Task, Reference]) -> ModellingWorld:
        """Return a fresh workbench over the instance's study."""
        start = instance.start
        assert isinstance(start, StudyStart)
        return ModellingWorld(start)

    def seats(self, instance: Instance[Task, Reference]) -> Mapping[str, Seat]:
        """Return the one seat there is."""
        return self._seats

    def oracle(self, instance: Instance[Task, Reference], rng: np.random.Generator) -> Script:
        """Look around, and hand in the truth."""
        return oracle.solve(instance)

    def solvers(self) -> Mapping[str, Solver]:
        """Return the modeller who trains two models and hands in their mean."""
        return {"honest": solver.solve}

    def baselines(self) -> Mapping[str, Baseline]:
        """Return the scripted policies that know nothing of the records, and the oracle."""
        return {
            "oracle": self.oracle,
            "flood": lambda instance, rng: oracle.constant(1.0),
            "prior": lambda instance, rng: oracle.by_age(),
            "constant": lambda instance, rng: oracle.constant(0.5),
            "luck": lambda instance, rng: oracle.by_luck(rng),
            "record_length": lambda instance, rng: oracle.by_use(),
            "patient_id": lambda instance, rng: oracle.by_id(),
        }
