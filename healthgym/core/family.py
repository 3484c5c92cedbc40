"""A family of tasks, declared: world, roles, checks, policies and how work is handed in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar, Generic

import numpy as np

from healthgym.core.action import Grammar
from healthgym.core.players import Baseline, Player, Script, Solver
from healthgym.core.proofs import Proofs
from healthgym.core.random_calls import no_moves, random_moves
from healthgym.core.roles import Role, Seat, single
from healthgym.core.rules import EpisodeConfig, HandIn
from healthgym.core.task import Instance, ReferenceIn, StartIn, TaskGenerator, TaskIn
from healthgym.core.tool import ToolCall
from healthgym.core.verdict import Check, Profile
from healthgym.core.verifier import AGENT, Event, Evidence, Verifier
from healthgym.core.world import WorldIn
from healthgym.errors import ConfigurationError

__all__ = [
    "AGENT",
    "CEILING",
    "ORACLE",
    "UNKNOWING",
    "AnyFamily",
    "Baseline",
    "EpisodeConfig",
    "Event",
    "Evidence",
    "Family",
    "Grammar",
    "HandIn",
    "Player",
    "Role",
    "Script",
    "Seat",
    "Solver",
    "Verifier",
    "single",
]

#: Highest share of tasks that a policy without skill may solve, unless the family says otherwise.
CEILING = 0.05
#: Name of the policy that solves every task.
ORACLE = "oracle"
#: Names of those that play any family: one does nothing, one presses any key.
NOP, RANDOM = "nop", "random"
UNKNOWING = (NOP, RANDOM)


class Family(ABC, Generic[TaskIn, ReferenceIn, StartIn, WorldIn]):
    """A kind of task: where its tasks, worlds, tools and verdicts come from.

    A family is a declaration. It states its generator, verifier and roles as attributes (in the
    class, or in ``__init__`` where they depend on arguments), opens worlds, and lists policies.

    Attributes:
        name: Name in tables and, unless the generator has another, in task ids.
        generator: Draws the tasks.
        verifier: Judges the episodes.
        roles: The roles by name, in their order of play; :func:`single` makes the only one.
        rules: The rules of its episodes, unless an environment is told otherwise.
        hand_in: How work is handed in.
        ceilings: Highest share of tasks that a baseline other than the oracle may solve under the
            strict profile; :data:`CEILING` for a baseline that is not named.
        proofs: How its verifier is put to the proof.
        looking: Names of baselines that look at what tools show, or know part of the answer: their
            returns are published, and not held to those of who does not look.
        chance: By kind of task (empty for all others), the progress that who does not look is
            expected to make under the strict profile, as measured on train tasks; it is taken off
            where a judgement does not say itself what chance is worth.
        takes_turns: Whether only the role whose turn it is may act.
        strengths: How strong those are who can fill a seat, by role and name: the share of tasks
            on which all roles succeed where the others know the answer; as measured, for pages.
    """

    name: ClassVar[str]
    generator: TaskGenerator[TaskIn, ReferenceIn, StartIn]
    verifier: Verifier[TaskIn, ReferenceIn, WorldIn]
    roles: Mapping[str, Role]
    rules: EpisodeConfig = EpisodeConfig()
    hand_in: HandIn = HandIn()
    ceilings: Mapping[str, float] = MappingProxyType({})
    proofs: Proofs = Proofs()
    looking: ClassVar[frozenset[str]] = frozenset()
    chance: Mapping[str, float] = MappingProxyType({})
    takes_turns: ClassVar[bool] = False
    strengths: ClassVar[Mapping[str, Mapping[str, float]]] = MappingProxyType({})

    @abstractmethod
    def open(self, instance: Instance[TaskIn, ReferenceIn, StartIn]) -> WorldIn:
        """Return a fresh world in the instance's start state."""

    @abstractmethod
    def oracle(
        self, instance: Instance[TaskIn, ReferenceIn, StartIn], rng: np.random.Generator
    ) -> Script:
        """Return the actions that solve an instance, looking things up as a good agent would.

        Where there are several roles, the actions of the first one.
        """

    # -- what a family may add ---------------------------------------------------------------

    def instruction(self, role: str, instance: Instance[TaskIn, ReferenceIn, StartIn]) -> str:
        """Return what a role reads first: the task's instruction, unless a family has several."""
        return instance.task.instruction

    def baselines(self) -> Mapping[str, Baseline[TaskIn, ReferenceIn, StartIn]]:
        """Return the scripted policies by name, the oracle aside.

        ``flood`` (everything at once) and ``prior`` (the best guess without reading) belong here,
        and any constant answer known to score on the source benchmark.
        """
        return {}

    def practices(self) -> Mapping[str, Baseline[TaskIn, ReferenceIn, StartIn]]:
        """Return whole ways of working beside the oracle's, by name; none by default.

        They look as it does, and by habit do otherwise than was asked, so that they contradict each
        other on the same tasks. They are for demonstrations of practitioners who disagree.
        """
        return {}

    def solvers(self) -> Mapping[str, Solver]:
        """Return the closed-loop policies by name; none unless a family has some.

        They read what an agent reads, and show that a task can be solved from that.
        """
        return {}

    def counterparts(self) -> Mapping[str, Mapping[str, Solver]]:
        """Return the scripted players that can fill a seat, by role and name."""
        return {}

    def careless(self) -> Mapping[str, Sequence[str]]:
        """Return the counterparts that do not do the work, by role and name; none by default.

        Neither beside roles that know the answer, nor with each other, may they bring all roles
        more successes than the family's ``ceilings`` say.
        """
        return {}

    def knowing(
        self,
        instance: Instance[TaskIn, ReferenceIn, StartIn],
        rng: np.random.Generator,
        role: str,
        seated: Mapping[str, str],
    ) -> Script:
        """Return what a role does that knows the answer, beside others who may not.

        Args:
            instance: The task.
            rng: What is left to chance.
            role: The role; the first one unless a family says otherwise.
            seated: Names of counterparts, by the role they fill.
        """
        return self.oracle(instance, rng)

    def to_act(self, world: WorldIn, live: Sequence[str]) -> str | None:
        """Return whose turn it is, or None if all wait for something to happen.

        A role that has handed its work over waits: it is simply not named until there is work for
        it again, and waiting costs it no turns. One that called ``wait`` where there are several
        roles is not among those that are asked about, until its time has come or it is told
        something.

        Args:
            world: The world now.
            live: The roles that are not done and did not call ``wait``, beginning with the one
                after who acted last.
        """
        return live[0]

    def cases(self, instance: Instance[TaskIn, ReferenceIn, StartIn]) -> tuple[str, ...]:
        """Return the ids of the cases an episode is about; none if it is about one thing."""
        return ()

    def case_of(self, world: WorldIn, request: ToolCall) -> str:
        """Return the case that a call, or what fell due, is about; empty if it is about none.

        Args:
            world: The world before it.
            request: The call: the tool's full name, and the arguments as they were sent, which
                need not be what the tool takes; of what fell due, its name and facts.
        """
        return ""

    def parts(self, instance: Instance[TaskIn, ReferenceIn, StartIn]) -> tuple[str, ...]:
        """Return the parts whose progress is told apart; by default the cases."""
        return self.cases(instance)

    def touched(self, event: Event) -> Sequence[str] | None:
        """Return the parts that an event may have changed; None if that could be any."""
        return [event.case] if event.case else None

    def chance_of(self, kind: str) -> float:
        """Return what is taken off the progress of a kind for chance, where a judgement says none.

        Args:
            kind: The task's kind.
        """
        return self.chance.get(kind, self.chance.get("", 0.0))

    def of_data(self) -> str:
        """Return what the data that a family was given can be asked, and what not and why.

        Empty where tasks are made and need no data.
        """
        return ""

    def require_profile(self, profile: Profile) -> None:
        """Return if a profile can decide success and reward; each can unless a family says no.

        Raises:
            ConfigurationError: If the family is set up so that it cannot.
        """

    # -- what follows ------------------------------------------------------------------------

    def seats(self, instance: Instance[TaskIn, ReferenceIn, StartIn]) -> dict[str, Seat]:
        """Return the seats of an instance by role, in their order of play."""
        return {
            name: Seat(
                role.catalog,
                self.instruction(name, instance),
                role.actor,
                role.commands or role.grammar,
                role.commands,
                role.waits,
            )
            for name, role in self.roles.items()
        }

    def checks(self, profile: Profile) -> tuple[Check, ...]:
        """Return every check that a verdict under a profile may have, the engine's own first."""
        own = (self.hand_in.check,) if self.hand_in.needed(profile) else ()
        return (*own, *self.verifier.checks(profile))

    def scripts(self) -> dict[str, Baseline[TaskIn, ReferenceIn, StartIn]]:
        """Return the scripted policies that may know the answer, the oracle first."""
        return {ORACLE: self.oracle, **self.baselines(), **self.practices()}

    def player(
        self,
        name: str,
        instance: Instance[TaskIn, ReferenceIn, StartIn],
        rng: np.random.Generator,
        role: str = AGENT,
    ) -> Player:
        """Return a player of one of the family's scripted policies, or of those of any family.

        Args:
            name: Its name: a solver's, the oracle's or another baseline's, ``nop`` or ``random``.
            instance: The task that will be played.
            rng: What a baseline leaves to chance.
            role: Who is played.

        Raises:
            ConfigurationError: If there is none of that name.
        """
        solver = self.counterparts().get(role, {}).get(name) or self.solvers().get(name)
        if solver is not None:
            return Player.of_solver(solver, self.instruction(role, instance))
        scripts = self.scripts()
        if name in UNKNOWING and name not in scripts:
            specs, seed = self.roles[role].catalog.specs, int(rng.integers(1 << 62))
            return Player(no_moves if name == NOP else partial(random_moves, specs, seed))
        self.require_policy(name, role)
        return Player.of_script(scripts[name](instance, rng))

    def require_policy(self, name: str, role: str = AGENT) -> None:
        """Refuse a name that none of the scripted policies has.

        Args:
            name: The name.
            role: Who would be played.

        Raises:
            ConfigurationError: If there is none of that name.
        """
        others = self.counterparts().get(role, {})
        known = {*self.scripts(), *self.solvers(), *others, *UNKNOWING}
        if name not in known:
            named = ", ".join(sorted(known))
            raise ConfigurationError(f"There is no policy named {name!r} here; use {named}.")


#: A family of whatever tasks.
AnyFamily = Family[Any, Any, Any, Any]
