"""What a task type is: one rule, and ways to plant, ask and solve it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from healthgym.core.tool import ToolCall
from healthgym.envs.fhir_record.draft import Draft
from healthgym.envs.fhir_record.stated import Stated, published
from healthgym.envs.fhir_record.task import Decision, Expected, Facts
from healthgym.envs.fhir_record.view import ChartView


@dataclass(frozen=True, slots=True)
class Branch:
    """One way a rule can go.

    Attributes:
        name: The branch.
        acts: Whether the record must change on it.
        trap: Whether the published grader is known to misjudge it.
        share: How often it is drawn, relative to the type's other branches that act (or do not).
            Branches whose answer is a constant have a small share: guessing it must not pay.
    """

    name: str
    acts: bool
    trap: bool = False
    share: float = 1.0


class TaskKind(ABC):
    """A task type.

    The rule is written once, in :meth:`decide`, as a function of a chart. Planting a branch into
    a synthetic chart and asking the same question of a real one share it, so a generator cannot
    disagree with the verifier.
    """

    #: Name within the family: source benchmark and number, such as ``"v1-t5"``.
    name: ClassVar[str]
    #: What the task asks for, in a few words.
    title: ClassVar[str]
    branches: ClassVar[tuple[Branch, ...]]
    #: Codes and classes of the background that this type plants itself.
    omit: ClassVar[frozenset[str]] = frozenset()
    #: The orders its rule may call for, by name, each with its type of resource.
    orders: ClassVar[Mapping[str, str]] = {}
    #: Concepts it needs, with the local code each has in the published record system.
    codes: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def plant(self, draft: Draft, branch: str) -> Facts:
        """Add the rows that make ``branch`` apply, and return the facts of the question."""

    @abstractmethod
    def decide(self, view: ChartView, facts: Facts) -> Decision:
        """Return what the rule makes of a chart. Total: any chart has a decision."""

    @abstractmethod
    def lookups(self, facts: Facts, decision: Decision) -> Sequence[ToolCall]:
        """Return the look-ups a good agent makes before it acts."""

    @abstractmethod
    def prior(self, facts: Facts) -> tuple[Sequence[ToolCall], Sequence[float | str]]:
        """Return orders and finish value of the best policy that reads no chart."""

    def assumed(self, facts: Facts) -> Decision | None:
        """Return the decision on a branch that acts, with a value that a chart often has there.

        Who orders without a look does this. None where the prior orders already, or nothing can be
        ordered by the question alone.
        """
        return None

    def facts(self, draft: Draft, **details: str) -> Facts:
        """Return facts about the draft's patient, with whatever the question states."""
        usual, stated = published(self.name), draft.stated
        return Facts(
            draft.now,
            draft.mrn,
            {**self.codes, **stated.codes},
            {**usual.details, **stated.details, **details},
            {**usual.numbers, **stated.numbers},
        )

    def number(self, stated: Stated | Facts, name: str) -> float:
        """Return a number of the rule as the question states it."""
        return stated.numbers.get(name, published(self.name).numbers[name])

    def code(self, draft: Draft, concept: str) -> str:
        """Return the code of a concept as the question states it."""
        return draft.stated.codes.get(concept, self.codes[concept])

    def branch(self, name: str) -> Branch:
        """Return the branch of a name."""
        return next(branch for branch in self.branches if branch.name == name)


def example_answer(answer: Sequence[Expected]) -> list[float | str]:
    """Return a finish value that meets the expectations."""
    values: list[float | str] = []
    for item in answer:
        value = item.value
        whole = isinstance(value, float) and value.is_integer()
        values.append(int(value) if whole else value)
    return values
