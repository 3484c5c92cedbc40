"""What the record store asks of the immutable data it is laid over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from healthgym.core.borders import JsonDict
from healthgym.worlds.fhir.search.query import Criterion
from healthgym.worlds.fhir.search.table import Parameter

Resource = JsonDict
Rows = NDArray[np.int64]

#: Sort key of a row that has no value for the sort parameter.
NO_KEY = np.iinfo(np.int64).min


class Base(Protocol):
    """Immutable resources, addressed by type and row; row order is id (upload) order.

    One base is shared by many stores at once, so nothing it returns may be one of its own mutable
    objects.
    """

    @property
    def next_id(self) -> int:
        """The first integer id that a store over this base may assign."""

    def resource_types(self) -> tuple[str, ...]:
        """Return the types that have at least one resource."""

    def size(self, resource_type: str) -> int:
        """Return how many resources of the type there are (0 for a type not held)."""

    def find(self, resource_type: str, resource_id: str) -> int | None:
        """Return the row of an id, or None."""

    def id_of(self, resource_type: str, row: int) -> str:
        """Return the id of a row."""

    def resource(self, resource_type: str, row: int) -> Resource:
        """Return the resource of a row as an object the caller owns."""

    def narrow(
        self, resource_type: str, criteria: Sequence[Criterion], now: int
    ) -> tuple[Rows, tuple[Criterion, ...]]:
        """Return rows in ascending order and the criteria still to be checked on each of them.

        Args:
            resource_type: The type searched.
            criteria: All of them must hold.
            now: The current time, microseconds since 1970.
        """

    def sort_keys(self, resource_type: str, parameter: Parameter, rows: Rows) -> Rows | None:
        """Return an integer key per row that orders as the parameter does, or None if unknown.

        Rows without a value have the key :data:`NO_KEY`.
        """
