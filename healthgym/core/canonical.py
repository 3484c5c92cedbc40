"""Values as JSON values that are equal where their contents are equal."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime, timedelta
from enum import Enum
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, MethodType, ModuleType
from typing import Any

import numpy as np

from healthgym.core.borders import Json, JsonDict
from healthgym.core.seeding import content_hash

#: Objects may lie within each other no deeper than this.
_DEEPEST = 60
_ATOMS = (bool, int, float, str)


def canonical(value: object) -> Json:
    """Return a value as JSON values, so that equal contents have equal hashes.

    An object may say what it holds by a method ``content_hash() -> str``; others are taken apart
    by their attributes.

    Raises:
        TypeError: If there is something whose contents cannot be told, or that holds itself.
    """
    return _canonical(value, ())


def _canonical(value: object, above: tuple[int, ...]) -> Json:
    if value is None or (isinstance(value, _ATOMS) and not isinstance(value, Enum)):
        return value
    if id(value) in above or len(above) > _DEEPEST:
        raise TypeError(f"A {type(value).__name__} holds itself.")
    own_hash = getattr(value, "content_hash", None)
    if callable(own_hash) and not isinstance(value, type):
        return ["hash", own_hash()]
    flat = _flat(value)
    if flat is not None:
        return flat
    inside = (*above, id(value))
    if isinstance(value, Mapping):
        pairs = [[_canonical(k, inside), _canonical(v, inside)] for k, v in value.items()]
        return ["map", sorted(pairs, key=content_hash)]
    if isinstance(value, list | tuple):
        return [_canonical(item, inside) for item in value]
    if isinstance(value, set | frozenset):
        return ["set", sorted((_canonical(item, inside) for item in value), key=content_hash)]
    if isinstance(value, np.ndarray):
        return ["array", list(value.shape), _canonical(value.ravel().tolist(), inside)]
    if isinstance(value, FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        return ["code", value.__qualname__, _canonical(cells, inside)]
    if isinstance(value, MethodType):
        return ["code", value.__name__, _canonical(value.__self__, inside)]
    return [type(value).__qualname__, _canonical(_attributes(value), inside)]


def _flat(value: object) -> list[Any] | None:
    """Return a value that holds no others as JSON values; None if it may hold some."""
    if isinstance(value, Enum):
        return ["enum", type(value).__name__, value.name]
    if isinstance(value, datetime | date):
        return ["time", value.isoformat()]
    if isinstance(value, timedelta):
        return ["duration", value.total_seconds()]
    if isinstance(value, bytes | bytearray | memoryview):
        return ["bytes", _digest(bytes(value))]
    if isinstance(value, np.generic):
        return ["number", str(value.dtype), value.item()]
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        data = _digest(np.ascontiguousarray(value).tobytes())
        return ["array", str(value.dtype), list(value.shape), data]
    if isinstance(value, type | ModuleType | BuiltinFunctionType | MethodDescriptorType):
        return ["code", getattr(value, "__qualname__", value.__name__)]
    return None


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _attributes(value: object) -> JsonDict:
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: getattr(value, item.name) for item in fields(value)}
    slots = [name for cls in type(value).__mro__ for name in getattr(cls, "__slots__", ())]
    if not slots and not hasattr(value, "__dict__"):
        raise TypeError(
            f"The contents of a {type(value).__qualname__} cannot be compared; give it a "
            "content_hash() method."
        )
    found = dict(getattr(value, "__dict__", {}))
    for name in slots:
        if name not in ("__dict__", "__weakref__") and inspect.getattr_static(value, name, None):
            found[name] = getattr(value, name, None)
    return found
