"""The canonical suite: 23 cases in the source's mix of actions, five of which hang on a call.

The source takes 23 of its 25 cases into its arena and requires a call in five, without telling
which. Eight are to be submitted there and five not at all, so those are kept, and two that evidence
is to be gathered for are left out. The charts of the single suites settle what is submitted, so
that nobody has to call: the five are the arena's own, of the kinds of service whose place they
take. The other 18 are the cases of the single suites, from the same seeds.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files

import numpy as np

from healthgym.core.seeding import Split, task_rng
from healthgym.core.task import TaskKey
from healthgym.envs.managed_care.prior_auth_arena.generator import Known, seated
from healthgym.envs.managed_care.prior_auth_arena.queued import Queue
from healthgym.envs.managed_care.prior_auth_arena.task import ArenaInstance, ArenaTaskGenerator
from healthgym.envs.managed_care.prior_authorization.choices import canonical_requests
from healthgym.envs.managed_care.prior_authorization.generator import AuthorizationGenerator
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationConfig
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import ServiceTypeCategory

#: The family from whose seeds the shared cases are drawn.
_SHARED = "prior-authorization-canonical"
#: The streams of which case a task is and of what a clinician knows, beside those of a case.
_ROW, _MEMO = 7, 8
#: Policies of any depth.
_ANY = (1, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedCase:
    """A case of the single suites.

    Attributes:
        number: Its number there.
    """

    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CallCase:
    """A case of the arena's own that hangs on a call.

    Attributes:
        category: The kind of service.
        settles: Whether what the clinician alone knows settles it; else the denial is right.
    """

    category: ServiceTypeCategory
    settles: bool


@lru_cache(maxsize=1)
def canonical_cases() -> Sequence[SharedCase | CallCase]:
    """Return the 23 cases, in order."""
    text = (files(__package__) / "data" / "canonical.json").read_text("utf-8")
    return tuple(
        SharedCase(number=row["shared"])
        if "shared" in row
        else CallCase(category=ServiceTypeCategory(row["category"]), settles=row["call"] == "said")
        for row in json.loads(text)["cases"]
    )


class CanonicalGenerator(ArenaTaskGenerator):
    """Draws the 23 canonical tasks, and for the other splits tasks of the same mix.

    Args:
        config: What requests are like besides.
        difficulty: Name of the configuration, for the task's metadata.
        name: Family name in task keys.
    """

    def __init__(self, config: AuthorizationConfig, difficulty: str, name: str) -> None:
        self.name, self.difficulty = name, difficulty
        self.tests = len(canonical_cases())
        self._queue = Queue(name, difficulty)
        self._config = config
        requests = canonical_requests()
        self._shared = AuthorizationGenerator(
            config, difficulty, _SHARED, Rules.STRICT, requests=requests
        )
        kept = (row.number for row in canonical_cases() if isinstance(row, SharedCase))
        self._alike = AuthorizationGenerator(
            config, difficulty, name, Rules.STRICT, requests=tuple(requests[n] for n in kept)
        )

    def draw(self, split: Split, index: int) -> ArenaInstance:
        """Return a task, with a request of another office in the payer's queue."""
        return self._queue.beside(self._own(split, index))

    def _own(self, split: Split, index: int) -> ArenaInstance:
        """Return a task as the provider has it."""
        rows = canonical_cases()
        fixed = self.is_fixed(split)
        row = rows[index if fixed else int(self._rng(split, index, _ROW).integers(len(rows)))]
        if isinstance(row, CallCase):
            categories = (row.category,) if fixed else self._config.categories
            return self._called(row, categories, split, index)
        if not fixed:
            return seated(*self._alike.drawn(split, index))
        case, instance = self._shared.drawn(split, row.number)
        key = TaskKey(self.name, split, index)
        return seated(case, replace(instance, task=replace(instance.task, key=key)))

    def _called(
        self,
        row: CallCase,
        categories: tuple[ServiceTypeCategory, ...],
        split: Split,
        index: int,
    ) -> ArenaInstance:
        """Return a task that hangs on what the clinician knows, and is sent either way."""
        known = Known(
            replace(self._config, categories=categories, criteria=_ANY),
            self.difficulty,
            self.name,
            self._rng(split, index, _MEMO),
            settles=row.settles,
            insists=not row.settles,
        )
        return known.told(split, index)

    def _rng(self, split: Split, index: int, stream: int) -> np.random.Generator:
        return task_rng(f"{self.name}/{self.difficulty}", split, index, stream)


__all__ = ["CallCase", "CanonicalGenerator", "SharedCase", "canonical_cases"]
