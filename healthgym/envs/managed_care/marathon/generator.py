"""Tasks from seeds: the cases of one shift, drawn one after the other, in one world."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from datetime import datetime

from healthgym.core.records import replace
from healthgym.core.seeding import Split, task_rng
from healthgym.core.task import Instance, Task, TaskKey
from healthgym.envs.managed_care.cases.clinic import draw_morning
from healthgym.envs.managed_care.cases.shift import Shift
from healthgym.envs.managed_care.marathon.desks import Desk, RequestDesk
from healthgym.envs.managed_care.marathon.task import (
    CaseInstance,
    MarathonInstance,
    MarathonReference,
    MarathonTaskGenerator,
    Piece,
)
from healthgym.envs.managed_care.marathon.wording import brief, letters
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.handbook.full import HandbookSize
from healthgym.worlds.managed_care.merging import confined, merged
from healthgym.worlds.managed_care.queue import QueueStart
from healthgym.worlds.managed_care.start import WorldStart

#: Streams of an episode: its morning, and the numbers that hold.
_MORNING, _NUMBERS = range(2)
#: Tasks of one case that are tried at most for each case of an episode.
_TRIES = 4
#: Numbers of tasks that stand by for cases that do not fit, from here.
SPARE = 1 << 24


class MarathonGenerator(MarathonTaskGenerator):
    """Draws tasks.

    An episode's cases are those of the desk's own environment: of the tasks of the split, so many
    in a row. They are drawn again under one morning and one set of numbers; a case that does not
    fit beside those before it has another patient, another policy, or makes room for another one.

    Args:
        desk: Draws one case.
        name: Family name in task keys.
        difficulty: Name of the configuration, for the task's metadata.
        size: Cases of an episode.
        tests: Cases of the test split where they are a fixed set; None if they are unlimited.
        handbook: How large a handbook stands in the offices.
    """

    def __init__(
        self,
        desk: Desk,
        name: str,
        difficulty: str,
        size: int,
        *,
        tests: int | None = None,
        handbook: HandbookSize = HandbookSize.COMPACT,
    ) -> None:
        self.desk, self.name, self.difficulty = desk, name, difficulty
        self.cases, self.handbook, self._fixed = size, handbook, tests
        self.tests = None if tests is None else tests // size

    def draw(self, split: Split, index: int) -> MarathonInstance:
        """Return a task."""
        family = f"{self.name}/{self.difficulty}"
        morning, drawn = (task_rng(family, split, index, key) for key in (_MORNING, _NUMBERS))
        begins = self.desk.morning(draw_morning(morning))
        shift = Shift(begins, self.desk.numbers(drawn))
        found = self._found(split, index, shift)
        now = max(instance.start.now for instance in found.values())
        alone = _apart(found, now, shift.counters, bystanders=self.desk.bystanders)
        start = merged(
            [instance.start for instance in alone.values()],
            handbook=self.desk.handbook(shift, self.handbook),
            policies=self.desk.policies(shift),
            counters=shift.counters,
        )
        pieces = {
            self.desk.key(instance): Piece(self.desk.key(instance), patient, instance)
            for patient, instance in alone.items()
        }
        task = Task(
            TaskKey(self.name, split, index),
            f"{self.cases}-cases",
            brief(start, self.desk, self.cases),
            {"difficulty": self.difficulty, "size": self.cases},
        )
        return Instance(task, MarathonReference(pieces=pieces), self._queue(start, pieces))

    def _found(self, split: Split, index: int, shift: Shift) -> dict[str, CaseInstance]:
        """Return the cases, by the patient that each is about."""
        found: dict[str, CaseInstance] = {}
        for number in self.numbers(split, index):
            try:
                instance, case = self.desk.draw(split, number, shift)
            except ConfigurationError:
                if self.is_fixed(split):
                    raise
                continue
            patient = case.patient.chart.patient.id if case else instance.reference.patient_id
            shift.take(patient, instance.start, case)
            found[patient] = instance
            if len(found) == self.cases:
                return found
        raise ConfigurationError(f"Task {index} of {self.name} has no {self.cases} cases.")

    def numbers(self, split: Split, index: int) -> Iterator[int]:
        """Yield the numbers of the tasks that are this episode's, and of others to step in."""
        first = index * self.cases
        yield from range(first, first + self.cases)
        if not self.is_fixed(split):
            yield from (SPARE + first * _TRIES + place for place in range(self.cases * _TRIES))

    def _queue(self, start: WorldStart, pieces: dict[str, Piece]) -> QueueStart:
        """Return the beginning with what belongs to which case."""
        own = {piece.patient_id: key for key, piece in pieces.items()}
        around = {
            patient: key for key, piece in pieces.items() for patient in piece.instance.start.charts
        }
        records, posted = start.records, dict[str, str]()
        if isinstance(self.desk, RequestDesk):
            post = letters(start, pieces)
            records = (*post.values(), *records)
            posted = {letter.id: key for key, letter in post.items()}
        known = {item.name: getattr(start, item.name) for item in fields(WorldStart)}
        known["records"] = records
        return QueueStart(**known, owners={**around, **own}, letters=posted)


def _apart(
    found: dict[str, CaseInstance],
    now: datetime,
    counters: Mapping[str, int],
    *,
    bystanders: bool,
) -> dict[str, CaseInstance]:
    """Return cases of which each has its own people around it, and which begin together.

    Whoever works on the first of them begins with all, and ids are drawn as if all were there.
    """
    taken = set(found)
    actor = next(iter(found.values())).start.actor
    apart: dict[str, CaseInstance] = {}
    for patient, instance in found.items():
        around = instance.start.charts.keys() - taken if bystanders else frozenset[str]()
        taken |= around
        start = confined(instance.start, {patient, *around})
        start = replace(start, now=now, actor=actor, counters=counters)
        apart[patient] = replace(instance, start=start)
    return apart
