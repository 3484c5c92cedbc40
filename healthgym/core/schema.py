"""From one typed, documented method to a JSON Schema.

The schema follows the rules of ``transformers.utils.get_json_schema``, which chat templates and
TRL use, so that a tool looks the same to a model whichever way it is offered. What those rules
cannot say, records, dates and bounds, is said in JSON Schema's own words; :func:`expressible`
tells the two apart.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from datetime import date, datetime
from enum import Enum
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from healthgym.core.borders import JsonDict
from healthgym.core.docstrings import describe as describe
from healthgym.core.docstrings import describe_record
from healthgym.core.parts import (
    REQUIRED,
    Facets,
    Part,
    announcing,
    argument_parts,
    discriminator,
    inner,
    is_record,
    is_row,
    options_of,
    plain_value,
    record_parts,
    variants,
)
from healthgym.core.validation import argument_model as argument_model
from healthgym.core.validation import validate as validate

_SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
_BARE = {list: "array", dict: "object"}
_DATES = {date: "date", datetime: "date-time"}


def type_schema(hint: object) -> JsonDict:
    """Return the JSON Schema of a type hint.

    Raises:
        TypeError: If the hint has no counterpart in JSON.
    """
    return _schema(inner(hint), ())


def parameters_schema(function: Callable[..., object]) -> JsonDict:
    """Return the JSON Schema of a method's arguments, ``self`` left out.

    Raises:
        TypeError: If an argument lacks a type hint or a description, or JSON has no such argument.
    """
    return _object(argument_parts(function), ())


def argument_signature(function: Callable[..., object]) -> inspect.Signature:
    """Return the signature of a method without its receiver and its return annotation."""
    signature = inspect.signature(function)
    kept = [p for name, p in signature.parameters.items() if name != "self"]
    hints = get_type_hints(function)
    typed = [p.replace(annotation=hints.get(p.name, p.annotation)) for p in kept]
    return inspect.Signature(typed)


def expressible(function: Callable[..., object]) -> bool:
    """Return whether the schema maker of transformers can say what a method takes.

    It knows no records, rows, dates, bounds, nor names other than those in Python; it drops what
    stands in ``Annotated``, and fails on the rest.
    """
    parts = argument_parts(function)
    hints = get_type_hints(function, include_extras=True)
    return all(part.name == part.key and _known_abroad(hints[part.key]) for part in parts)


def _known_abroad(hint: object) -> bool:
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated or hint in _DATES or is_record(hint) or is_row(hint):
        return False
    if origin is Literal:
        return not any(isinstance(value, Enum) for value in args)
    return all(_known_abroad(arg) for arg in args)


def _schema(facets: Facets, around: tuple[type, ...]) -> JsonDict:
    """Return the schema of a type inside of the given records."""
    schema = _variants(facets, around) if facets.discriminator else _bare(facets.hint, around)
    said = {"description": facets.description} if facets.description else {}
    return {**schema, **facets.bounds, **said}


def _bare(hint: Any, around: tuple[type, ...]) -> JsonDict:
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return {}
    if hint in _SCALARS or hint in _BARE:
        return {"type": _SCALARS.get(hint) or _BARE[hint]}
    if hint in _DATES:
        return {"type": "string", "format": _DATES[hint]}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _enum([member.value for member in hint])
    if is_record(hint):
        return _record(hint, around)
    if origin is Literal:
        return _enum([plain_value(arg) for arg in args])
    if len(options_of(hint)) > 1:
        return _union(args, around)
    if origin is list or is_row(hint):
        return {"type": "array", "items": _schema(inner(args[0]), around)}
    if origin is dict and args[0] is str:
        return {"type": "object", "additionalProperties": _schema(inner(args[1]), around)}
    raise TypeError(f"{hint!r} cannot be an argument of a tool: JSON has no such type.")


def _enum(values: list[Any]) -> JsonDict:
    if not values or any(type(value) not in _SCALARS for value in values):
        raise TypeError(f"{values!r} cannot be the choices of an argument: JSON has no such type.")
    kinds = list(dict.fromkeys(_SCALARS[type(value)] for value in values))
    return {"type": kinds[0] if len(kinds) == 1 else kinds, "enum": values}


def _union(args: tuple[object, ...], around: tuple[type, ...]) -> JsonDict:
    some = [arg for arg in args if arg is not type(None)]
    if len(some) > 1 and any(is_record(arg) for arg in some):
        raise TypeError("Records of a union need a field that tells them apart: discriminator=.")
    options = [_schema(inner(arg), around) for arg in some]
    if len(options) == 1:
        schema = options[0]
    elif all(option.keys() == {"type"} for option in options):
        schema = {"type": sorted({option["type"] for option in options})}
    else:
        schema = {"anyOf": options}
    if type(None) in args:
        schema = {**schema, "nullable": True}
    return schema


def _variants(facets: Facets, around: tuple[type, ...]) -> JsonDict:
    records = dict.fromkeys(variants(facets).values())
    schema: JsonDict = {
        "oneOf": [_record(record, around, facets.discriminator) for record in records]
    }
    return {**schema, "nullable": True} if type(None) in get_args(facets.hint) else schema


def _record(cls: type, around: tuple[type, ...], announced_by: str = "") -> JsonDict:
    if cls in around:
        raise TypeError(f"Record {cls.__name__} holds itself: JSON Schema would have no end.")
    description, _ = describe_record(cls)
    schema = _object(record_parts(cls), (*around, cls))
    if announced_by:
        name = discriminator(cls, announced_by).name
        values = announcing(cls, announced_by)
        said = {"const": values[0]} if len(values) == 1 else {"enum": values}
        text = schema["properties"][name]["description"]
        schema["properties"][name] = {"type": "string", **said, "description": text}
        # A default would leave open which record is meant.
        named = {name, *schema.get("required", ())}
        schema["required"] = [key for key in schema["properties"] if key in named]
    return {**schema, "additionalProperties": False, "description": description}


def _object(parts: Iterable[Part], around: tuple[type, ...]) -> JsonDict:
    properties: JsonDict = {}
    required = []
    for part in parts:
        properties[part.name] = {**_schema(part.facets, around), "description": part.description}
        if part.default is REQUIRED:
            required.append(part.name)
    schema: JsonDict = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    return schema
