"""Work in progress of an episode: what the agent has put together and may still revise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from healthgym.core.borders import JsonObject
from healthgym.core.state import Stateful, table


class Drafts(Stateful, Mapping[str, Any]):
    """Values by name: JSON values, and tuples and frozen dataclasses of them.

    A value is replaced, never changed in place: clones share values.
    """

    _values = table[str, Any]()

    def __init__(self, values: JsonObject | None = None) -> None:
        self._values.put_all(values or {})

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def put(self, name: str, value: object) -> None:
        """Set a draft to a new value."""
        self._values[name] = value

    def discard(self, name: str) -> None:
        """Forget a draft, if there is one of that name."""
        self._values.discard(name)
