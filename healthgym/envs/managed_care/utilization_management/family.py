"""The utilization-management family, declared."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import ClassVar

import numpy as np

from healthgym.core import arguments
from healthgym.core.episode import Episode
from healthgym.core.family import Baseline, EpisodeConfig, Family, HandIn, Role, Script
from healthgym.core.levels import Level, assemble
from healthgym.core.players import Solver
from healthgym.core.task import Task
from healthgym.core.tool import AnyToolset
from healthgym.core.verbs import Verb
from healthgym.core.verifier import AGENT
from healthgym.envs.managed_care.cases.clinic import standing_handbook
from healthgym.envs.managed_care.checks.rubrics import Judge
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
from healthgym.envs.managed_care.tools.coverage import CoverageToolset
from healthgym.envs.managed_care.tools.determination import DeterminationToolset
from healthgym.envs.managed_care.tools.handbook import HandbookToolset
from healthgym.envs.managed_care.tools.p2p import PeerToPeerToolset
from healthgym.envs.managed_care.tools.p2p_session import PeerSessionToolset
from healthgym.envs.managed_care.tools.payer_appeals import AppealsToolset
from healthgym.envs.managed_care.tools.payer_audit import AuditToolset
from healthgym.envs.managed_care.tools.payer_intake_extended import IntakeExtendedToolset
from healthgym.envs.managed_care.tools.payer_intake_hub import IntakeHubToolset
from healthgym.envs.managed_care.tools.payer_letter_center import LetterCenterToolset
from healthgym.envs.managed_care.tools.payer_policy_library import PolicyLibraryToolset
from healthgym.envs.managed_care.tools.review import ReviewToolset
from healthgym.envs.managed_care.tools.triage import TriageToolset
from healthgym.envs.managed_care.utilization_management import drill, habits, oracle, solver
from healthgym.envs.managed_care.utilization_management.generator import ReviewGenerator
from healthgym.envs.managed_care.utilization_management.task import (
    PRESETS,
    ReviewConfig,
    ReviewInstance,
    ReviewReference,
    ReviewTaskGenerator,
)
from healthgym.envs.managed_care.utilization_management.verifier import ReviewVerifier
from healthgym.envs.managed_care.utilization_management.working import Opening, ReviewEpisode
from healthgym.errors import ConfigurationError
from healthgym.rewards import SparseReward
from healthgym.worlds.managed_care.handbook.full import HandbookSize
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.world import ManagedCareWorld

#: The payer's tools as they were published, and the handbook's.
PUBLISHED = (
    IntakeHubToolset,
    TriageToolset,
    ReviewToolset,
    PeerToPeerToolset,
    PeerSessionToolset,
    DeterminationToolset,
    LetterCenterToolset,
    HandbookToolset,
)
#: What the extended surface adds to the payer's desks.
EXTENDED = (
    IntakeExtendedToolset,
    CoverageToolset,
    PolicyLibraryToolset,
    AppealsToolset,
    AuditToolset,
)
_VERBS = frozenset({Verb.FINISH, Verb.READ_MORE, Verb.WAIT})
_DRILLED = frozenset({Verb.FINISH})
#: A script is worked out in so many calls at most.
_CALLS_MOST = 400


class ReviewFamily(Family[Task, ReviewReference, WorldStart, ManagedCareWorld]):
    """The payer's desks, a practice that answers, and a handbook that has to be read.

    Args:
        difficulty: A preset, a configuration, weights of presets, or ``"drill"``.
        rules: Which rules the offices keep: ``"strict"`` or ``"compat"``.
        handbook: How large a handbook they have: ``"compact"`` or ``"full"``.
        canonical: Whether the test split is 25 tasks composed like the published ones.
        ablate: Which parts of the handbook are withheld: ``"none"``, ``"domain"``, ``"medical"``
            or ``"both"``.
        surface: How tools are called: ``"native"`` calls or ``"cli"`` lines.
        tools: Which tools there are: ``"published"`` or ``"extended"``.
        judge: Asked about the source's rubrics under its profile; nobody by default.

    Raises:
        ConfigurationError: If the arguments do not fit together.
    """

    name: ClassVar[str] = "utilization-management"
    roles: Mapping[str, Role] = {AGENT: Role(PUBLISHED, _VERBS)}
    verifier = ReviewVerifier()
    rules = EpisodeConfig(max_turns=80, max_observation=12_000)
    hand_in = HandIn("finish", paper=False, withheld=False)

    def __init__(
        self,
        difficulty: str | ReviewConfig | Mapping[str, float] = "medium",
        *,
        rules: str = Rules.STRICT,
        handbook: str = HandbookSize.COMPACT,
        canonical: bool = False,
        ablate: str = Ablation.NONE,
        surface: str = Surface.NATIVE,
        tools: str = ToolSet.PUBLISHED,
        judge: Judge | None = None,
    ) -> None:
        if judge is not None:
            self.verifier = ReviewVerifier(judge)
        kept = arguments.member(Rules, rules, "rules")
        name = f"{self.name}-canonical" if canonical else self.name
        self.ablate = arguments.member(Ablation, ablate, "ablate")
        self.surface = arguments.member(Surface, surface, "surface")
        self.tools = arguments.member(ToolSet, tools, "tools")
        size = arguments.member(HandbookSize, handbook, "handbook")
        if size is HandbookSize.FULL:
            # Now rather than at the first reset: a folder that cannot be written is told at once.
            standing_handbook(size)

        def synthetic(level: Level[ReviewConfig]) -> ReviewTaskGenerator:
            return ReviewGenerator(
                level.config, level.label, name, kept, handbook=size, canonical=canonical
            )

        program = PROGRAM if self.surface is Surface.CLI else ""
        self.drilled = difficulty == drill.DRILL
        if self.drilled:
            if canonical:
                raise ConfigurationError("difficulty 'drill' has no place for canonical tasks.")
            self.generator = drill.DrillGenerator(self.name, kept)
            self.roles = {AGENT: Role(PUBLISHED, _DRILLED, only=drill.TOOLS, program=program)}
            self.rules = replace(self.rules, max_turns=drill.TURNS)
        else:
            self.generator = assemble(PRESETS, difficulty, synthetic, canonical=canonical)
            self.roles = {AGENT: Role(self._toolsets(), _VERBS, program=program)}

    def _toolsets(self) -> tuple[type[AnyToolset], ...]:
        """Return the toolsets; a library that is withheld cannot be read at the payer's either."""
        added: tuple[type[AnyToolset], ...] = ()
        if self.tools is ToolSet.EXTENDED:
            added = EXTENDED
        if withholds_policies(self.ablate):
            added = tuple(each for each in added if each is not PolicyLibraryToolset)
        return (*PUBLISHED, *added)

    def open(self, instance: ReviewInstance) -> ManagedCareWorld:
        """Return the offices as the agent takes the case over."""
        return ManagedCareWorld(self._given(instance).start)

    def instruction(self, role: str, instance: ReviewInstance) -> str:
        """Return the task's instruction, and how to call tools where they are not listed."""
        return instructed(instance.task.instruction, self.surface)

    def oracle(self, instance: ReviewInstance, rng: np.random.Generator) -> Script:
        """Do each stage that is left as it ought to be done."""
        return self._worded(self._solve)(instance, rng)

    def baselines(self) -> Mapping[str, Baseline[Task, ReviewReference, WorldStart]]:
        """Return the scripts that do not read what decides."""
        known = drill.baselines() if self.drilled else habits.baselines(self._opening)
        return {name: self._worded(play) for name, play in known.items()}

    def solvers(self) -> Mapping[str, Solver]:
        """Return who reads what holds today, and who goes by the standing edition's numbers."""
        commands = self.roles[AGENT].commands
        readers: Mapping[str, Solver] = {
            "solver": solver.solve,
            "remembering": solver.solve_by_heart,
        }
        return {name: spoken(play, commands) for name, play in readers.items()}

    def _solve(self, instance: ReviewInstance, rng: np.random.Generator) -> Script:
        if self.drilled:
            return drill.solve(instance, rng)
        return oracle.solve(instance, rng, self._opening(instance))

    def _opening(self, instance: ReviewInstance) -> Opening:
        """Return what begins an episode in which a script is worked out, by typed calls."""
        rules = replace(self.rules, max_turns=_CALLS_MOST)
        family = copy(self)
        family.verifier = ReviewVerifier()  # a judge is asked about what was played, once

        def begin() -> ReviewEpisode:
            return Episode(family, instance, SparseReward(), rules)

        return begin

    def _given(self, instance: ReviewInstance) -> ReviewInstance:
        """Return an instance as it is played here: without what is withheld."""
        start = instance.start
        handbook = withheld(start.handbook, self.ablate)
        if handbook is start.handbook:
            return instance
        return replace(instance, start=replace(start, handbook=handbook))

    def _worded(
        self, play: Baseline[Task, ReviewReference, WorldStart]
    ) -> Baseline[Task, ReviewReference, WorldStart]:
        """Return a script that writes its calls as the surface takes them."""

        def wording(instance: ReviewInstance, rng: np.random.Generator) -> Script:
            return worded(play(self._given(instance), rng), self.roles[AGENT].commands)

        return wording
