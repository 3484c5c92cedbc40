"""From an environment's arguments to the generator they mean, and which tasks there are."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from healthgym.core.levels import CUSTOM, Level, MixedGenerator, assemble, choose_levels
from healthgym.core.seeding import INDEX_BOUND, Split, task_rng
from healthgym.core.task import (
    Instance,
    KindIndex,
    Reference,
    Task,
    TaskGenerator,
    TaskKey,
    require_index,
)
from healthgym.errors import ConfigurationError
from tests.core.toys import LedgerGenerator

PRESETS = {"easy": 1, "hard": 9}


class Sized(TaskGenerator[Task, Reference, int]):
    """Tasks of one size; test tasks may be a fixed set."""

    name = "toy-sized"

    def __init__(self, level: Level[int], tests: int | None = None) -> None:
        self.level = level
        self.tests = tests
        self.drawn: list[tuple[Split, int]] = []

    def draw(self, split: Split, index: int) -> Instance[Task, Reference, int]:
        self.drawn.append((split, index))
        draw = int(100 * task_rng(self.name, split, index).random())
        key = TaskKey(self.name, split, index)
        task = Task(key, f"{self.level.label}-kind", f"{draw}", {"difficulty": self.level.label})
        return Instance(task, Reference(), self.level.config)


class Told(Sized):
    """Tells kinds without drawing."""

    def kind(self, split: Split, index: int) -> str:
        require_index(self, split, index)
        return f"{self.level.label}-kind"


# -- indices -----------------------------------------------------------------------------------


@pytest.mark.parametrize("index", [-1, -(2**40), INDEX_BOUND, 2**63])
def test_an_index_that_is_none_is_refused(index: int) -> None:
    generator = LedgerGenerator()
    for ask in (generator.generate, generator.kind):
        with pytest.raises(ConfigurationError, match=f"no number {index}"):
            ask(Split.TRAIN, index)


def test_a_fixed_set_has_its_size_and_other_splits_have_no_end() -> None:
    generator = Sized(Level("easy", 1), tests=3)
    assert [generator.size(split) for split in Split] == [INDEX_BOUND, INDEX_BOUND, 3]
    assert [generator.is_fixed(split) for split in Split] == [False, False, True]
    generator.generate(Split.TEST, 2)
    generator.generate(Split.TRAIN, INDEX_BOUND - 1)
    with pytest.raises(ConfigurationError, match="test split of toy-sized has 3 tasks, numbered"):
        generator.generate(Split.TEST, 3)
    assert generator.drawn == [(Split.TEST, 2), (Split.TRAIN, INDEX_BOUND - 1)]
    free = Sized(Level("easy", 1))
    assert (free.size(Split.TEST), free.is_fixed(Split.TEST)) == (INDEX_BOUND, False)


# -- levels ------------------------------------------------------------------------------------


def test_a_difficulty_is_a_name_a_configuration_or_weights() -> None:
    assert choose_levels("hard", PRESETS) == (Level("hard", 9),)
    assert choose_levels(5, PRESETS) == (Level(CUSTOM, 5),)
    assert choose_levels({"hard": 1, "easy": 3.0}, PRESETS) == (
        Level("hard", 9, 1.0),
        Level("easy", 1, 3.0),
    )


@pytest.mark.parametrize(
    ("difficulty", "reason"),
    [
        ("medium", "difficulty 'medium' is not one of easy, hard"),
        ({"easy": 1, "medium": 1, "odd": 1}, "'medium', 'odd' is not one of"),
        ({}, "difficulty nothing is not one of"),
        ({"easy": 0.0}, "Weights of difficulties"),
        ({"easy": -1, "hard": 2}, "Weights of difficulties"),
        ({"easy": float("nan")}, "Weights of difficulties"),
        ({"easy": "1"}, "Weights of difficulties"),
    ],
)
def test_other_difficulties_are_refused(difficulty: Any, reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        choose_levels(difficulty, PRESETS)


# -- generators --------------------------------------------------------------------------------


def test_one_difficulty_is_its_own_generator() -> None:
    for difficulty in ("hard", {"hard": 2.0}, 9):
        made = assemble(PRESETS, difficulty, Sized)
        assert isinstance(made, Sized)
        assert made.generate(Split.TRAIN, 3).start == 9


def test_a_mixture_draws_a_level_for_each_task_from_the_seed() -> None:
    made = assemble(PRESETS, {"easy": 1, "hard": 3}, Sized)
    assert isinstance(made, MixedGenerator)
    assert made.name == "toy-sized"
    drawn = [made.generate(Split.TRAIN, index) for index in range(2000)]
    counts = Counter(instance.start for instance in drawn)
    assert counts[9] == pytest.approx(1500, rel=0.1)
    again = assemble(PRESETS, {"easy": 10, "hard": 30}, Sized)
    for index in (0, 7, 1999):
        assert again.generate(Split.TRAIN, index) == drawn[index]
    # A task is the one its level alone would have drawn.
    alone = {level: assemble(PRESETS, level, Sized) for level in PRESETS}
    for index in range(50):
        level = drawn[index].task.metadata["difficulty"]
        assert alone[level].generate(Split.TRAIN, index) == drawn[index]


def test_the_choice_of_level_takes_no_number_of_the_task() -> None:
    texts: dict[int, set[str]] = {1: set(), 9: set()}
    made = assemble(PRESETS, {"easy": 1, "hard": 1}, Sized)
    for index in range(600):
        instance = made.generate(Split.TRAIN, index)
        texts[instance.start].add(instance.task.instruction)
    assert len(texts[1]) > 90
    assert len(texts[9]) > 90


@pytest.mark.parametrize("kind_of", [Sized, Told])
def test_a_mixture_tells_kinds_and_checks_indices(kind_of: type[Sized]) -> None:
    made = assemble(PRESETS, {"easy": 1, "hard": 1}, lambda level: kind_of(level, tests=40))
    assert isinstance(made, KindIndex)
    for index in range(40):
        assert made.kind(Split.TEST, index) == made.generate(Split.TEST, index).task.kind
    assert made.size(Split.TEST) == 40
    for ask in (made.kind, made.generate):
        for index in (-1, 40):
            with pytest.raises(ConfigurationError, match="has 40 tasks"):
                ask(Split.TEST, index)


def real(folder: Path, config: int) -> Sized:
    return Sized(Level(str(folder), config))


def test_a_source_is_the_synthetic_one_or_a_folder(tmp_path: Path) -> None:
    made = assemble(PRESETS, "hard", Sized, source=tmp_path, real=real)
    assert isinstance(made, Sized)
    assert made.level == Level(str(tmp_path), 9)
    assert assemble(PRESETS, "hard", Sized, source="synthetic", real=real).level.label == "hard"
    with pytest.raises(ConfigurationError, match="there is only the synthetic one"):
        assemble(PRESETS, "hard", Sized, source=tmp_path)


def test_arguments_of_the_synthetic_source_belong_to_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="canonical belongs to the synthetic source"):
        assemble(PRESETS, "easy", Sized, source=tmp_path, real=real, canonical=True)
    assemble(PRESETS, "easy", Sized, source=tmp_path, real=real, canonical=False)
    assemble(PRESETS, "easy", Sized, canonical=True)
