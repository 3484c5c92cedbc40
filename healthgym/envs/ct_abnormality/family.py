"""The parts of the CT family, put together for the engine."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import ClassVar

import numpy as np

from healthgym.core.clock import Clock
from healthgym.core.family import AGENT, Baseline, Family, Script, Seat, Solver
from healthgym.core.task import Instance, Reference, Task, TaskGenerator
from healthgym.core.tool import ToolCatalog
from healthgym.envs.ct_abnormality import oracle
from healthgym.envs.ct_abnormality.solver import solve_by_measuring
from healthgym.envs.ct_abnormality.task import CtStart
from healthgym.envs.ct_abnormality.toolset import CtToolset
from healthgym.envs.ct_abnormality.verifier import CtVerifier
from healthgym.worlds.volumes.world import VolumeWorld

START = datetime(2026, 3, 2, 8, tzinfo=UTC)


class CtFamily(Family[VolumeWorld]):
    """A scan, and findings to call.

    Args:
        generator: Draws the tasks.
        ceilings: Highest success of policies that do not look, where chance solves more than a
            twentieth.
    """

    name: ClassVar[str] = "ct-abnormality"

    def __init__(
        self, generator: TaskGenerator, ceilings: Mapping[str, float] | None = None
    ) -> None:
        self.generator = generator
        self.verifier = CtVerifier()
        self.ceilings = dict(ceilings or {})
        self._seats = {AGENT: Seat(ToolCatalog([CtToolset]))}

    def open(self, instance: Instance[Task, Reference]) -> VolumeWorld:
        """Return a fresh world on the instance's volume."""
        start = instance.start
        assert isinstance(start, CtStart)
        return VolumeWorld(start.source, start.labels, Clock(START))

    def seats(self, instance: Instance[Task, Reference]) -> Mapping[str, Seat]:
        """Return the one seat there is."""
        return self._seats

    def oracle(self, instance: Instance[Task, Reference], rng: np.random.Generator) -> Script:
        """Look, call everything right, and submit."""
        return oracle.solve(instance, rng)

    def baselines(self) -> Mapping[str, Baseline]:
        """Return the scripted policies; all but the oracle call without looking."""
        return {
            "oracle": self.oracle,
            "flood": oracle.flood,
            "prior": oracle.prior,
            "all_yes": oracle.all_yes,
            "all_no": oracle.all_no,
            "guess": oracle.guess,
        }

    def solvers(self) -> Mapping[str, Solver]:
        """Return the policy that calls by the workstation's numbers."""
        return {"solver": solve_by_measuring}
