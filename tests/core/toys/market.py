"""The market: two roles that must agree on a price, and scripted players for either seat."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from healthgym.core.clock import Clock
from healthgym.core.family import Evidence, Family, HandIn, Role, Script, Solver, Verifier
from healthgym.core.seeding import Split, task_rng
from healthgym.core.state import log, table
from healthgym.core.task import Instance, Reference, Task, TaskGenerator, TaskKey
from healthgym.core.tool import ToolKind, Toolset, call, tool
from healthgym.core.verdict import Check, Judgement, Profile, Verdict
from healthgym.core.world import World
from tests.core.toys.ledger import START


@dataclass(frozen=True, slots=True)
class MarketReference(Reference):
    limits: Mapping[str, int]


class MarketWorld(World):
    """A message board, and the price each side agreed to."""

    messages = log[tuple[str, str]]()
    agreed = table[str, int]()

    def __init__(self) -> None:
        self.clock = Clock(START)


class BuyerTools(Toolset[MarketWorld]):
    @tool(ToolKind.READ)
    def read_messages(self) -> str:
        """Read all messages, oldest first."""
        return "\n".join(f"{who}: {text}" for who, text in self.world.messages) or "no messages"

    @tool(ToolKind.WRITE)
    def send_message(self, text: str) -> str:
        """Send a message to the other side.

        Args:
            text: What to say.
        """
        self.world.messages.append((self.caller.role, text))
        return "sent"

    @tool(ToolKind.SUBMIT)
    def agree(self, price: int) -> str:
        """Agree to a price; the deal holds if the other side agrees to the same.

        Args:
            price: Price in coins.
        """
        self.world.agreed[self.caller.role] = price
        return f"agreed to {price}"


class SellerTools(BuyerTools):
    @tool(ToolKind.READ)
    def read_cost(self) -> str:
        """Read what the goods cost you."""
        return "see your instruction"


MarketInstance = Instance[Task, MarketReference, Mapping[str, int]]


class MarketGenerator(TaskGenerator[Task, MarketReference, Mapping[str, int]]):
    name = "toy-market"

    def draw(self, split: Split, index: int) -> MarketInstance:
        rng = task_rng(self.name, split, index)
        floor = int(rng.integers(10, 1000))
        limits = {"buyer": floor + int(rng.integers(1, 500)), "seller": floor}
        task = Task(TaskKey(self.name, split, index), "deal", "Agree on a price.")
        return Instance(task, MarketReference(limits), limits)


DEAL = Check("deal", "Both sides agreed to the same price.")
GAIN = Check("gain", "The price is within the role's own limit.")


class MarketVerifier(Verifier[Task, MarketReference, MarketWorld]):
    def checks(self, profile: Profile) -> tuple[Check, ...]:
        return (DEAL, GAIN)

    def judge(
        self, evidence: Evidence[Task, MarketReference, MarketWorld], profile: Profile
    ) -> Judgement:
        agreed = evidence.after.agreed
        deal = len(agreed) == 2 and agreed["buyer"] == agreed["seller"]
        mine, limit = agreed.get(evidence.role), evidence.reference.limits[evidence.role]
        good = mine is not None and (mine <= limit if evidence.role == "buyer" else mine >= limit)
        return Judgement.of([DEAL.result(deal), GAIN.result(good)])

    def progress(
        self,
        evidence: Evidence[Task, MarketReference, MarketWorld],
        profile: Profile,
        part: str = "",
    ) -> float:
        return Verdict.from_judgement(profile, self.judge(evidence, profile)).progress


class Market(Family[Task, MarketReference, Mapping[str, int], MarketWorld]):
    name: ClassVar[str] = "toy-market"
    roles: ClassVar[Mapping[str, Role]] = {
        "buyer": Role((BuyerTools,)),
        "seller": Role((SellerTools,)),
    }
    hand_in = HandIn("agree", withheld=False)

    def __init__(self) -> None:
        self.generator = MarketGenerator()
        self.verifier = MarketVerifier()

    def open(self, instance: MarketInstance) -> MarketWorld:
        return MarketWorld()

    def instruction(self, role: str, instance: MarketInstance) -> str:
        return f"You are the {role}; your limit is {instance.start[role]}."

    def oracle(self, instance: MarketInstance, rng: np.random.Generator) -> Script:
        return [call("agree", price=instance.start["seller"])]

    def counterparts(self) -> Mapping[str, Mapping[str, Solver]]:
        return {
            "seller": {"firm": firm_seller, "silent": lambda _: iter_nothing()},
            "buyer": {"eager": eager_buyer},
        }


def firm_seller(instruction: str) -> Generator[Any, str, None]:
    """Names its limit, waits to read it back, and agrees to it."""
    limit = int(re.findall(r"[0-9]+", instruction)[-1])
    shown = yield call("send_message", text=f"not below {limit}")
    while f"buyer: {limit}" not in shown:
        shown = yield call("read_messages")
    yield call("agree", price=limit)


def eager_buyer(instruction: str) -> Generator[Any, str, None]:
    """Offers its limit and agrees to it."""
    limit = int(re.findall(r"[0-9]+", instruction)[-1])
    yield call("send_message", text=str(limit))
    yield call("agree", price=limit)


def iter_nothing() -> Generator[Any, str, None]:
    """A player that leaves at once."""
    yield from ()
