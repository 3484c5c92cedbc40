"""A chart in columns: immutable, shared by many worlds, made into resources only when asked.

A parsed Observation costs several kilobytes as a dict and about fifty bytes as a row. Every table
is indexed by (patient, code), so a search by both costs in proportion to its hits.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from healthgym.core.borders import JsonObject
from healthgym.errors import DamagedDataError, MissingDataError
from healthgym.worlds.fhir.base import NO_KEY, Resource, Rows
from healthgym.worlds.fhir.documents import DocumentTable
from healthgym.worlds.fhir.layout import TABLES, ColumnTokens, FixedTokens, TableSpec
from healthgym.worlds.fhir.search.criteria import Criterion
from healthgym.worlds.fhir.search.dates import compare
from healthgym.worlds.fhir.search.table import Kind, Parameter
from healthgym.worlds.fhir.shapes import Address, PatientRow, patient_resource
from healthgym.worlds.fhir.tables import NO_ROWS, Column, Table, uploaded

#: Version of the folder format of :meth:`ColumnBase.save`.
FORMAT = 1

_MANIFEST = "chart.json"
_SPECS = {spec.name: spec for spec in TABLES}


class ColumnBase:
    """The chart of one or many patients, as :class:`~healthgym.worlds.fhir.base.Base`.

    Build one with :class:`~healthgym.worlds.fhir.charts.ChartBuilder`.

    Args:
        patients: The patients in upload order.
        strings: The strings that string columns point into; the first is "".
        columns: Columns by table name; a table that is left out is empty.
        indexes: Saved indexes by table name.
    """

    def __init__(
        self,
        patients: Sequence[PatientRow],
        strings: list[str],
        columns: Mapping[str, Mapping[str, Column]],
        indexes: Mapping[str, tuple[Rows, Rows]] | None = None,
    ) -> None:
        self.patients = tuple(patients)
        self.strings = strings
        self._mrns = [patient.mrn for patient in self.patients]
        self._patient_rows = {mrn: row for row, mrn in enumerate(self._mrns)}
        self._tables: dict[str, tuple[Table, ...]] = {}
        self._mapped: dict[str, tuple[tuple[str, int], ...]] = {}
        number = len(self.patients) + 1  # patients came first and took numbers too
        for name, spec in _SPECS.items():
            if name not in columns:
                continue
            index = (indexes or {}).get(name)
            table = Table(spec, columns[name], number, len(strings), index)
            number += table.size
            kind = spec.resource_type
            self._tables[kind] = (*self._tables.get(kind, ()), table)
        self._next_id = number

    @property
    def next_id(self) -> int:
        """The first integer id that is free."""
        return self._next_id

    @cached_property
    def _string_ids(self) -> dict[str, int]:
        return {text: number for number, text in enumerate(self.strings)}

    @cached_property
    def _patients(self) -> DocumentTable:
        rows = range(len(self.patients))
        return DocumentTable("Patient", [self.resource("Patient", row) for row in rows])

    def tables(self) -> tuple[Table, ...]:
        """Return the tables that are present, in id order."""
        return tuple(table for tables in self._tables.values() for table in tables)

    def resource_types(self) -> tuple[str, ...]:
        """Return the types that have at least one resource."""
        held = tuple(kind for kind in self._tables if self.size(kind))
        return ("Patient", *held) if self.patients else held

    def size(self, resource_type: str) -> int:
        """Return how many resources of the type there are."""
        if resource_type == "Patient":
            return len(self.patients)
        return sum(table.size for table in self._tables.get(resource_type, ()))

    def find(self, resource_type: str, resource_id: str) -> int | None:
        """Return the row of an id, or None."""
        if resource_type == "Patient":
            return self._patient_rows.get(resource_id)
        if not (resource_id.isascii() and resource_id.isdigit() and len(resource_id) < 19):
            return None
        offset = 0
        for table in self._tables.get(resource_type, ()):
            row = int(resource_id) - table.first_id
            if 0 <= row < table.size and str(int(resource_id)) == resource_id:
                return offset + row
            offset += table.size
        return None

    def id_of(self, resource_type: str, row: int) -> str:
        """Return the id of a row."""
        if resource_type == "Patient":
            return self._mrns[row]
        table, row = self._locate(resource_type, row)
        return str(table.first_id + row)

    def resource(self, resource_type: str, row: int) -> Resource:
        """Return a newly built resource."""
        if resource_type == "Patient":
            head = uploaded("Patient", self._mrns[row], row + 1)
            return patient_resource(head, self.patients[row])
        self._require_whole(resource_type)
        table, row = self._locate(resource_type, row)
        return table.build(row, self.strings, self._mrns)

    def _require_whole(self, resource_type: str) -> None:
        """Return if the files that a type's columns are mapped from still hold them.

        Of a map that lost its end, reading kills the process. A file that was replaced is mapped
        as it was.

        Raises:
            DamagedDataError: If one was cut short.
        """
        for path, size in self._mapped.get(resource_type, ()):
            try:
                held = os.stat(path).st_size
            except OSError:
                continue
            if held < size:
                raise DamagedDataError(
                    f"{path} was cut short: it had {size:,} bytes, now {held:,}."
                )

    def _locate(self, resource_type: str, row: int) -> tuple[Table, int]:
        for table in self._tables.get(resource_type, ()):
            if row < table.size:
                return table, row
            row -= table.size
        raise IndexError(f"{resource_type} has no row {row}")

    def narrow(
        self, resource_type: str, criteria: Sequence[Criterion], now: int
    ) -> tuple[Rows, tuple[Criterion, ...]]:
        """Return candidate rows and the criteria to check on each; see ``Base``."""
        if resource_type == "Patient":
            return self._patients.narrow(criteria, now)
        self._require_whole(resource_type)
        tables = self._tables.get(resource_type, ())
        found = []
        left: dict[int, Criterion] = {}
        offset = 0
        for table in tables:
            rows, unchecked = self._select(table, criteria, now)
            if len(rows):
                found.append(rows + offset if offset else rows)
                left |= {id(criterion): criterion for criterion in unchecked}
            offset += table.size
        if not found:
            return NO_ROWS, ()
        rows = found[0] if len(found) == 1 else np.concatenate(found)
        return rows, tuple(left.values())

    def _select(
        self, table: Table, criteria: Sequence[Criterion], now: int
    ) -> tuple[Rows, list[Criterion]]:
        spec = table.spec
        patients: list[int] | None = None
        codes: list[int] | None = None
        filters: list[Criterion] = []
        for criterion in criteria:
            name = criterion.parameter.name
            fact = spec.tokens.get(name)
            if isinstance(fact, FixedTokens):
                if not criterion.matches(fact.tokens, now):
                    return NO_ROWS, []
            elif name in ("patient", "subject") and criterion.modifier in ("", "Patient"):
                if patients is None:
                    patients = self._asked_patients(criterion)
                else:
                    patients = [p for p in self._asked_patients(criterion) if p in patients]
            elif isinstance(fact, ColumnTokens):
                if fact.column == "code" and not criterion.modifier and codes is None:
                    codes = self._asked_codes(criterion, fact, now)
                    if not fact.decides(criterion):
                        filters.append(criterion)
                else:
                    filters.append(criterion)
            elif self._has_values(spec, name):
                filters.append(criterion)
            elif not criterion.matches((), now):
                return NO_ROWS, []
        if patients == [] or codes == []:
            return NO_ROWS, []
        return self._filter(table, table.lookup(patients, codes), filters, now)

    @staticmethod
    def _has_values(spec: TableSpec, name: str) -> bool:
        return (
            name in spec.dates
            or name in spec.others
            or name in ("_id", "_lastUpdated", "_source", "patient", "subject")
        )

    def _asked_patients(self, criterion: Criterion) -> list[int]:
        ids = {a.id for a in criterion.asked if a.type in (None, "Patient")}
        return sorted(self._patient_rows[key] for key in ids if key in self._patient_rows)

    def _asked_codes(self, criterion: Criterion, fact: ColumnTokens, now: int) -> list[int]:
        found = set()
        for asked in criterion.asked:
            if asked.code is None:  # "system|" asks for every code of a system
                texts: Sequence[str] = self.strings
            else:
                texts = (asked.code,)
            for text in texts:
                number = self._string_ids.get(text)
                if number is not None and criterion.matches(fact.tokens(text), now):
                    found.add(number)
        return sorted(found)

    def _filter(
        self, table: Table, rows: Rows, criteria: Sequence[Criterion], now: int
    ) -> tuple[Rows, list[Criterion]]:
        left = []
        for criterion in criteria:
            if not len(rows):
                break
            mask = self._mask(table, rows, criterion, now)
            if mask is None:
                left.append(criterion)
            else:
                rows = rows[mask]
        return rows, left

    def _mask(
        self, table: Table, rows: Rows, criterion: Criterion, now: int
    ) -> NDArray[np.bool_] | None:
        """Return which rows meet a criterion, or None if only the resource can tell."""
        name = criterion.parameter.name
        fact = table.spec.tokens.get(name)
        if isinstance(fact, ColumnTokens) and fact.decides(criterion):
            values, inverse = np.unique(table.array(fact.column)[rows], return_inverse=True)
            texts = (self.strings[value] for value in values)
            met = [criterion.matches(fact.tokens(text), now) for text in texts]
            return np.asarray(met, dtype=bool)[inverse]
        if name == "_id" and not criterion.modifier:
            found = (self.find(table.spec.resource_type, a.code or "") for a in criterion.asked)
            ids = [
                int(self.id_of(table.spec.resource_type, row)) for row in found if row is not None
            ]
            return np.isin(rows + table.first_id, ids)
        if criterion.parameter.kind is not Kind.DATE or criterion.modifier:
            return None
        bounds = table.bounds(name, rows)
        if bounds is None:
            return None
        low, high = bounds
        mask = np.zeros(len(rows), dtype=bool)
        for asked in criterion.asked:
            mask |= compare(asked.prefix, low, high, asked.interval, now)
        known: NDArray[np.bool_] = mask & (low != NO_KEY)
        return known

    def sort_keys(self, resource_type: str, parameter: Parameter, rows: Rows) -> Rows | None:
        """Return microseconds for date parameters, None for all others; see ``Base``."""
        if resource_type == "Patient" or parameter.kind is not Kind.DATE:
            return None
        keys = np.full(len(rows), NO_KEY, dtype=np.int64)
        offset = 0
        for table in self._tables.get(resource_type, ()):
            mine = (rows >= offset) & (rows < offset + table.size)
            bounds = table.bounds(parameter.name, rows[mine] - offset)
            if bounds is not None:
                keys[mine] = bounds[0]
            offset += table.size
        return keys

    def save(self, path: Path | str) -> None:
        """Write the chart to a folder: one ``.npy`` file a column, the rest in ``chart.json``."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        for table in self.tables():
            order, keys = table.index
            arrays = {name: table.array(name) for name in table.spec.columns}
            for name, array in (arrays | {"index_order": order, "index_keys": keys}).items():
                np.save(folder / f"{table.spec.name}.{name}.npy", array)
        manifest = {
            "format": FORMAT,
            "tables": {table.spec.name: table.size for table in self.tables()},
            "patients": [
                {**asdict(row), "birth_date": row.birth_date.isoformat()} for row in self.patients
            ],
            "strings": self.strings,
        }
        (folder / _MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")

    @classmethod
    def load(cls, path: Path | str, *, mmap: bool = True) -> Self:
        """Read a chart that :meth:`save` wrote.

        Args:
            path: The folder.
            mmap: Map the columns into memory instead of reading them, so that processes share
                them and only the pages that searches touch are loaded.

        Raises:
            MissingDataError: If the folder or one of its files does not exist.
            DamagedDataError: If a file is not what the manifest says.
        """
        folder = Path(path)
        manifest_path = folder / _MANIFEST
        if not manifest_path.is_file():
            raise MissingDataError(
                f"{manifest_path} does not exist; expected a chart folder written by "
                "ColumnBase.save."
            )
        try:
            manifest = json.loads(manifest_path.read_text(encoding="utf-8"))
            if manifest["format"] != FORMAT:
                raise DamagedDataError(
                    f"{manifest_path} has format {manifest['format']!r}; expected {FORMAT}."
                )
            patients = [_patient_row(row) for row in manifest["patients"]]
            strings: list[str] = manifest["strings"]
            sizes = [(_SPECS[name], int(size)) for name, size in manifest["tables"].items()]
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, DamagedDataError):
                raise
            raise DamagedDataError(f"{manifest_path} is not a chart manifest: {error!r}") from error
        columns: dict[str, dict[str, Column]] = {}
        indexes = {}
        for spec, size in sizes:
            columns[spec.name] = {
                name: _load_column(folder, spec, name, dtype, size, mmap)
                for name, dtype in spec.columns.items()
            }
            indexes[spec.name] = (
                _load_column(folder, spec, "index_order", "i8", size, mmap),
                _load_column(folder, spec, "index_keys", "i8", size, mmap),
            )
        chart = cls(patients, strings, columns, indexes)
        if mmap:
            chart._watch(folder)
        return chart

    def _watch(self, folder: Path) -> None:
        """Remember how long the files are that the columns are mapped from."""
        for kind, tables in self._tables.items():
            files = [path for table in tables for path in folder.glob(f"{table.spec.name}.*.npy")]
            self._mapped[kind] = tuple((str(path), path.stat().st_size) for path in sorted(files))


def _load_column(
    folder: Path, spec: TableSpec, name: str, dtype: str, size: int, mmap: bool
) -> NDArray[Any]:
    path = folder / f"{spec.name}.{name}.npy"
    if not path.is_file():
        raise MissingDataError(f"{path} does not exist; the chart in {folder} is incomplete.")
    try:
        array: NDArray[Any] = np.load(path, mmap_mode="r" if mmap else None, allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise DamagedDataError(f"{path} is not a NumPy array file: {error}") from error
    if array.shape != (size,) or array.dtype != np.dtype(dtype):
        raise DamagedDataError(
            f"{path} holds {array.dtype} of shape {array.shape}; expected {dtype} of ({size},)."
        )
    return array


def _patient_row(row: JsonObject) -> PatientRow:
    address = row["address"]
    return PatientRow(
        **{
            **row,
            "birth_date": date.fromisoformat(row["birth_date"]),
            "address": None if address is None else Address(**address),
        }
    )
