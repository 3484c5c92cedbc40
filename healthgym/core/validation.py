"""Validation of what an agent hands in: pydantic's, in strict mode.

A string is not a number, and unknown arguments are refused. Only what JSON has no type for is
given as text: dates in ISO form, and the members of enums by their values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from enum import Enum
from functools import cache, partial
from types import NoneType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    Tag,
    ValidationError,
    create_model,
)
from pydantic_core import CoreSchema, core_schema

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.core.parts import (
    REQUIRED,
    Facets,
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
from healthgym.errors import ToolError

_PREFIX = "argument_"
_AFTER_PREFIX = len(_PREFIX)
_MAX_PROBLEMS = 5
#: What a choice may be given as; the rest cannot be looked up.
_PLAIN = (str, int, float, NoneType)
_UNKNOWN = object()
#: Begins pydantic's name for a record of a union, which is no part of the path an agent wrote.
_MARK = "\0"
_CONFIG = ConfigDict(
    strict=True, extra="forbid", allow_inf_nan=False, protected_namespaces=(), frozen=True
)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?"
    r"(Z|[+-][0-9]{2}:[0-9]{2})?"
)
#: Sentences of our own, by the type of pydantic's error; the braces take its context.
_SENTENCES = {
    "greater_than_equal": "must be at least {ge}",
    "greater_than": "must be more than {gt}",
    "less_than_equal": "must be at most {le}",
    "less_than": "must be less than {lt}",
    "multiple_of": "must be a multiple of {multiple_of}",
    "string_too_short": "must have {min_length} or more characters",
    "string_too_long": "must have {max_length} or fewer characters",
    "string_pattern_mismatch": "must match the pattern {pattern!r}",
    "too_short": "must have {min_length} or more items",
    "too_long": "must have {max_length} or fewer items",
    "is_instance_of": "must be an object",
}


def argument_model(function: Callable[..., object]) -> type[BaseModel]:
    """Return the pydantic model that validates a method's arguments, strictly."""
    fields: JsonDict = {}
    for part in argument_parts(function):
        default = ... if part.default is REQUIRED else part.default
        # An alias, so that an argument may be called what pydantic calls its own methods.
        fields[_PREFIX + part.key] = (_strict(part.facets), Field(default, alias=part.name))
    return create_model(f"{function.__name__}_arguments", __config__=_CONFIG, **fields)


def validate(model: type[BaseModel], name: str, usage: str, arguments: JsonObject) -> JsonDict:
    """Return the validated arguments by their names in Python, defaults filled in.

    Raises:
        ToolError: Naming each wrong argument and the usage of the tool.
    """
    try:
        # What ``model_validate`` hands them to, after asking whether it was told anything else.
        checked = model.__pydantic_validator__.validate_python(dict(arguments))
    except ValidationError as error:
        items = error.errors(include_url=False)[:_MAX_PROBLEMS]
        problems = "; ".join(_problem(item) for item in items)
        raise ToolError(f"{name}: {problems}. Usage: {usage}") from None
    # A model keeps its fields, and nothing else, in its dictionary, in their order.
    return {field[_AFTER_PREFIX:]: value for field, value in checked.__dict__.items()}


def _strict(facets: Facets) -> Any:
    """Return a hint for pydantic that takes what JSON text can say, and nothing like it."""
    hint = _tagged(facets) if facets.discriminator else _by_value(facets.hint)
    return Annotated[hint, *facets.constraints] if facets.constraints else hint


def _by_value(hint: object) -> Any:
    """Let enums and dates be given as JSON has them; strict mode would want Python's objects."""
    origin, args = get_origin(hint), get_args(hint)
    if isinstance(hint, type) and issubclass(hint, Enum):
        members = {_typed(member.value): member for member in hint}
        return Annotated[hint, BeforeValidator(partial(_choose, members))]
    if hint is date:
        return Annotated[date, BeforeValidator(_date)]
    if hint is datetime:
        return Annotated[datetime, BeforeValidator(_datetime)]
    if is_record(hint):
        return _record(hint)
    if origin is Literal:
        # Pydantic would take true for 1.
        choices = {_typed(plain_value(arg)): arg for arg in args}
        return Annotated[hint, BeforeValidator(partial(_choose, choices))]
    if len(options_of(hint)) > 1:
        return Union[tuple(_strict(inner(arg)) for arg in args)]  # noqa: UP007 - at run time
    if is_row(hint):
        # JSON has lists only, and strict mode would want a tuple.
        return Annotated[list[_strict(inner(args[0]))], AfterValidator(tuple)]  # type: ignore[misc]
    if origin in (list, dict):
        return origin[tuple(_strict(inner(arg)) for arg in args)]
    return hint


def _typed(value: object) -> tuple[type, Any]:
    return type(value), value


def _choose(choices: Mapping[tuple[type, object], object], value: object) -> Any:
    if isinstance(value, _PLAIN):
        chosen = choices.get(_typed(value), _UNKNOWN)
        if chosen is not _UNKNOWN:
            return chosen
    raise ValueError(f"use one of {', '.join(repr(choice) for _, choice in choices)}")


def _date(value: object) -> date:
    if isinstance(value, str) and _DATE.fullmatch(value):
        try:
            return date.fromisoformat(value)
        except ValueError:
            raise ValueError(f"there is no day {value}") from None
    raise ValueError("use a date such as '2026-03-13'")


def _datetime(value: Any) -> datetime:
    match = _TIME.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError("use a date and time with its offset, such as '2026-03-13T09:00:00Z'")
    if match[2] is None:
        raise ValueError(f"say the offset from UTC as well, such as '{value}Z' or '{value}+01:00'")
    try:
        moment = datetime.fromisoformat(value)
        moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"there is no time {value}") from None
    return moment


@cache
def _record(cls: type) -> Any:
    return Annotated[Any, _Fields(cls), AfterValidator(partial(_build, cls))]


class _Fields:
    """Checks the fields of a record that are given, and names them as the record does.

    They become a dictionary and not a model, which would be read and thrown away: the record fills
    in the rest. That they are an object is asked first, so that it can be said in our words.
    """

    def __init__(self, cls: type) -> None:
        self._parts = record_parts(cls)
        self._by_alias = issubclass(cls, BaseModel)

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Return what pydantic checks them with."""
        fields = {
            part.name if self._by_alias else part.key: core_schema.typed_dict_field(
                handler.generate_schema(_strict(part.facets)),
                required=part.default is REQUIRED,
                validation_alias=part.name,
            )
            for part in self._parts
        }
        whole = core_schema.typed_dict_schema(
            fields,
            extra_behavior="forbid",
            config=core_schema.CoreConfig(strict=True, allow_inf_nan=False),
        )
        return core_schema.chain_schema([core_schema.is_instance_schema(dict), whole])


def _build(cls: type, given: JsonDict) -> Any:
    """Make the record itself, so that its own defaults and checks hold.

    Args:
        cls: The kind of record.
        given: The fields that were given, by their names in it.

    Raises:
        ValueError: If it refuses its fields.
    """
    try:
        return cls(**given)
    except ValidationError as error:
        items = error.errors(include_url=False)[:_MAX_PROBLEMS]
        raise ValueError("; ".join(_within(item) for item in items)) from None
    except ToolError as error:
        raise ValueError(str(error)) from None


def _within(item: Any) -> str:
    where = ".".join(str(part) for part in item["loc"])
    return f"{where}: {_message(item)}" if where else _message(item)


def _tagged(facets: Facets) -> Any:
    """Return a union whose record is chosen by one field, so that errors speak of that record."""
    table = variants(facets)
    records = list(dict.fromkeys(table.values()))
    marks = {value: f"{_MARK}{records.index(record)}" for value, record in table.items()}
    name = discriminator(records[0], facets.discriminator).name
    choices = ", ".join(map(repr, table))
    options = [
        Annotated[_record(record), Tag(f"{_MARK}{number}")] for number, record in enumerate(records)
    ]
    union: Any = Annotated[
        Union[tuple(options)],  # noqa: UP007 - at run time
        Discriminator(
            _marker(name, marks),
            custom_error_type="discriminator",
            custom_error_message=f"must be an object whose '{name}' is one of {choices}",
        ),
    ]
    return union | None if type(None) in get_args(facets.hint) else union


def _marker(name: str, marks: Mapping[str, str]) -> Callable[[Any], str | None]:
    def mark(value: object) -> str | None:
        announced = value.get(name) if isinstance(value, dict) else None
        return marks.get(announced) if isinstance(announced, str) else None

    return mark


def _problem(item: Any) -> str:
    # Of an option of a union pydantic writes the function that checks it, with its address.
    marks = (_MARK, "function-")
    steps = [str(step) for step in item["loc"] if not str(step).startswith(marks)]
    where = ".".join(steps)[:80] or "arguments"
    if item["type"] == "missing":
        return f"argument '{where}' is missing"
    if item["type"] == "extra_forbidden":
        return f"there is no argument '{where}'"
    return f"argument '{where}': {_message(item)}"


def _message(item: Any) -> str:
    if item["type"] in _SENTENCES:
        context = {key: _short(value) for key, value in item["ctx"].items()}
        return _SENTENCES[item["type"]].format(**context)[:200]
    message: str = item["msg"].removeprefix("Value error, ")
    return message[:1].lower() + message[1:200]


def _short(value: object) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value
