"""The arena of a provider and a payer, declared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import ClassVar

import numpy as np

from healthgym.core.choice import Weighted
from healthgym.core.episode import Episode
from healthgym.core.family import (
    ORACLE,
    UNKNOWING,
    Baseline,
    EpisodeConfig,
    Family,
    HandIn,
    Player,
    Role,
    Script,
)
from healthgym.core.levels import Level, assemble
from healthgym.core.occupants import Filler, resolved, seated
from healthgym.core.players import Filling, Solver
from healthgym.core.task import Task
from healthgym.core.tool import AnyToolset
from healthgym.core.verbs import Verb
from healthgym.envs.managed_care.prior_auth_arena import (
    drill,
    drill_erring,
    drill_roles,
    drill_sides,
    oracle,
    reader,
)
from healthgym.envs.managed_care.prior_auth_arena.canonical import CanonicalGenerator
from healthgym.envs.managed_care.prior_auth_arena.drill_offices import DrillOffices
from healthgym.envs.managed_care.prior_auth_arena.generator import ArenaGenerator
from healthgym.envs.managed_care.prior_auth_arena.opponents.graded import (
    CARELESS,
    OPPONENTS,
    STRENGTHS,
)
from healthgym.envs.managed_care.prior_auth_arena.proofs import PROOFS
from healthgym.envs.managed_care.prior_auth_arena.task import (
    PRESETS,
    ArenaInstance,
    ArenaReference,
    ArenaTaskGenerator,
)
from healthgym.envs.managed_care.prior_auth_arena.toolset import (
    AskedToolset,
    AskingToolset,
    CallToolset,
)
from healthgym.envs.managed_care.prior_auth_arena.verifier import ArenaVerifier
from healthgym.envs.managed_care.prior_auth_arena.wording import payer_brief, provider_brief
from healthgym.envs.managed_care.prior_authorization.family import PUBLISHED as PROVIDERS
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationConfig
from healthgym.envs.managed_care.tools.auth import AuthToolset
from healthgym.envs.managed_care.tools.p2p_session import PeerSessionToolset
from healthgym.envs.managed_care.tools.payer_appeals import AppealsToolset
from healthgym.envs.managed_care.utilization_management.family import PUBLISHED as PAYERS
from healthgym.errors import ConfigurationError
from healthgym.rewards import SparseReward
from healthgym.worlds.managed_care.parley import Limits
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER
from healthgym.worlds.managed_care.shared import SharedOffices
from healthgym.worlds.managed_care.start import WorldStart

_VERBS = frozenset({Verb.FINISH, Verb.READ_MORE, Verb.WAIT})
#: Name of the policy that reads what an agent reads, in either seat.
READER = "reader"
#: For so long the turn passes once a side has made all the calls that it may make in a row.
_REST = timedelta(hours=1)
#: Progress of the best script that reads nothing, over all kinds: those tell the answer.
_CHANCE = {"": 0.3}


def _with_calls(published: Iterable[type[AnyToolset]]) -> Iterator[type[AnyToolset]]:
    """Yield a side's toolsets, without the line on which nobody but the engine answers."""
    for each in published:
        if each is not PeerSessionToolset:
            yield AskingToolset if each is AuthToolset else each


class ArenaFamily(Family[Task, ArenaReference, WorldStart, SharedOffices]):
    """A provider's desk and a payer's, on one request.

    Args:
        difficulty: A preset, a configuration, weights of presets, or ``"drill"``.
        role: The seat that scripted policies play; the provider's if empty.
        spell: Calls that a side may make in a row.
        limits: How long calls, and the way back and forth, may go on.
        canonical: Whether the test split is 23 tasks composed like the published ones.
        beside: Who fills the other seat, by role, where an oracle's moves are worked out; somebody
            who knows the answer where nobody is named, or somebody from outside.

    Raises:
        ConfigurationError: If the arguments do not fit together.
    """

    name: ClassVar[str] = "prior-auth-arena"
    roles: Mapping[str, Role] = {
        PROVIDER: Role([*_with_calls(PROVIDERS), CallToolset], _VERBS),
        PAYER: Role(
            [*_with_calls(PAYERS), CallToolset, AskedToolset, AppealsToolset], _VERBS, waits=True
        ),
    }
    verifier = ArenaVerifier()
    hand_in = HandIn("finish", paper=False, withheld=False)
    proofs = PROOFS
    takes_turns = True
    strengths = STRENGTHS

    def __init__(
        self,
        difficulty: str | AuthorizationConfig | Mapping[str, float] = "medium",
        *,
        role: str = "",
        spell: int = 50,
        limits: Limits | Mapping[str, int] | None = None,
        canonical: bool = False,
        beside: Mapping[str, Filling] | None = None,
    ) -> None:
        # Whoever is outside is asked about what is played, once.
        self._beside: Mapping[str, Filler] = {
            role: filler
            for role, filler in resolved(beside or {}).items()
            if isinstance(filler, str | Weighted)
        }
        self.limits = limits if isinstance(limits, Limits) else Limits.of(limits or {})
        if role and role not in self.roles:
            raise ConfigurationError(f"role {role!r} is not one of {', '.join(self.roles)}.")
        self._seat = role or PROVIDER
        self.rules = EpisodeConfig(max_turns=120, max_observation=12_000, spell=spell, rest=_REST)

        def synthetic(level: Level[AuthorizationConfig]) -> ArenaTaskGenerator:
            if canonical:
                return CanonicalGenerator(level.config, level.label, f"{self.name}-canonical")
            return ArenaGenerator(level.config, level.label, self.name)

        self.drilled = difficulty == drill_roles.DRILL
        self.chance = {} if self.drilled else _CHANCE
        if self.drilled:
            if canonical:
                raise ConfigurationError("difficulty 'drill' has no place for canonical tasks.")
            self.generator = drill.DrillGenerator(self.name)
            self.roles = drill_roles.ROLES
            self.rules = replace(self.rules, max_turns=drill_roles.TURNS, show_clock=False)
        else:
            self.generator = assemble(PRESETS, difficulty, synthetic, canonical=canonical)
        for seat, filler in self._beside.items():
            self._require_known(seat, filler.items if isinstance(filler, Weighted) else (filler,))

    def _require_known(self, seat: str, names: Iterable[object]) -> None:
        """Refuse names of nobody who can fill a seat."""
        known = drill_erring.SIDES.get(seat) if self.drilled else self.counterparts().get(seat)
        accepted = sorted({ORACLE, *UNKNOWING, *(known or {})})
        for name in names:
            if name not in accepted:
                raise ConfigurationError(
                    f"There is no policy named {name!r} for the {seat}'s desk; use "
                    f"{', '.join(accepted)}."
                )

    def open(self, instance: ArenaInstance) -> SharedOffices:
        """Return the offices as both sides find them."""
        return (DrillOffices if self.drilled else SharedOffices)(instance.start, self.limits)

    def instruction(self, role: str, instance: ArenaInstance) -> str:
        """Return what a side is told; the payer's is told of no request."""
        if self.drilled:
            return drill.payer_brief(instance.start) if role == PAYER else instance.task.instruction
        if role == PAYER:
            return payer_brief(instance.start, self.rules)
        return provider_brief(instance.task.instruction, instance.start, self.rules)

    def to_act(self, world: SharedOffices, live: Sequence[str]) -> str | None:
        """Return who acts: whoever did last, until that side waits; in a call, whose turn it is.

        In a drill it is whoever's the case is.
        """
        if isinstance(world, DrillOffices):
            return world.turn(live)
        return world.speaker if world.speaker in live else live[-1]

    def oracle(self, instance: ArenaInstance, rng: np.random.Generator) -> Script:
        """Do what is right, beside whoever fills the other seat."""
        return self.together(instance, rng, self._beside)[self._seat]

    def together(
        self,
        instance: ArenaInstance,
        rng: np.random.Generator,
        counterparts: Mapping[str, Filler] | None = None,
    ) -> Mapping[str, Script]:
        """Return what the sides do that know the answer, worked out by playing.

        Args:
            instance: The task.
            rng: Who of several able people does something.
            counterparts: Who fills a side, as in the episode that is worked out for.
        """
        players = seated(self, instance, counterparts or {})
        episode = Episode(self, instance, SparseReward(), self.rules, players)
        makers = drill_sides.KNOWING if self.drilled else oracle.KNOWING
        return dict(oracle.pair(instance, rng, episode, makers).play())

    def baselines(self) -> Mapping[str, Baseline[Task, ArenaReference, WorldStart]]:
        """Return the scripts that do not read what decides."""
        return drill_sides.baselines(self._seat) if self.drilled else oracle.baselines()

    def solvers(self) -> Mapping[str, Solver]:
        """Return who reads what an agent reads, in the seat that is played."""
        return {} if self.drilled else {READER: reader.READERS[self._seat]}

    def counterparts(self) -> Mapping[str, Mapping[str, Solver]]:
        """Return who can fill a seat."""
        if self.drilled:
            return {}
        return {role: {READER: play, **OPPONENTS[role]} for role, play in reader.READERS.items()}

    def knowing(
        self,
        instance: ArenaInstance,
        rng: np.random.Generator,
        role: str,
        seated: Mapping[str, str],
    ) -> Script:
        """Return what a side does that knows the answer, beside whoever fills the other seat."""
        return self.together(instance, rng, seated)[role]

    def careless(self) -> Mapping[str, Sequence[str]]:
        """Return who wants the reward without the work, by seat."""
        known = drill_erring.CARELESS if self.drilled else CARELESS
        return {role: tuple(names) for role, names in known.items()}

    def player(
        self, name: str, instance: ArenaInstance, rng: np.random.Generator, role: str = PROVIDER
    ) -> Player:
        """Return a player of a scripted policy; an oracle's moves are worked out for its seat.

        In a drill so are those of a side that errs, against one that knows the answer.
        """
        if self.drilled and name in drill_erring.SIDES.get(role, {}):
            sides = {**drill_sides.KNOWING, role: drill_erring.SIDES[role][name]}
            table = drill_sides.seated(
                Episode(self, instance, SparseReward(), self.rules), instance, sides
            )
            return Player.of_script(table.play()[role])
        if name == ORACLE and role in self.roles:
            beside = self._beside if role == self._seat else {}
            return Player.of_script(self.together(instance, rng, beside)[role])
        return super().player(name, instance, rng, role)
