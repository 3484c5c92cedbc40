"""The oracle solves whatever can be drawn: pair by pair here, and all of it in the slow run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

import numpy as np
import pytest

from healthgym.core.seeding import Split, task_rng
from healthgym.core.tool import ToolCall
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.cases.drawing import ENDING
from healthgym.envs.managed_care.cases.editions import Ending
from healthgym.envs.managed_care.cases.situations import Course
from healthgym.envs.managed_care.utilization_management.choices import PATHS, Choices, choices_of
from healthgym.envs.managed_care.utilization_management.generator import ReviewGenerator
from healthgym.envs.managed_care.utilization_management.task import (
    PRESETS,
    Path,
    ReviewConfig,
    ReviewInstance,
    StartStage,
)
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import ServiceTypeCategory
from tests.envs.managed_care.covering import Row, covering, pairs, possible
from tests.envs.managed_care.utilization_management.playing import FAMILY, fails, family_of, play

LEVELS = tuple(PRESETS)
FREE = {"rules": tuple(Rules)}
#: Seeds of a kind that are tried before it is said to give no task.
_TRIES = 6


@dataclass(frozen=True)
class Kind:
    """What a task is wanted to be: where it starts, how it ends, and under which policies."""

    stage: StartStage
    path: Path
    ending: Ending
    category: ServiceTypeCategory
    difficulty: str
    rules: Rules

    @property
    def config(self) -> ReviewConfig:
        """Return the level, narrowed to what is wanted, the ending aside."""
        return replace(
            PRESETS[self.difficulty],
            stages=(self.stage,),
            paths=(self.path,),
            categories=(self.category,),
        )


@cache
def choices(level: str) -> Choices:
    """Return what can be drawn under the policies of a level, from any stage on any path."""
    return choices_of(replace(PRESETS[level], stages=tuple(StartStage), paths=tuple(Path)))


@cache
def table() -> Sequence[Row]:
    """Return what can be drawn: for each level its ways, and the categories that have them."""
    return tuple(
        {
            "stage": way.stage,
            "path": way.path,
            "ending": way.ending,
            "category": group[0].category,
            "difficulty": level,
        }
        for level in LEVELS
        for way, groups in choices(level).known.items()
        for group in groups
    )


@cache
def rows() -> Sequence[Kind]:
    """Return tasks that hold every pair."""
    return tuple(Kind(**row) for row in covering(table(), FREE))  # type: ignore[arg-type]


def drawn(kind: Kind) -> ReviewInstance:
    """Return the first task of a kind."""
    name = f"cover-{kind.stage}-{kind.path}-{kind.category}"
    making = ReviewGenerator(kind.config, kind.difficulty, name, kind.rules)
    known, tried, index = choices_of(kind.config), 0, -1
    while tried < _TRIES:
        index += 1
        rng = task_rng(f"{name}/{kind.difficulty}", Split.TEST, index, ENDING)
        if known.way(rng).ending != kind.ending:
            continue
        try:
            return making.generate(Split.TEST, index)
        except ConfigurationError:
            tried += 1
    raise AssertionError(f"{kind}: nothing could be drawn")


def require_solved(kind: Kind) -> None:
    """Play the oracle: no check of either profile fails, and the shaped return is 1."""
    instance = drawn(kind)
    assert (instance.reference.stage, instance.reference.path) == (kind.stage, kind.path)
    assert instance.reference.policy.category is kind.category
    script = family_of(instance).oracle(instance, np.random.default_rng(0))
    assert len(script) <= FAMILY.rules.max_turns
    calls = [each for each in script if isinstance(each, ToolCall)]
    episode = play(instance, calls, shaped=True)
    for profile in Profile:
        assert not fails(episode, profile), f"{kind}, {profile}: {fails(episode, profile)}"
        assert episode.verdict(profile=profile).success
    assert episode.total_reward() == pytest.approx(1.0)


@pytest.mark.parametrize("stage", StartStage)
def test_every_pair_is_solved(stage: StartStage) -> None:
    for kind in rows():
        if kind.stage is stage:
            require_solved(kind)


def test_a_call_fits_in_before_a_limit_that_a_front_door_does_not_tell() -> None:
    """The state gives an urgent request two days, which at the door nobody knows it to be."""
    require_solved(
        Kind(
            StartStage.FRONT_DOOR,
            Path.OVERTURNED,
            Course.APPROVED,
            ServiceTypeCategory.RADIOLOGY,
            "hard",
            Rules.STRICT,
        )
    )


def test_the_rows_hold_every_pair_that_can_be() -> None:
    held = {pair for kind in rows() for pair in pairs(vars(kind))}
    assert held == possible(table(), FREE)


@pytest.mark.parametrize("stage", StartStage)
def test_no_pair_is_left_out_that_could_be_drawn(stage: StartStage) -> None:
    for path, level in product(Path, LEVELS):
        config = replace(PRESETS[level], stages=(stage,), paths=(path,))
        if path in PATHS[stage]:
            assert choices_of(config).known
            continue
        with pytest.raises(ConfigurationError, match="gives a case that is taken over"):
            choices_of(config)


@pytest.mark.slow
@pytest.mark.parametrize("stage", StartStage)
@pytest.mark.parametrize("path", Path)
def test_the_whole_product_is_solved(stage: StartStage, path: Path) -> None:
    for row, rules in product(table(), Rules):
        if (row["stage"], row["path"]) == (stage, path):
            require_solved(Kind(**row, rules=rules))  # type: ignore[arg-type]
