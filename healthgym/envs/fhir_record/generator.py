"""Seed to question: the branch is drawn first, then a chart on which it applies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, Protocol

import numpy as np

from healthgym.core.choice import Weighted
from healthgym.core.clock import Clock
from healthgym.core.levels import Level
from healthgym.core.seeding import Split, task_rng
from healthgym.core.task import Instance, TaskKey, require_index
from healthgym.envs.fhir_record.draft import ChartConfig, Draft
from healthgym.envs.fhir_record.kinds.base import Branch, TaskKind
from healthgym.envs.fhir_record.stated import AS_PUBLISHED, draw_stated
from healthgym.envs.fhir_record.task import (
    Facts,
    FhirInstance,
    FhirReference,
    FhirTask,
    FhirTaskGenerator,
    RecordStart,
)
from healthgym.envs.fhir_record.view import ChartView
from healthgym.envs.fhir_record.wording import Style, answer_form, phrase
from healthgym.errors import ConfigurationError
from healthgym.worlds.fhir.base import Base
from healthgym.worlds.fhir.store import FhirStore

#: The moment most published questions are asked.
BENCHMARK_NOW = datetime(2023, 11, 13, 10, 15, tzinfo=UTC)
_FIRST_DAY = datetime(2022, 1, 1, tzinfo=UTC)
_DAYS = 730
_LAST_MINUTE = 23 * 60


class ChartSource(Protocol):
    """Where charts come from."""

    def branches(self, kind: TaskKind, split: Split) -> Sequence[Branch]:
        """Return the branches of a type that this source can bring about; none if it cannot."""

    def draw(
        self, kind: TaskKind, branch: str, split: Split, rng: np.random.Generator
    ) -> tuple[Facts, Base]:
        """Return the facts of a question on which ``branch`` applies, and the chart it is about."""


@dataclass(frozen=True, slots=True)
class SyntheticCharts:
    """Charts made for the question.

    Attributes:
        config: How much there is besides the answer.
        traps: The splits in which rows and branches may appear that a published grader misreads.
        now: When questions are asked; drawn from 2022 and 2023 if None.
        drawn: The splits in which questions state codes, thresholds and doses of their own; in the
            others they state the published ones.
    """

    config: ChartConfig
    traps: frozenset[Split] = frozenset(Split)
    now: datetime | None = None
    drawn: frozenset[Split] = frozenset()

    def branches(self, kind: TaskKind, split: Split) -> Sequence[Branch]:
        """Return all branches, less those that a published grader misjudges where asked for."""
        return [branch for branch in kind.branches if split in self.traps or not branch.trap]

    def draw(
        self, kind: TaskKind, branch: str, split: Split, rng: np.random.Generator
    ) -> tuple[Facts, Base]:
        """Plant the branch among other patients and history."""
        now = self.now or _draw_now(rng)
        stated = draw_stated(kind.name, rng) if split in self.drawn else AS_PUBLISHED
        draft = Draft(
            rng, now, self.config, str(split), traps_allowed=split in self.traps, stated=stated
        )
        facts = kind.plant(draft, branch)
        draft.finish_background(kind.omit)
        return facts, draft.builder.build(shuffle=rng)


def _draw_now(rng: np.random.Generator) -> datetime:
    """Draw a minute of 2022 or 2023, early enough for an episode to end before midnight.

    What is asked for "tomorrow" would otherwise depend on how long an agent takes.
    """
    minute = int(rng.integers(_DAYS * _LAST_MINUTE))
    return _FIRST_DAY + timedelta(days=minute // _LAST_MINUTE, minutes=minute % _LAST_MINUTE)


@dataclass(frozen=True)
class Mix:
    """Which task types and branches are drawn, and how often.

    Attributes:
        kinds: Weight of each task type.
        fixed: Size and order of the test split as (type, branch) pairs; unlimited if empty. What is
            not fixed is balanced: branches that act and branches that do not share evenly.
    """

    kinds: Mapping[str, float]
    fixed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Asking:
    """What a degree of difficulty means: which charts are asked about, and how.

    Attributes:
        source: Where the charts come from.
        style: How the questions are worded.
        practice: How those of train and validation are, where it is otherwise.
    """

    source: ChartSource
    style: Style
    practice: Style | None = None

    def style_in(self, split: Split) -> Style:
        """Return how the questions of a split are worded."""
        return self.style if split is Split.TEST or self.practice is None else self.practice


class _Menu(NamedTuple):
    """What a split offers, and how often."""

    kinds: Weighted[str]
    branches: Mapping[str, Weighted[str]]


class FhirRecordGenerator(FhirTaskGenerator):
    """Draws questions over record systems.

    Args:
        kinds: The task types by name.
        mix: What is drawn, and how often.
        levels: One degree of difficulty or several, named in the tasks' metadata; each can bring
            about the same branches.
        name: Family name in task ids.
    """

    def __init__(
        self,
        kinds: Mapping[str, TaskKind],
        mix: Mix,
        levels: Sequence[Level[Asking]],
        *,
        name: str,
    ) -> None:
        unknown = mix.kinds.keys() - kinds.keys()
        if unknown or not mix.kinds:
            named = ", ".join(sorted(unknown)) or "nothing"
            raise ConfigurationError(
                f"task_types names {named}; the task types are {', '.join(kinds)}."
            )
        self.name = name
        self.tests = len(mix.fixed) or None
        self._kinds = kinds
        self._mix = mix
        self._levels = tuple(levels)
        self._level = Weighted(((level, level.weight) for level in levels), "difficulties")
        self._menus: dict[Split, _Menu] = {}
        Weighted(mix.kinds, "task types")  # refuses what no split could offer

    def _menu(self, split: Split) -> _Menu:
        """Return what can be drawn in a split, and how often."""
        if split not in self._menus:
            weighted = {kind: self._weights(self._kinds[kind], split) for kind in self._mix.kinds}
            branches = {kind: weights for kind, weights in weighted.items() if weights}
            if not branches:
                raise ConfigurationError(
                    f"There is no data for {', '.join(self._mix.kinds)} in the {split} split."
                )
            self._menus[split] = _Menu(
                Weighted({kind: self._mix.kinds[kind] for kind in branches}, "task types"),
                {kind: Weighted(weights, "branches") for kind, weights in branches.items()},
            )
        return self._menus[split]

    def task_types(self, split: Split) -> tuple[str, ...]:
        """Return the task types that are drawn in a split."""
        return self._menu(split).kinds.items

    def draw(self, split: Split, index: int) -> FhirInstance:
        """Return a question; the same for the same arguments, everywhere."""
        rng = task_rng(self.name, split, index)
        kind_name, branch = self._draw_branch(split, index, rng)
        kind = self._kinds[kind_name]
        level = self._levels[0]
        if len(self._levels) > 1:
            level = self._level.draw(rng)
        facts, base = level.config.source.draw(kind, branch, split, rng)
        view = ChartView(FhirStore(base, clock=Clock(facts.now)))
        decision = kind.decide(view, facts)
        wording = task_rng(self.name, split, index, stream=1)
        style = level.config.style_in(split)
        task = FhirTask(
            TaskKey(self.name, split, index),
            kind_name,
            phrase(kind_name, facts, style, wording, split),
            {"title": kind.title, "difficulty": level.label},
            now=facts.now,
            answer_form=answer_form(kind_name, style),
        )
        return Instance(
            task, FhirReference(kind_name, facts, decision), RecordStart(base, facts.now)
        )

    def kind(self, split: Split, index: int) -> str:
        """Return the task type of a question, without making its chart."""
        require_index(self, split, index)
        return self._draw_branch(split, index, task_rng(self.name, split, index))[0]

    def _draw_branch(self, split: Split, index: int, rng: np.random.Generator) -> tuple[str, str]:
        if self.is_fixed(split):
            return self._mix.fixed[index]
        menu = self._menu(split)
        kind = menu.kinds.draw(rng)
        return kind, menu.branches[kind].draw(rng)

    def _weights(self, kind: TaskKind, split: Split) -> dict[str, float]:
        """Return the probability of each branch of a type; empty if the source has none."""
        return balanced(self._levels[0].config.source.branches(kind, split))


def balanced(branches: Sequence[Branch]) -> dict[str, float]:
    """Return weights by which acting and not acting are equally likely, where both occur."""
    weights: dict[str, float] = {}
    for acts in (False, True):
        group = [branch for branch in branches if branch.acts is acts]
        total = sum(branch.share for branch in group)
        weights |= {branch.name: branch.share / total for branch in group}
    return weights
