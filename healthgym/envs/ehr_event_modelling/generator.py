"""Seed to task: a cohort for each six indices, and on it the six targets."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from healthgym.core.choice import Weighted
from healthgym.core.levels import Level
from healthgym.core.seeding import Split, task_rng
from healthgym.core.task import Instance, TaskKey, require_index
from healthgym.envs.ehr_event_modelling.cohort import LIBRARY, Prepared
from healthgym.envs.ehr_event_modelling.sizes import CohortConfig
from healthgym.envs.ehr_event_modelling.task import (
    EventInstance,
    EventReference,
    EventTask,
    EventTaskGenerator,
    StudyStart,
    Target,
)
from healthgym.envs.ehr_event_modelling.wording import phrase

#: When the agent sits down; the records are older.
NOW = datetime(2024, 3, 4, 9, 0, tzinfo=UTC)


class EventModellingGenerator(EventTaskGenerator):
    """Draws prediction tasks on synthetic cohorts.

    Neighbouring indices share a cohort, so that it is built once for all of its targets. So a level
    is drawn for a cohort, and not for each task.

    Args:
        levels: The difficulties, of which each cohort has one.
        targets: The targets, in the order of their indices.
        name: Family name in task ids.
        tests: Number of test tasks; unlimited if None.
    """

    def __init__(
        self,
        levels: Sequence[Level[CohortConfig]],
        targets: Sequence[Target],
        *,
        name: str,
        tests: int | None = None,
    ) -> None:
        self.name, self.tests = name, tests
        self._levels = Weighted([(level, level.weight) for level in levels], "difficulties")
        self._targets = tuple(targets)

    def kind(self, split: Split, index: int) -> str:
        """Return the target of a task, without making its cohort."""
        require_index(self, split, index)
        return self._targets[index % len(self._targets)]

    def draw(self, split: Split, index: int) -> EventInstance:
        """Return a task."""
        number, place = divmod(index, len(self._targets))
        target, level = self._targets[place], self._level(split, number)
        config = level.config
        prepared = LIBRARY.synthetic(config, self.name, split, number, target)
        key = TaskKey(self.name, split, index)
        return instance_of(
            key, target, prepared, level.label, config.recipe, seed_name=f"{self.name}/{config}"
        )

    def _level(self, split: Split, number: int) -> Level[CohortConfig]:
        """Return the difficulty of a cohort."""
        return self._levels.draw(task_rng(self.name, split, number, stream=2))


def instance_of(
    key: TaskKey,
    target: str,
    prepared: Prepared,
    level: str,
    recipe: str,
    *,
    seed_name: str,
    published: float = 0.0,
) -> EventInstance:
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
