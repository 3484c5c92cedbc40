"""The named parts of an object: the arguments of a tool and the fields of a record.

A record is a frozen pydantic model that forbids extra fields, or a frozen dataclass. ``Annotated``
with pydantic's ``Field`` says what a type cannot: bounds, the name an argument is published
under, the field that tells the records of a union apart.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from annotated_types import GroupedMetadata
from pydantic import BaseModel, RootModel
from pydantic.fields import FieldInfo

from healthgym.core.borders import Json, JsonObject
from healthgym.core.bounds import bounds_of
from healthgym.core.docstrings import describe, describe_record

REQUIRED: Any = inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class Facets:
    """A type and what stands around it in ``Annotated``.

    Attributes:
        hint: The bare type.
        constraints: The annotations that bound its values, as pydantic takes them.
        bounds: The same in the words of JSON Schema.
        alias: Name it is published under, or empty.
        discriminator: Field that tells the records of a union apart, or empty.
        description: What it is, or empty.
    """

    hint: Any
    constraints: tuple[Any, ...] = ()
    bounds: JsonObject = field(default_factory=dict)
    alias: str = ""
    discriminator: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """One named part of an object.

    Attributes:
        key: Its name in Python.
        name: Its name in JSON.
        facets: Its type.
        description: What it is.
        default: Its default; ``REQUIRED`` if there is none.
    """

    key: str
    name: str
    facets: Facets
    description: str
    default: Any = REQUIRED


def peel(hint: object) -> Facets:
    """Take a hint out of its ``Annotated``.

    Raises:
        TypeError: If an annotation is one that a JSON Schema cannot say.
    """
    if get_origin(hint) is not Annotated:
        return Facets(hint)
    bare, *extras = get_args(hint)
    infos = [extra for extra in extras if isinstance(extra, FieldInfo)]
    constraints = [item for extra in extras for item in _flat(extra)]
    return _facets(bare, constraints, infos)


def inner(hint: object) -> Facets:
    """Take a hint apart that stands inside another one, where nothing has a name.

    Raises:
        TypeError: If it is given one.
    """
    facets = peel(hint)
    if facets.alias:
        raise TypeError(f"{facets.alias!r} names something that is neither argument nor field.")
    return facets


def argument_parts(function: Callable[..., object]) -> tuple[Part, ...]:
    """Return the arguments of a method, ``self`` left out.

    Raises:
        TypeError: If an argument lacks a type hint or a description, or two have one name.
    """
    hints = get_type_hints(function, include_extras=True)
    _, descriptions = describe(function)
    parts = []
    for key, parameter in inspect.signature(function).parameters.items():
        if key == "self":
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(f"Tool {function.__name__} needs a fixed list of arguments.")
        if key not in hints:
            raise TypeError(f"Argument {key} of tool {function.__name__} needs a type hint.")
        if key not in descriptions:
            raise TypeError(f"Argument {key} of tool {function.__name__} needs a description.")
        facets = peel(hints[key])
        name = facets.alias or key
        parts.append(Part(key, name, facets, descriptions[key], parameter.default))
    _require_distinct(f"tool {function.__name__}", parts)
    return tuple(parts)


def is_record(hint: object) -> bool:
    """Return whether a hint is a class of records."""
    if not isinstance(hint, type):
        return False
    if issubclass(hint, BaseModel):
        return hint is not BaseModel and not issubclass(hint, RootModel)
    return dataclasses.is_dataclass(hint)


def is_row(hint: object) -> bool:
    """Return whether a hint is of a tuple of any length, a list that nobody can change."""
    return get_origin(hint) is tuple and get_args(hint)[1:] == (Ellipsis,)


@cache
def record_parts(cls: type) -> tuple[Part, ...]:
    """Return the fields of a record.

    Raises:
        TypeError: If the record can be changed or takes extra fields, a field is not described,
            or two have one name.
    """
    _, written = describe_record(cls)
    found = _model_fields(cls) if issubclass(cls, BaseModel) else _dataclass_fields(cls)
    parts = []
    for key, facets, default in found:
        description = facets.description or written.get(key, "")
        if not description:
            raise TypeError(f"Field {key} of record {cls.__name__} needs a description.")
        parts.append(Part(key, facets.alias or key, facets, description, default))
    _require_distinct(f"record {cls.__name__}", parts)
    return tuple(parts)


def variants(facets: Facets) -> dict[str, type]:
    """Return the records of a discriminated union by the value that announces each.

    Raises:
        TypeError: If an option is no record, or the field does not tell them apart.
    """
    options = [option for option in options_of(facets.hint) if option is not type(None)]
    if len(options) < 2 or not all(is_record(option) for option in options):
        raise TypeError(f"{facets.discriminator!r} can tell two or more records apart, only.")
    found: dict[str, type] = {}
    for option in options:
        for value in announcing(option, facets.discriminator):
            if value in found:
                raise TypeError(f"Two records have {value!r} in {facets.discriminator!r}.")
            found[value] = option
    if len({discriminator(option, facets.discriminator).name for option in options}) > 1:
        raise TypeError(f"{facets.discriminator!r} is published under several names.")
    return found


def discriminator(cls: type, key: str) -> Part:
    """Return the field of a record that announces it.

    Raises:
        TypeError: If there is none.
    """
    for part in record_parts(cls):
        if part.key == key:
            return part
    raise TypeError(f"Record {cls.__name__} has no field {key!r} to tell it apart by.")


def announcing(cls: type, key: str) -> list[str]:
    """Return the values of a field that announce a record.

    Raises:
        TypeError: If it is not a Literal of text.
    """
    hint = discriminator(cls, key).facets.hint
    values = [plain_value(value) for value in get_args(hint)]
    if get_origin(hint) is not Literal or any(type(value) is not str for value in values):
        raise TypeError(f"Field {key!r} of record {cls.__name__} must be a Literal of text.")
    return values


def options_of(hint: object) -> tuple[Json, ...]:
    """Return the options of a union, or the hint itself."""
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def plain_value(value: object) -> Json:
    """Return a choice as JSON has it: of a member of an Enum its value."""
    return value.value if isinstance(value, Enum) else value


def _flat(extra: object) -> Iterator[Any]:
    if isinstance(extra, FieldInfo):
        yield from extra.metadata
    elif isinstance(extra, GroupedMetadata):
        yield from extra
    else:
        yield extra


def _facets(hint: object, constraints: list[Any], infos: list[FieldInfo]) -> Facets:
    said: dict[str, str] = {}
    for info in infos:
        if info.validation_alias not in (None, info.alias):
            raise TypeError(f"{info.validation_alias!r}: a name in JSON is given by alias=.")
        for key in ("alias", "discriminator", "description"):
            value = getattr(info, key)
            if value is not None and not isinstance(value, str):
                raise TypeError(f"{key}={value!r}: only text says it to a model.")
            if value:
                said[key] = value
    return Facets(hint, tuple(constraints), bounds_of(hint, constraints), **said)


def _model_fields(cls: type[BaseModel]) -> Iterator[tuple[str, Facets, Any]]:
    config = cls.model_config
    if not config.get("frozen") or config.get("extra") != "forbid":
        raise TypeError(f'Record {cls.__name__} needs frozen=True and extra="forbid".')
    for key, info in cls.model_fields.items():
        default = REQUIRED if info.is_required() else None
        yield key, _facets(info.annotation, list(info.metadata), [info]), default


def _dataclass_fields(cls: type) -> Iterator[tuple[str, Facets, Any]]:
    if not cls.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        raise TypeError(f"Record {cls.__name__} needs frozen=True.")
    hints = get_type_hints(cls, include_extras=True)
    missing = dataclasses.MISSING
    for item in dataclasses.fields(cls):
        if not item.init:
            continue
        required = item.default is missing and item.default_factory is missing
        yield item.name, peel(hints[item.name]), REQUIRED if required else None


def _require_distinct(owner: str, parts: list[Part]) -> None:
    names = [part.name for part in parts]
    for name in names:
        if names.count(name) > 1:
            raise TypeError(f"Two parts of {owner} are named {name}.")
