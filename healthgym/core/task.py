"""What the agent may know, what only the verifier may know, and where both come from."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, Self, TypeVar, runtime_checkable

from healthgym.core.borders import JsonDict
from healthgym.core.collecting import uncollected
from healthgym.core.drawn import DRAWN, same_draws
from healthgym.core.seeding import INDEX_BOUND, Split
from healthgym.errors import ConfigurationError

_KEY = re.compile(r"(?P<family>.+)/(?P<split>[^/]*)/(?P<index>0|[1-9][0-9]{0,9})")


@dataclass(frozen=True, slots=True)
class TaskKey:
    """The address of a task: family, split and index; written ``family/split/index``."""

    family: str
    split: Split
    index: int

    def __str__(self) -> str:
        return "/".join((self.family, self.split, str(self.index)))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a key back from its text.

        Raises:
            ConfigurationError: If the text is not ``family/split/index``.
        """
        match = _KEY.fullmatch(text)
        if match is None or int(match["index"]) >= INDEX_BOUND:
            raise ConfigurationError(
                f"{text!r} is not a task id; one reads 'family/split/index' with an index below "
                f"{INDEX_BOUND}."
            )
        try:
            return cls(match["family"], Split(match["split"]), int(match["index"]))
        except ValueError:
            accepted = ", ".join(Split)
            raise ConfigurationError(
                f"{match['split']!r} is not a split; use one of {accepted}."
            ) from None


@dataclass(frozen=True, slots=True)
class Task:
    """What the agent may know of a task. Frozen and free of answers.

    Attributes:
        key: Where the task comes from.
        kind: The task type within its family, e.g. ``"v1-t5"``; for curricula and tables.
        instruction: The text the agent reads first.
        metadata: Further agent-visible facts (JSON values), such as the difficulty.
    """

    key: TaskKey
    kind: str
    instruction: str
    metadata: JsonDict = field(default_factory=dict)

    @property
    def task_id(self) -> str:
        """The key as text."""
        return str(self.key)


@dataclass(frozen=True, slots=True)
class Reference:
    """What only the verifier may know. Families subclass it; nothing else ever receives it."""


TaskT = TypeVar("TaskT", bound=Task, covariant=True)
ReferenceT = TypeVar("ReferenceT", bound=Reference, covariant=True)
StartT = TypeVar("StartT", covariant=True)
#: The same three, for classes that both take and return them.
TaskIn = TypeVar("TaskIn", bound=Task)
ReferenceIn = TypeVar("ReferenceIn", bound=Reference)
StartIn = TypeVar("StartIn")


class _Referable:
    """What can be referred to weakly.

    ``weakref_slot`` makes no slot for a generic class on CPython 3.12.2 and 3.12.3, Ubuntu 24.04's
    own (fixed in 3.12.4).
    """

    __slots__ = ("__weakref__",)


@dataclass(frozen=True, slots=True)
class Instance(_Referable, Generic[TaskT, ReferenceT, StartT]):
    """One generated task: both halves, and the immutable data its world starts from.

    Attributes:
        task: The agent-visible half.
        reference: The verifier's half.
        start: Immutable start state handed to the family's world; shared, never modified.
    """

    task: TaskT
    reference: ReferenceT
    start: StartT


class TaskGenerator(ABC, Generic[TaskT, ReferenceT, StartT]):
    """Draws tasks: the same (split, index) gives the same instance, everywhere.

    Attributes:
        name: The family name written into task keys.
        tests: Number of test tasks where they are a fixed set, such as a benchmark's own; None
            where they are unlimited.
        lasting: Whether a task drawn once is shared with whoever asks for it again; not where it is
            read from files, which may change.
    """

    name: str
    tests: int | None = None
    lasting: bool = True

    def size(self, split: Split) -> int:
        """Return the number of tasks of a split; ``INDEX_BOUND`` where they are unlimited."""
        return self.tests if self.tests is not None and split is Split.TEST else INDEX_BOUND

    def is_fixed(self, split: Split) -> bool:
        """Return whether a split is a fixed set of tasks."""
        return self.tests is not None and split is Split.TEST

    def generate(self, split: Split, index: int) -> Instance[TaskT, ReferenceT, StartT]:
        """Return task ``index`` of ``split``: the same object while it is in use, or was lately.

        Raises:
            ConfigurationError: If the split has no such index.
        """
        require_index(self, split, index)
        with uncollected():
            if self.lasting:
                key = (same_draws(self), split, index)
                return DRAWN.get(key, lambda: self.draw(split, index))
            return self.draw(split, index)

    @abstractmethod
    def draw(self, split: Split, index: int) -> Instance[TaskT, ReferenceT, StartT]:
        """Return a task of which it is known that its split has that index.

        All randomness comes from :func:`~healthgym.core.seeding.task_rng`.
        """


#: A generator of whatever tasks.
AnyInstance = Instance[Task, Reference, Any]
AnyGenerator = TaskGenerator[Task, Reference, Any]


def require_tasks(generator: AnyGenerator, split: Split) -> None:
    """Return if a split has any task.

    Raises:
        ConfigurationError: If it has none; it says which splits have some.
    """
    if not generator.size(split):
        others = ", ".join(f"split='{other}'" for other in Split if generator.size(other))
        raise ConfigurationError(
            f"The {split} split of {generator.name} has no tasks; use {others or 'other data'}."
        )


def require_index(generator: AnyGenerator, split: Split, index: int) -> None:
    """Return if a split has an index.

    Raises:
        ConfigurationError: If it has none.
    """
    require_tasks(generator, split)
    size = generator.size(split)
    if not 0 <= index < size:
        raise ConfigurationError(
            f"The {split} split of {generator.name} has {size} tasks, numbered from 0; there is "
            f"no number {index}."
        )


@runtime_checkable
class KindIndex(Protocol):
    """A generator that tells a task's kind without generating it, so that a kind is found fast."""

    def kind(self, split: Split, index: int) -> str:
        """Return the kind that task ``index`` of ``split`` has.

        Raises:
            ConfigurationError: If the split has no such index.
        """
