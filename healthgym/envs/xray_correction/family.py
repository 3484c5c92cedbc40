"""The parts of the correction family, put together for the engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from healthgym.core.clock import Clock
from healthgym.core.family import AGENT, Baseline, Family, Script, Seat, Solver
from healthgym.core.task import Instance, Reference, Task, TaskGenerator
from healthgym.core.tool import ToolCatalog
from healthgym.envs.xray_correction import oracle, solver
from healthgym.envs.xray_correction.toolset import CorrectionToolset
from healthgym.envs.xray_correction.verifier import CorrectionVerifier, Judge
from healthgym.worlds.radiography.world import ReadingRoom


class CorrectionFamily(Family[ReadingRoom]):
    """Drafts of radiograph reports with errors.

    Args:
        generator: Draws the tasks.
        judge: Decides the paper profile in place of the claims; none by default.
    """

    name: ClassVar[str] = "xray-correction"

    def __init__(self, generator: TaskGenerator, judge: Judge | None = None) -> None:
        self.generator = generator
        self.verifier = CorrectionVerifier(judge)
        self._seats = {AGENT: Seat(ToolCatalog([CorrectionToolset]))}

    def open(self, instance: Instance[Task, Reference]) -> ReadingRoom:
        """Return a fresh room over the instance's radiographs."""
        start, _ = oracle.parts_of(instance)
        return ReadingRoom(start.radiographs, start.header, start.draft, Clock(start.now))

    def seats(self, instance: Instance[Task, Reference]) -> Mapping[str, Seat]:
        """Return the one seat there is."""
        return self._seats

    def oracle(self, instance: Instance[Task, Reference], rng: np.random.Generator) -> Script:
        """Look, put right, submit."""
        return oracle.solve(instance, rng)

    def baselines(self) -> Mapping[str, Baseline]:
        """Return the scripted policies; all but the oracle look at no picture."""
        return {
            "oracle": self.oracle,
            "flood": oracle.flood,
            "prior": oracle.prior,
            "leave": oracle.leave,
            "delete": oracle.delete,
        }

    def solvers(self) -> Mapping[str, Solver]:
        """Return the policy that reads the tools' measurements, and nothing else."""
        return {"solver": solver.solve}
