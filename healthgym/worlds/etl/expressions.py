"""The small expression language of code metadata: columns, templates, fallbacks, conditions.

It is that of MEDS-Transforms 0.2: ``name`` is a column, ``"{a}/{b}"`` a template, a list takes
the first value that is not null, and ``{expression: {column: value}}`` applies where the column
has the value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import polars as pl

from healthgym.errors import ToolError

_FIELD = re.compile(r"\{([^}]+)\}")
_KINDS = ("col", "str", "literal", "extract")


def expression(spec: object) -> tuple[pl.Expr, frozenset[str]]:
    """Return the polars expression of a metadata specification, and the columns it reads.

    Raises:
        ToolError: If it is not one.
    """
    if isinstance(spec, str):
        return _template(spec) if _FIELD.search(spec) else (pl.col(spec), frozenset({spec}))
    if isinstance(spec, list) and spec and all(isinstance(item, str | dict) for item in spec):
        parts = [expression(item) for item in spec]
        columns = frozenset().union(*(names for _, names in parts))
        return pl.coalesce(*(part for part, _ in parts)), columns
    if isinstance(spec, Mapping):
        if set(spec) == {"output", "matcher"}:
            return _conditional(spec["output"], spec["matcher"])
        if len(spec) == 1:
            ((kind, value),) = spec.items()
            return _typed(kind, value) if kind in _KINDS else _conditional(kind, value)
    raise ToolError(
        f"Metadata expression {str(spec)[:120]!r} is a column, a template '{{column}}', a list of "
        "these, or a mapping from one of them to the column values it applies to."
    )


def _template(text: str) -> tuple[pl.Expr, frozenset[str]]:
    columns = _FIELD.findall(text)
    if "{}" in text:
        raise ToolError(f"Template {text[:120]!r} has braces without a column in them.")
    return pl.format(_FIELD.sub("{}", text), *(pl.col(c) for c in columns)), frozenset(columns)


def _typed(kind: str, value: object) -> tuple[pl.Expr, frozenset[str]]:
    if kind in ("col", "str") and isinstance(value, str):
        return (pl.col(value), frozenset({value})) if kind == "col" else _template(value)
    if kind == "literal" and isinstance(value, str | int | float | bool):
        return pl.lit(value), frozenset()
    if (
        kind == "extract"
        and isinstance(value, Mapping)
        and {"from", "regex"} <= set(value) <= {"from", "regex", "group_index"}
        and isinstance(value["from"], str)
        and isinstance(value["regex"], str)
        and isinstance(value.get("group_index", 1), int)
    ):
        group = max(value.get("group_index", 1), 0)
        return pl.col(value["from"]).str.extract(value["regex"], group), frozenset({value["from"]})
    raise ToolError(f"Metadata expression {kind}: {str(value)[:120]!r} is not understood.")


def _conditional(output: object, matcher: object) -> tuple[pl.Expr, frozenset[str]]:
    if not isinstance(matcher, Mapping) or not all(isinstance(key, str) for key in matcher):
        raise ToolError(f"A condition maps columns to values, unlike {str(matcher)[:120]!r}.")
    tests = [_test(column, value) for column, value in matcher.items()]
    result, columns = expression(output)
    return pl.when(pl.all_horizontal(tests)).then(result), columns | set(matcher)


def _test(column: str, value: object) -> pl.Expr:
    if not isinstance(value, Mapping):
        return pl.col(column) == pl.lit(value)
    if set(value) == {"present"} and isinstance(value["present"], bool):
        present = pl.col(column).is_not_null()
        return present if value["present"] else ~present
    if set(value) == {"regex"} and isinstance(value["regex"], str):
        return pl.col(column).str.contains(value["regex"])
    raise ToolError(f"Condition on {column} is a value, {{regex: ...}} or {{present: true}}.")
