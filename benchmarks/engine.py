"""Measure what the engine adds to a tool call that does next to nothing.

    python benchmarks/engine.py                      every figure, into results/engine.json
    python benchmarks/engine.py --only first_call    only this one

A family of two trivial tools is stepped through ``gym.make(...).step``. Calls are typed (a
``ToolCall``) or text (JSON). Each is timed as the first call of an episode of 400; around call 300
of one, where transcript, events and (for WRITE) the world have grown; and as the only call of an
episode of 1, which includes judging it under both profiles. All are taken in turn with a fixed
piece of plain Python: the ratio to it holds on a busy machine. Beside it stands a Gymnasium
environment of the same spaces that does nothing at all.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from _harness import Figures, Run, Suite, Timing, alternate, at_most, reference_work, timed

from healthgym.core.clock import Clock
from healthgym.core.env import HealthEnv
from healthgym.core.family import (
    EpisodeConfig,
    Evidence,
    Family,
    HandIn,
    Script,
    Verifier,
    single,
)
from healthgym.core.seeding import Split
from healthgym.core.state import log
from healthgym.core.task import Instance, Reference, Task, TaskGenerator, TaskKey
from healthgym.core.tool import ToolKind, Toolset, call, tool
from healthgym.core.verdict import Check, Judgement, Profile
from healthgym.core.world import World
from healthgym.rewards import resolve
from healthgym.spaces import JsonText, UnicodeText

suite = Suite("engine", __doc__)

# -- the toy: all that knows the engine's interface ----------------------------------------------


class ToyWorld(World):
    """A list that grows."""

    marks = log[int]()

    def __init__(self) -> None:
        self.clock = Clock(datetime(2024, 3, 1, tzinfo=UTC))


class ToyTools(Toolset[ToyWorld]):
    """One tool that reads and one that writes."""

    namespace = "toy"

    @tool(ToolKind.READ)
    def look(self) -> str:
        """Return ok."""
        return "ok"

    @tool(ToolKind.WRITE)
    def mark(self) -> str:
        """Add to the list."""
        self.world.marks.append(1)
        return "ok"


ToyInstance = Instance[Task, Reference, None]


class ToyGenerator(TaskGenerator[Task, Reference, None]):
    """One task."""

    name = "toy-engine"

    def draw(self, split: Split, index: int) -> ToyInstance:
        """Return the task."""
        task = Task(TaskKey(self.name, split, index), "call", "Call.")
        return Instance(task, Reference(), None)


class ToyVerifier(Verifier[Task, Reference, ToyWorld]):
    """Wants a mark."""

    check = Check("marked", "The list is not empty.")

    def checks(self, profile: Profile) -> tuple[Check, ...]:
        """Return the only check."""
        return (self.check,)

    def judge(self, evidence: Evidence[Task, Reference, ToyWorld], profile: Profile) -> Judgement:
        """Return what is found."""
        return Judgement.of([self.check.result(bool(evidence.after.marks))])


class Toy(Family[Task, Reference, None, ToyWorld]):
    """The family of the two tools."""

    name: ClassVar[str] = "toy-engine"
    roles = single(ToyTools)
    verifier = ToyVerifier()
    # So that an episode of one call is judged.
    hand_in = HandIn(withheld=False)

    def __init__(self) -> None:
        self.generator = ToyGenerator()

    def open(self, instance: ToyInstance) -> ToyWorld:
        """Return an empty list."""
        return ToyWorld()

    def oracle(self, instance: ToyInstance, rng: np.random.Generator) -> Script:
        """Return a mark."""
        return [CALLS["write_typed"]]


def toy(max_turns: int) -> HealthEnv:
    """Make the environment."""
    return HealthEnv(Toy(), resolve("sparse", None), config=EpisodeConfig(max_turns=max_turns))


CALLS: dict[str, Any] = {
    "read_typed": call("look"),
    "write_typed": call("mark"),
    "read_text": json.dumps({"name": "look", "arguments": {}}),
    "write_text": json.dumps({"name": "mark", "arguments": {}}),
}

# -- what it is measured beside ------------------------------------------------------------------


class Empty(gym.Env[str, Any]):
    """A Gymnasium environment of the same spaces that does nothing."""

    observation_space = UnicodeText(64_000)
    action_space = JsonText(16_000)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Do nothing."""
        super().reset(seed=seed)
        return "", {}

    def step(self, action: Any) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Do nothing."""
        return "", 0.0, False, False, {}


TOY_ID, EMPTY_ID = "BenchToy-v0", "BenchEmpty-v0"
gym.register(TOY_ID, entry_point=toy)  # type: ignore[arg-type]
gym.register(EMPTY_ID, entry_point=Empty)  # type: ignore[arg-type]

#: Turns of a long episode; episodes that are not counted.
TURNS, WARM_UP = 400, 20


def in_turn(run: Run, usual: int, turns: int = TURNS, played: int = 0, calls: int = 1) -> Figures:
    """Time each call in episodes of its own, taken in turn with the reference.

    Args:
        run: How much to measure.
        usual: Episodes of each call.
        turns: Length of an episode.
        played: Calls of the same kind made in it before, untimed.
        calls: Calls timed in it.
    """
    env = gym.make(TOY_ID, max_turns=turns, disable_env_checker=True)
    taken: dict[str, list[Timing]] = {name: [] for name in ("reference", *CALLS)}
    for index in range(WARM_UP + run.repeats(usual)):
        if index == WARM_UP:
            taken = {name: [] for name in taken}
        taken["reference"].append(timed(lambda _: reference_work(), range(calls)))
        for name, action in CALLS.items():
            env.reset(options={"index": index})
            for _ in range(played):
                env.step(action)
            timing = timed(lambda _, action=action: env.step(action), range(calls))  # type: ignore[misc]
            taken[name].append(timing)
    timings = {name: Timing.join(each) for name, each in taken.items()}
    figures: Figures = {}
    for name, timing in timings.items():
        figures |= timing.spread(name, "us")
        if name != "reference":
            figures[f"{name}_over_reference_ratio"] = timing.over(timings["reference"])
    return figures


@suite.measure(bounds={"read_typed_us": at_most(60)})
def first_call(run: Run) -> Figures:
    """Make the first call of an episode."""
    return in_turn(run, 1000)


@suite.measure(bounds={"read_typed_us": at_most(60)})
def call_300(run: Run) -> Figures:
    """Make calls 290 to 310 of an episode."""
    return in_turn(run, 40, played=289, calls=21)


@suite.measure()
def episode_of_1(run: Run) -> Figures:
    """Make the only call of an episode, which is judged with it."""
    return in_turn(run, 1000, turns=1)


@suite.measure()
def beside_gymnasium(run: Run) -> Figures:
    """Make a typed READ and step the empty environment, with and without Gymnasium's checker.

    The checker looks at the first step of an environment only, which belongs to the warm-up.
    """
    figures: Figures = {}
    action = CALLS["read_typed"]
    for word, disabled in (("unchecked", True), ("checked", False)):
        ours = gym.make(TOY_ID, max_turns=TURNS, disable_env_checker=disabled)
        empty = gym.make(EMPTY_ID, disable_env_checker=disabled)
        ours.reset(seed=0)
        empty.reset(seed=0)
        timings = alternate(
            {
                "toy": lambda ours=ours: ours.step(action),  # type: ignore[misc]
                "empty": lambda empty=empty: empty.step(action),  # type: ignore[misc]
            },
            run.repeats(TURNS - WARM_UP),
            warm_up=WARM_UP,
        )
        for name, timing in timings.items():
            figures |= timing.spread(f"{name}_{word}", "us")
        figures[f"toy_over_empty_{word}_ratio"] = timings["toy"].over(timings["empty"])
    return figures


@suite.measure()
def reset(run: Run) -> Figures:
    """Open an episode of the toy."""
    env = gym.make(TOY_ID, max_turns=TURNS, disable_env_checker=True)
    numbers = range(10, 10 + run.repeats(1000))
    taken = timed(lambda n: env.reset(options={"index": n}), numbers, warm_up=range(10))
    return taken.spread("toy", "us")


if __name__ == "__main__":
    raise SystemExit(suite.main())
