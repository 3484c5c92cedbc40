"""What the families of the three desks share: what is withheld, and how calls are written."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from healthgym.core import arguments
from healthgym.core.family import Baseline, Family, Script
from healthgym.core.players import Solver
from healthgym.core.task import Instance, ReferenceIn, Task
from healthgym.core.tool import AnyToolset
from healthgym.core.verifier import AGENT
from healthgym.envs.managed_care.surface import (
    PROGRAM,
    Ablation,
    Surface,
    ToolSet,
    instructed,
    spoken,
    withheld,
    withholds_policies,
    worded,
)
from healthgym.envs.managed_care.tools.payer_policy_library import PolicyLibraryToolset
from healthgym.worlds.managed_care.handbook.full import HandbookSize
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.wording import Wording
from healthgym.worlds.managed_care.world import ManagedCareWorld


class DeskFamily(Family[Task, ReferenceIn, WorldStart, ManagedCareWorld]):
    """A desk in the offices of managed care.

    Attributes:
        ablate: Which parts of the handbook are withheld.
        surface: How tools are called.
        tools: Which tools there are.
        wording: Finds words for the people of the world; None for their own.
    """

    ablate: Ablation
    surface: Surface
    tools: ToolSet
    wording: Wording | None = None

    def take(
        self, *, rules: str, ablate: str, surface: str, tools: str, handbook: str
    ) -> tuple[Rules, HandbookSize]:
        """Keep how the desk is set up; return which rules it keeps and how large its handbook is.

        Raises:
            ConfigurationError: If one of them is not known.
        """
        kept = arguments.member(Rules, rules, "rules")
        self.ablate = arguments.member(Ablation, ablate, "ablate")
        self.surface = arguments.member(Surface, surface, "surface")
        self.tools = arguments.member(ToolSet, tools, "tools")
        return kept, arguments.member(HandbookSize, handbook, "handbook")

    def offered(
        self, published: tuple[type[AnyToolset], ...], extended: tuple[type[AnyToolset], ...]
    ) -> tuple[type[AnyToolset], ...]:
        """Return the toolsets; a library that is withheld cannot be read at the payer's either.

        Args:
            published: Those that the source's agents had.
            extended: What the extended surface adds.
        """
        added = extended if self.tools is ToolSet.EXTENDED else ()
        if withholds_policies(self.ablate):
            added = tuple(each for each in added if each is not PolicyLibraryToolset)
        return (*published, *added)

    @property
    def program(self) -> str:
        """First word of each command; empty where calls are typed."""
        return PROGRAM if self.surface is Surface.CLI else ""

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
