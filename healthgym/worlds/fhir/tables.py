"""One table of a chart: its columns, its index, and the resources its rows stand for."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from healthgym.core.borders import AnyArray, Json
from healthgym.worlds.fhir.base import NO_KEY, Resource, Rows
from healthgym.worlds.fhir.layout import TableSpec
from healthgym.worlds.fhir.search.dates import SECOND
from healthgym.worlds.fhir.shapes import NO_TIME, iso

Column = Sequence[Json] | AnyArray

#: Upload of the first resource, and the time each one took: 785,000 of them end 3 hours later.
UPLOAD_START_MS = 1_735_585_500_000  # 2024-12-30T19:05:00Z
UPLOAD_STEP_MS = 14

NO_ROWS: Rows = np.empty(0, dtype=np.int64)


def uploaded(resource_type: str, resource_id: str, number: int) -> Resource:
    """Return id and meta of the ``number``-th uploaded resource, as the server assigned them."""
    seconds, milliseconds = divmod(UPLOAD_START_MS + UPLOAD_STEP_MS * number, 1000)
    when = iso(seconds)
    mark = hashlib.blake2b(f"{resource_type}/{resource_id}".encode(), digest_size=12).digest()
    return {
        "resourceType": resource_type,
        "id": resource_id,
        "meta": {
            "versionId": "1",
            "lastUpdated": f"{when[:19]}.{milliseconds:03d}{when[19:]}",
            "source": "#" + b64encode(mark, b"hg").decode(),
        },
    }


class Table:
    """One table: columns of equal length, indexed by patient and code.

    Args:
        spec: What the columns mean.
        columns: One sequence or array of shape ``(size,)`` per column of ``spec``.
        first_id: Integer id of row 0; ids rise by one from row to row.
        stride: A number above every value of the code column.
        index: The saved index (order and keys), to avoid sorting again.
    """

    def __init__(
        self,
        spec: TableSpec,
        columns: Mapping[str, Column],
        first_id: int,
        stride: int,
        index: tuple[Rows, Rows] | None = None,
    ) -> None:
        self.spec = spec
        self.first_id = first_id
        self._columns = tuple(columns[name] for name in spec.columns)
        self._names = tuple(spec.columns)
        self._arrays: dict[str, AnyArray] = {}
        self._stride = stride
        self.size = len(self._columns[0])
        if index is not None:
            self.index = index

    def array(self, name: str) -> AnyArray:
        """Return a column as an array of shape ``(size,)``."""
        found = self._arrays.get(name)
        if found is None:
            column = self._columns[self._names.index(name)]
            found = self._arrays[name] = np.asarray(column, dtype=self.spec.columns[name])
        return found

    @cached_property
    def index(self) -> tuple[Rows, Rows]:
        """Rows ordered by (patient, code, row), and the key of each: two arrays ``(size,)``."""
        keys = self.array("patient").astype(np.int64) * self._stride + self.array("code")
        order = np.argsort(keys, kind="stable")
        return order, keys[order]

    def lookup(self, patients: Sequence[int] | None, codes: Sequence[int] | None) -> Rows:
        """Return the rows of these patients and codes (None: all) in ascending order."""
        if patients is None:
            if codes is None:
                return np.arange(self.size)
            return np.flatnonzero(np.isin(self.array("code"), codes))
        order, keys = self.index
        starts = np.asarray(patients, dtype=np.int64) * self._stride
        if codes is None:
            low, high = np.searchsorted(keys, (starts, starts + self._stride))
        else:
            wanted = (starts[:, None] + np.asarray(codes, dtype=np.int64)).ravel()
            low = np.searchsorted(keys, wanted)
            high = np.searchsorted(keys, wanted, side="right")
        slices = [order[i:j] for i, j in zip(low, high, strict=True) if i < j]
        if not slices:
            return NO_ROWS
        rows = slices[0] if len(slices) == 1 else np.concatenate(slices)
        return np.sort(rows).astype(np.int64, copy=False)

    def build(self, row: int, strings: Sequence[str], mrns: Sequence[str]) -> Resource:
        """Return the resource of a row."""
        patient, *rest = (column[row] for column in self._columns)
        number = self.first_id + row
        resource = uploaded(self.spec.resource_type, str(number), number)
        if isinstance(patient, np.generic):
            rest = [value.item() for value in rest]
        return self.spec.build(resource, strings, mrns[patient], *rest)

    def bounds(self, parameter: str, rows: Rows) -> tuple[Rows, Rows] | None:
        """Return start and end of a date parameter in microseconds, ``NO_KEY`` where unknown.

        Args:
            parameter: Its name; None is returned if it is not kept in columns.
            rows: Row numbers, shape ``(n,)``; so are the results.
        """
        if parameter == "_lastUpdated":
            low = (UPLOAD_START_MS + UPLOAD_STEP_MS * (rows + self.first_id)) * 1000
            return low, low + 1
        columns = self.spec.dates.get(parameter)
        if columns is None:
            return None
        seconds = self.array(columns.low)[rows]
        low = np.where(seconds == NO_TIME, NO_KEY, seconds * SECOND)
        if columns.high is None:
            return low, low + 1
        end = self.array(columns.high)[rows]
        return low, np.where(end == NO_TIME, low, end * SECOND) + 1
