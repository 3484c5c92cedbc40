"""The prior-authorization family, declared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from healthgym.core import arguments
from healthgym.core.family import Baseline, EpisodeConfig, Family, HandIn, Role, Script
from healthgym.core.levels import Level, assemble
from healthgym.core.task import Task
from healthgym.core.verbs import Verb
from healthgym.core.verifier import AGENT
from healthgym.envs.managed_care.cases.clinic import standing_handbook
from healthgym.envs.managed_care.prior_authorization import oracle
from healthgym.envs.managed_care.prior_authorization.generator import AuthorizationGenerator
from healthgym.envs.managed_care.prior_authorization.task import (
    PRESETS,
    AuthorizationConfig,
    AuthorizationInstance,
    AuthorizationReference,
    AuthorizationTaskGenerator,
)
from healthgym.envs.managed_care.prior_authorization.verifier import AuthorizationVerifier
from healthgym.envs.managed_care.tools.auth import AuthToolset
from healthgym.envs.managed_care.tools.cases import CasesToolset
from healthgym.envs.managed_care.tools.chart import ChartToolset
from healthgym.envs.managed_care.tools.docs import DocsToolset
from healthgym.envs.managed_care.tools.forms import FormsToolset
from healthgym.envs.managed_care.tools.handbook import HandbookToolset
from healthgym.envs.managed_care.tools.inbox import InboxToolset
from healthgym.envs.managed_care.tools.p2p_session import PeerSessionToolset
from healthgym.envs.managed_care.tools.people import PeopleToolset
from healthgym.worlds.managed_care.handbook.full import HandbookSize
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.world import ManagedCareWorld

TOOLSETS = (
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


class AuthorizationFamily(Family[Task, AuthorizationReference, WorldStart, ManagedCareWorld]):
    """A provider's desk, a payer who answers, and a handbook that has to be read.

    Args:
        difficulty: A preset, a configuration, or weights of presets.
        rules: Which rules the offices keep: ``"strict"`` or ``"compat"``.
        handbook: How large a handbook they have: ``"compact"`` or ``"full"``.
    """

    name: ClassVar[str] = "prior-authorization"
    roles: Mapping[str, Role] = {
        AGENT: Role(TOOLSETS, frozenset({Verb.FINISH, Verb.READ_MORE, Verb.WAIT}))
    }
    verifier = AuthorizationVerifier()
    rules = EpisodeConfig(max_turns=60, max_observation=12_000)
    hand_in = HandIn("finish", paper=False, withheld=False)

    def __init__(
        self,
        difficulty: str | AuthorizationConfig | Mapping[str, float] = "medium",
        *,
        rules: str = Rules.STRICT,
        handbook: str = HandbookSize.COMPACT,
    ) -> None:
        kept = Rules(rules)
        size = arguments.member(HandbookSize, handbook, "handbook")
        if size is HandbookSize.FULL:
            # Now rather than at the first reset: a folder that cannot be written is told at once.
            standing_handbook(size)

        def synthetic(level: Level[AuthorizationConfig]) -> AuthorizationTaskGenerator:
            return AuthorizationGenerator(level.config, level.label, self.name, kept, handbook=size)

        self.generator = assemble(PRESETS, difficulty, synthetic)

    def open(self, instance: AuthorizationInstance) -> ManagedCareWorld:
        """Return the offices on the morning of the request."""
        return ManagedCareWorld(instance.start)

    def oracle(self, instance: AuthorizationInstance, rng: np.random.Generator) -> Script:
        """Look everything up, decide rightly, and see the request through."""
        return oracle.solve(instance, rng)

    def baselines(
        self,
    ) -> Mapping[str, Baseline[Task, AuthorizationReference, WorldStart]]:
        """Return the scripts that do not read what decides."""
        return oracle.baselines()
