"""A small family in the image of the record world, registered for the tests of this folder.

Two kinds of task: report the newest value of the last 24 hours, or order a dose by it and report
it. Searching costs nothing, so the oracle needs two or three calls.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from healthgym.core.catalog import ToolCatalog
from healthgym.core.clock import Clock
from healthgym.core.env import HealthEnv
from healthgym.core.family import (
    AGENT,
    EpisodeConfig,
    Evidence,
    Family,
    HandIn,
    Seat,
    Verifier,
    single,
)
from healthgym.core.seeding import INDEX_BOUND, Split, task_rng
from healthgym.core.state import log
from healthgym.core.task import Instance, Reference, Task, TaskGenerator, TaskKey
from healthgym.core.tool import ToolCall, ToolKind, Toolset, call, tool
from healthgym.core.verdict import Check, Judgement, Profile, Verdict
from healthgym.core.world import World
from healthgym.errors import EndpointError, ToolError
from healthgym.rewards.functions import resolve

TOY_ID = "ToyRecords-v0"


@pytest.fixture(autouse=True, scope="module")
def heap_left_alone() -> None:
    """Trainers collect garbage at every step; what earlier tests keep is not gone through again.

    Nothing is thawed: to go through the whole heap once more took seconds a module.
    """
    gc.collect()
    gc.freeze()


NOW = datetime(2023, 11, 13, 10, 15, tzinfo=UTC)
LOW = 2.0


@dataclass(frozen=True, slots=True)
class ToyReference(Reference):
    value: float
    dose: float | None


@dataclass(frozen=True, slots=True)
class ToyStart:
    patient: str
    rows: tuple[tuple[datetime, float], ...]


class ToyWorld(World):
    orders = log[tuple[str, float]]()

    def __init__(self, start: ToyStart) -> None:
        self.clock = Clock(NOW)
        self.start = start


class ToyTools(Toolset[ToyWorld]):
    @tool(ToolKind.READ)
    def search_observations(self, patient: str, code: str, limit: int | None = None) -> str:
        """Show the results of a patient, newest first.

        Args:
            patient: Record number, e.g. "S1234567".
            code: Code of the test, e.g. "MG".
            limit: Show no more than this many.

        Returns:
            A table.
        """
        if patient == "S0000000":
            raise EndpointError("the record server is down")
        if patient == "S9999999":
            raise OSError("a bug of ours")
        if patient != self.world.start.patient or code != "MG":
            return "No results."
        rows = self.world.start.rows[:limit]
        return "\n".join(f"{when:%Y-%m-%d %H:%M} {value} mg/dL" for when, value in rows)

    @tool(ToolKind.WRITE)
    def create_order(self, patient: str, dose: float) -> str:
        """Order a dose of magnesium.

        Args:
            patient: Record number.
            dose: Dose in g.
        """
        if patient != self.world.start.patient:
            raise ToolError(f"There is no patient {patient[:20]}.")
        self.world.orders.append((patient, dose))
        return "Ordered."

    @tool(ToolKind.SUBMIT)
    def finish(self, value: list[float]) -> str:
        """Hand in the answer.

        Args:
            value: The value found, [-1] if there is none.
        """
        return "Submitted."


ANSWER = Check("answer", "The value handed in is the newest of the last 24 hours, or -1.")
ORDER = Check("order", "What was ordered is what the value asks for.", idle=True)


class ToyVerifier(Verifier[Task, ToyReference, ToyWorld]):
    def checks(self, profile: Profile) -> tuple[Check, ...]:
        return (ANSWER, ORDER)

    def judge(
        self, evidence: Evidence[Task, ToyReference, ToyWorld], profile: Profile
    ) -> Judgement:
        reference = evidence.reference
        given = evidence.submission["value"] if evidence.submission else None
        doses = [dose for _, dose in evidence.after.orders]
        wanted = [] if reference.dose is None else [reference.dose]
        return Judgement.of(
            [ANSWER.result(given == [reference.value]), ORDER.result(doses == wanted)]
        )

    def progress(
        self,
        evidence: Evidence[Task, ToyReference, ToyWorld],
        profile: Profile,
        part: str = "",
    ) -> float:
        return Verdict.from_judgement(profile, self.judge(evidence, profile)).progress


ToyInstance = Instance[Task, ToyReference, ToyStart]


class ToyGenerator(TaskGenerator[Task, ToyReference, ToyStart]):
    name = "toy-records"

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def size(self, split: Split) -> int:
        return self.limit

    def draw(self, split: Split, index: int) -> ToyInstance:
        rng = task_rng(self.name, split, index)
        patient = f"S{rng.integers(1_000_000, 9_000_000)}"
        ordering = bool(rng.integers(2))
        hours = np.sort(rng.integers(1, 60, size=4))
        values = [round(float(v), 1) for v in rng.uniform(1.0, 3.0, size=4)]
        rows = tuple((NOW - timedelta(hours=int(h)), v) for h, v in zip(hours, values, strict=True))
        value = rows[0][1] if rows[0][0] >= NOW - timedelta(hours=24) else -1.0
        dose = (1.0 if value >= 1.5 else 2.0) if ordering and 0 < value < LOW else None
        ask = "order by its latest magnesium" if ordering else "latest magnesium (code MG)"
        task = Task(
            TaskKey(self.name, split, index),
            "order" if ordering else "report",
            f"It is {NOW:%Y-%m-%dT%H:%M}. Patient {patient}: {ask} in the last 24 hours?",
        )
        return Instance(task, ToyReference(value, dose), ToyStart(patient, rows))


class ToyFamily(Family[Task, ToyReference, ToyStart, ToyWorld]):
    name = "toy-records"
    roles = single(ToyTools)
    hand_in = HandIn("finish", withheld=False)
    verifier = ToyVerifier()

    def __init__(self, limit: int = INDEX_BOUND) -> None:
        self.generator = ToyGenerator(limit)

    def open(self, instance: ToyInstance) -> ToyWorld:
        if instance.task.key.index == 13_000:
            raise EndpointError("the record server is down")
        return ToyWorld(instance.start)

    def seats(self, instance: ToyInstance) -> dict[str, Seat]:
        if instance.task.key.index == 14_000:
            few = ToolCatalog([ToyTools], only=["finish"])
            return {AGENT: Seat(few, instance.task.instruction)}
        return super().seats(instance)

    def baselines(self) -> Mapping[str, Any]:
        return {"nop": lambda instance, rng: [call("finish", value=[-1.0])]}

    def oracle(self, instance: ToyInstance, rng: np.random.Generator) -> Sequence[ToolCall]:
        reference, start = instance.reference, instance.start
        script = [call("search_observations", patient=start.patient, code="MG")]
        if reference.dose is not None:
            script.append(call("create_order", patient=start.patient, dose=reference.dose))
        return [*script, call("finish", value=[reference.value])]


class ToyEnv(HealthEnv):
    def __init__(
        self,
        reward: str = "shaped",
        split: str = "train",
        limit: int = INDEX_BOUND,
        costs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        config = EpisodeConfig(max_turns=5, show_clock=False)
        paid = resolve(reward, costs)
        super().__init__(ToyFamily(limit), paid, split=split, config=config, **kwargs)


@pytest.fixture(scope="session")
def toy_id() -> Iterator[str]:
    """The id of the toy environment, registered while the tests of this folder run."""
    gym.register(TOY_ID, entry_point=ToyEnv)
    yield TOY_ID
    del gym.registry[TOY_ID]
