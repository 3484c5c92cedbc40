"""Values as JSON values that are equal where their contents are equal."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime, timedelta
from enum import Enum
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    NoneType,
)
from typing import TYPE_CHECKING, Any

import numpy as np

from healthgym.core.borders import Json, JsonDict
from healthgym.core.seeding import content_hash

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

#: Objects may lie within each other no deeper than this.
_DEEPEST = 60
_ATOMS = frozenset({NoneType, bool, int, float, str})
#: Tells a value, given the ids of what it lies in, its own among them.
_Way = Callable[[Any, tuple[int, ...]], Json]


def canonical(value: object) -> Json:
    """Return a value as JSON values, so that equal contents have equal hashes.

    An object may say what it holds by a method ``content_hash() -> str`` of its class; others are
    taken apart by their attributes.

    Raises:
        TypeError: If there is something whose contents cannot be told, or that holds itself.
    """
    return _canonical(value, ())


def _canonical(value: Any, above: tuple[int, ...]) -> Json:
    kind = type(value)
    if kind in _ATOMS:
        return value
    if id(value) in above or len(above) > _DEEPEST:
        raise TypeError(f"A {kind.__name__} holds itself.")
    return _WAYS[kind](value, (*above, id(value)))


class _Ways(dict[type, _Way]):
    """How values of a type are told, found out at first sight: a world has thousands of a type."""

    def __missing__(self, kind: type) -> _Way:
        self[kind] = way = _way_of(kind)
        return way


_WAYS = _Ways()


def _way_of(kind: type) -> _Way:
    if issubclass(kind, int | float | str) and not issubclass(kind, Enum):
        return lambda value, _: value
    if not issubclass(kind, type) and callable(getattr(kind, "content_hash", None)):
        return lambda value, _: ["hash", value.content_hash()]
    for kinds, way in _KNOWN:
        if issubclass(kind, kinds):
            return way
    return _record_way(kind) if is_dataclass(kind) else _taken_apart


def _record_way(kind: type[DataclassInstance]) -> _Way:
    names = tuple(item.name for item in fields(kind))

    def record(value: object, inside: tuple[int, ...]) -> Json:
        held = [getattr(value, name) for name in names]
        # Most of what records hold is plain; it is not asked for its kind twice.
        told = [each if type(each) in _ATOMS else _canonical(each, inside) for each in held]
        return [kind.__qualname__, told]

    return record


def _taken_apart(value: object, inside: tuple[int, ...]) -> Json:
    return [type(value).__qualname__, _mapping(_attributes(value), inside)]


def _mapping(value: Mapping[Any, Any], inside: tuple[int, ...]) -> Json:
    if set(map(type, value)) <= {str}:
        return ["map", [[key, _canonical(value[key], inside)] for key in sorted(value)]]
    pairs = [[_canonical(key, inside), _canonical(held, inside)] for key, held in value.items()]
    marks = [content_hash(key) for key, _ in pairs]
    if len(set(marks)) < len(marks):  # two keys are not equal, and hold the same
        return ["map", sorted(pairs, key=content_hash)]
    marked = dict(zip(marks, pairs, strict=True))
    return ["map", [marked[mark] for mark in sorted(marked)]]


def _sequence(value: Collection[Any], inside: tuple[int, ...]) -> Json:
    return [_canonical(item, inside) for item in value]


def _set(value: Collection[Any], inside: tuple[int, ...]) -> Json:
    if set(map(type, value)) <= {str}:
        return ["set", sorted(value)]
    return ["set", sorted((_canonical(item, inside) for item in value), key=content_hash)]


def _array(value: np.ndarray[Any, Any], inside: tuple[int, ...]) -> Json:
    if value.dtype.hasobject:
        return ["array", list(value.shape), _canonical(value.ravel().tolist(), inside)]
    data = _digest(np.ascontiguousarray(value).tobytes())
    return ["array", str(value.dtype), list(value.shape), data]


def _function(value: FunctionType, inside: tuple[int, ...]) -> Json:
    cells = [cell.cell_contents for cell in value.__closure__ or ()]
    return ["code", value.__qualname__, _canonical(cells, inside)]


#: The first that fits is taken.
_KNOWN: tuple[tuple[type | tuple[type, ...], _Way], ...] = (
    (Enum, lambda value, _: ["enum", type(value).__name__, value.name]),
    ((datetime, date), lambda value, _: ["time", value.isoformat()]),
    (timedelta, lambda value, _: ["duration", value.total_seconds()]),
    ((bytes, bytearray, memoryview), lambda value, _: ["bytes", _digest(bytes(value))]),
    (np.generic, lambda value, _: ["number", str(value.dtype), value.item()]),
    (np.ndarray, _array),
    (
        (type, ModuleType, BuiltinFunctionType, MethodDescriptorType),
        lambda value, _: ["code", getattr(value, "__qualname__", value.__name__)],
    ),
    (Mapping, _mapping),
    ((list, tuple), _sequence),
    ((set, frozenset), _set),
    (FunctionType, _function),
    (
        MethodType,
        lambda value, inside: ["code", value.__name__, _canonical(value.__self__, inside)],
    ),
)


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _attributes(value: object) -> JsonDict:
    kind = type(value)
    slots = [name for cls in kind.__mro__ for name in getattr(cls, "__slots__", ())]
    if not slots and not hasattr(value, "__dict__"):
        raise TypeError(
            f"The contents of a {kind.__qualname__} cannot be compared; give it a "
            "content_hash() method."
        )
    found = dict(getattr(value, "__dict__", {}))
    for name in slots:
        if name not in ("__dict__", "__weakref__") and inspect.getattr_static(value, name, None):
            found[name] = getattr(value, name, None)
    return found
