"""Tasks from seeds: a patient, two half records, and what the rules say of them together."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

import numpy as np

from healthgym.core.seeding import Split, task_rng
from healthgym.core.task import Instance, Task, TaskKey
from healthgym.envs.medication_reconciliation.rules import (
    Answer,
    by_chart,
    by_pharmacy,
    decide,
    mistaken,
)
from healthgym.envs.medication_reconciliation.situations import (
    ALONE,
    PAIRS,
    WEAK,
    Draft,
    NoneLeftError,
    Situation,
)
from healthgym.envs.medication_reconciliation.task import (
    ReconciliationConfig,
    ReconciliationInstance,
    ReconciliationReference,
    ReconciliationStart,
    ReconciliationTaskGenerator,
)
from healthgym.envs.medication_reconciliation.wording import brief
from healthgym.worlds.reconciliation.record import Record

#: What the record is drawn from, and who the patient is.
_RECORD, _PATIENT = range(2)
_FIRST_DAY, _DAYS = date(2024, 1, 8), 900
_BEGINS = time(9)
_PAIR_CHANCE = 0.2
_CONDITIONS = (
    "community-acquired pneumonia",
    "exacerbation of heart failure",
    "hip fracture, repaired",
    "cellulitis of the leg",
    "fall without fracture",
    "urinary tract infection",
    "atrial fibrillation",
    "acute gout",
)
_FAMILY_NAMES = ("Adler", "Banda", "Costa", "Dahl", "Eze", "Fontaine", "Garcia", "Haddad", "Ito")
_GIVEN_NAMES = ("Alex", "Chris", "Dana", "Jo", "Kim", "Lee", "Noa", "Robin", "Sam", "Toni")


class ReconciliationGenerator(ReconciliationTaskGenerator):
    """Draws tasks.

    The end of each line is drawn before its cause. A record in which one half's own reading is
    right throughout, or in which all lines end alike, is drawn again.

    Args:
        config: What patients are like.
        difficulty: Name of the configuration, for the task's metadata.
        name: Family name in task keys.
    """

    def __init__(self, config: ReconciliationConfig, difficulty: str, name: str) -> None:
        self.config, self.difficulty, self.name = config, difficulty, name

    def draw(self, split: Split, index: int) -> ReconciliationInstance:
        """Return a task."""
        rng = task_rng(self.name, split, index, _RECORD)
        low, high = self.config.medicines
        count = int(rng.integers(low, high + 1))
        while True:
            record = self._record(rng, count)
            if record is None:
                continue
            answers = decide(record)
            if len(answers) == count and _takes_both(record, answers):
                break
        begins = datetime.combine(record.today, _BEGINS, UTC)
        start = ReconciliationStart(record, begins, begins + timedelta(hours=self.config.hours))
        patient = _patient(task_rng(self.name, split, index, _PATIENT))
        task = Task(
            TaskKey(self.name, split, index),
            f"medicines-{count}",
            brief(patient, start.begins, start.discharge),
            {"difficulty": self.difficulty},
        )
        return Instance(task, ReconciliationReference(answers), start)

    def _record(self, rng: np.random.Generator, count: int) -> Record | None:
        """Return a record of so many medicines, or None where the formulary ran out."""
        today = _FIRST_DAY + timedelta(days=int(rng.integers(_DAYS)))
        weak = bool(rng.random() < self.config.weak_kidneys)
        egfr = int(rng.integers(12, 30)) if weak else int(rng.integers(32, 96))
        draft = Draft(rng, today, egfr)
        try:
            while len(draft) < count:
                self._situation(rng, weak, count - len(draft))(draft)
        except NoneLeftError:
            return None
        picked = rng.permutation(len(_CONDITIONS))[: int(rng.integers(1, 4))]
        return draft.record(tuple(_CONDITIONS[int(n)] for n in picked))

    def _situation(self, rng: np.random.Generator, weak: bool, room: int) -> Situation:
        if self.config.duplicates and room > 1 and rng.random() < _PAIR_CHANCE:
            return PAIRS[int(rng.integers(len(PAIRS)))]
        ends = tuple(ALONE)
        end = ends[int(rng.integers(len(ends)))]
        causes = ALONE[end] + (WEAK.get(end, ()) if weak else ())
        return causes[int(rng.integers(len(causes)))]


def _takes_both(record: Record, answers: dict[str, Answer]) -> bool:
    """Return whether either half misleads somewhere, and not all lines end alike."""
    misled = mistaken(by_chart(record), answers) and mistaken(by_pharmacy(record), answers)
    return bool(misled) and len({answer.disposition for answer in answers.values()}) > 1


def _patient(rng: np.random.Generator) -> str:
    """Return who the patient is, in words."""
    given = _GIVEN_NAMES[int(rng.integers(len(_GIVEN_NAMES)))]
    family = _FAMILY_NAMES[int(rng.integers(len(_FAMILY_NAMES)))]
    return f"{given} {family}, {int(rng.integers(58, 93))} years"
