"""What a task family brings to the engine: generator, world, seats and verifier."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np

from healthgym.core.task import Instance, Reference, Task, TaskGenerator
from healthgym.core.tool import ToolCatalog, ToolKind
from healthgym.core.verdict import Profile, Verdict
from healthgym.core.world import World

#: Actions played one after the other, whatever the environment answers.
Script = Sequence[Any]
#: A scripted policy: from an instance, reference included, and randomness to a script.
Baseline = Callable[["Instance[Task, Reference]", np.random.Generator], Script]
#: A scripted policy that looks before it acts: from the instruction to a generator that yields
#: actions and is sent the text of each observation. It is handed no instance, so it cannot know
#: more than an agent does.
Solver = Callable[[str], Generator[Any, str, None]]

#: Highest share of tasks that a policy without skill may solve, unless the family says otherwise.
CEILING = 0.05

#: The role of the only player where there is one.
AGENT = "agent"

WorldT = TypeVar("WorldT", bound=World)


@dataclass(frozen=True, slots=True)
class Event:
    """One tool call that reached the world, or was refused.

    Attributes:
        role: Who called.
        tool: Full name of the tool; empty if no call could be made out.
        arguments: The validated arguments, or the raw ones of a refused call.
        kind: What the tool may do; None for a refused call.
        error: Why the call was refused, or empty.
        time: Simulated time of the call.
        images: Number of pictures the call showed.
    """

    role: str
    tool: str
    arguments: Mapping[str, Any]
    kind: ToolKind | None
    error: str
    time: datetime
    images: int = 0


@dataclass(frozen=True, slots=True)
class Evidence(Generic[WorldT]):
    """Everything a verifier may look at.

    Attributes:
        task: The agent-visible half of the task.
        reference: The verifier's half.
        before: The world as the episode began.
        after: The world now.
        events: All calls so far, in order.
        submission: Validated arguments of the role's submit call; None if it has not submitted.
        role: Whose verdict is asked for.
    """

    task: Task
    reference: Reference
    before: WorldT
    after: WorldT
    events: tuple[Event, ...]
    submission: Mapping[str, Any] | None
    role: str = AGENT


class Verifier(Protocol):
    """Judges an episode. Total over anything an agent may have done."""

    def verify(self, evidence: Evidence[Any], profile: Profile) -> Verdict:
        """Return the verdict of the evidence's role under a profile.

        Called at the end of an episode, and after each step where the reward is dense. It must
        not raise for anything the agent did.
        """


@dataclass(frozen=True)
class Seat:
    """A role at the table: what it reads first and what it may call.

    Attributes:
        catalog: The role's tools.
        instruction: Overrides the task's instruction; for worlds with several roles.
    """

    catalog: ToolCatalog
    instruction: str = ""


@dataclass(frozen=True, slots=True)
class EpisodeConfig:
    """The rules of an episode.

    Attributes:
        max_turns: Tool calls each role may make, refused ones included.
        step_time: Simulated time one call takes, unless the tool says otherwise.
        show_clock: Whether each observation begins with the simulated time.
        profile: The profile that decides success and reward.
        max_observation: Longest observation, in characters; the rest is cut with a notice.
    """

    max_turns: int = 12
    step_time: timedelta = timedelta(minutes=1)
    show_clock: bool = True
    profile: Profile = Profile.STRICT
    max_observation: int = 16_000


class Family(ABC, Generic[WorldT]):
    """A kind of task: where its tasks, worlds, tools and verdicts come from."""

    name: ClassVar[str]
    #: Highest share of tasks that a baseline other than the oracle may solve under the strict
    #: profile; :data:`CEILING` for a baseline that is not named.
    ceilings: Mapping[str, float] = MappingProxyType({})

    generator: TaskGenerator
    verifier: Verifier

    @abstractmethod
    def open(self, instance: Instance[Task, Reference]) -> WorldT:
        """Return a fresh world in the instance's start state."""

    @abstractmethod
    def seats(self, instance: Instance[Task, Reference]) -> Mapping[str, Seat]:
        """Return the seats of an instance by role, in their order of play."""

    def baselines(self) -> Mapping[str, Baseline]:
        """Return the family's scripted policies by name; ``oracle`` is always among them.

        ``flood`` (everything at once) and ``prior`` (the best guess without reading) belong here,
        and any constant answer known to score on the source benchmark.
        """
        return {"oracle": self.oracle}

    def solvers(self) -> Mapping[str, Solver]:
        """Return the family's closed-loop policies by name; none unless a family has some.

        They read what an agent reads, and show that a task can be solved from that.
        """
        return {}

    @abstractmethod
    def oracle(self, instance: Instance[Task, Reference], rng: np.random.Generator) -> Script:
        """Return the actions that solve an instance, looking things up as a good agent would."""
