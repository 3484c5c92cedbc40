"""Both halves of a reconciliation task, and how hard it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from healthgym.core.task import Instance, Reference, Task, TaskGenerator
from healthgym.envs.medication_reconciliation.rules import Answer
from healthgym.errors import ConfigurationError
from healthgym.worlds.reconciliation.record import Record

FEWEST, MOST = 4, 10


@dataclass(frozen=True, slots=True)
class ReconciliationConfig:
    """What patients are like, and how long there is.

    Attributes:
        medicines: Fewest and most medicines.
        weak_kidneys: Chance of an eGFR below 30.
        duplicates: Whether two medicines of one class may be taken.
        hours: From the start to the discharge.

    Raises:
        ConfigurationError: If a value is out of range.
    """

    medicines: tuple[int, int] = (6, 8)
    weak_kidneys: float = 0.5
    duplicates: bool = True
    hours: float = 4.0

    def __post_init__(self) -> None:
        low, high = self.medicines
        if not FEWEST <= low <= high <= MOST:
            raise ConfigurationError(
                f"medicines is a lowest and a highest number from {FEWEST} to {MOST}, not "
                f"{self.medicines!r}."
            )
        if not 0 <= self.weak_kidneys <= 1:
            raise ConfigurationError(f"weak_kidneys is a probability, not {self.weak_kidneys!r}.")
        if not 1 <= self.hours <= 24:
            raise ConfigurationError(f"hours lie between 1 and 24, not {self.hours!r}.")


#: What a name of a difficulty stands for.
PRESETS: Mapping[str, ReconciliationConfig] = {
    "easy": ReconciliationConfig((4, 5), weak_kidneys=0.0, duplicates=False, hours=6.0),
    "medium": ReconciliationConfig(),
    "hard": ReconciliationConfig((8, 10), hours=3.0),
}


@dataclass(frozen=True, slots=True)
class ReconciliationReference(Reference):
    """What becomes of the medicines.

    Attributes:
        answers: The right answer for each medicine of either half.
    """

    answers: Mapping[str, Answer] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReconciliationStart:
    """Start state of the two clinicians' world.

    Attributes:
        record: Both halves of the record.
        begins: When the episode begins, in UTC.
        discharge: When the patient leaves, in UTC.
    """

    record: Record
    begins: datetime
    discharge: datetime


ReconciliationInstance = Instance[Task, ReconciliationReference, ReconciliationStart]
ReconciliationTaskGenerator = TaskGenerator[Task, ReconciliationReference, ReconciliationStart]
