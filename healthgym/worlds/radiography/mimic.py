"""Folders in the published layout of MIMIC-CXR and MIMIC-CXR-JPG, read and written.

::

    mimic-cxr-2.0.0-metadata.csv[.gz]    dicom_id, subject_id, study_id, ViewPosition, StudyDate
    files/p10/p10000001/s50000001.txt                    the report
    files/p10/p10000001/s50000001/<dicom_id>.jpg         the pictures (.jpeg and .png as well)

Reports may lie beside the folder of their study, in it, or under ``mimic-cxr-reports/``.
"""

from __future__ import annotations

import csv
import io
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path

import numpy as np

from healthgym.core.cache import BuildCache
from healthgym.core.files import marks_of, read_plain, read_whole
from healthgym.core.seeding import content_hash
from healthgym.errors import DamagedDataError, MissingDataError
from healthgym.worlds.imaging.raster import Image, load_image, save_image
from healthgym.worlds.radiography.archive import Radiographs, Study

ACCESS = (
    "A folder has mimic-cxr-2.0.0-metadata.csv, reports such as files/p10/p10000001/s50000001.txt "
    "and pictures such as files/p10/p10000001/s50000001/DICOM_ID.jpg. MIMIC-CXR (reports) and "
    "MIMIC-CXR-JPG (pictures) are at https://physionet.org/content/mimic-cxr-jpg/ for credentialed "
    "users."
)
METADATA = "mimic-cxr-2.0.0-metadata.csv"
_COLUMNS = ("dicom_id", "subject_id", "study_id", "ViewPosition", "StudyDate", "StudyTime")
#: Bytes of a report; the published ones have some thousand.
_MOST_REPORT = 1 << 20
_ENDINGS = (".jpg", ".jpeg", ".png")
_ID = re.compile(r"[\w.-]{1,100}")
_FILES: BuildCache[Image] = BuildCache.pooled()


@dataclass(frozen=True, slots=True)
class Picture:
    """A row of the metadata table."""

    dicom: str
    subject: str
    study: str
    view: str
    taken: datetime | None


class FolderRadiographs:
    """Radiographs in files, read when they are looked at.

    Args:
        studies: The studies.
        paths: The files of each study, in the order of its views.
    """

    def __init__(self, studies: Sequence[Study], paths: Sequence[Sequence[Path]]) -> None:
        self._studies = tuple(studies)
        self._paths = tuple(tuple(group) for group in paths)

    @property
    def studies(self) -> tuple[Study, ...]:
        """The studies, oldest first."""
        return self._studies

    def pixels(self, study: int, view: int) -> Image:
        """Return a picture in full size, colours made grey.

        Raises:
            MissingDataError: If its file is gone.
            DamagedDataError: If its file cannot be read.
        """
        path = self._paths[study][view]
        return _FILES.get(marks_of([path]), lambda: _grey(path))

    def content_hash(self) -> str:
        """Return a hex digest of reports and files, by name and size."""
        sizes = [[(p.name, p.stat().st_size) for p in group] for group in self._paths]
        return content_hash([repr(self._studies), sizes])


def _grey(path: Path) -> Image:
    try:
        image = load_image(path)
    except DamagedDataError as error:
        raise DamagedDataError(f"{error} {ACCESS}") from error
    except MissingDataError as error:
        raise MissingDataError(f"{error} {ACCESS}") from error
    if image.ndim == 3:
        # ITU-R BT.601, as pillow and most readers of radiographs do.
        weights = np.array([0.299, 0.587, 0.114], np.float32)
        image = np.rint(image.astype(np.float32) @ weights).astype(np.uint8)
    image.flags.writeable = False
    return image


class MimicFolder:
    """The patients of a folder.

    Args:
        root: The folder.

    Raises:
        MissingDataError: If the folder, its metadata table or its pictures are not there.
        DamagedDataError: If the table cannot be read.
    """

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root).resolve()
        self._subjects = _subjects(self.root, marks_of(_tables_in(self.root)))

    @property
    def subjects(self) -> tuple[str, ...]:
        """The patients, in their order."""
        return tuple(self._subjects)

    def radiographs(self, subject: str, count: int | None = None) -> FolderRadiographs:
        """Return a patient's studies in the order of their dates.

        Args:
            subject: The patient.
            count: How many studies to take, from the oldest; all if None.

        Raises:
            MissingDataError: If a picture that the table lists is not there.
        """
        pictures = self._subjects[subject]
        names = list(dict.fromkeys(picture.study for picture in pictures))[:count]
        studies, paths = [], []
        for name in names:
            group = [picture for picture in pictures if picture.study == name]
            # Views from the front first.
            group.sort(key=lambda p: (p.view.upper() not in ("PA", "AP"), p.dicom))
            folder = self.folder(subject, name)
            studies.append(
                Study(
                    f"s{name}",
                    group[0].taken,
                    tuple(picture.view.upper() or "UNKNOWN" for picture in group),
                    self.report(subject, name),
                )
            )
            paths.append([_find(folder, picture.dicom) for picture in group])
        return FolderRadiographs(studies, paths)

    def folder(self, subject: str, study: str) -> Path:
        """Return the folder of a study."""
        return self.root / "files" / f"p{subject[:2]}" / f"p{subject}" / f"s{study}"

    def report(self, subject: str, study: str) -> str:
        """Return the report of a study; empty if there is none.

        Raises:
            DamagedDataError: If it is no text.
        """
        folder = self.folder(subject, study)
        name = f"s{study}.txt"
        other = self.root / "mimic-cxr-reports" / folder.relative_to(self.root)
        for path in (folder.parent / name, folder / name, other.parent / name):
            if path.is_file():
                try:
                    return read_plain(path, _MOST_REPORT).decode("utf-8")
                except (OSError, UnicodeDecodeError) as error:
                    raise DamagedDataError(
                        f"{path} cannot be read as text: {error}. {ACCESS}"
                    ) from None
        return ""


@lru_cache(maxsize=4)
def _subjects(root: Path, marks: str) -> Mapping[str, list[Picture]]:
    """Return the pictures of the patients; ``marks`` are those of the tables."""
    if not root.is_dir():
        raise MissingDataError(f"There is no folder {root}. {ACCESS}")
    if not (root / "files").is_dir():
        raise MissingDataError(f"{root} has no folder 'files'. {ACCESS}")
    tables = _tables_in(root)
    if not tables:
        raise MissingDataError(f"{root} has no {METADATA}. {ACCESS}")
    found: dict[str, list[Picture]] = {}
    for picture in _rows(tables[0]):
        found.setdefault(picture.subject, []).append(picture)
    # Of the full data set often a part is at hand: patients without a folder are left out.
    here = {
        subject: sorted(group, key=lambda p: (p.taken or datetime.max, p.study))
        for subject, group in sorted(found.items())
        if (root / "files" / f"p{subject[:2]}" / f"p{subject}").is_dir()
    }
    if not here:
        raise MissingDataError(f"{root} has pictures of none of the patients listed. {ACCESS}")
    return here


def _tables_in(root: Path) -> list[Path]:
    return [root / name for name in (METADATA, f"{METADATA}.gz") if (root / name).is_file()]


def _rows(table: Path) -> Iterator[Picture]:
    try:
        text = read_whole(table).decode("utf-8")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise DamagedDataError(f"{table} cannot be read: {error}. {ACCESS}") from None
    reader = csv.DictReader(io.StringIO(text))
    missing = [name for name in _COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise DamagedDataError(f"{table} has no column {', '.join(missing)}. {ACCESS}")
    for row in reader:
        values = [str(row[name] or "").strip() for name in _COLUMNS]
        dicom, subject, study, view, day, time = values
        if not all(_ID.fullmatch(part) for part in (dicom, subject, study)):
            raise DamagedDataError(
                f"{table}, line {reader.line_num}: not a picture's identifiers. {ACCESS}"
            )
        yield Picture(dicom, subject, study, view, _time(day, time))


def _time(day: str, time: str) -> datetime | None:
    """Read DICOM's date (YYYYMMDD) and time (HHMMSS.frac; leading zeros are lost upstream)."""
    try:
        clock = f"{int(float(time or 0)):06d}"
        return datetime.strptime(f"{int(float(day)):08d}{clock}", "%Y%m%d%H%M%S")
    except (ValueError, OverflowError):
        return None


def _find(folder: Path, dicom: str) -> Path:
    for ending in _ENDINGS:
        if (folder / f"{dicom}{ending}").is_file():
            return folder / f"{dicom}{ending}"
    raise MissingDataError(f"There is no picture {folder / dicom}.jpg. {ACCESS}")


def write_folder(
    root: str | Path,
    radiographs: Radiographs,
    *,
    subject: str = "10000001",
    last_report: str = "",
    lossless: bool = True,
) -> Path:
    """Write radiographs and reports of one patient in the published layout.

    Args:
        root: The folder; made if need be. Patients already in it stay.
        radiographs: The studies.
        subject: Number of the patient.
        last_report: Report of the last study, which its radiographs do not hold.
        lossless: PNG instead of JPEG.

    Returns:
        The folder.

    Raises:
        MissingDependencyError: If pillow is not installed.
    """
    root = Path(root)
    home = root / "files" / f"p{subject[:2]}" / f"p{subject}"
    table = root / METADATA
    lines = [] if table.is_file() else [",".join((*_COLUMNS, "Rows", "Columns"))]
    last = len(radiographs.studies) - 1
    for number, study in enumerate(radiographs.studies):
        name = study.name.removeprefix("s")
        folder = home / f"s{name}"
        folder.mkdir(parents=True, exist_ok=True)
        report = last_report if number == last and last_report else study.report
        (home / f"s{name}.txt").write_text(report, encoding="utf-8")
        day = f"{study.taken:%Y%m%d}" if study.taken else ""
        time = f"{study.taken:%H%M%S}" if study.taken else ""
        for view, kind in enumerate(study.views):
            dicom = f"{name}-{view + 1:02d}"
            image = radiographs.pixels(number, view)
            if lossless:
                save_image(folder / f"{dicom}.png", image)
            else:
                save_image(folder / f"{dicom}.jpg", image, quality=95)
            size = f"{image.shape[0]},{image.shape[1]}"
            lines.append(f"{dicom},{subject},{name},{kind},{day},{time},{size}")
    with table.open("a", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return root


def without_report(radiographs: FolderRadiographs) -> FolderRadiographs:
    """Return the same radiographs with the last study's report left out."""
    studies = radiographs.studies
    kept = (*studies[:-1], replace(studies[-1], report=""))
    return FolderRadiographs(kept, radiographs._paths)
