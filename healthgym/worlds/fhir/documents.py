"""Resources kept as parsed JSON: any R4 types, with search indexes built when first needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from healthgym.core.borders import Json
from healthgym.errors import DamagedDataError
from healthgym.worlds.fhir.base import Resource, Rows
from healthgym.worlds.fhir.search.criteria import Criterion
from healthgym.worlds.fhir.search.table import Kind, Parameter
from healthgym.worlds.fhir.search.values import extract

_INDEXED = (Kind.TOKEN, Kind.REFERENCE)


def copy_json(value: object) -> Json:
    """Return an independent copy of a JSON value; several times faster than ``deepcopy``."""
    if isinstance(value, dict):
        return {key: copy_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copy_json(item) for item in value]
    return value


class DocumentTable:
    """Resources of one type in id order; each parameter is extracted once, when first searched.

    Args:
        resource_type: Their type.
        documents: The resources; not copied, and never changed or handed out by this class.
    """

    def __init__(self, resource_type: str, documents: Sequence[Resource]) -> None:
        self.resource_type = resource_type
        self.documents = documents
        self._values: dict[str, list[tuple[Any, ...]]] = {}
        self._postings: dict[str, dict[str, list[int]]] = {}

    def narrow(self, criteria: Sequence[Criterion], now: int) -> tuple[Rows, tuple[Criterion, ...]]:
        """Return exactly the rows that meet all criteria; none are left to check."""
        indexed = [each for each in map(self._candidates, criteria) if each is not None]
        # All rows of a chart are its patient's: what another criterion leaves is less to read.
        rows: Iterable[int] = (
            set.intersection(*sorted(indexed, key=len)) if indexed else range(len(self.documents))
        )
        for criterion in sorted(criteria, key=self._cost):
            values = self._extracted(criterion.parameter)
            rows = [row for row in rows if criterion.matches(values[row], now)]
        return np.asarray(sorted(rows), dtype=np.int64), ()

    @staticmethod
    def _cost(criterion: Criterion) -> int:
        """Order criteria so that those with an index go first."""
        return 0 if criterion.parameter.kind in _INDEXED and criterion.is_plain else 1

    def _extracted(self, parameter: Parameter) -> list[tuple[Any, ...]]:
        found = self._values.get(parameter.name)
        if found is None:
            found = [extract(parameter, document) for document in self.documents]
            self._values[parameter.name] = found
        return found

    def _candidates(self, criterion: Criterion) -> set[int] | None:
        """Return a superset of the matching rows from the index of codes or ids, or None."""
        if self._cost(criterion):
            return None
        reference = criterion.parameter.kind is Kind.REFERENCE
        keys = [asked.id if reference else asked.code for asked in criterion.asked]
        if None in keys:  # a system without a code, or a foreign URL
            return None
        index = self._postings.get(criterion.parameter.name)
        if index is None:
            index = {}
            for row, values in enumerate(self._extracted(criterion.parameter)):
                for value in values:
                    key = value.id if reference else value.code
                    if key is not None:
                        index.setdefault(key, []).append(row)
            self._postings[criterion.parameter.name] = index
        return {row for key in keys for row in index.get(key, ())}


class DocumentBase:
    """A list of R4 resources as :class:`~healthgym.worlds.fhir.base.Base`.

    Args:
        resources: Resources with ``resourceType`` and ``id``; their order is the id order.

    Raises:
        DamagedDataError: If one has no type or id, or two of a type share an id.
    """

    def __init__(self, resources: Iterable[Resource]) -> None:
        documents: dict[str, list[Resource]] = {}
        rows: dict[str, dict[str, int]] = {}
        count = highest = 0
        for resource in resources:
            kind, key = resource.get("resourceType"), resource.get("id")
            if not isinstance(kind, str) or not isinstance(key, str):
                raise DamagedDataError(
                    f"Resource number {count + 1} has no resourceType or no id; both are needed."
                )
            known = rows.setdefault(kind, {})
            if key in known:
                raise DamagedDataError(f"Two resources have the id {kind}/{key}.")
            known[key] = len(known)
            documents.setdefault(kind, []).append(resource)
            count += 1
            if key.isascii() and key.isdigit() and len(key) < 19:
                highest = max(highest, int(key))
        self._tables: Mapping[str, DocumentTable] = {
            kind: DocumentTable(kind, found) for kind, found in documents.items()
        }
        self._rows = rows
        self._next_id = max(highest, count) + 1

    @property
    def next_id(self) -> int:
        """The first integer id that is free."""
        return self._next_id

    def resource_types(self) -> tuple[str, ...]:
        """Return the types held, in the order they were first met."""
        return tuple(self._tables)

    def size(self, resource_type: str) -> int:
        """Return how many resources of the type there are."""
        return len(self._rows.get(resource_type, ()))

    def find(self, resource_type: str, resource_id: str) -> int | None:
        """Return the row of an id, or None."""
        return self._rows.get(resource_type, {}).get(resource_id)

    def id_of(self, resource_type: str, row: int) -> str:
        """Return the id of a row."""
        return str(self._tables[resource_type].documents[row]["id"])

    def resource(self, resource_type: str, row: int) -> Resource:
        """Return a copy of a resource."""
        copied: Resource = copy_json(self._tables[resource_type].documents[row])
        return copied

    def narrow(
        self, resource_type: str, criteria: Sequence[Criterion], now: int
    ) -> tuple[Rows, tuple[Criterion, ...]]:
        """Return exactly the matching rows; see ``Base``."""
        table = self._tables.get(resource_type)
        if table is None:
            return np.empty(0, dtype=np.int64), ()
        return table.narrow(criteria, now)

    def sort_keys(self, resource_type: str, parameter: Parameter, rows: Rows) -> Rows | None:
        """Return None: the store reads the keys off the resources."""
        return None
