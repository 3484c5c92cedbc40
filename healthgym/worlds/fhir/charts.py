"""Writing a chart row by row, or patient by patient in bulk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from healthgym.errors import ConfigurationError
from healthgym.worlds.fhir.columns import ColumnBase
from healthgym.worlds.fhir.layout import TABLES, TableSpec
from healthgym.worlds.fhir.shapes import NO_TIME, Address, PatientRow
from healthgym.worlds.fhir.tables import Column

Moment = int | datetime

#: A lab whose time of release is not given was released this long after collection.
DEFAULT_TURNAROUND_S = 3600
_NAN = float("nan")


@dataclass(slots=True)
class _Pending:
    """Rows of one table: single ones as tuples, bulk ones as one tuple of columns a chunk."""

    rows: list[tuple[Any, ...]] = field(default_factory=list)
    chunks: list[tuple[int, tuple[Any, ...]]] = field(default_factory=list)


class ChartBuilder:
    """Collects the rows of a chart; :meth:`build` makes the immutable base.

    Times are integer seconds since 1970 (UTC) or timezone-aware datetimes. A patient may be
    described before or after the rows that mention the MRN, but must be by the time of building.
    """

    def __init__(self) -> None:
        self._patients: dict[str, PatientRow] = {}
        self._numbers: dict[str, int] = {}
        self._strings: dict[str, int] = {"": 0}
        self._tables = {spec.name: _Pending() for spec in TABLES}

    def patient(
        self,
        *,
        mrn: str,
        family: str,
        given: str,
        gender: str,
        birth_date: date,
        phone: str = "",
        address: Address | None = None,
        race: str | None = None,
        ethnicity: str | None = None,
    ) -> None:
        """Describe a patient; the MRN becomes the resource id.

        Raises:
            ConfigurationError: If the MRN was described before.
        """
        if mrn in self._patients:
            raise ConfigurationError(f"The patient {mrn} is described twice.")
        self._number(mrn)
        self._patients[mrn] = PatientRow(
            mrn, family, given, gender, birth_date, phone, address, race, ethnicity
        )

    def lab(
        self,
        mrn: str,
        code: str,
        effective: Moment,
        value: float,
        unit: str,
        *,
        issued: Moment | None = None,
        interpretation: str | None = None,
    ) -> None:
        """Add a laboratory Observation.

        Args:
            mrn: The patient.
            code: Base name, such as ``MG``; it is also the display and the text.
            effective: Time of collection.
            value: Result in ``unit``.
            unit: Unit as printed, such as ``mg/dL``.
            issued: Time of release; an hour after collection if None.
            interpretation: Code such as ``HIGH``, ``LOW`` or ``(NONE)``; absent if None.
        """
        when = _seconds(effective)
        self._tables["lab"].rows.append(
            (
                self._number(mrn),
                self._string(code),
                when,
                float(value),
                self._string(unit),
                when + DEFAULT_TURNAROUND_S if issued is None else _seconds(issued),
                self._string(interpretation or ""),
            )
        )

    def labs(
        self,
        mrn: str,
        code: str,
        effective: NDArray[np.integer],
        values: NDArray[np.floating],
        unit: str,
        *,
        issued: NDArray[np.integer] | None = None,
        interpretations: Sequence[str | None] | None = None,
    ) -> None:
        """Add many results of one lab: arrays of shape ``(n,)``, seconds and ``unit``."""
        count = len(effective)
        times = np.asarray(effective, dtype=np.int64)
        released = times + DEFAULT_TURNAROUND_S if issued is None else np.asarray(issued, np.int64)
        flags: Any = 0
        if interpretations is not None:
            flags = np.array([self._string(text or "") for text in interpretations], np.int32)
        self._chunk(
            "lab",
            count,
            (
                self._number(mrn),
                self._string(code),
                times,
                np.asarray(values, dtype=np.float64),
                self._string(unit),
                released,
                flags,
            ),
        )

    def vital(self, mrn: str, name: str, effective: Moment, value: str) -> None:
        """Add a flowsheet vital such as ``BP`` with a text value such as ``118/77``."""
        self._tables["vital"].rows.append(
            (self._number(mrn), self._string(name), _seconds(effective), self._string(value))
        )

    def vitals(
        self, mrn: str, name: str, effective: NDArray[np.integer], values: Sequence[str]
    ) -> None:
        """Add many readings of one vital: seconds of shape ``(n,)`` and n texts."""
        texts = np.array([self._string(value) for value in values], dtype=np.int32)
        times = np.asarray(effective, dtype=np.int64)
        self._chunk("vital", len(times), (self._number(mrn), self._string(name), times, texts))

    def condition(self, mrn: str, code: str, display: str, onset: Moment) -> None:
        """Add a Condition with an ICD-10 code; it was recorded at its onset."""
        self._tables["condition"].rows.append(
            (self._number(mrn), self._string(code), self._string(display), _seconds(onset))
        )

    def medication_request(
        self,
        mrn: str,
        text: str,
        authored: Moment,
        *,
        timing: str = "",
        route: str = "",
        dose: float | None = None,
        dose_unit: str = "",
        status: str = "active",
    ) -> None:
        """Add an order for a drug, known by its formulary text only."""
        self._tables["medication_request"].rows.append(
            (
                self._number(mrn),
                self._string(text),
                _seconds(authored),
                self._string(timing),
                self._string(route),
                _NAN if dose is None else float(dose),
                self._string(dose_unit),
                self._string(status),
            )
        )

    def procedure(
        self,
        mrn: str,
        code: str,
        display: str,
        performed: Moment,
        *,
        performed_end: Moment | None = None,
    ) -> None:
        """Add a Procedure at a time, or over a period if its end is given."""
        self._tables["procedure"].rows.append(
            (
                self._number(mrn),
                self._string(code),
                self._string(display),
                _seconds(performed),
                NO_TIME if performed_end is None else _seconds(performed_end),
            )
        )

    def service_request(
        self,
        mrn: str,
        system: str,
        code: str,
        display: str,
        authored: Moment,
        *,
        status: str = "active",
        intent: str = "order",
        priority: str = "routine",
        occurrence: Moment | None = None,
        note: str = "",
    ) -> None:
        """Add an order for a service, such as a referral or a test."""
        self._tables["service_request"].rows.append(
            (
                self._number(mrn),
                self._string(code),
                self._string(system),
                self._string(display),
                _seconds(authored),
                self._string(status),
                self._string(intent),
                self._string(priority),
                NO_TIME if occurrence is None else _seconds(occurrence),
                self._string(note),
            )
        )

    def build(self, *, shuffle: np.random.Generator | None = None) -> ColumnBase:
        """Return the chart as an immutable base; the builder may be used further.

        Args:
            shuffle: Draws the upload order within each table, so that neither ids nor page order
                follow the order of the calls; without it, rows keep that order.

        Raises:
            ConfigurationError: If a row names a patient that was not described.
        """
        unknown = [mrn for mrn in self._numbers if mrn not in self._patients]
        if unknown:
            raise ConfigurationError(f"Rows name patients that were not described: {unknown[:5]}.")
        mrns = list(self._numbers)
        places: list[int] | None = None
        if shuffle is not None:
            order = shuffle.permutation(len(mrns))
            places = np.argsort(order).tolist()
            mrns = [mrns[i] for i in order]
        columns = {}
        for spec in TABLES:
            built = _columns(spec, self._tables[spec.name], shuffle)
            if built is None:
                continue
            if places is not None:
                built["patient"] = _replaced(built["patient"], places)
            columns[spec.name] = built
        return ColumnBase([self._patients[mrn] for mrn in mrns], list(self._strings), columns)

    def _number(self, mrn: str) -> int:
        return self._numbers.setdefault(mrn, len(self._numbers))

    def _string(self, text: str) -> int:
        return self._strings.setdefault(text, len(self._strings))

    def _chunk(self, name: str, count: int, columns: tuple[object, ...]) -> None:
        if any(isinstance(c, np.ndarray) and c.shape != (count,) for c in columns):
            raise ConfigurationError(f"Bulk {name} columns differ in length from {count}.")
        pending = self._tables[name]
        if pending.rows:  # keep the order of the calls
            single = tuple(np.asarray(column) for column in zip(*pending.rows, strict=True))
            pending.chunks.append((len(pending.rows), single))
            pending.rows = []
        pending.chunks.append((count, columns))


def _seconds(moment: Moment) -> int:
    if isinstance(moment, datetime):
        if moment.tzinfo is None:
            raise ConfigurationError("A chart time needs a timezone, or seconds since 1970.")
        return int(moment.timestamp())
    return int(moment)


def _columns(
    spec: TableSpec, pending: _Pending, shuffle: np.random.Generator | None
) -> dict[str, Column] | None:
    """Return the columns of a table: tuples while it is small, arrays once it has bulk rows."""
    if not pending.chunks:
        rows = pending.rows
        if not rows:
            return None
        if shuffle is not None:
            rows = [rows[i] for i in shuffle.permutation(len(rows)).tolist()]
        return dict(zip(spec.columns, zip(*rows, strict=True), strict=True))
    chunks = list(pending.chunks)
    if pending.rows:
        chunks.append((len(pending.rows), tuple(zip(*pending.rows, strict=True))))
    total = sum(count for count, _ in chunks)
    order = None if shuffle is None else shuffle.permutation(total)
    columns: dict[str, Column] = {}
    for position, (name, dtype) in enumerate(spec.columns.items()):
        array = np.empty(total, dtype=dtype)
        start = 0
        for count, parts in chunks:
            array[start : start + count] = parts[position]
            start += count
        if order is not None:
            array = array[order]
        array.flags.writeable = False
        columns[name] = array
    return columns


def _replaced(column: Column, places: list[int]) -> Column:
    if isinstance(column, np.ndarray):
        array = np.asarray(places, dtype=column.dtype)[column]
        array.flags.writeable = False
        return array
    return tuple([places[number] for number in column])
