"""Both halves of a correction task, and how hard it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from healthgym.core.task import Instance, Reference, Task, TaskGenerator
from healthgym.envs.xray_correction.claims import Statement, entities
from healthgym.errors import ConfigurationError
from healthgym.worlds.radiography.archive import Radiographs


@dataclass(frozen=True, slots=True)
class CorrectionStart:
    """What a reading room opens with.

    Attributes:
        radiographs: The patient's studies.
        header: Sections of the last study's report before its findings.
        draft: Sentences of the draft.
        now: When the episode begins.
        drawn: Whether the radiographs are drawn, so that limits of their measurements are known.
    """

    radiographs: Radiographs
    header: str
    draft: tuple[str, ...]
    now: datetime
    drawn: bool = False


@dataclass(frozen=True, slots=True)
class CorrectionReference(Reference):
    """What the draft should say.

    Attributes:
        truth: The true sentences, with their claims; as many as the draft has.
        swapped: Numbers of the sentences that were made wrong, counted from 0.
        principles: The principles used, for each of these.
    """

    truth: tuple[Statement, ...]
    swapped: tuple[int, ...]
    principles: tuple[str, ...]


CorrectionInstance = Instance[Task, CorrectionReference, CorrectionStart]
CorrectionTaskGenerator = TaskGenerator[Task, CorrectionReference, CorrectionStart]


@dataclass(frozen=True, slots=True)
class ReportConfig:
    """How long a report is, how wrong, and how many studies there are.

    Attributes:
        studies: Fewest and most studies.
        statements: Fewest and most sentences of the draft.
        errors: Fewest and most wrong sentences.
        size: Pixels on a side of a radiograph.
        subjects: Entities a report may speak of; all of them if empty.
        plain: Whether each claim has one wording.
        change: How often a finding is compared with the prior study.
    """

    studies: tuple[int, int] = (1, 4)
    statements: tuple[int, int] = (7, 9)
    errors: tuple[int, int] = (3, 5)
    size: int = 512
    subjects: tuple[str, ...] = ()
    plain: bool = False
    change: float = 0.5

    def __post_init__(self) -> None:
        for low, high in (self.studies, self.statements, self.errors):
            if not 0 < low <= high:
                raise ConfigurationError("Ranges of a ReportConfig are (fewest, most).")
        if self.errors[1] > self.statements[0] or self.statements[1] > 12:
            raise ConfigurationError("A report has 12 sentences at most, and no more errors.")
        if self.studies[1] > 12 or not 256 <= self.size <= 2048:
            raise ConfigurationError("There are 12 studies at most, of 256 to 2048 pixels.")
        unknown = set(self.subjects) - entities().keys()
        if unknown:
            raise ConfigurationError(f"Not entities: {', '.join(sorted(unknown))}.")


_SIMPLE = ("heart", "effusion", "pneumothorax", "opacity", "consolidation", "volumes", "nodule")
#: What a name of a difficulty stands for.
PRESETS: Mapping[str, ReportConfig] = MappingProxyType(
    {
        "easy": ReportConfig((1, 2), (4, 4), (1, 2), subjects=_SIMPLE[:5], plain=True, change=0.0),
        "medium": ReportConfig(),
        "hard": ReportConfig((2, 12), (9, 11), (4, 8), size=1024),
    }
)
