"""The toy ledger with one promise broken at a time, so that each check is seen to fail."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np

from healthgym.core.clock import Counters
from healthgym.core.env import HealthEnv
from healthgym.core.family import Baseline, Evidence, Script, single
from healthgym.core.seeding import Split
from healthgym.core.task import Task, TaskKey
from healthgym.core.tool import ToolKind, Toolset, call, tool
from healthgym.core.verdict import CheckResult, Profile
from healthgym.errors import ToolError
from healthgym.spaces import UnicodeText
from tests.core.toys import (
    Ledger,
    LedgerGenerator,
    LedgerInstance,
    LedgerReference,
    LedgerTools,
    LedgerVerifier,
    LedgerWorld,
    make_ledger,
)

_counted: Iterator[int] = iter(range(10**9))


class HashingWorld(LedgerWorld):
    """Its digest follows PYTHONHASHSEED."""

    def digest(self) -> str:
        return str(hash("balances"))


class SharingWorld(LedgerWorld):
    """Its clones share their notes."""

    def clone(self) -> LedgerWorld:
        twin = super().clone()
        twin.__dict__["notes"] = self.notes
        return twin


class TellingWorld(LedgerWorld):
    """Holds what only the verifier may know."""

    secret: Any = None


class JottingWorld(LedgerWorld):
    """Keeps more than it declares."""

    def __init__(self, balances: Mapping[str, int]) -> None:
        super().__init__(balances)
        self.jotted: list[str] = []


class UnjoinedWorld(LedgerWorld):
    """Has parts that no journal and no clone knows of."""

    def __init__(self, balances: Mapping[str, int]) -> None:
        super().__init__(balances)
        self.drawers = (Counters(),)


class Jotting(LedgerTools):
    @tool(ToolKind.WRITE)
    def annotate(self, tags: list[str], facts: dict[str, int] | None = None) -> str:
        """Add a note, and jot it down.

        Args:
            tags: Words.
            facts: Numbers by name.
        """
        if isinstance(self.world, JottingWorld):
            self.world.jotted.extend(tags)
        return super().annotate(tags, facts)


class CountingReads(LedgerTools):
    @tool(ToolKind.READ)
    def read_balance(self, account: str) -> str:
        """Read the balance of an account, and leave a trace.

        Args:
            account: Name of the account, e.g. "elm".
        """
        self.world.counters.draw("reads")
        return str(self.world.balance(account))


class IdleWrites(LedgerTools):
    @tool(ToolKind.WRITE)
    def annotate(self, tags: list[str], facts: dict[str, int] | None = None) -> str:
        """Pretend to add a note.

        Args:
            tags: Words.
            facts: Numbers by name.
        """
        return "noted"


class HalfWrites(LedgerTools):
    """Goes past the journal, and refuses."""

    @tool(ToolKind.READ)
    def list_accounts(self, order: str = "name", limit: int | None = None) -> str:
        """List the accounts.

        Args:
            order: What to sort by.
            limit: Most accounts to show.
        """
        list.append(self.world.notes, ("half",))
        raise ToolError("Halfway through.")


class LeavingWrites(LedgerTools):
    """Goes past the journal, and then through it."""

    @tool(ToolKind.WRITE)
    def annotate(self, tags: list[str], facts: dict[str, int] | None = None) -> str:
        """Add a note.

        Args:
            tags: Words.
            facts: Numbers by name.
        """
        list.append(self.world.notes, tuple(tags))
        return str(self.world.counters.draw("note"))


class SwallowingWrites(LedgerTools):
    """Takes every failure for its own affair."""

    @tool(ToolKind.WRITE, takes=timedelta(0))
    def annotate(self, tags: list[str], facts: dict[str, int] | None = None) -> str:
        """Add a note.

        Args:
            tags: Words.
            facts: Numbers by name.
        """
        self.world.notes.append(tuple(tags))
        with suppress(Exception):
            self.world.counters.draw("note")
        return "noted"


class Remembering(LedgerTools):
    """Keeps something in the process."""

    calls: ClassVar[Counter[str]] = Counter()

    @tool(ToolKind.WRITE)
    def annotate(self, tags: list[str], facts: dict[str, int] | None = None) -> str:
        """Add a note.

        Args:
            tags: Words.
            facts: Numbers by name.
        """
        self.calls["annotate"] += 1
        self.world.notes.append(tuple(tags))
        return f"note {self.calls['annotate']}"


class Forgiving(LedgerTools):
    @tool(ToolKind.READ)
    def anything(self, note: Any = None) -> str:
        """Take anything.

        Args:
            note: Anything (choices: ["a", "b"])
        """
        return "fine"


class Crashing(LedgerTools):
    @tool(ToolKind.READ)
    def list_accounts(self, order: str = "name", limit: int | None = None) -> str:
        """List the accounts.

        Args:
            order: What to sort by.
            limit: Most accounts to show.
        """
        raise KeyError(order)


class Endless(LedgerTools):
    @tool(ToolKind.WRITE)
    def annotate(self, tags: list[str], facts: dict[str, int] | None = None) -> str:
        """Add tags to the ledger.

        Args:
            tags: The tags.
            facts: Numbers by name.
        """
        # Each of "a" may be one of several or all of one: twice as long for each more of them.
        for tag in tags:
            re.fullmatch(r"(?:a|a+)+b", "a" * 60 + tag)
        raise ToolError("No such tags.")


class Telling(LedgerTools):
    @tool(ToolKind.READ)
    def list_accounts(self, order: str = "name", limit: int | None = None) -> str:
        """List the accounts.

        Args:
            order: What to sort by.
            limit: Most accounts to show.
        """
        return str(getattr(self.world, "secret", ""))


class Unsteady(LedgerGenerator):
    def draw(self, split: Split, index: int) -> LedgerInstance:
        instance = super().draw(split, index)
        wording = f"{instance.task.instruction} ({next(_counted)})"
        return replace(instance, task=replace(instance.task, instruction=wording))


class OneForAll(LedgerGenerator):
    """Gives every split the same tasks."""

    def draw(self, split: Split, index: int) -> LedgerInstance:
        instance = super().draw(Split.TEST, index % 1000)
        return replace(instance, task=replace(instance.task, key=TaskKey(self.name, split, index)))


class OneAnswer(LedgerGenerator):
    """Draws accounts that all hold the same."""

    def draw(self, split: Split, index: int) -> LedgerInstance:
        instance = super().draw(split, index)
        equal = dict.fromkeys(instance.start, 500)
        reference = replace(instance.reference, answer=500 + min(instance.reference.amount, 1))
        reference = replace(reference, amount=min(reference.amount, 1))
        return replace(instance, start=equal, reference=reference)


class Thanking(LedgerGenerator):
    """Says thanks where the answer has one property."""

    def draw(self, split: Split, index: int) -> LedgerInstance:
        instance = super().draw(split, index)
        thanks = " Thanks." if instance.reference.answer % 7 < 3 else ""
        wording = f"{instance.task.instruction}{thanks}"
        return replace(instance, task=replace(instance.task, instruction=wording))


class Arranging(LedgerGenerator):
    """Puts the account asked for at the end of the list where the answer has one property."""

    def draw(self, split: Split, index: int) -> LedgerInstance:
        instance = super().draw(split, index)
        target = instance.reference.target
        if instance.reference.answer % 7 >= 3:
            return instance
        last = f"{target}s of the third row"
        start = {last if n == target else n: held for n, held in instance.start.items()}
        reference = replace(instance.reference, target=last)
        return replace(instance, start=start, reference=reference)


class CredulousVerifier(LedgerVerifier):
    """Takes any answer."""

    def results(
        self, evidence: Evidence[Task, LedgerReference, LedgerWorld], profile: Profile
    ) -> list[CheckResult]:
        reported, *others = super().results(evidence, profile)
        return [reported.check.result(evidence.submission is not None), *others]


class PedanticVerifier(LedgerVerifier):
    """Wants no notes."""

    def results(
        self, evidence: Evidence[Task, LedgerReference, LedgerWorld], profile: Profile
    ) -> list[CheckResult]:
        reported, *others = super().results(evidence, profile)
        plain = bool(reported.passed) and not evidence.after.notes
        return [reported.check.result(plain), *others]


class NaiveVerifier(LedgerVerifier):
    """Takes whatever Python calls a digit for a number."""

    def results(
        self, evidence: Evidence[Task, LedgerReference, LedgerWorld], profile: Profile
    ) -> list[CheckResult]:
        answer = str((evidence.submission or {}).get("answer", ""))
        number = int(answer) if answer.isdigit() else 0
        reported, *others = super().results(evidence, profile)
        return [reported.check.result(number == evidence.reference.answer), *others]


class FickleVerifier(LedgerVerifier):
    """Words each verdict anew."""

    def results(
        self, evidence: Evidence[Task, LedgerReference, LedgerWorld], profile: Profile
    ) -> list[CheckResult]:
        reported, *others = super().results(evidence, profile)
        return [reported.check.result(bool(reported.passed), str(next(_counted))), *others]


class BrokenLedger(Ledger):
    """A ledger with one fault."""

    def __init__(self, fault: str) -> None:
        super().__init__()
        self.fault = fault
        generators: Mapping[str, Callable[[], LedgerGenerator]] = {
            "unsteady": Unsteady,
            "one-for-all": OneForAll,
            "one-answer": OneAnswer,
            "thanking": Thanking,
            "arranging": Arranging,
        }
        self.generator = generators.get(fault, LedgerGenerator)()
        verifiers: Mapping[str, Callable[[], LedgerVerifier]] = {
            "credulous": CredulousVerifier,
            "pedantic": PedanticVerifier,
            "naive": NaiveVerifier,
            "fickle": FickleVerifier,
        }
        self.verifier = verifiers.get(fault, LedgerVerifier)()
        toolsets: Mapping[str, type[Toolset[Any]]] = {
            "counting-reads": CountingReads,
            "idle-writes": IdleWrites,
            "half-writes": HalfWrites,
            "forgiving": Forgiving,
            "crashing": Crashing,
            "endless": Endless,
            "telling": Telling,
            "leaving-writes": LeavingWrites,
            "swallowing-writes": SwallowingWrites,
            "remembering": Remembering,
            "jotting": Jotting,
        }
        self.roles = single(toolsets.get(fault, LedgerTools))

    def open(self, instance: LedgerInstance) -> LedgerWorld:
        worlds: Mapping[str, type[LedgerWorld]] = {
            "hashing": HashingWorld,
            "sharing": SharingWorld,
            "jotting": JottingWorld,
            "unjoined": UnjoinedWorld,
        }
        if self.fault in ("telling", "holding"):
            world = TellingWorld(instance.start)
            reference = instance.reference
            world.secret = reference.answer if self.fault == "telling" else [reference]
            return world
        return worlds.get(self.fault, LedgerWorld)(instance.start)

    def oracle(self, instance: LedgerInstance, rng: np.random.Generator) -> Script:
        script = super().oracle(instance, rng)
        match self.fault:
            case "wrong-oracle":
                return [call("submit", answer="x")]
            case "clumsy-oracle":
                return ["oops", *script]
            case "late-oracle":
                return [call("list_accounts")] * 9
            case "unknown-oracle":
                return []
            case "sharing" | "idle-writes" | "leaving-writes" | "swallowing-writes" | "remembering":
                return [call("annotate", tags=["a"]), *script]
            case "jotting":
                return [call("annotate", tags=["a"]), *script]
            case "counting-reads" | "crashing" | "telling" | "half-writes":
                return [call("list_accounts"), *script]
        return script

    def baselines(self) -> Mapping[str, Baseline[Task, LedgerReference, Mapping[str, int]]]:
        return {"flood": self.oracle} if self.fault == "known" else super().baselines()


class Undocumented(HealthEnv):
    """A ledger.

    ## Rewards

    ## Description
    """


def make_broken(fault: str, render_mode: str | None = None) -> HealthEnv:
    sound = make_ledger(render_mode=render_mode)
    env = HealthEnv(BrokenLedger(fault), sound.reward, config=sound.config, render_mode=render_mode)
    if fault == "narrow":
        env.observation_space = UnicodeText(3)
    return env


FAULTS = (
    "none", "unsteady", "one-for-all", "hashing", "sharing", "telling", "holding",
    "counting-reads", "idle-writes", "half-writes", "forgiving", "crashing", "endless",
    "wrong-oracle", "clumsy-oracle", "late-oracle", "known", "unknown-oracle", "narrow",
    "leaving-writes", "swallowing-writes", "remembering", "jotting", "unjoined", "one-answer",
    "credulous", "pedantic", "thanking", "arranging", "naive", "fickle",
)  # fmt: skip


def id_of(fault: str) -> str:
    return f"Toy{fault.title().replace('-', '')}-v0"


for _fault in FAULTS:
    if id_of(_fault) not in gym.registry:
        gym.register(id_of(_fault), "tests.testing.broken:make_broken", kwargs={"fault": _fault})
