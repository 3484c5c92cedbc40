"""A relay: two roles hand one piece of work to each other, and wait meanwhile."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from datetime import timedelta
from typing import Any, ClassVar, Literal

import numpy as np

from healthgym.core.clock import Clock, Due
from healthgym.core.family import EpisodeConfig, Evidence, Family, HandIn, Role, Script, Solver
from healthgym.core.family import Verifier as BaseVerifier
from healthgym.core.seeding import Split
from healthgym.core.state import log, state, table
from healthgym.core.task import Instance, Reference, Task, TaskGenerator, TaskKey
from healthgym.core.tool import ToolKind, Toolset, call, tool
from healthgym.core.verbs import Verb
from healthgym.core.verdict import Check, Judgement, Profile
from healthgym.core.world import World
from tests.core.toys.ledger import START

NOBODY = ""


class RelayWorld(World):
    """Lines of text, and who holds the pen."""

    lines = log[str]()
    holder = state("writer")
    retired = table[str, bool]()

    def __init__(self) -> None:
        self.clock = Clock(START)

    def happen(self, due: Due) -> None:
        self.holder = str(due.facts["to"])
        self.notify(self.holder, "The pen comes back to you.")

    def left_to_do(self, role: str) -> bool:
        return role not in self.retired


class RelayTools(Toolset[RelayWorld]):
    @tool(ToolKind.WRITE)
    def write_line(self, text: str) -> str:
        """Write a line.

        Args:
            text: The line.
        """
        self.world.lines.append(f"{self.caller.role} ({self.caller.actor}): {text}")
        return "written"

    @tool(ToolKind.READ)
    def read_lines(self) -> str:
        """Read all lines."""
        return "\n".join(self.world.lines) or "nothing yet"

    @tool(ToolKind.WRITE)
    def hand_over(
        self, to: Literal["writer", "editor", ""], minutes: int = 0, back: str = ""
    ) -> str:
        """Hand the pen over.

        Args:
            to: To whom; empty to lay it down.
            minutes: After how many minutes it comes back; never if 0.
            back: To whom it comes back.
        """
        self.world.holder = to
        if minutes:
            time = self.caller.clock.now + timedelta(minutes=minutes)
            self.caller.clock.agenda.put(time, "back", to=back or self.caller.role)
        if to:
            self.world.notify(to, f"{self.caller.actor} hands you the pen.")
        return "handed over"

    @tool(ToolKind.WRITE)
    def retire(self, who: str) -> str:
        """Say that a role has nothing left to do.

        Args:
            who: The role.
        """
        self.world.retired[who] = True
        return "retired"


RelayInstance = Instance[Task, Reference, None]


class RelayGenerator(TaskGenerator[Task, Reference, None]):
    name = "toy-relay"

    def draw(self, split: Split, index: int) -> RelayInstance:
        task = Task(TaskKey(self.name, split, index), "relay", "Write together.")
        return Instance(task, Reference(), None)


WRITTEN = Check("written", "Somebody wrote a line.")


class RelayVerifier(BaseVerifier[Task, Reference, RelayWorld]):
    def checks(self, profile: Profile) -> tuple[Check, ...]:
        return (WRITTEN,)

    def judge(self, evidence: Evidence[Task, Reference, RelayWorld], profile: Profile) -> Judgement:
        return Judgement.of([WRITTEN.result(bool(evidence.after.lines))])


class Relay(Family[Task, Reference, None, RelayWorld]):
    name: ClassVar[str] = "toy-relay"
    roles: ClassVar[Mapping[str, Role]] = {
        "writer": Role((RelayTools,), frozenset({Verb.FINISH}), actor="Ada"),
        "editor": Role((RelayTools,), frozenset({Verb.FINISH}), actor="Bo"),
    }
    rules = EpisodeConfig(max_turns=10)
    hand_in = HandIn("finish")
    takes_turns = True

    def __init__(self) -> None:
        self.generator = RelayGenerator()
        self.verifier = RelayVerifier()

    def open(self, instance: RelayInstance) -> RelayWorld:
        return RelayWorld()

    def to_act(self, world: RelayWorld, live: Sequence[str]) -> str | None:
        if world.holder == NOBODY:
            return None
        return world.holder if world.holder in live else live[0]

    def oracle(self, instance: RelayInstance, rng: np.random.Generator) -> Script:
        return [call("write_line", text="x"), call("finish")]

    def counterparts(self) -> Mapping[str, Mapping[str, Solver]]:
        return {"editor": {"prompt": prompt_editor}}


def prompt_editor(instruction: str) -> Generator[Any, str, None]:
    """Answers every line that is handed over, and hands the pen back."""
    shown = ""
    for number in range(3):
        shown = yield call("read_lines")
        last = shown.splitlines()[-1][-20:]
        shown = yield call("write_line", text=f"{number}: I read {last}")
        shown = yield call("hand_over", to="writer")
    yield call("finish")
