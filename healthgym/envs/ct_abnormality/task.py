"""Both halves of a CT task, and how hard it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from healthgym.core.task import Instance, Reference, Task, TaskGenerator
from healthgym.errors import ConfigurationError
from healthgym.worlds.volumes.disease import Finding
from healthgym.worlds.volumes.drawing import SEVERITIES
from healthgym.worlds.volumes.grid import VolumeSource


@dataclass(frozen=True, slots=True)
class CtConfig:
    """What scans are like, and how much is asked of them.

    Attributes:
        labels: Fewest and most findings to call.
        severities: How plainly findings show; one is drawn for each. A name may stand twice.
        mimics: Chance that an absent finding is imitated by something harmless.
        others: Chance of each finding that is not asked for.
        slices: Fewest and most slices.
        noise: Least and greatest noise of a soft kernel, in HU.
        findings: The findings that may be asked for; all 18 if empty.
        size: Rows and columns of a slice.

    Raises:
        ConfigurationError: If a range is not one.
    """

    labels: tuple[int, int] = (4, 12)
    severities: tuple[str, ...] = ("plain",)
    mimics: float = 0.5
    others: float = 0.12
    slices: tuple[int, int] = (200, 700)
    noise: tuple[float, float] = (8.0, 13.0)
    findings: tuple[Finding, ...] = ()
    size: int = 512

    def __post_init__(self) -> None:
        pool = len(self.findings or tuple(Finding))
        if not 1 <= self.labels[0] <= self.labels[1] <= pool:
            raise ConfigurationError(
                f"labels is a lowest and a highest number from 1 to {pool}, not {self.labels!r}."
            )
        if not self.severities or not set(self.severities) <= set(SEVERITIES):
            raise ConfigurationError(
                f"severities are among {', '.join(SEVERITIES)}, not {self.severities!r}."
            )
        if not 16 <= self.slices[0] <= self.slices[1] <= 2000:
            raise ConfigurationError(f"slices lie between 16 and 2000, not {self.slices!r}.")
        if not 128 <= self.size <= 1024:
            raise ConfigurationError(f"size lies between 128 and 1024, not {self.size!r}.")
        if not 0 <= self.noise[0] <= self.noise[1] <= 100:
            raise ConfigurationError(f"noise lies between 0 and 100 HU, not {self.noise!r}.")
        for name, chance in (("mimics", self.mimics), ("others", self.others)):
            if not 0 <= chance <= 1:
                raise ConfigurationError(f"{name} is a probability, not {chance!r}.")


#: Findings of easy tasks: each is settled by one number of one measurement.
EASY_FINDINGS = (
    Finding.MEDICAL_MATERIAL,
    Finding.CARDIOMEGALY,
    Finding.PERICARDIAL_EFFUSION,
    Finding.HIATAL_HERNIA,
    Finding.EMPHYSEMA,
    Finding.PLEURAL_EFFUSION,
    Finding.OPACITY,
    Finding.CONSOLIDATION,
)

#: What a name of a difficulty stands for.
PRESETS: Mapping[str, CtConfig] = {
    "easy": CtConfig(
        labels=(2, 4),
        severities=("blatant",),
        mimics=0.0,
        others=0.0,
        slices=(200, 300),
        noise=(6.0, 9.0),
        findings=EASY_FINDINGS,
    ),
    "medium": CtConfig(severities=("blatant", "plain", "plain"), slices=(200, 500)),
    "hard": CtConfig(
        severities=("plain", "subtle", "subtle"), mimics=0.8, others=0.15, noise=(10.0, 16.0)
    ),
}


@dataclass(frozen=True, slots=True)
class CtTask(Task):
    """A scan, and the findings to call.

    Attributes:
        labels: The findings, in the order asked.
    """

    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CtReference(Reference):
    """What is on the scan.

    Attributes:
        truth: Each finding asked for, and whether it is there.
    """

    truth: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True)
class CtStart:
    """Start state of a reader's world.

    Attributes:
        source: The volume.
        labels: The findings to call.
    """

    source: VolumeSource
    labels: tuple[str, ...]


CtInstance = Instance[CtTask, CtReference, CtStart]
CtTaskGenerator = TaskGenerator[CtTask, CtReference, CtStart]
