"""The task, its reference, and how hard it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from healthgym.core.task import Instance, Reference, Task, TaskGenerator
from healthgym.envs.trial_matching.phrasing import Style
from healthgym.envs.trial_matching.record import TrialRecord
from healthgym.errors import ConfigurationError
from healthgym.worlds.corpus import Corpus, CorpusWorld

#: TREC's grades.
NOT_RELEVANT, EXCLUDED, ELIGIBLE = 0, 1, 2


@dataclass(frozen=True, slots=True)
class PoolConfig:
    """What a pool of trials is like, and how patients and trials are worded.

    Attributes:
        size: Fewest and most trials of a pool.
        eligible: Fewest and most trials the patient is eligible for.
        excluded: Least and greatest share of trials that exclude the patient (grade 1).
        near: Share of the trials of grade 0 that are about a condition the patient has.
        criteria: Fewest and most inclusion criteria besides the condition; likewise exclusion.
        composite: How often criteria are composite.
        style: How freely everything is worded.
    """

    size: tuple[int, int]
    eligible: tuple[int, int]
    excluded: tuple[float, float]
    near: float
    criteria: tuple[int, int]
    composite: float
    style: Style

    def sized(self, pool_size: int | Sequence[int] | None) -> PoolConfig:
        """Return the same with another size of the pool, and no more eligible trials than fit.

        Args:
            pool_size: Number of trials, or fewest and most; None leaves it.

        Raises:
            ConfigurationError: If it is not a size from 5 to 1000.
        """
        if pool_size is None:
            return self
        given = [pool_size] * 2 if isinstance(pool_size, int) else pool_size
        pair: list[Any] = list(given)
        whole = all(isinstance(n, int) and not isinstance(n, bool) for n in pair)
        if not whole or len(pair) != 2 or not 5 <= pair[0] <= pair[1] <= MAX_POOL:
            raise ConfigurationError(
                f"pool_size is a number from 5 to {MAX_POOL}, or a lowest and a highest, not "
                f"{pool_size!r}."
            )
        most = max(min(self.eligible[1], pair[0] // 4), 1)
        least = min(self.eligible[0], most)
        return replace(self, size=(pair[0], pair[1]), eligible=(least, most))


MAX_POOL = 1000

#: What a name of a difficulty stands for.
PRESETS: Mapping[str, PoolConfig] = {
    "easy": PoolConfig(
        size=(20, 20),
        eligible=(2, 4),
        excluded=(0.15, 0.3),
        near=0.5,
        criteria=(2, 3),
        composite=0.1,
        style=Style(),
    ),
    "medium": PoolConfig(
        size=(300, 450),
        eligible=(3, 9),
        excluded=(0.1, 0.4),
        near=0.3,
        criteria=(2, 4),
        composite=0.15,
        style=Style(varied=True, abbreviate=0.15, convert=0.2),
    ),
    "hard": PoolConfig(
        size=(300, 450),
        eligible=(3, 9),
        excluded=(0.1, 0.4),
        near=0.45,
        criteria=(3, 6),
        composite=0.3,
        style=Style(varied=True, abbreviate=0.35, convert=0.4, dense=True),
    ),
}


@dataclass(frozen=True, slots=True)
class MatchingTask(Task):
    """A note and a pool of trials.

    Attributes:
        pool_size: Number of trials.
    """

    pool_size: int = 0


@dataclass(frozen=True, slots=True)
class MatchingReference(Reference):
    """Who is eligible for what.

    Attributes:
        grades: Registry number -> TREC grade, for every trial of the pool.
        min_precision: Share of the submitted lines that must be trials of grade 2 under the
            strict profile: 1 where grades are computed, less where people judged them.
    """

    grades: Mapping[str, int]
    min_precision: float = 1.0

    @property
    def eligible(self) -> frozenset[str]:
        """The trials of grade 2."""
        return frozenset(id_ for id_, grade in self.grades.items() if grade == ELIGIBLE)


@dataclass(frozen=True)
class MatchingStart:
    """Start state of a matching world.

    Attributes:
        note: The admission note.
        corpus: The pool, shared and immutable.
        now: The world's time.
        topic: What a reader of the note would search for first.
    """

    note: str
    corpus: Corpus[TrialRecord]
    now: datetime
    topic: str


MatchingWorld = CorpusWorld[TrialRecord]
MatchingInstance = Instance[MatchingTask, MatchingReference, MatchingStart]
MatchingTaskGenerator = TaskGenerator[MatchingTask, MatchingReference, MatchingStart]
