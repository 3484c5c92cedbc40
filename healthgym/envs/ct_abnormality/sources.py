"""Real scans: NIfTI volumes with a table of labels, in CT-RATE's layout or in one folder."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from healthgym.core.files import marks_of, require_file
from healthgym.core.seeding import Split, stable_hash, task_rng
from healthgym.core.task import Instance, TaskKey
from healthgym.envs.ct_abnormality.resources import LABELS, find_label
from healthgym.envs.ct_abnormality.task import (
    CtInstance,
    CtReference,
    CtStart,
    CtTask,
    CtTaskGenerator,
)
from healthgym.envs.ct_abnormality.wording import instruction
from healthgym.errors import DamagedDataError, MissingDataError
from healthgym.worlds.volumes.nifti import NiftiVolume

_ACCESS = (
    "A folder of scans holds a CSV with a column VolumeName and one for each finding (0 or 1), and "
    "the NIfTI files it names, either beside it or as in CT-RATE: "
    "dataset/valid_fixed/valid_1/valid_1_a/valid_1_a_1.nii.gz. CT-RATE is at "
    "huggingface.co/datasets/ibrahimhamamci/CT-RATE; access is asked for there."
)
_YES, _NO = {"1", "1.0", "yes", "true"}, {"0", "0.0", "no", "false"}
_SUFFIXES = (".nii.gz", ".nii")
#: Fewest and most findings of a task, where a scan has as many labels.
_COUNT = (4, 12)


@dataclass(frozen=True)
class Scan:
    """A volume of a folder and its labels.

    Attributes:
        name: Name of the volume, without ending.
        path: The file.
        truth: Finding -> whether it is there, for those that are known.
    """

    name: str
    path: Path
    truth: Mapping[str, bool]


def read_folder(folder: str) -> tuple[Scan, ...]:
    """Return the scans of a folder, by name; all that the tables name, or nothing.

    Raises:
        MissingDataError: If there is no table, or a file it names is not there.
        DamagedDataError: If a table is none.
    """
    return _read_folder(folder, marks_of(sorted(Path(folder).rglob("*.csv"))))


@lru_cache(maxsize=8)
def _read_folder(folder: str, marks: str) -> tuple[Scan, ...]:
    root = Path(folder)
    tables = sorted(path for path in root.rglob("*.csv") if _is_label_table(path))
    if not tables:
        raise MissingDataError(f"{root}: there is no table of labels. {_ACCESS}")
    files = {_stem(path): path for ending in _SUFFIXES for path in root.rglob(f"*{ending}")}
    scans: dict[str, Scan] = {}
    missing: list[str] = []
    for table in tables:
        for name, truth in _rows(table).items():
            if name not in files:
                missing.append(name)
            elif len(truth) > 0:
                scans[name] = Scan(name, files[name], truth)
    if not scans:
        shown = ", ".join(missing[:3]) or "nothing"
        raise MissingDataError(
            f"{root}: none of the volumes in {tables[0].name} is there ({shown}). {_ACCESS}"
        )
    # CT-RATE is downloaded in parts, so tables name more than there is; a folder that holds its
    # own table is whole or wrong.
    if missing and not any(part.name.endswith("_fixed") for part in root.rglob("*_fixed")):
        raise MissingDataError(
            f"{root}: {len(missing)} volumes are named and not there, {missing[0]} among them. "
            f"{_ACCESS}"
        )
    return tuple(scans[name] for name in sorted(scans))


def _stem(path: Path) -> str:
    name = path.name
    for ending in _SUFFIXES:
        name = name.removesuffix(ending)
    return name


def _is_label_table(path: Path) -> bool:
    try:
        with require_file(path).open(encoding="utf-8-sig", newline="") as file:
            header = next(csv.reader(file), [])
    except (OSError, UnicodeDecodeError, csv.Error):
        return False
    return _name_column(header) is not None and any(find_label(name) for name in header)


def _name_column(header: list[str]) -> str | None:
    wanted = ("volumename", "volume", "name", "file")
    return next((name for name in header if name.strip().lower() in wanted), None)


def _rows(path: Path) -> dict[str, dict[str, bool]]:
    rows: dict[str, dict[str, bool]] = {}
    try:
        with require_file(path).open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            header = list(reader.fieldnames or ())
            key = _name_column(header)
            assert key is not None
            columns = {name: find_label(name) for name in header if find_label(name)}
            for number, row in enumerate(reader, 2):
                truth = {}
                for column, label in columns.items():
                    value = (row.get(column) or "").strip().lower()
                    if value in _YES:
                        truth[label] = True
                    elif value in _NO:
                        truth[label] = False
                    elif value not in ("", "-1", "nan"):
                        raise DamagedDataError(
                            f"{path}, line {number}: {value[:40]!r} is not 0 or 1. {_ACCESS}"
                        )
                rows[_stem(Path((row[key] or "").strip()))] = truth
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DamagedDataError(f"{path} cannot be read ({error}). {_ACCESS}") from None
    return rows


class FolderGenerator(CtTaskGenerator):
    """The scans of a folder as tasks.

    A list of 4 to 12 findings is drawn for each scan from those that are labelled; for each place
    a coin says whether a finding that is there or one that is not is asked for, as long as there
    are both. Scans below a folder ``train_fixed`` are the train split, a tenth of their patients
    the validation split; all others are the test split.

    Args:
        folder: The folder.

    Raises:
        MissingDataError: If tables or files are not there.
        DamagedDataError: If a table cannot be read; nothing is loaded.
    """

    lasting = False

    def __init__(self, folder: Path | str) -> None:
        self.folder = str(folder)
        self.name = "ct-abnormality-folder"
        scans = read_folder(self.folder)
        self._scans = {
            split: tuple(scan for scan in scans if _split(scan) is split) for split in Split
        }

    def __reduce__(self) -> tuple[type[FolderGenerator], tuple[str]]:
        """Rebuild from the folder: what was read is not sent along."""
        return FolderGenerator, (self.folder,)

    def size(self, split: Split) -> int:
        """Return the number of scans of a split."""
        return len(self._scans[split])

    def draw(self, split: Split, index: int) -> CtInstance:
        """Return a scan as a task.

        Raises:
            DamagedDataError: If the file is no volume.
        """
        scan = self._scans[split][index]
        rng = task_rng(self.name, Split.TEST, stable_hash(scan.name) % 2**31)
        labels = _choose(scan.truth, rng)
        task = CtTask(
            TaskKey(self.name, split, index),
            f"findings-{len(labels)}",
            instruction(labels),
            {"difficulty": "real", "labels": list(labels)},
            labels=labels,
        )
        reference = CtReference({label: scan.truth[label] for label in labels})
        return Instance(task, reference, CtStart(NiftiVolume(scan.path), labels))


def _choose(truth: Mapping[str, bool], rng: np.random.Generator) -> tuple[str, ...]:
    known = [label for label in LABELS if label in truth]
    count = min(int(rng.integers(_COUNT[0], _COUNT[1] + 1)), len(known))
    piles = {
        side: [known[int(n)] for n in rng.permutation(len(known)) if truth[known[int(n)]] is side]
        for side in (True, False)
    }
    chosen = []
    for coin in rng.random(count) < 0.5:
        side = bool(coin) if piles[bool(coin)] else not coin
        chosen.append(piles[bool(side)].pop())
    return tuple(chosen)


def _split(scan: Scan) -> Split:
    if "train_fixed" not in scan.path.parts:
        return Split.TEST
    patient = "_".join(scan.name.split("_")[:2])
    return Split.VALIDATION if stable_hash(f"ct/{patient}") % 10 == 0 else Split.TRAIN
