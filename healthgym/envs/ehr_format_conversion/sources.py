"""Where raw tables come from: drawn for the task, or a folder of MIMIC-IV."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np

from healthgym.core.files import marks_of, read_plain, require_file
from healthgym.core.seeding import Split
from healthgym.errors import DamagedDataError, MissingDataError
from healthgym.worlds.etl.hospital import draw_hospital, table_paths
from healthgym.worlds.etl.tables import RawTables, prefix_of

_ACCESS = (
    "The MIMIC-IV clinical database demo is public (PhysioNet, doi 10.13026/dp1f-ex47, ODbL); the "
    "full MIMIC-IV needs a PhysioNet account. The folder holds hosp/ and icu/ with their CSV "
    "files, compressed or not."
)
#: Of a folder, these must be there; other tables are used where they are.
REQUIRED = ("hosp/patients", "hosp/admissions", "hosp/labevents", "hosp/omr")
_SPLIT_PLACE = {Split.TRAIN: 0, Split.VALIDATION: 1, Split.TEST: 2}


class TableSource(Protocol):
    """Where raw tables come from."""

    @property
    def name(self) -> str:
        """A short name, which becomes part of the family's."""

    def draw(self, split: Split, rng: np.random.Generator, wanted: Collection[str]) -> RawTables:
        """Return the raw tables of a task; those not wanted may be left out."""


class SyntheticTables:
    """A small hospital for every task; no patient is in two splits.

    Args:
        subjects: Fewest and most patients.
        busy: How much happens to them.
    """

    name = ""

    def __init__(self, subjects: tuple[int, int], busy: float) -> None:
        self._subjects = subjects
        self._busy = busy

    def draw(self, split: Split, rng: np.random.Generator, wanted: Collection[str]) -> RawTables:
        """Return tables that are drawn when the first of them is read."""
        low, high = self._subjects
        count = int(rng.integers(low, high + 1))
        places = np.sort(rng.choice(3_000_000, size=count, replace=False))
        subjects = tuple(int(10_000_000 + 3 * p + _SPLIT_PLACE[split]) for p in places)
        seed = int(rng.integers(2**62))
        paths = tuple(path for path in table_paths() if prefix_of(path) in wanted)
        return RawTables(_DrawnFiles(seed, subjects, self._busy, paths), f"synthetic-{seed}")


class _DrawnFiles(Mapping[str, bytes]):
    """Files of a hospital that exist once they are asked for: a reset needs only their names."""

    def __init__(
        self, seed: int, subjects: tuple[int, ...], busy: float, paths: tuple[str, ...]
    ) -> None:
        self._seed, self._subjects, self._busy = seed, subjects, busy
        self._paths = dict.fromkeys(paths)
        self._drawn: dict[str, bytes] = {}

    def __getitem__(self, path: str) -> bytes:
        if path not in self._paths:
            raise KeyError(path)
        if not self._drawn:
            rng = np.random.Generator(np.random.PCG64(self._seed))
            drawn = draw_hospital(rng, self._subjects, busy=self._busy)
            self._drawn = {name: drawn[name] for name in self._paths}
        return self._drawn[path]

    def __contains__(self, path: object) -> bool:
        return path in self._paths

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


class FolderTables:
    """The tables of a MIMIC-IV folder, the same for every task and shared between environments.

    Args:
        folder: The folder with ``hosp/`` and ``icu/``.

    Raises:
        MissingDataError: If the folder or one of the tables that are needed is not there.
        DamagedDataError: If a table that is needed cannot be read.
    """

    name = "mimic"

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder).resolve()
        self._tables = _folder_tables(self._folder, marks_of(_tables_in(self._folder).values()))

    def __reduce__(self) -> tuple[type[FolderTables], tuple[Path]]:
        """Pickle the folder's name, not its tables."""
        return FolderTables, (self._folder,)

    def draw(self, split: Split, rng: np.random.Generator, wanted: Collection[str]) -> RawTables:
        """Return all tables of the folder."""
        return self._tables


@lru_cache(maxsize=2)
def _folder_tables(folder: Path, marks: str) -> RawTables:
    """Return the tables of a folder; ``marks`` are those of its files."""
    if not folder.is_dir():
        raise MissingDataError(f"There is no folder {folder}. {_ACCESS}")
    files = _tables_in(folder)
    by_table = {prefix_of(name): path for name, path in files.items()}
    missing = [f"{table}.csv.gz" for table in REQUIRED if table not in by_table]
    if missing:
        raise MissingDataError(f"{folder} has no {', '.join(missing)}. {_ACCESS}")
    for table in REQUIRED:
        _check_header(by_table[table])
    # Names and sizes: the same data set has the same key wherever it lies.
    sizes = "".join(f"{name}:{path.stat().st_size}\n" for name, path in files.items())
    key = hashlib.sha256(sizes.encode()).hexdigest()[:16]
    return RawTables(_FolderFiles(files), f"folder-{key}")


def _tables_in(folder: Path) -> dict[str, Path]:
    """Return the files of tables by name, pipes and the like left out."""
    return {
        str(path.relative_to(folder)): path
        for place in (folder, folder / "hosp", folder / "icu")
        for path in sorted(place.glob("*.csv*"))
        if path.name.endswith((".csv", ".csv.gz")) and path.is_file()
    }


def _check_header(path: Path) -> None:
    """Read the first line only: tables of the full data set have gigabytes."""
    try:
        require_file(path)
        with gzip.open(path) if path.name.endswith(".gz") else path.open("rb") as file:
            header = file.readline(10_000)
    except (OSError, EOFError, zlib.error) as error:
        raise DamagedDataError(f"{path} cannot be read: {error}. {_ACCESS}") from None
    if b"subject_id" not in header:
        raise DamagedDataError(f"{path} has no column subject_id. {_ACCESS}")


class _FolderFiles(Mapping[str, bytes]):
    """Files of a folder, read when asked for."""

    def __init__(self, paths: Mapping[str, Path]) -> None:
        self._files = dict(paths)

    def __getitem__(self, path: str) -> bytes:
        return read_plain(self._files[path])

    def __contains__(self, path: object) -> bool:
        return path in self._files

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)
