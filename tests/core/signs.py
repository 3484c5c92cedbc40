"""A small family whose answer is in the pixels and nowhere else: which half of a sign is lit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import gymnasium as gym
import numpy as np

from healthgym.core.clock import Clock
from healthgym.core.env import HealthEnv
from healthgym.core.family import EpisodeConfig, Evidence, Family, Script, Verifier, single
from healthgym.core.images import Image
from healthgym.core.seeding import Split, task_rng
from healthgym.core.task import Instance, Reference, Task, TaskGenerator, TaskKey
from healthgym.core.tool import ToolKind, ToolResult, Toolset, call, tool
from healthgym.core.verdict import Check, Judgement, Profile
from healthgym.core.world import World
from healthgym.rewards.functions import resolve
from tests.core.toys import START

SIGNS_ID = "ToySigns-v0"
SIDES = ("left", "right")


@dataclass(frozen=True, slots=True)
class SignReference(Reference):
    side: str


class SignWorld(World):
    def __init__(self, picture: Image) -> None:
        self.picture = picture
        self.clock = Clock(START)


class SignTools(Toolset[SignWorld]):
    @tool(ToolKind.READ)
    def look(self) -> ToolResult:
        """Look at the sign."""
        height, width = self.world.picture.shape
        return ToolResult(f"The sign, {width} x {height} pixels.", (self.world.picture,))

    @tool(ToolKind.READ)
    def halves(self) -> ToolResult:
        """Look at both halves, the left one first, the right one in colour."""
        middle = self.world.picture.shape[1] // 2
        left, right = self.world.picture[:, :middle], self.world.picture[:, middle:]
        return ToolResult("The left and the right half.", (left, np.repeat(right[..., None], 3, 2)))

    @tool(ToolKind.READ)
    def ask(self) -> str:
        """Ask somebody who has not seen it."""
        return "I have not seen it."

    @tool(ToolKind.SUBMIT)
    def submit(self, side: Literal["left", "right"]) -> str:
        """Say which half is lit.

        Args:
            side: The lit half.
        """
        return f"submitted {side}"


SignInstance = Instance[Task, SignReference, Image]


class SignGenerator(TaskGenerator[Task, SignReference, Image]):
    name = "toy-signs"

    def draw(self, split: Split, index: int) -> SignInstance:
        rng = task_rng(self.name, split, index)
        side = SIDES[int(rng.integers(2))]
        picture = rng.integers(0, 60, (24, 32)).astype(np.uint8)
        half = picture[:, :16] if side == "left" else picture[:, 16:]
        half += 180
        task = Task(TaskKey(self.name, split, index), "sign", "Which half of the sign is lit?")
        return Instance(task, SignReference(side), picture)


LIT = Check("lit", "The half named is the lit one.")


class SignVerifier(Verifier[Task, SignReference, SignWorld]):
    def checks(self, profile: Profile) -> tuple[Check, ...]:
        return (LIT,)

    def judge(
        self, evidence: Evidence[Task, SignReference, SignWorld], profile: Profile
    ) -> Judgement:
        said = evidence.submission["side"] if evidence.submission else None
        return Judgement.of([LIT.result(said == evidence.reference.side)])


class Signs(Family[Task, SignReference, Image, SignWorld]):
    name: ClassVar[str] = "toy-signs"
    roles = single(SignTools)
    ceilings: ClassVar[Mapping[str, float]] = {"prior": 0.6, "random": 0.6}

    def __init__(self) -> None:
        self.generator = SignGenerator()
        self.verifier = SignVerifier()

    def open(self, instance: SignInstance) -> SignWorld:
        return SignWorld(instance.start)

    def oracle(self, instance: SignInstance, rng: np.random.Generator) -> Script:
        return [call("look"), call("submit", side=instance.reference.side)]


def make_signs(
    split: str = "train", max_turns: int = 4, render_mode: str | None = None, **_: Any
) -> HealthEnv:
    """A sign, one agent."""
    config = EpisodeConfig(max_turns=max_turns, show_clock=False)
    return HealthEnv(
        Signs(), resolve("sparse"), split=split, config=config, render_mode=render_mode
    )


if SIGNS_ID not in gym.registry:
    gym.register(id=SIGNS_ID, entry_point="tests.core.signs:make_signs")
