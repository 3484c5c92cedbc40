"""Seed to task: a cohort for each six indices, and on it the six targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from healthgym.core.choice import Weighted
from healthgym.core.seeding import INDEX_BOUND, Split, task_rng
from healthgym.core.task import Instance, Reference, Task, TaskKey
from healthgym.envs.ehr_event_modelling.cohort import LIBRARY, Prepared
from healthgym.envs.ehr_event_modelling.sizes import CohortConfig
from healthgym.envs.ehr_event_modelling.task import EventReference, EventTask, Target
from healthgym.envs.ehr_event_modelling.wording import phrase
from healthgym.envs.ehr_event_modelling.world import StudyStart
from healthgym.errors import ConfigurationError

#: When the agent sits down; the records are older.
NOW = datetime(2024, 3, 4, 9, 0, tzinfo=UTC)


class EventModellingGenerator:
    """Draws prediction tasks on synthetic cohorts.

    Neighbouring indices share a cohort, so that it is built once for all of its targets.

    Args:
        levels: Configuration of each difficulty, and how often it is drawn.
        targets: The targets, in the order of their indices.
        name: Family name in task ids.
        tests: Number of test tasks; unlimited if None.
    """

    def __init__(
        self,
        levels: Mapping[str, tuple[CohortConfig, float]],
        targets: Sequence[Target],
        *,
        name: str,
        tests: int | None = None,
    ) -> None:
        self.name = name
        self._levels = {level: config for level, (config, _) in levels.items()}
        self._level_choice = Weighted(
            {level: weight for level, (_, weight) in levels.items()}, "difficulties"
        )
        self._targets = tuple(targets)
        self._tests = tests

    def size(self, split: Split) -> int:
        """Return the number of tasks of a split."""
        return INDEX_BOUND if self._tests is None or split is not Split.TEST else self._tests

    def kind(self, split: Split, index: int) -> str:
        """Return the target of a task, without making its cohort."""
        return self._targets[index % len(self._targets)]

    def generate(self, split: Split, index: int) -> Instance[Task, Reference]:
        """Return a task; the same for the same arguments, everywhere."""
        if index >= self.size(split):
            raise ConfigurationError(
                f"The {split} split has {self.size(split)} tasks; there is no number {index}."
            )
        number, place = divmod(index, len(self._targets))
        target, level = self._targets[place], self._level(split, number)
        config = self._levels[level]
        prepared = LIBRARY.synthetic(config, self.name, split, number, target)
        key = TaskKey(self.name, split, index)
        return instance_of(
            key, target, prepared, level, config.recipe, seed_name=f"{self.name}/{config}"
        )

    def _level(self, split: Split, number: int) -> str:
        return self._level_choice.draw(task_rng(self.name, split, number, stream=2))


def instance_of(
    key: TaskKey,
    target: str,
    prepared: Prepared,
    level: str,
    recipe: str,
    *,
    seed_name: str,
    published: float = 0.0,
) -> Instance[Task, Reference]:
    """Return both halves of a task, and what its world starts from.

    Args:
        key: Where the task comes from.
        target: Its kind.
        prepared: Its study.
        level: The difficulty in its metadata.
        recipe: Grid of the baseline.
        seed_name: Tells studies apart that have the same key.
        published: The source's bar where it applies; 0 otherwise.
    """
    study = prepared.study
    wording = task_rng(key.family, key.split, key.index, stream=1)
    task = EventTask(
        key,
        str(target),
        phrase(study.outcome, study.codes, level == "easy", wording),
        {"difficulty": level, "outcome": study.outcome},
        target=str(target),
    )
    reference = EventReference(
        f"{seed_name}/{key.split}/{key.index}/{target}/{recipe}",
        study,
        prepared.labels,
        recipe,
        published,
    )
    return Instance(task, reference, StudyStart(study, prepared.workspace, NOW))
