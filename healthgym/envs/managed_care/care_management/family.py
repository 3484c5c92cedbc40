"""The care-management family, declared."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import ClassVar

import numpy as np

from healthgym.core.borders import JsonObject
from healthgym.core.endpoint import Endpoint
from healthgym.core.episode import Episode
from healthgym.core.family import Baseline, EpisodeConfig, HandIn, Role, Script
from healthgym.core.levels import Level, assemble
from healthgym.core.players import Solver
from healthgym.core.task import Task
from healthgym.core.tool import AnyToolset
from healthgym.core.verbs import Verb
from healthgym.core.verdict import Profile
from healthgym.core.verifier import AGENT
from healthgym.envs.managed_care.care_management import (
    blind,
    drill,
    oracle,
    parroting,
    solver,
)
from healthgym.envs.managed_care.care_management.generator import CareGenerator
from healthgym.envs.managed_care.care_management.proofs import PROOFS
from healthgym.envs.managed_care.care_management.rehearsal import Rehearsal
from healthgym.envs.managed_care.care_management.task import (
    PRESETS,
    CareConfig,
    CareInstance,
    CareReference,
    CareTaskGenerator,
)
from healthgym.envs.managed_care.care_management.verifier import CareVerifier
from healthgym.envs.managed_care.cases.clinic import standing_handbook
from healthgym.envs.managed_care.checks.rubrics import Judge, judge_of
from healthgym.envs.managed_care.desk_family import DeskFamily
from healthgym.envs.managed_care.surface import (
    Ablation,
    Surface,
    ToolSet,
)
from healthgym.envs.managed_care.tools.cm_assessment import AssessmentTools
from healthgym.envs.managed_care.tools.cm_care_plan import CarePlanTools
from healthgym.envs.managed_care.tools.cm_chart import CareChartTools
from healthgym.envs.managed_care.tools.cm_intake import CareIntakeTools
from healthgym.envs.managed_care.tools.cm_outreach import OutreachTools
from healthgym.envs.managed_care.tools.cm_outreach_extended import OutreachExtendedTools
from healthgym.envs.managed_care.tools.handbook import HandbookToolset
from healthgym.errors import ConfigurationError
from healthgym.rewards import SparseReward
from healthgym.worlds.managed_care.handbook.full import HandbookSize
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.speaking.endpoint import wording_of
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.wording import Wording

#: The care manager's tools as they were published, and the handbook's.
PUBLISHED: tuple[type[AnyToolset], ...] = (
    CareIntakeTools,
    CareChartTools,
    OutreachTools,
    AssessmentTools,
    CarePlanTools,
    HandbookToolset,
)
#: The same with a telephone that takes a list of acts along with the words.
EXTENDED: tuple[type[AnyToolset], ...] = tuple(
    OutreachExtendedTools if each is OutreachTools else each for each in PUBLISHED
)
_VERBS = frozenset({Verb.FINISH, Verb.READ_MORE, Verb.WAIT})
_DRILLED = frozenset({Verb.FINISH})
#: Progress of the best script that reads nothing, over all kinds: those tell the answer. Measured
#: on 40 train tasks: 0.29; the upper end of its interval.
_CHANCE = {"": 0.32}


class CareFamily(DeskFamily[CareReference]):
    """A care manager's desk, a person on the phone, and a handbook that has to be read.

    Args:
        difficulty: A preset, a configuration, weights of presets, or ``"drill"``.
        rules: Which rules the office keeps: ``"strict"`` or ``"compat"``.
        handbook: How large a handbook it has: ``"compact"`` or ``"full"``.
        canonical: Whether the test split is 25 tasks composed like the published ones.
        ablate: Which parts of the handbook are withheld: ``"none"``, ``"domain"``, ``"medical"``
            or ``"both"``.
        surface: How tools are called: ``"native"`` calls or ``"cli"`` lines.
        tools: Which tools there are: ``"published"`` or ``"extended"``.
        judge: Asked about the source's rubrics under its profile, such as an endpoint; nobody by
            default.
        speaker: Finds words for the person on the phone, such as an endpoint; their own by
            default.

    Raises:
        ConfigurationError: If the arguments do not fit together.
    """

    name: ClassVar[str] = "care-management"
    roles: Mapping[str, Role] = {AGENT: Role(PUBLISHED, _VERBS)}
    verifier = CareVerifier()
    rules = EpisodeConfig(max_turns=100, max_observation=12_000)
    hand_in = HandIn("finish", paper=False, withheld=False)
    proofs = PROOFS
    #: They listen and read, but for one thing.
    looking = frozenset({"copied_plan", "prior", "empty_sections", "polite_caller"})

    def __init__(
        self,
        difficulty: str | CareConfig | Mapping[str, float] = "medium",
        *,
        rules: str = Rules.STRICT,
        handbook: str = HandbookSize.COMPACT,
        canonical: bool = False,
        ablate: str = Ablation.NONE,
        surface: str = Surface.NATIVE,
        tools: str = ToolSet.PUBLISHED,
        judge: Judge | Endpoint | JsonObject | None = None,
        speaker: Wording | Endpoint | JsonObject | None = None,
    ) -> None:
        self.wording = wording_of(speaker)
        if judge is not None:
            self.verifier = CareVerifier(judge_of(judge))
        kept, size = self.take(
            rules=rules, ablate=ablate, surface=surface, tools=tools, handbook=handbook
        )
        self.kept = kept
        name = f"{self.name}-canonical" if canonical else self.name
        if size is HandbookSize.FULL:
            # Now rather than at the first reset: a folder that cannot be written is told at once.
            standing_handbook(size)

        def drawing(level: Level[CareConfig]) -> CareTaskGenerator:
            return CareGenerator(
                level.config, level.label, name, kept, handbook=size, canonical=canonical
            )

        toolsets = EXTENDED if self.tools is ToolSet.EXTENDED else PUBLISHED
        self.drilled = difficulty == drill.DRILL
        self.chance = {} if self.drilled else _CHANCE
        if self.drilled:
            if canonical:
                raise ConfigurationError("difficulty 'drill' has no place for canonical tasks.")
            self.generator = drill.DrillGenerator(self.name, kept)
            self.roles = {AGENT: Role(toolsets, _DRILLED, only=drill.TOOLS, program=self.program)}
            self.rules = replace(self.rules, max_turns=drill.TURNS)
        else:
            self.generator = assemble(PRESETS, difficulty, drawing, canonical=canonical)
            self.roles = {AGENT: Role(toolsets, _VERBS, program=self.program)}

    def baselines(self) -> Mapping[str, Baseline[Task, CareReference, WorldStart]]:
        """Return the scripts that do not hear what decides."""
        known = drill.baselines() if self.drilled else blind.baselines(self.rehearse)
        return self.written(known)

    def solvers(self) -> Mapping[str, Solver]:
        """Return who reads what an agent reads, and listens, and who says back what is said."""
        return self.voiced({"solver": solver.solve, "parroting": parroting.parrot})

    def require_profile(self, profile: Profile) -> None:
        """Return if a profile can decide success: of whom forgets every call, only the source's.

        Raises:
            ConfigurationError: If patients forget, and the profile asks for more than one call
                holds. A drill is one call.
        """
        if self.kept is Rules.COMPAT and profile is Profile.STRICT and not self.drilled:
            raise ConfigurationError(
                "rules 'compat' needs profile 'paper': the source's patients forget every call, "
                "so that what the strict profile wants asked cannot be asked of all of them."
            )

    def rehearse(self, instance: CareInstance) -> Rehearsal:
        """Return an office in which calls can be tried out."""
        rules = replace(self.rules, max_turns=1_000)
        family = self._plain()
        return Rehearsal(Episode(family, instance, SparseReward(), rules))

    def _plain(self) -> CareFamily:
        """Return the family with typed calls, whatever the surface, and nobody outside to ask."""
        family = copy(self)
        family.verifier, family.wording = CareVerifier(), None
        family.roles = {AGENT: replace(self.roles[AGENT], program="")}
        return family

    def solve(self, instance: CareInstance, rng: np.random.Generator) -> Script:
        """Do what is right, in typed calls."""
        if self.drilled:
            return drill.Caller(self.rehearse(instance), rng).work()
        return oracle.solve(instance, self.rehearse(instance))
