"""The parts of the record family, put together for the engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from healthgym.core.clock import Clock
from healthgym.core.family import AGENT, Baseline, Family, Script, Seat
from healthgym.core.task import Instance, Reference, Task, TaskGenerator
from healthgym.core.tool import ToolCatalog
from healthgym.envs.fhir_record import oracle
from healthgym.envs.fhir_record.generator import RecordStart
from healthgym.envs.fhir_record.paper.base import Defect
from healthgym.envs.fhir_record.toolset import RecordToolset
from healthgym.envs.fhir_record.verifier import FhirRecordVerifier
from healthgym.worlds.fhir.validate import ValidationLevel
from healthgym.worlds.fhir.world import FhirWorld


class FhirRecordFamily(Family[FhirWorld]):
    """Questions and orders over a FHIR record system.

    Args:
        generator: Draws the questions.
        defects: Defects the paper profile reproduces.
        published: Whether branches occur as often as in a published benchmark, whose mixes let
            constant answers pass more often than ours.
        validation: How strictly the record system checks what is written.
    """

    name: ClassVar[str] = "fhir-record"

    def __init__(
        self,
        generator: TaskGenerator,
        *,
        defects: frozenset[Defect],
        published: bool = False,
        validation: ValidationLevel = ValidationLevel.STRUCTURAL,
    ) -> None:
        self.generator = generator
        self.verifier = FhirRecordVerifier(defects)
        # Two of the twenty types state all there is to know, so that the prior solves them.
        self.ceilings = {"prior": 0.45, "finish_minus_one": 0.2} if published else {"prior": 0.25}
        self._validation = validation
        self._seats = {AGENT: Seat(ToolCatalog([RecordToolset]))}

    def open(self, instance: Instance[Task, Reference]) -> FhirWorld:
        """Return a fresh overlay over the instance's chart."""
        start = instance.start
        assert isinstance(start, RecordStart)
        return FhirWorld(start.base, Clock(start.now), validation=self._validation)

    def seats(self, instance: Instance[Task, Reference]) -> Mapping[str, Seat]:
        """Return the one seat there is."""
        return self._seats

    def oracle(self, instance: Instance[Task, Reference], rng: np.random.Generator) -> Script:
        """Look up, order, stop and answer as the rule says."""
        return oracle.solve(instance, rng)

    def baselines(self) -> Mapping[str, Baseline]:
        """Return the scripted policies; the constant answers are known to pass upstream."""
        return {
            "oracle": self.oracle,
            "flood": oracle.flood,
            "prior": oracle.prior,
            "finish_empty": oracle.finish_empty,
            "finish_minus_one": oracle.finish_minus_one,
        }
