"""Ordering a result set by ``_sort``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from healthgym.core.borders import JsonDict
from healthgym.worlds.fhir.search.query import SortKey
from healthgym.worlds.fhir.search.table import Kind, Parameter
from healthgym.worlds.fhir.search.values import extract

Rows = NDArray[np.int64]
_NO_KEY = np.iinfo(np.int64).min
_LAST = np.iinfo(np.int64).max


class SortSource(Protocol):
    """Gives the sort keys of rows."""

    written: Mapping[int, JsonDict]

    def base_keys(self, parameter: Parameter, rows: Rows) -> Rows | None:
        """Return an integer key per row, or None if there is no quick way."""

    def resource(self, row: int) -> JsonDict:
        """Return the resource of a row."""


def sort_rows(rows: Rows, keys: Sequence[SortKey], source: SortSource) -> Rows:
    """Return rows ordered by the keys.

    Equal rows keep id order, ascending or not. Rows without a value come last either way. Dates
    sort by their start; of several values the lowest counts in ascending order, the highest in
    descending order.

    Args:
        rows: Row numbers in id order, shape ``(n,)``.
        keys: The first one decides, the others break its ties.
        source: Where the key values come from.
    """
    if keys and len(rows) > 1:
        for key in reversed(keys):
            rows = _sorted_once(rows, key, source)
    return rows


def _sorted_once(rows: Rows, key: SortKey, source: SortSource) -> Rows:
    found = source.base_keys(key.parameter, rows)
    if found is None:
        return _sorted_by_value(rows, key, source)
    if source.written:
        found = found.copy()
        for position, row in enumerate(rows.tolist()):
            if row in source.written:
                value = _key(key, source.written[row])
                found[position] = _NO_KEY if value is None else value
    order = np.where(found == _NO_KEY, _LAST, -found if key.descending else found)
    return rows[np.argsort(order, kind="stable")]


def _sorted_by_value(rows: Rows, key: SortKey, source: SortSource) -> Rows:
    keyed = [(_key(key, source.resource(row)), row) for row in rows.tolist()]
    known = [pair for pair in keyed if pair[0] is not None]
    known.sort(key=lambda pair: pair[0], reverse=key.descending)
    missing = [row for value, row in keyed if value is None]
    return np.asarray([row for _, row in known] + missing, dtype=np.int64)


def _key(key: SortKey, resource: JsonDict) -> Any:
    """Return the comparable sort value of a resource, or None if it has none."""
    kind = key.parameter.kind
    values = extract(key.parameter, resource)
    candidates: list[Any]
    match kind:
        case Kind.DATE:
            candidates = [value.low for value in values]
        case Kind.TOKEN:
            candidates = [value.code for value in values if value.code is not None]
        case Kind.STRING:
            candidates = [value.plain for value in values]
        case Kind.REFERENCE:
            candidates = [value.raw for value in values]
        case Kind.QUANTITY:
            candidates = [value.value for value in values]
        case _:
            candidates = list(values)
    if not candidates:
        return None
    return max(candidates) if key.descending else min(candidates)
