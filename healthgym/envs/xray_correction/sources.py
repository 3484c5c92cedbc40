"""Real radiographs and reports: a folder in MIMIC-CXR-JPG's layout as a source of tasks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

import numpy as np

from healthgym.core.seeding import INDEX_BOUND, Split, stable_hash, task_rng
from healthgym.core.task import Instance, Task, TaskKey
from healthgym.envs.xray_correction.generator import instruction
from healthgym.envs.xray_correction.literals import literal_swaps
from healthgym.envs.xray_correction.reading.reader import split_sentences, statements
from healthgym.envs.xray_correction.submission import gold_findings
from healthgym.envs.xray_correction.task import (
    CorrectionInstance,
    CorrectionReference,
    CorrectionStart,
    CorrectionTaskGenerator,
)
from healthgym.errors import MissingDataError
from healthgym.worlds.radiography.mimic import (
    ACCESS,
    FolderRadiographs,
    MimicFolder,
    without_report,
    write_folder,
)

#: Patients are dealt to the splits in these shares, by a hash of their number.
_SHARES = (Split.TRAIN, Split.TRAIN, Split.TRAIN, Split.VALIDATION, Split.TEST)
_MOST_STUDIES = 12
_HEADERS = ("EXAMINATION", "INDICATION", "HISTORY", "TECHNIQUE", "COMPARISON")
_SECTION = re.compile(r"^[ \t]*(?P<name>[A-Z][A-Z ]{2,40}):", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Usable:
    """A study whose findings can be made wrong."""

    subject: str
    studies: int


def header_of(report: str) -> str:
    """Return the sections of a report that the source shows beside a draft."""
    marks = list(_SECTION.finditer(report))
    ends = [mark.start() for mark in marks[1:]] + [len(report)]
    parts = [
        " ".join(report[mark.start() : end].split())
        for mark, end in zip(marks, ends, strict=True)
        if mark["name"].strip() in _HEADERS
    ]
    return "\n\n".join(parts)


class MimicGenerator(CorrectionTaskGenerator):
    """Draws correction tasks from a folder: every study with true findings is one.

    Args:
        folder: The folder.
        errors: Fewest and most wrong sentences.
        name: Name of the family in task keys.

    Raises:
        MissingDataError: If the folder is not there, or no report in it can be used.
        DamagedDataError: If its table cannot be read.
    """

    lasting = False

    def __init__(self, folder: str | Path, errors: tuple[int, int], name: str) -> None:
        self._folder = MimicFolder(folder)
        self._errors = errors
        self.name = name
        if not any(self._targets.values()):
            raise MissingDataError(
                f"{self._folder.root} has no report with FINDINGS that can be made wrong. {ACCESS}"
            )

    def __reduce__(self) -> tuple[type[MimicGenerator], tuple[Path, tuple[int, int], str]]:
        """Pickle the folder's name, not what was read from it."""
        return MimicGenerator, (self._folder.root, self._errors, self.name)

    @cached_property
    def _targets(self) -> dict[Split, list[_Usable]]:
        found: dict[Split, list[_Usable]] = {split: [] for split in Split}
        subjects = self._folder.subjects
        for subject in subjects:
            split = _SHARES[stable_hash(f"xray/{subject}") % len(_SHARES)]
            found[split] += self._usable(subject)
        return found

    def _usable(self, subject: str) -> Iterator[_Usable]:
        studies = self._folder.radiographs(subject).studies
        for number, study in enumerate(studies[:_MOST_STUDIES], 1):
            sentences = split_sentences(gold_findings(study.report))
            if any(map(literal_swaps, sentences)):
                yield _Usable(subject, number)

    def size(self, split: Split) -> int:
        """Return the number of tasks of a split: its studies, each with errors anew for ever."""
        return INDEX_BOUND if self._targets[split] else 0

    def draw(self, split: Split, index: int) -> CorrectionInstance:
        """Return a task."""
        rng = task_rng(self.name, split, index)
        chosen = self._targets[split][index % len(self._targets[split])]
        radiographs = self._folder.radiographs(chosen.subject, chosen.studies)
        report = radiographs.studies[-1].report
        truth = split_sentences(gold_findings(report))
        draft, wrong, used = _made_wrong(truth, self._errors, rng)
        key = TaskKey(self.name, split, index)
        studies = len(radiographs.studies)
        task = Task(
            key,
            "serial" if studies > 1 else "single",
            instruction(studies, len(draft)),
            {"difficulty": "real", "studies": studies, "sentences": len(draft)},
        )
        taken = radiographs.studies[-1].taken or datetime(2120, 1, 1)
        start = CorrectionStart(
            without_report(radiographs), header_of(report), draft, taken.replace(tzinfo=UTC)
        )
        return Instance(task, CorrectionReference(statements(truth), wrong, used), start)


def _made_wrong(
    truth: list[str], errors: tuple[int, int], rng: np.random.Generator
) -> tuple[tuple[str, ...], tuple[int, ...], tuple[str, ...]]:
    options = {n: swaps for n, text in enumerate(truth) if (swaps := literal_swaps(text))}
    count = min(int(rng.integers(errors[0], errors[1] + 1)), len(options))
    numbers = list(options)
    wrong = sorted(numbers[int(k)] for k in rng.permutation(len(numbers))[:count])
    draft, used = list(truth), []
    for number in wrong:
        principle, text = options[number][int(rng.integers(len(options[number])))]
        draft[number] = text
        used.append(principle)
    return tuple(draft), tuple(wrong), tuple(used)


def materialize(
    instance: CorrectionInstance,
    path: str | Path,
    *,
    subject: str = "10000001",
    lossless: bool = True,
) -> Path:
    """Write a task's radiographs and true reports as a folder in MIMIC-CXR-JPG's layout.

    An environment opened on the folder shows the same pictures, and makes other errors in the
    same findings. Not for a folder that an agent can read: it holds the truth.

    Args:
        instance: The task.
        path: The folder; made if need be. Patients already in it stay.
        subject: Number of the patient.
        lossless: PNG instead of JPEG.

    Returns:
        The folder.

    Raises:
        MissingDependencyError: If pillow is not installed.
    """
    start = instance.start
    findings = " ".join(statement.text for statement in instance.reference.truth)
    report = f"{start.header}\n\nFINDINGS:  {findings}\n"
    return write_folder(
        path, start.radiographs, subject=subject, last_report=report, lossless=lossless
    )


__all__ = ["FolderRadiographs", "MimicGenerator", "header_of", "materialize"]
