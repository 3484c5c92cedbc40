"""The parts of the conversion family, put together for the engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from healthgym.core.clock import Clock
from healthgym.core.family import AGENT, Baseline, Family, Script, Seat
from healthgym.core.task import Instance, Reference, Task, TaskGenerator
from healthgym.core.tool import ToolCatalog
from healthgym.envs.ehr_format_conversion import oracle
from healthgym.envs.ehr_format_conversion.generator import START
from healthgym.envs.ehr_format_conversion.task import ConversionReference
from healthgym.envs.ehr_format_conversion.toolset import ConversionToolset
from healthgym.envs.ehr_format_conversion.verifier import ConversionVerifier
from healthgym.worlds.etl.world import EtlWorld, Workspace


class ConversionFamily(Family[EtlWorld]):
    """Requests for MEDS cohorts.

    Args:
        generator: Draws the requests.
        canonical: Whether they are all the published one, which the prior then knows.
    """

    name: ClassVar[str] = "ehr-format-conversion"

    def __init__(self, generator: TaskGenerator, *, canonical: bool = False) -> None:
        self.generator = generator
        self.verifier = ConversionVerifier()
        self.ceilings = {"prior": 1.0} if canonical else {}
        self._seats = {AGENT: Seat(ToolCatalog([ConversionToolset]))}

    def open(self, instance: Instance[Task, Reference]) -> EtlWorld:
        """Return a fresh overlay over the instance's workspace."""
        start = instance.start
        assert isinstance(start, Workspace)
        return EtlWorld(start, Clock(START))

    def seats(self, instance: Instance[Task, Reference]) -> Mapping[str, Seat]:
        """Return the one seat there is."""
        return self._seats

    def oracle(self, instance: Instance[Task, Reference], rng: np.random.Generator) -> Script:
        """Read, copy, edit, run, check and hand in."""
        reference = instance.reference
        assert isinstance(reference, ConversionReference)
        return oracle.solve(reference)

    def baselines(self) -> Mapping[str, Baseline]:
        """Return the scripted policies; the last three are what an agent in a hurry does."""
        return {
            "oracle": self.oracle,
            "flood": oracle.flood,
            "prior": oracle.prior,
            "default_copy": oracle.default_copy,
            "default_run": oracle.default_run,
            "submit_only": oracle.submit_only,
        }
