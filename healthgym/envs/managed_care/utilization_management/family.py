"""The utilization-management family, declared."""

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
from healthgym.core.levels import Level, assemble, choose_levels
from healthgym.core.players import Solver
from healthgym.core.task import Task
from healthgym.core.verbs import Verb
from healthgym.core.verifier import AGENT
from healthgym.envs.managed_care.cases.clinic import standing_handbook
from healthgym.envs.managed_care.checks.rubrics import Judge, judge_of
from healthgym.envs.managed_care.desk_family import DeskFamily
from healthgym.envs.managed_care.surface import (
    Ablation,
    Surface,
    ToolSet,
)
from healthgym.envs.managed_care.tools.coverage import CoverageToolset
from healthgym.envs.managed_care.tools.determination import DeterminationToolset
from healthgym.envs.managed_care.tools.front_doors import (
    CallCenterToolset,
    EdiGatewayToolset,
    FaxRoomToolset,
)
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
from healthgym.envs.managed_care.utilization_management import (
    deferring,
    drill,
    guessing,
    habits,
    oracle,
    solver,
)
from healthgym.envs.managed_care.utilization_management.generator import ReviewGenerator
from healthgym.envs.managed_care.utilization_management.proofs import PROOFS
from healthgym.envs.managed_care.utilization_management.task import (
    EXTENDED_PRESETS,
    PRESETS,
    PUBLISHED_STAGES,
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
from healthgym.worlds.managed_care.speaking.endpoint import wording_of
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.wording import Wording

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
    FaxRoomToolset,
    EdiGatewayToolset,
    CallCenterToolset,
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
#: Progress of the best script that reads nothing, over all kinds: those tell the answer. Measured
#: on 100 train tasks: 0.24; the upper end of its interval.
_CHANCE = {"": 0.28}


class ReviewFamily(DeskFamily[ReviewReference]):
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
        judge: Asked about the source's rubrics under its profile, such as an endpoint; nobody by
            default.
        speaker: Finds words for the ordering clinician on a call, such as an endpoint; their own by
            default.

    Raises:
        ConfigurationError: If the arguments do not fit together.
    """

    name: ClassVar[str] = "utilization-management"
    roles: Mapping[str, Role] = {AGENT: Role(PUBLISHED, _VERBS)}
    verifier = ReviewVerifier()
    rules = EpisodeConfig(max_turns=80, max_observation=12_000)
    hand_in = HandIn("finish", paper=False, withheld=False)
    proofs = PROOFS

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
        judge: Judge | Endpoint | JsonObject | None = None,
        speaker: Wording | Endpoint | JsonObject | None = None,
    ) -> None:
        self.wording = wording_of(speaker)
        if judge is not None:
            self.verifier = ReviewVerifier(judge_of(judge))
        kept, size = self.take(
            rules=rules, ablate=ablate, surface=surface, tools=tools, handbook=handbook
        )
        name = f"{self.name}-canonical" if canonical else self.name
        if canonical:
            # Two of the 25 go by a lane, and nobody reviews them: to let them pass is right.
            self.ceilings = {"pass_everything": 0.08}
        if size is HandbookSize.FULL:
            # Now rather than at the first reset: a folder that cannot be written is told at once.
            standing_handbook(size)

        # What only the front doors and the appeals desk can do is asked for where they are.
        desk = self.tools is ToolSet.EXTENDED and not canonical
        presets = EXTENDED_PRESETS if desk else PRESETS
        self.drilled = difficulty == drill.DRILL
        self.chance = {} if self.drilled else _CHANCE
        if self.drilled:
            if canonical:
                raise ConfigurationError("difficulty 'drill' has no place for canonical tasks.")
            self.generator = drill.DrillGenerator(self.name, kept)
            self.roles = {AGENT: Role(PUBLISHED, _DRILLED, only=drill.TOOLS, program=self.program)}
            self.rules = replace(self.rules, max_turns=drill.TURNS)
        else:
            beyond = any(
                stage not in PUBLISHED_STAGES
                for level in choose_levels(difficulty, presets)
                for stage in level.config.stages
            )
            if beyond and not desk:
                raise ConfigurationError(
                    "Front doors and appeals are worked at desks of the extended surface; ask for "
                    "tools='extended', and for no canonical tasks, or leave the stages out."
                )
            # Where these are among the tasks, the others are others as well.
            name = f"{name}-{self.tools}" if beyond else name

            def synthetic(level: Level[ReviewConfig]) -> ReviewTaskGenerator:
                return ReviewGenerator(
                    level.config, level.label, name, kept, handbook=size, canonical=canonical
                )

            self.generator = assemble(presets, difficulty, synthetic, canonical=canonical)
            self.roles = {
                AGENT: Role(self.offered(PUBLISHED, EXTENDED), _VERBS, program=self.program)
            }

    def baselines(self) -> Mapping[str, Baseline[Task, ReviewReference, WorldStart]]:
        """Return the scripts that do not read what decides."""
        if self.drilled:
            return self.written(drill.baselines())
        physicians = deferring.baselines(self._opening)
        return self.written({**habits.baselines(self._opening), **physicians})

    def solvers(self) -> Mapping[str, Solver]:
        """Return who reads what holds today, and who goes by the standing edition's numbers."""
        return self.voiced(
            {
                "solver": solver.solve,
                "remembering": solver.solve_by_heart,
                "guessing": guessing.guess,
            }
        )

    def solve(self, instance: ReviewInstance, rng: np.random.Generator) -> Script:
        """Do what is right, in typed calls."""
        if self.drilled:
            return drill.solve(instance, rng)
        return oracle.solve(instance, rng, self._opening(instance))

    def _opening(self, instance: ReviewInstance) -> Opening:
        """Return what begins an episode in which a script is worked out, by typed calls."""
        rules = replace(self.rules, max_turns=_CALLS_MOST)
        family = copy(self)
        # Whoever is outside is asked about what is played, once.
        family.verifier, family.wording = ReviewVerifier(), None

        def begin() -> ReviewEpisode:
            return Episode(family, instance, SparseReward(), rules)

        return begin
