"""The prior-authorization family, declared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from healthgym.core.borders import JsonObject
from healthgym.core.endpoint import Endpoint
from healthgym.core.episode import Episode
from healthgym.core.family import Baseline, EpisodeConfig, HandIn, Role, Script
from healthgym.core.levels import SYNTHETIC, Level, assemble
from healthgym.core.players import Solver
from healthgym.core.task import Task
from healthgym.core.tool import ToolCall
from healthgym.core.verbs import Verb
from healthgym.core.verifier import AGENT
from healthgym.envs.managed_care.cases.clinic import standing_handbook
from healthgym.envs.managed_care.cases.shelf import read_shelf
from healthgym.envs.managed_care.checks.rubrics import Judge, judge_of
from healthgym.envs.managed_care.desk_family import DeskFamily
from healthgym.envs.managed_care.prior_authorization import drill, oracle, solver
from healthgym.envs.managed_care.prior_authorization.choices import canonical_requests
from healthgym.envs.managed_care.prior_authorization.generator import AuthorizationGenerator
from healthgym.envs.managed_care.prior_authorization.proofs import PROOFS
from healthgym.envs.managed_care.prior_authorization.task import (
    PRESETS,
    AuthorizationConfig,
    AuthorizationInstance,
    AuthorizationReference,
    AuthorizationTaskGenerator,
)
from healthgym.envs.managed_care.prior_authorization.verifier import AuthorizationVerifier
from healthgym.envs.managed_care.surface import (
    Ablation,
    Surface,
    ToolSet,
)
from healthgym.envs.managed_care.tools.auth import AuthToolset
from healthgym.envs.managed_care.tools.cases import CasesToolset
from healthgym.envs.managed_care.tools.chart import ChartToolset
from healthgym.envs.managed_care.tools.coverage import CoverageToolset
from healthgym.envs.managed_care.tools.docs import DocsToolset
from healthgym.envs.managed_care.tools.forms import FormsToolset
from healthgym.envs.managed_care.tools.front_doors import ApiGatewayToolset, PortalToolset
from healthgym.envs.managed_care.tools.handbook import HandbookToolset
from healthgym.envs.managed_care.tools.inbox import InboxToolset
from healthgym.envs.managed_care.tools.p2p_session import PeerSessionToolset
from healthgym.envs.managed_care.tools.payer_policy_library import PolicyLibraryToolset
from healthgym.envs.managed_care.tools.people import PeopleToolset
from healthgym.errors import ConfigurationError
from healthgym.rewards import SparseReward
from healthgym.worlds.managed_care.handbook.full import HandbookSize
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.world import ManagedCareWorld

#: The provider's tools as they were published, and the handbook's.
PUBLISHED = (
    ChartToolset,
    CasesToolset,
    InboxToolset,
    DocsToolset,
    FormsToolset,
    AuthToolset,
    PeerSessionToolset,
    PeopleToolset,
    HandbookToolset,
)
#: What the extended surface adds to the provider's desk: the benefit check, the payer's policies as
#: the payer keeps them, and the two of its front doors at which a provider stands itself. Fax room,
#: EDI gateway and call centre are manned by the payer's people, who are not played here.
EXTENDED = (CoverageToolset, PolicyLibraryToolset, PortalToolset, ApiGatewayToolset)
_VERBS = frozenset({Verb.FINISH, Verb.READ_MORE, Verb.WAIT})
_DRILLED = frozenset({Verb.FINISH})
#: Progress of the best script that reads nothing, over all kinds: those tell the answer. Measured
#: on 150 train tasks: 0.31; nearly the upper end of its interval.
_CHANCE = {"": 0.35}


class AuthorizationFamily(DeskFamily[AuthorizationReference]):
    """A provider's desk, a payer who answers, and a handbook that has to be read.

    Args:
        difficulty: A preset, a configuration, weights of presets, or ``"drill"``.
        rules: Which rules the offices keep: ``"strict"`` or ``"compat"``.
        handbook: How large a handbook they have: ``"compact"`` or ``"full"``.
        canonical: Whether the test split is 25 tasks composed like the published ones.
        ablate: Which parts of the handbook are withheld: ``"none"``, ``"domain"``, ``"medical"``
            or ``"both"``.
        surface: How tools are called: ``"native"`` calls or ``"cli"`` lines.
        tools: Which tools there are: ``"published"`` or ``"extended"``.
        source: ``"synthetic"``, or a folder of published questionnaires to make policies of.
        judge: Asked about the source's rubrics under its profile, such as an endpoint; nobody by
            default.

    Raises:
        ConfigurationError: If the arguments do not fit together.
        MissingDataError: If the folder, or one of the questionnaires, is not there.
        DamagedDataError: If one of them cannot be read; then none is used.
    """

    name: ClassVar[str] = "prior-authorization"
    roles: Mapping[str, Role] = {AGENT: Role(PUBLISHED, _VERBS)}
    verifier = AuthorizationVerifier()
    rules = EpisodeConfig(max_turns=80, max_observation=12_000)
    hand_in = HandIn("finish", paper=False, withheld=False)
    proofs = PROOFS

    def __init__(
        self,
        difficulty: str | AuthorizationConfig | Mapping[str, float] = "medium",
        *,
        rules: str = Rules.STRICT,
        handbook: str = HandbookSize.COMPACT,
        canonical: bool = False,
        ablate: str = Ablation.NONE,
        surface: str = Surface.NATIVE,
        tools: str = ToolSet.PUBLISHED,
        source: str | Path = SYNTHETIC,
        judge: Judge | Endpoint | JsonObject | None = None,
    ) -> None:
        if judge is not None:
            self.verifier = AuthorizationVerifier(judge_of(judge))
        kept, size = self.take(
            rules=rules, ablate=ablate, surface=surface, tools=tools, handbook=handbook
        )
        name = f"{self.name}-canonical" if canonical else self.name
        shelf = None
        if str(source) != SYNTHETIC:
            _require_plain(canonical=canonical, full=size is HandbookSize.FULL)
            shelf, name = read_shelf(Path(source)), f"{self.name}-source"
        if size is HandbookSize.FULL:
            # Now rather than at the first reset: a folder that cannot be written is told at once.
            standing_handbook(size)

        def synthetic(level: Level[AuthorizationConfig]) -> AuthorizationTaskGenerator:
            return AuthorizationGenerator(
                level.config,
                level.label,
                name,
                kept,
                handbook=size,
                requests=canonical_requests() if canonical else None,
                shelf=shelf,
            )

        self.drilled = difficulty == drill.DRILL
        self.chance = {} if self.drilled else _CHANCE
        if self.drilled:
            _require_drillable(canonical=canonical, shelf=shelf is not None)
            self.generator = drill.DrillGenerator(self.name, kept)
            self.roles = {AGENT: Role(PUBLISHED, _DRILLED, only=drill.TOOLS, program=self.program)}
            self.rules = replace(self.rules, max_turns=drill.TURNS)
        else:
            self.generator = assemble(PRESETS, difficulty, synthetic, canonical=canonical)
            self.roles = {
                AGENT: Role(self.offered(PUBLISHED, EXTENDED), _VERBS, program=self.program)
            }

    def baselines(
        self,
    ) -> Mapping[str, Baseline[Task, AuthorizationReference, WorldStart]]:
        """Return the scripts that do not read what decides."""
        scripts = drill.baselines() if self.drilled else oracle.baselines()
        return self.written(scripts)

    def solvers(self) -> Mapping[str, Solver]:
        """Return who reads today's pages, and who goes by the numbers of the standing edition."""
        return self.voiced({"solver": solver.solve, "remembering": solver.solve_by_heart})

    def solve(self, instance: AuthorizationInstance, rng: np.random.Generator) -> Script:
        """Do what is right, in typed calls."""
        if self.drilled:
            return drill.solve(instance, rng)

        family = copy(self)
        family.verifier = (
            AuthorizationVerifier()
        )  # whoever is outside is asked about what is played

        def rehearse(calls: Sequence[ToolCall]) -> ManagedCareWorld:
            rules = replace(self.rules, max_turns=len(calls) + 1)
            episode = Episode(family, instance, SparseReward(), rules)
            for each in calls:
                episode.step(each)
            return episode.world

        return oracle.solve(instance, rng, rehearse)


def _require_drillable(**elsewhere: bool) -> None:
    """Refuse arguments that a drill has no place for."""
    unfit = {"canonical": "canonical tasks", "shelf": "a source of policies"}
    named = [unfit[name] for name, value in elsewhere.items() if value]
    if named:
        raise ConfigurationError(f"difficulty 'drill' has no place for {' or '.join(named)}.")


def _require_plain(**synthetic_only: bool) -> None:
    """Refuse arguments that only the library of this package can serve."""
    unfit = {"canonical": "canonical tasks", "full": 'handbook="full"'}
    named = [unfit[name] for name, value in synthetic_only.items() if value]
    if named:
        raise ConfigurationError(f"{' and '.join(named)}: only the synthetic source has that.")
