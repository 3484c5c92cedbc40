"""From one typed, documented method to a JSON Schema and an argument validator.

The schema follows the rules of ``transformers.utils.get_json_schema``, which chat templates and
TRL use, so that a tool looks the same to a model whichever way it is offered. Validation is
pydantic's, in strict mode: a string is not a number, and unknown arguments are refused.
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
)

from healthgym.errors import ToolError

_SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
_BARE = {list: "array", dict: "object"}
_SECTION = re.compile(r"\n\s*(Args|Returns|Raises):\s*\n")
_ARGUMENT = re.compile(r"^(\w+):\s*(.*)$")
_PREFIX = "argument_"


def describe(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """Split a Google-style docstring into its description and its argument descriptions.

    Raises:
        TypeError: If the docstring is missing.
    """
    doc = inspect.getdoc(function)
    if not doc:
        raise TypeError(f"Tool {function.__name__} needs a docstring: it is the model's manual.")
    parts = _SECTION.split("\n" + doc)
    description = parts[0].strip()
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    arguments: dict[str, str] = {}
    current = ""
    for line in inspect.cleandoc(sections.get("Args", "")).splitlines():
        match = _ARGUMENT.match(line)
        if match:
            current = match[1]
            arguments[current] = match[2].strip()
        elif current and line.strip():
            arguments[current] = f"{arguments[current]} {line.strip()}".strip()
    return description, arguments


def type_schema(hint: Any) -> dict[str, Any]:
    """Return the JSON Schema of a type hint.

    Raises:
        TypeError: If the hint has no counterpart in JSON.
    """
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return {}
    if hint in _SCALARS or hint in _BARE:
        return {"type": _SCALARS.get(hint) or _BARE[hint]}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _enum([member.value for member in hint])
    if origin is Literal:
        return _enum(list(args))
    if origin in (Union, types.UnionType):
        return _union(args)
    if origin is list:
        return {"type": "array", "items": type_schema(args[0])}
    if origin is dict and args[0] is str:
        return {"type": "object", "additionalProperties": type_schema(args[1])}
    raise TypeError(f"{hint!r} cannot be an argument of a tool: JSON has no such type.")


def _enum(values: list[Any]) -> dict[str, Any]:
    if not values or any(type(value) not in _SCALARS for value in values):
        raise TypeError(f"{values!r} cannot be the choices of an argument: JSON has no such type.")
    kinds = list(dict.fromkeys(_SCALARS[type(value)] for value in values))
    return {"type": kinds[0] if len(kinds) == 1 else kinds, "enum": values}


def _union(args: tuple[Any, ...]) -> dict[str, Any]:
    options = [type_schema(arg) for arg in args if arg is not type(None)]
    if len(options) == 1:
        schema = options[0]
    elif all(option.keys() == {"type"} for option in options):
        schema = {"type": sorted({option["type"] for option in options})}
    else:
        schema = {"anyOf": options}
    if type(None) in args:
        schema = {**schema, "nullable": True}
    return schema


def parameters_schema(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the JSON Schema of a method's arguments, ``self`` left out.

    Raises:
        TypeError: If an argument lacks a type hint or a description, or JSON has no such argument.
    """
    hints = get_type_hints(function)
    _, descriptions = describe(function)
    properties: dict[str, Any] = {}
    required = []
    for name, parameter in argument_signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(f"Tool {function.__name__} needs a fixed list of arguments.")
        if name not in hints:
            raise TypeError(f"Argument {name} of tool {function.__name__} needs a type hint.")
        if name not in descriptions:
            raise TypeError(f"Argument {name} of tool {function.__name__} needs a description.")
        properties[name] = {**type_schema(hints[name]), "description": descriptions[name]}
        if parameter.default is inspect.Parameter.empty:
            required.append(name)
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    return schema


def argument_signature(function: Callable[..., Any]) -> inspect.Signature:
    """Return the signature of a method without its receiver and its return annotation."""
    signature = inspect.signature(function)
    kept = [p for name, p in signature.parameters.items() if name != "self"]
    hints = get_type_hints(function)
    typed = [p.replace(annotation=hints.get(p.name, p.annotation)) for p in kept]
    return inspect.Signature(typed)


def argument_model(function: Callable[..., Any]) -> type[BaseModel]:
    """Return the pydantic model that validates a method's arguments, strictly."""
    fields: dict[str, Any] = {}
    for name, parameter in argument_signature(function).parameters.items():
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        # An alias, so that an argument may be called what pydantic calls its own methods.
        fields[_PREFIX + name] = (_by_value(parameter.annotation), Field(default, alias=name))
    config = ConfigDict(
        strict=True, extra="forbid", allow_inf_nan=False, protected_namespaces=(), frozen=True
    )
    return create_model(f"{function.__name__}_arguments", __config__=config, **fields)


def _by_value(hint: Any) -> Any:
    """Let the members of enums be given by their values; strict mode would want the members."""
    origin, args = get_origin(hint), get_args(hint)
    if isinstance(hint, type) and issubclass(hint, Enum):
        members = {_typed(member.value): member for member in hint}
        return Annotated[hint, BeforeValidator(partial(_choose, members))]
    if origin is Literal:
        # Pydantic would take true for 1.
        return Annotated[
            hint, BeforeValidator(partial(_choose, {_typed(arg): arg for arg in args}))
        ]
    if origin in (Union, types.UnionType):
        return Union[tuple(_by_value(arg) for arg in args)]  # noqa: UP007 - built at run time
    if origin in (list, dict):
        return origin[tuple(_by_value(arg) for arg in args)]
    return hint


def _typed(value: Any) -> tuple[type, Any]:
    return type(value), value


def _choose(choices: Mapping[tuple[type, Any], Any], value: Any) -> Any:
    if isinstance(value, str | int | float | None) and _typed(value) in choices:
        return choices[_typed(value)]
    raise ValueError(f"use one of {', '.join(repr(choice) for _, choice in choices)}")


def validate(
    model: type[BaseModel], name: str, usage: str, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the validated arguments, defaults filled in.

    Raises:
        ToolError: Naming each wrong argument and the usage of the tool.
    """
    try:
        checked = model.model_validate(dict(arguments))
    except ValidationError as error:
        problems = "; ".join(_problem(item) for item in error.errors(include_url=False)[:5])
        raise ToolError(f"{name}: {problems}. Usage: {usage}") from None
    return {
        field.removeprefix(_PREFIX): getattr(checked, field) for field in type(checked).model_fields
    }


def _problem(item: Any) -> str:
    where = ".".join(str(part) for part in item["loc"])[:80] or "arguments"
    if item["type"] == "missing":
        return f"argument '{where}' is missing"
    if item["type"] == "extra_forbidden":
        return f"there is no argument '{where}'"
    message = item["msg"].removeprefix("Value error, ")
    message = message[0].lower() + message[1:200]
    return f"argument '{where}': {message}"
