"""The parts of the trial-matching family, put together for the engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from healthgym.core.clock import Clock
from healthgym.core.family import AGENT, Baseline, Family, Script, Seat
from healthgym.core.task import Instance, Reference, Task, TaskGenerator
from healthgym.core.tool import ToolCatalog
from healthgym.envs.trial_matching import oracle
from healthgym.envs.trial_matching.toolset import MatchingToolset
from healthgym.envs.trial_matching.verifier import TrialMatchingVerifier
from healthgym.worlds.corpus import CorpusWorld


class TrialMatchingFamily(Family[CorpusWorld]):
    """A patient's note, and the trials the patient can enter.

    Args:
        generator: Draws the tasks.
    """

    name: ClassVar[str] = "trial-matching"

    def __init__(self, generator: TaskGenerator) -> None:
        self.generator = generator
        self.verifier = TrialMatchingVerifier()
        self._seats = {AGENT: Seat(ToolCatalog([MatchingToolset]))}

    def open(self, instance: Instance[Task, Reference]) -> CorpusWorld:
        """Return a fresh world over the instance's note and pool."""
        start, _ = oracle.parts_of(instance)
        return CorpusWorld(start.note, start.corpus, Clock(start.now))

    def seats(self, instance: Instance[Task, Reference]) -> Mapping[str, Seat]:
        """Return the one seat there is."""
        return self._seats

    def oracle(self, instance: Instance[Task, Reference], rng: np.random.Generator) -> Script:
        """Read, list what the patient is eligible for, and submit."""
        return oracle.solve(instance, rng)

    def baselines(self) -> Mapping[str, Baseline]:
        """Return the scripted policies; all but the oracle list trials without reading any."""
        return {
            "oracle": self.oracle,
            "flood": oracle.flood,
            "flood_ranked": oracle.flood_ranked,
            "prior": oracle.prior,
            "prior_fifty": oracle.prior_fifty,
            "first_six": oracle.first_six,
            "empty": oracle.empty,
        }
