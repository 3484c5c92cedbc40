"""Real cohorts from a folder: EHRSHOT as published, and any MEDS data set.

A folder is read whole or not at all: what is missing or damaged gives one error that names the
file, the data set and how to get it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from healthgym.core.seeding import stable_hash
from healthgym.envs.ehr_event_modelling.cohort import Cohort
from healthgym.envs.ehr_event_modelling.columns import (
    decimals,
    minutes,
    patient_ids,
    raw_events,
    read_csv,
    times,
    whole_numbers,
)
from healthgym.envs.ehr_event_modelling.labels import Rows
from healthgym.envs.ehr_event_modelling.task import Target
from healthgym.envs.ehr_event_modelling.timeline import (
    NO_TIME,
    EventKind,
    Ints,
    Mask,
    Timeline,
    assemble,
)
from healthgym.envs.ehr_event_modelling.vocabulary import vocabulary
from healthgym.errors import DamagedDataError, DataError, MissingDataError
from healthgym.worlds.workspace.optional import require

if TYPE_CHECKING:
    import pyarrow as pa

_EHRSHOT = (
    "EHRSHOT is given out by Stanford through Redivis under a data use agreement "
    "(https://ehrshot.stanford.edu); unpack it so that the folder holds data/, benchmark/ and "
    "splits/."
)
_MEDS = (
    "A MEDS data set is a folder with parquet files of subject_id, time, code and numeric_value "
    "(https://medical-event-data-standard.github.io)."
)
_EVENT_COLUMNS = ("patient_id", "start", "end", "code", "value", "unit", "visit_id", "omop_table")
_MEDS_COLUMNS = ("subject_id", "time", "code", "numeric_value", "unit")
_PARTS = {"train": 0, "val": 1, "validation": 1, "tuning": 1, "test": 2, "held_out": 2}
_ICD = re.compile(r"ICD(?:-?(9|10)(?:CM)?)?/+(?:(9|10)(?:CM)?/+)?([A-Z0-9.]+)", re.IGNORECASE)
_DISCHARGE = "HOSPITAL_DISCHARGE"


@dataclass(frozen=True, eq=False)
class RealCohort:
    """A cohort of real records.

    Attributes:
        name: Name of the data set.
        cohort: The records, and the part each patient belongs to.
        outcomes: Codes of each target that occur in the records.
        rows: Labelled rows where the data set brings them; the label rule makes them otherwise.
    """

    name: str
    cohort: Cohort
    outcomes: Mapping[Target, tuple[str, ...]]
    rows: Mapping[Target, Rows] = field(default_factory=dict)


def read_source(folder: str | Path) -> RealCohort:
    """Read a folder, whichever of the two it is.

    Raises:
        DataError: If it is missing, incomplete or damaged.
    """
    root = Path(folder)
    if not root.is_dir():
        raise MissingDataError(f"There is no folder {root}. {_EHRSHOT} {_MEDS}")
    if (root / "EHRSHOT_ASSETS").is_dir():  # where EHRSHOT's own instructions unpack it
        root = root / "EHRSHOT_ASSETS"
    if (root / "benchmark").is_dir() or (root / "splits").is_dir():
        return read_ehrshot(root)
    return read_meds(root)


# -- EHRSHOT ---------------------------------------------------------------------------------------


def read_ehrshot(root: Path) -> RealCohort:
    """Read an EHRSHOT folder.

    Raises:
        DataError: If a file is missing or damaged.
    """
    split_file = root / "splits" / "person_id_map.csv"
    label_files = {t: root / "benchmark" / str(t) / "labeled_patients.csv" for t in Target}
    event_files = sorted((root / "data").glob("*.csv"))
    missing = [str(path) for path in (split_file, *label_files.values()) if not path.is_file()]
    if not event_files:
        missing.append(str(root / "data" / "*.csv"))
    if missing:
        raise MissingDataError(f"EHRSHOT lacks {', '.join(missing)}. {_EHRSHOT}")
    ids, part = _ehrshot_parts(split_file)
    timeline = _ehrshot_timeline(root, event_files, ids)
    rows = {target: _labels(path, ids) for target, path in label_files.items()}
    outcomes = {target: (vocabulary().targets[target].code,) for target in Target}
    return RealCohort("EHRSHOT", Cohort(timeline, part, named=False), outcomes, rows)


def _ehrshot_parts(path: Path) -> tuple[Ints, NDArray[np.int8]]:
    """Return the patients of the split file, ascending, and the part of each."""
    splits = read_csv(path, ("omop_person_id", "split"), {"split": "string"}, _EHRSHOT)
    ids = patient_ids(splits.column("omop_person_id"), path, _EHRSHOT)
    order = np.argsort(ids, kind="stable")
    names = splits.column("split").to_pylist()
    ids = ids[order]
    if len(np.unique(ids)) < len(ids):
        raise DamagedDataError(f"{path} lists a patient twice. {_EHRSHOT}")
    return ids, np.array([_part(names[i], path) for i in order], dtype=np.int8)


def _ehrshot_timeline(root: Path, paths: Sequence[Path], ids: Ints) -> Timeline:
    """Return the records of the patients; events of others are left out."""
    texts = ("start", "end", "code", "value", "unit", "visit_id", "omop_table")
    types = dict.fromkeys(texts, "string")
    tables = [read_csv(path, _EVENT_COLUMNS, types, _EHRSHOT) for path in paths]
    events = require("pyarrow").concat_tables(tables)
    where = paths[0] if len(paths) == 1 else root / "data"
    place, known = _places(ids, patient_ids(events.column("patient_id"), where, _EHRSHOT))
    raw, kinds = raw_events(
        place,
        times(events.column("start"), where, _EHRSHOT),
        times(events.column("end"), where, _EHRSHOT),
        [events.column(name) for name in ("code", "omop_table", "unit")],
        decimals(events.column("value")),
        whole_numbers(events.column("visit_id")),
        known,
        where,
    )
    return assemble(ids, raw, kinds)


def _places(ids: Ints, patient: Ints) -> tuple[Ints, Mask]:
    """Return where each patient is among ascending ids, and whether it is there at all."""
    place = np.searchsorted(ids, patient).astype(np.int64)
    return place, (place < len(ids)) & (ids[np.minimum(place, len(ids) - 1)] == patient)


def _labels(path: Path, ids: Ints) -> Rows:
    columns = ("patient_id", "prediction_time", "value")
    table = read_csv(path, columns, {"prediction_time": "string", "value": "string"}, _EHRSHOT)
    patient = patient_ids(table.column("patient_id"), path, _EHRSHOT)
    time = times(table.column("prediction_time"), path, _EHRSHOT)
    values = [str(value).strip().lower() for value in table.column("value").to_pylist()]
    if set(values) - {"true", "false", "1", "0"} or (time == NO_TIME).any():
        raise DamagedDataError(f"{path} holds rows without a time or a true/false label.")
    place, known = _places(ids, patient)
    if not known.all():
        raise DamagedDataError(f"{path} names patients that are not in splits/person_id_map.csv.")
    label = np.array([value in ("true", "1") for value in values], dtype=np.bool_)
    order = np.lexsort((time, place))
    return Rows(place[order], time[order], label[order])


# -- MEDS ------------------------------------------------------------------------------------------


def read_meds(root: Path) -> RealCohort:
    """Read a MEDS folder.

    Raises:
        DataError: If there is no event file, or one is damaged.
    """
    events, origin = _meds_events(root)
    subject = events.column("subject_id").to_numpy()
    ids, place = np.unique(subject, return_inverse=True)
    start = _static_at_first(minutes(events.column("time").to_numpy()), place, len(ids))
    blank = require("pyarrow").nulls(len(subject), require("pyarrow").string())
    words = [events.column("code"), blank, events.column("unit")]
    value = events.column("numeric_value").to_numpy()
    visit = events.column("visit").to_numpy()
    ends = np.full(len(subject), NO_TIME)
    raw, kinds = raw_events(place, start, ends, words, value, visit, start != NO_TIME, root)
    timeline = assemble(ids, raw, kinds)
    leaving = np.array([kind.code.startswith(_DISCHARGE) for kind in kinds], dtype=np.bool_)
    chosen = leaving[timeline.kind]
    if not chosen.any():
        raise DataError(f"{root} has no {_DISCHARGE} events, from which predictions are made.")
    discharged = timeline.patient[chosen].astype(np.int64), timeline.start[chosen]
    part = _meds_parts(root, ids, place, origin)
    outcomes = {target: _matching(kinds, target) for target in Target}
    return RealCohort("MEDS", Cohort(timeline, part, named=False, ends=discharged), outcomes)


def _meds_events(root: Path) -> tuple[pa.Table, Ints]:
    """Return the events of all shards in one schema, and the part of each one's folder or -1."""
    parquet = require("pyarrow.parquet")
    tables, origin = [], []
    for path in sorted(root.rglob("*.parquet")):
        try:
            names = parquet.read_schema(path).names
            if not {"subject_id", "time", "code"} <= set(names):
                continue
            wanted = [name for name in (*_MEDS_COLUMNS, "hadm_id") if name in names]
            table = parquet.read_table(path, columns=wanted)
        except (OSError, ValueError) as error:
            raise DamagedDataError(f"{path} is not a readable parquet file. {_MEDS}") from error
        tables.append(_meds_table(table, path))
        parts = [word for word in (*path.relative_to(root).parts[:-1], path.stem) if word in _PARTS]
        origin.append(np.full(tables[-1].num_rows, _PARTS[parts[0]] if parts else -1))
    if not sum(table.num_rows for table in tables):
        raise MissingDataError(f"{root} holds no events. {_MEDS}")
    return require("pyarrow").concat_tables(tables), np.concatenate(origin)


def _meds_table(table: pa.Table, path: Path) -> pa.Table:
    """Return a shard with all the columns we read; shards may differ in types and columns."""
    pa = require("pyarrow")
    time = table.column("time").type
    if not any(fits(time) for fits in (pa.types.is_timestamp, pa.types.is_date, pa.types.is_null)):
        raise DamagedDataError(f"In {path}, time is {time}, not a timestamp. {_MEDS}")
    patient_ids(table.column("subject_id"), path, _MEDS)
    types = (pa.int64(), pa.timestamp("s"), pa.string(), pa.float64(), pa.string())
    columns = {}
    for name, kind in zip(_MEDS_COLUMNS, types, strict=True):
        there = name in table.column_names
        column = table.column(name) if there else pa.nulls(table.num_rows, kind)
        try:
            columns[name] = column.cast(kind, safe=name != "time")
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            problem = f"{name} is {column.type}, not {kind}"
            raise DamagedDataError(f"In {path}, {problem}. {_MEDS}") from error
    visit = np.zeros(table.num_rows, dtype=np.int64)
    columns["visit"] = (
        whole_numbers(table.column("hadm_id")) if "hadm_id" in table.column_names else visit
    )
    return pa.table(columns)


def _meds_parts(root: Path, ids: Ints, place: Ints, origin: Ints) -> NDArray[np.int8]:
    """Return each subject's part: by the split file, by folder, or else by a hash of its id."""
    part = np.full(len(ids), -1, dtype=np.int64)
    part[place] = origin
    path = root / "metadata" / "subject_splits.parquet"
    if path.is_file():
        table = require("pyarrow.parquet").read_table(path)
        if not {"subject_id", "split"} <= set(table.column_names):
            raise DamagedDataError(f"{path} lacks subject_id or split. {_MEDS}")
        named = dict(
            zip(
                table.column("subject_id").to_pylist(),
                table.column("split").to_pylist(),
                strict=True,
            )
        )
        part = np.array([_part(named.get(i, "train"), path) for i in ids.tolist()])
    if len(set(part.tolist())) < 3 or (part < 0).any():
        # A sample of one split, or none at all: half train, a fifth validation, the rest test.
        drawn = [stable_hash(f"meds-{number}") % 10 for number in ids.tolist()]
        part = np.select([np.less(drawn, 5), np.less(drawn, 7)], [0, 1], 2)
    return part.astype(np.int8)


def _matching(kinds: Sequence[EventKind], target: Target) -> tuple[str, ...]:
    """Return the codes that are a target: its SNOMED code, or the ICD codes of the same disease."""
    snomed = vocabulary().targets[target].code
    table = json.loads(
        files("healthgym.envs.ehr_event_modelling")
        .joinpath("data/diagnoses.json")
        .read_text("utf-8")
    )[target]
    found = set()
    for kind in kinds:
        if kind.code.replace("//", "/") == snomed:
            found.add(kind.code)
        match = _ICD.search(kind.code)
        if match:
            version, code = match[1] or match[2], match[3].upper().replace(".", "")
            if version in table and code.startswith(tuple(table[version])):
                found.add(kind.code)
    return tuple(sorted(found))


def _static_at_first(start: Ints, place: Ints, subjects: int) -> Ints:
    """Give facts without a time the time of the subject's first event."""
    timed = start != NO_TIME
    first = np.full(subjects, np.iinfo(np.int64).max)
    np.minimum.at(first, place[timed], start[timed])
    filled = np.where(timed, start, first[place])
    return np.where(filled == np.iinfo(np.int64).max, NO_TIME, filled)


def _part(name: object, where: Path) -> int:
    if name not in _PARTS:
        raise DamagedDataError(f"{where} names a part {name!r}; parts are train, val and test.")
    return _PARTS[name]
