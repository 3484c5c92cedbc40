"""A chart as it stood at a moment: later rows of one patient are out of sight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from healthgym.worlds.fhir.base import Base, Resource, Rows
from healthgym.worlds.fhir.search.query import Criterion
from healthgym.worlds.fhir.search.table import Parameter


class AsOfBase:
    """A base with some rows hidden. It shares everything with the base it is laid over.

    Args:
        base: The whole chart.
        hidden: Rows by resource type that no search and no read may find.
    """

    def __init__(self, base: Base, hidden: Mapping[str, Sequence[int]]) -> None:
        self._base = base
        self._hidden = {kind: np.array(rows, dtype=np.int64) for kind, rows in hidden.items()}
        self._sets = {kind: frozenset(rows) for kind, rows in hidden.items()}

    @property
    def next_id(self) -> int:
        """The first integer id that is free in the whole chart."""
        return self._base.next_id

    def resource_types(self) -> tuple[str, ...]:
        """Return the types of the whole chart."""
        return self._base.resource_types()

    def size(self, resource_type: str) -> int:
        """Return the number of rows, the hidden ones included: rows keep their numbers."""
        return self._base.size(resource_type)

    def find(self, resource_type: str, resource_id: str) -> int | None:
        """Return the row of an id, or None; also None if the row is hidden."""
        row = self._base.find(resource_type, resource_id)
        return None if row in self._sets.get(resource_type, ()) else row

    def id_of(self, resource_type: str, row: int) -> str:
        """Return the id of a row."""
        return self._base.id_of(resource_type, row)

    def resource(self, resource_type: str, row: int) -> Resource:
        """Return the resource of a row as an object the caller owns."""
        return self._base.resource(resource_type, row)

    def narrow(
        self, resource_type: str, criteria: Sequence[Criterion], now: int
    ) -> tuple[Rows, tuple[Criterion, ...]]:
        """Return what the whole chart returns, less the hidden rows."""
        rows, left = self._base.narrow(resource_type, criteria, now)
        hidden = self._hidden.get(resource_type)
        if hidden is not None and len(rows):
            rows = rows[~np.isin(rows, hidden)]
        return rows, left

    def sort_keys(self, resource_type: str, parameter: Parameter, rows: Rows) -> Rows | None:
        """Return the keys of the whole chart."""
        return self._base.sort_keys(resource_type, parameter, rows)
