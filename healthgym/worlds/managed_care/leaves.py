"""What records consist of: their fields' values, and what lists and records within them hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from operator import attrgetter
from typing import Any

#: Returns the parts of a value; None stands for a kind of value that has none.
_Parts = Callable[[Any], Iterable[object]]


class _Kinds(dict[type, "_Parts | None"]):
    """What takes a value apart, by its type, found out at first sight: there are few types."""

    def __missing__(self, kind: type) -> _Parts | None:
        self[kind] = parts = self._of(kind)
        return parts

    @staticmethod
    def _of(kind: type) -> _Parts | None:
        if is_dataclass(kind):
            names = [item.name for item in fields(kind)]
            if len(names) > 1:
                return attrgetter(*names)
            return lambda record: [getattr(record, name) for name in names]
        if issubclass(kind, tuple | list | frozenset):
            return iter
        return (lambda mapping: mapping.values()) if issubclass(kind, Mapping) else None


_KINDS = _Kinds()


def leaves(value: object) -> list[object]:
    """Return what a value consists of, in order: of lists, mappings and records the parts."""
    found: list[object] = []
    _gather((value,), found)
    return found


def _gather(values: Iterable[object], found: list[object]) -> None:
    for value in values:
        parts = _KINDS[value.__class__]
        if parts is None:
            found.append(value)
        else:
            _gather(parts(value), found)
