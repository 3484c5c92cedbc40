"""What the families of the three desks share: what is withheld, and how calls are written."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from healthgym.core.family import Baseline, Family, Script
from healthgym.core.players import Solver
from healthgym.core.task import Instance, ReferenceIn, Task
from healthgym.core.verifier import AGENT
from healthgym.envs.managed_care.surface import (
    Ablation,
    Surface,
    instructed,
    spoken,
    withheld,
    worded,
)
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.wording import Wording
from healthgym.worlds.managed_care.world import ManagedCareWorld


class DeskFamily(Family[Task, ReferenceIn, WorldStart, ManagedCareWorld]):
    """A desk in the offices of managed care.

    Attributes:
        ablate: Which parts of the handbook are withheld.
        surface: How tools are called.
        wording: Finds words for the people of the world; None for their own.
    """

    ablate: Ablation
    surface: Surface
    wording: Wording | None = None

    @abstractmethod
    def solve(
        self, instance: Instance[Task, ReferenceIn, WorldStart], rng: np.random.Generator
    ) -> Script:
        """Return the typed calls of whoever knows the answer."""

    def open(self, instance: Instance[Task, ReferenceIn, WorldStart]) -> ManagedCareWorld:
        """Return the offices as the agent finds them."""
        world = ManagedCareWorld(self._given(instance).start)
        world.wording = self.wording
        return world

    def instruction(self, role: str, instance: Instance[Task, ReferenceIn, WorldStart]) -> str:
        """Return the task's instruction, and how to call tools where they are not listed."""
        return instructed(instance.task.instruction, self.surface)

    def oracle(
        self, instance: Instance[Task, ReferenceIn, WorldStart], rng: np.random.Generator
    ) -> Script:
        """Do what is right, in calls as the surface takes them."""
        return self._worded(self.solve)(instance, rng)

    def written(
        self, scripts: Mapping[str, Baseline[Task, ReferenceIn, WorldStart]]
    ) -> Mapping[str, Baseline[Task, ReferenceIn, WorldStart]]:
        """Return scripts that write their calls as the surface takes them."""
        return {name: self._worded(play) for name, play in scripts.items()}

    def voiced(self, readers: Mapping[str, Solver]) -> Mapping[str, Solver]:
        """Return readers that write their calls as the surface takes them."""
        commands = self.roles[AGENT].commands
        return {name: spoken(play, commands) for name, play in readers.items()}

    def _given(
        self, instance: Instance[Task, ReferenceIn, WorldStart]
    ) -> Instance[Task, ReferenceIn, WorldStart]:
        """Return an instance as it is played here: without what is withheld."""
        start = instance.start
        handbook = withheld(start.handbook, self.ablate)
        if handbook is start.handbook:
            return instance
        return replace(instance, start=replace(start, handbook=handbook))

    def _worded(
        self, play: Baseline[Task, ReferenceIn, WorldStart]
    ) -> Baseline[Task, ReferenceIn, WorldStart]:
        """Return a script that writes its calls as the surface takes them."""

        def wording(
            instance: Instance[Task, ReferenceIn, WorldStart], rng: np.random.Generator
        ) -> Script:
            return worded(play(self._given(instance), rng), self.roles[AGENT].commands)

        return wording
