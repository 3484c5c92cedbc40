"""The parts of the tumour-area family, put together for the engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from healthgym.core.clock import Clock
from healthgym.core.family import AGENT, Baseline, Family, Script, Seat, Solver
from healthgym.core.task import Instance, Reference, Task, TaskGenerator
from healthgym.core.tool import ToolCatalog
from healthgym.envs.tumor_area import oracle, solver
from healthgym.envs.tumor_area.toolset import SlideToolset
from healthgym.envs.tumor_area.verifier import TumorAreaVerifier
from healthgym.worlds.slides.world import SlideWorld


class TumorAreaFamily(Family[SlideWorld]):
    """A slide, and the tiles of it that are tumour.

    Args:
        generator: Draws the tasks.
    """

    name: ClassVar[str] = "tumor-area"

    def __init__(self, generator: TaskGenerator) -> None:
        self.generator = generator
        self.verifier = TumorAreaVerifier()
        self._seats = {AGENT: Seat(ToolCatalog([SlideToolset]))}

    def open(self, instance: Instance[Task, Reference]) -> SlideWorld:
        """Return a fresh world over the instance's slide."""
        start, _ = oracle.parts_of(instance)
        return SlideWorld(start.slide, Clock(start.now), start.looks, instance.task.task_id)

    def seats(self, instance: Instance[Task, Reference]) -> Mapping[str, Seat]:
        """Return the one seat there is."""
        return self._seats

    def oracle(self, instance: Instance[Task, Reference], rng: np.random.Generator) -> Script:
        """Look, measure, select the tumour, and submit."""
        return oracle.solve(instance, rng)

    def baselines(self) -> Mapping[str, Baseline]:
        """Return the scripted policies; all but the oracle guess without high power."""
        return {
            "oracle": self.oracle,
            "flood": oracle.flood,
            "all_tissue": oracle.all_tissue,
            "prior": oracle.prior,
            "darkest": oracle.darkest,
            "palest": oracle.palest,
            "empty": oracle.empty,
        }

    def solvers(self) -> Mapping[str, Solver]:
        """Return the policy that reads the tools' numbers and nothing else."""
        return {"solver": solver.solve}
