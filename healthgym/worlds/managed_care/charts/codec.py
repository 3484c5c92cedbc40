"""Records and facts as JSON, and back, with the place of whatever is wrong."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from functools import cache
from types import MappingProxyType, NoneType, UnionType
from typing import TYPE_CHECKING, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from healthgym.core.borders import Json, JsonDict
from healthgym.worlds.managed_care.facts import AnyFact

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_T = TypeVar("_T")

#: Facts are told apart by this key.
_TAG = "fact"
_FACTS: Mapping[str, type[AnyFact]] = MappingProxyType(
    {kind.__name__: kind for kind in get_args(AnyFact)}
)


class BadValueError(ValueError):
    """A value that is not what its place asks for.

    Args:
        place: Where it stands, such as ``documents[3].kind``.
        problem: What is wrong, and what is expected.
    """

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(f"{place}: {problem}")


def to_json(value: object) -> Json:
    """Return a record, a fact or a tuple of them as JSON; what has its default is left out."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, date):
        return value.isoformat()
    if is_dataclass(value) and not isinstance(value, type):
        found: JsonDict = {_TAG: type(value).__name__} if type(value).__name__ in _FACTS else {}
        for each in fields(value):
            part = getattr(value, each.name)
            if each.default is MISSING or part != each.default:
                found[each.name] = to_json(part)
        return found
    if isinstance(value, Mapping):
        return {str(key): to_json(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [to_json(part) for part in value]
    if isinstance(value, frozenset):
        return sorted(to_json(part) for part in value)
    return value


def from_json(cls: type[_T], value: Json, place: str) -> _T:
    """Read a record.

    Args:
        cls: Its class.
        value: The JSON.
        place: Where it stands, for messages.

    Raises:
        BadValueError: If a field is missing, unknown or of another type.
    """
    if not isinstance(value, Mapping):
        raise BadValueError(place, f"expected an object, found {_shown(value)}")
    hints = _hints(cast("Hashable", cls))
    for key in value:
        if key not in hints and key != _TAG:
            raise BadValueError(f"{place}.{key}", f"{cls.__name__} has no such field")
    found: JsonDict = {}
    for name, (hint, needed) in hints.items():
        if name in value:
            found[name] = _read(hint, value[name], f"{place}.{name}")
        elif needed:
            raise BadValueError(place, f"the field {name} is missing")
    return cls(**found)


@cache
def _hints(cls: Hashable) -> dict[str, tuple[Json, bool]]:
    hints = get_type_hints(cast("type[object]", cls))
    return {
        each.name: (
            hints[each.name],
            each.default is MISSING and each.default_factory is MISSING,
        )
        for each in fields(cast("type[DataclassInstance]", cls))
    }


def read_fact(value: Json, place: str) -> AnyFact:
    """Read a fact, whose kind stands under ``fact``.

    Raises:
        BadValueError: If the kind is unknown, or a field is wrong.
    """
    kind = str(value.get(_TAG)) if isinstance(value, Mapping) else ""
    if kind not in _FACTS:
        known = ", ".join(_FACTS)
        raise BadValueError(f"{place}.{_TAG}", f"expected one of {known}, found {_shown(kind)}")
    return from_json(_FACTS[kind], value, place)


def _read(hint: Json, value: Json, place: str) -> Json:
    origin: object = get_origin(hint)
    if origin is Union or origin is UnionType:
        if value is None and NoneType in get_args(hint):
            return None
        return _read(next(x for x in get_args(hint) if x is not NoneType), value, place)
    if origin is tuple:
        if not isinstance(value, list):
            raise BadValueError(place, f"expected a list, found {_shown(value)}")
        inner = get_args(hint)[0]
        return tuple(_read(inner, each, f"{place}[{n}]") for n, each in enumerate(value))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _read_word(hint, value, place)
    if hint in (date, datetime):
        return _read_time(hint, value, place)
    if isinstance(hint, type) and is_dataclass(hint):
        return from_json(cast("type[object]", hint), value, place)
    return _read_plain(hint, value, place)


def _read_word(hint: type[Enum], value: Json, place: str) -> Enum:
    try:
        return hint(value)
    except ValueError:
        known = ", ".join(str(each.value) for each in hint)
        raise BadValueError(place, f"expected one of {known}, found {_shown(value)}") from None


def _read_time(hint: type[date], value: Json, place: str) -> date:
    wanted = "a time with its zone" if hint is datetime else "a date"
    problem = f"expected {wanted} in ISO form, found {_shown(value)}"
    try:
        found = hint.fromisoformat(value)
    except (TypeError, ValueError):
        raise BadValueError(place, problem) from None
    if isinstance(found, datetime) and found.tzinfo is None:
        raise BadValueError(place, problem)
    return found


def _read_plain(hint: Json, value: Json, place: str) -> Json:
    if hint in (str, bool, int, float):
        wanted = (int, float) if hint is float else (hint,)
        right = isinstance(value, wanted) and (hint is bool or not isinstance(value, bool))
        if not right:
            raise BadValueError(place, f"expected {hint.__name__}, found {_shown(value)}")
        return float(value) if hint is float else value
    if not isinstance(value, Mapping):
        raise BadValueError(place, f"expected an object, found {_shown(value)}")
    return dict(value)


def _shown(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
