"""Bounds on values: from pydantic's annotations to the words of JSON Schema."""

from __future__ import annotations

import re
import types
from collections.abc import Sequence
from math import inf
from typing import Annotated, Any, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen, MultipleOf
from pydantic import Field, TypeAdapter
from pydantic_core import SchemaError

from healthgym.core.borders import Json, JsonDict, JsonObject

_FAMILIES = {
    int: "number",
    float: "number",
    str: "text",
    list: "list",
    tuple: "list",
    dict: "object",
}
_NUMBERS = {
    Ge: ("ge", "minimum"),
    Le: ("le", "maximum"),
    Gt: ("gt", "exclusiveMinimum"),
    Lt: ("lt", "exclusiveMaximum"),
    MultipleOf: ("multiple_of", "multipleOf"),
}
_LENGTHS = {"text": "Length", "list": "Items", "object": "Properties"}


def bounds_of(hint: object, constraints: Sequence[object]) -> JsonDict:
    """Return what annotations ask of the values of a type, as keywords of JSON Schema.

    Args:
        hint: The type, or a union of types of one kind.
        constraints: The annotations: those that ``Field(ge=1, max_length=3, ...)`` stands for.

    Raises:
        TypeError: If JSON Schema has no word for one, or none for such a type.
    """
    if not constraints:
        return {}
    families = _families(hint)
    family = next(iter(families)) if len(families) == 1 else ""
    return dict(_bound(family, hint, item) for item in constraints)


def _bound(family: str, hint: object, item: object) -> tuple[str, Any]:
    if family == "number" and type(item) in _NUMBERS:
        attribute, word = _NUMBERS[type(item)]
        return word, getattr(item, attribute)
    if family in _LENGTHS and isinstance(item, MinLen):
        return f"min{_LENGTHS[family]}", item.min_length
    if family in _LENGTHS and isinstance(item, MaxLen):
        return f"max{_LENGTHS[family]}", item.max_length
    # Pydantic has no public class for a pattern.
    pattern = getattr(item, "pattern", None)
    if family == "text" and isinstance(pattern, str):
        return "pattern", _checked(pattern)
    raise TypeError(f"{item!r} cannot bound {hint!r}: JSON Schema has no such word.")


def _checked(pattern: str) -> str:
    try:
        TypeAdapter(Annotated[str, Field(pattern=pattern)])
    except SchemaError as error:
        raise TypeError(f"{pattern!r} is not a pattern that can be checked: {error}") from None
    return pattern


def _families(hint: Any) -> set[str]:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        options = [option for option in get_args(hint) if option is not type(None)]
        return set().union(*map(_families, options))
    if origin is Annotated:
        return _families(get_args(hint)[0])
    return {_FAMILIES.get(origin or hint, "other")}


def within(schema: JsonObject, value: object) -> Json:
    """Return a value moved into the bounds of a schema; a pattern is not looked at.

    Args:
        schema: JSON Schema of a number or of text.
        value: A value of that type.
    """
    if isinstance(value, str):
        return _resized(value, schema.get("minLength", 0), schema.get("maxLength"))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    whole = isinstance(value, int) and schema.get("type") != "number"
    step = schema.get("multipleOf", 1 if whole else 0)
    # A float has no next one worth naming; a millionth is inside of any bound in use.
    gap = step or 1e-6
    low = schema.get("minimum", schema.get("exclusiveMinimum", -inf) + gap)
    high = schema.get("maximum", schema.get("exclusiveMaximum", inf) - gap)
    moved = min(max(value, low), high)
    if not step:
        return moved
    down = type(value)(moved // step * step)
    return down if down >= low else type(value)(down + step)


def size_within(schema: JsonObject, size: int) -> int:
    """Return a number of items moved into the bounds of a list's schema."""
    least: int = schema.get("minItems", 0)
    most: int = schema.get("maxItems", max(size, least))
    return min(max(size, least), most)


def matches(schema: JsonObject, text: str) -> bool:
    """Return whether text has a schema's pattern, if there is one."""
    return "pattern" not in schema or re.search(schema["pattern"], text) is not None


def _resized(text: str, least: int, most: int | None) -> str:
    if len(text) < least:
        text = ((text or "a") * least)[:least]
    return text if most is None else text[:most]
