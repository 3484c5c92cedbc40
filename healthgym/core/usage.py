"""The usage of a tool on one line, as refusals quote it."""

from __future__ import annotations

from healthgym.core.borders import JsonObject

#: Records within records that are written out; deeper ones are left as ``{...}``.
_MAX_DEPTH = 2


def usage_line(name: str, parameters: JsonObject) -> str:
    """Return a usage such as ``find(name: string, limit?: integer)``.

    Args:
        name: The tool.
        parameters: JSON Schema of its arguments.
    """
    return f"{name}({_fields(parameters, 0)})"


def value_usage(schema: JsonObject) -> str:
    """Return what one argument takes, such as ``integer`` or ``list[string]``.

    Args:
        schema: Its JSON Schema.
    """
    return _value(schema, 0)


def _fields(schema: JsonObject, depth: int) -> str:
    required = schema.get("required", [])
    return ", ".join(
        f"{name}{'' if name in required else '?'}: {_value(part, depth)}"
        for name, part in schema["properties"].items()
    )


def _value(schema: JsonObject, depth: int) -> str:
    if "const" in schema:
        return str(schema["const"])
    return "|".join(map(str, schema["enum"])) if "enum" in schema else _type(schema, depth)


def _type(schema: JsonObject, depth: int) -> str:
    if "anyOf" in schema or "oneOf" in schema:
        options = schema.get("anyOf") or schema["oneOf"]
        return "|".join(_type(option, depth) for option in options)
    if "properties" in schema:
        return "{...}" if depth >= _MAX_DEPTH else f"{{{_fields(schema, depth + 1)}}}"
    kind = schema.get("format") or schema.get("type", "any")
    if kind == "array" and "items" in schema:
        return f"list[{_type(schema['items'], depth)}]"
    return "|".join(kind) if isinstance(kind, list) else str(kind)
