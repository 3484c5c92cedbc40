"""The resources of a base under those written in an episode, by id and by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np

from healthgym.core.state import Stateful, table
from healthgym.worlds.fhir.base import Base, Resource, Rows
from healthgym.worlds.fhir.documents import copy_json
from healthgym.worlds.fhir.search.criteria import Criterion
from healthgym.worlds.fhir.search.dates import microseconds
from healthgym.worlds.fhir.search.table import Parameter
from healthgym.worlds.fhir.search.values import extract


class Overlay(Stateful):
    """What is written over a base that never changes.

    Rows below ``base.size(type)`` are the base's (and may have been replaced by an update), rows
    from there on are the resources created in this episode, in order of creation.

    Args:
        base: The chart; shared, never changed.
    """

    _written = table[tuple[str, int], Resource]()  # by type and row
    _rows = table[tuple[str, str], int]()  # of created resources, by type and id
    _created = table[str, int]()  # how many, by type

    def __init__(self, base: Base) -> None:
        self.base = base

    def put(self, resource: Resource, *, new: bool) -> None:
        """Write a resource, which becomes the overlay's; a new one gets the next row of its type.

        Raises:
            KeyError: If it is not new, and there is none to replace.
        """
        kind, key = resource["resourceType"], resource["id"]
        if new:
            count = self._created.get(kind, 0)
            self._rows[kind, key] = self.base.size(kind) + count
            self._created[kind] = count + 1
        row = self._row(kind, key)
        if row is None:
            raise KeyError(f"There is no {kind}/{key} to replace.")
        self._written[kind, row] = resource

    def exists(self, resource_type: str, key: str) -> bool:
        """Return whether there is a resource."""
        return self._row(resource_type, key) is not None

    def find(self, resource_type: str, key: str) -> Resource | None:
        """Return the current version of a resource, or None if there is none."""
        row = self._row(resource_type, key)
        return None if row is None else self.at(resource_type, row)

    def at(self, resource_type: str, row: int) -> Resource:
        """Return the current version of the resource in a row."""
        written = self._written.get((resource_type, row))
        if written is None:
            return self.base.resource(resource_type, row)
        copied: Resource = copy_json(written)
        return copied

    def _row(self, resource_type: str, key: str) -> int | None:
        created = self._rows.get((resource_type, key))
        return self.base.find(resource_type, key) if created is None else created

    def matching(self, resource_type: str, criteria: Sequence[Criterion], moment: datetime) -> Rows:
        """Return the rows that match at a moment, in id order."""
        now = microseconds(moment)
        base = self.base
        rows, left = base.narrow(resource_type, criteria, now)
        written = self.written_rows(resource_type)
        if written and len(rows):
            rows = rows[~np.isin(rows, list(written))]
        if left:
            kept = [r for r in rows if _meets(base.resource(resource_type, int(r)), left, now)]
            rows = np.asarray(kept, dtype=np.int64)
        hits = [row for row, resource in written.items() if _meets(resource, criteria, now)]
        if hits:
            rows = np.sort(np.concatenate([rows, np.asarray(hits, dtype=np.int64)]))
        return rows

    def written_rows(self, resource_type: str) -> dict[int, Resource]:
        """Return the resources of a type that were written, by row."""
        return {row: held for (kind, row), held in self._written.items() if kind == resource_type}

    def sort_source(self, resource_type: str) -> SortSource:
        """Return where the rows of a type get their sort keys from."""
        return SortSource(self, resource_type, self.written_rows(resource_type))


class SortSource:
    """Where :func:`healthgym.worlds.fhir.search.sorting.sort_rows` gets sort keys from."""

    def __init__(
        self, overlay: Overlay, resource_type: str, written: Mapping[int, Resource]
    ) -> None:
        self._overlay = overlay
        self._type = resource_type
        self.written = written

    def base_keys(self, parameter: Parameter, rows: Rows) -> Rows | None:
        """Return integer keys of base rows, or None if they must be read off the resources."""
        return self._overlay.base.sort_keys(self._type, parameter, rows)

    def resource(self, row: int) -> Resource:
        """Return the current resource of a row."""
        return self._overlay.at(self._type, row)


def _meets(resource: Resource, criteria: Sequence[Criterion], now: int) -> bool:
    return all(c.matches(extract(c.parameter, resource), now) for c in criteria)
