"""How an office shows what it has: records as lines, several of them as tables.

One renderer for every tool. What is empty is left out; a table shows only the columns in which
something stands, so that a chart takes a page and not forty kilobytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from functools import cache

#: Longer texts are not put in a table but under it.
_WIDEST = 160
_NOTHING = "nothing"


def present(value: object) -> str:
    """Return a result as an agent reads it.

    Args:
        value: A record, a view (a mapping of names to values), a sequence of them, or a scalar.
    """
    if value is None or value == () or value == [] or value == {}:
        return _NOTHING
    rows = _rows(value)
    if rows is not None:
        return table(rows)
    facts = _facts(value)
    return scalar(value) if facts is None else "\n".join(_lines(facts)) or _NOTHING


def table(rows: Sequence[Mapping[str, object]]) -> str:
    """Return rows as a table with a header, cells set apart by ``|``."""
    wide = {k for row in rows for k, v in row.items() if len(_cell(v)) > _WIDEST}
    names = [
        name
        for name in dict.fromkeys(k for row in rows for k in row)
        if name not in wide and any(_filled(row.get(name)) for row in rows)
    ]
    lines = [" | ".join(names)]
    for row in rows:
        lines.append(" | ".join(_cell(row.get(name)) for name in names))
        lines += [f"  {name}: {_cell(row[name])}" for name in row if name in wide and row[name]]
    return "\n".join(lines)


def scalar(value: object) -> str:
    """Return a single value in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%dT%H:%M}"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, Enum):
        return str(value.value)
    return str(value)


def _lines(facts: Mapping[str, object], indent: str = "") -> list[str]:
    """Return the lines of a record, its own records set under it."""
    lines: list[str] = []
    for name, value in facts.items():
        if not _filled(value):
            continue
        rows, inner = _rows(value), _facts(value)
        if rows is not None:
            lines += [
                f"{indent}{name}:",
                *(f"{indent}  {line}" for line in table(rows).split("\n")),
            ]
        elif inner is not None:
            lines += [f"{indent}{name}:", *_lines(inner, indent + "  ")]
        elif isinstance(value, str) and "\n" in value:
            lines += [f"{indent}{name}:", *(f"{indent}  {line}" for line in value.split("\n"))]
        else:
            lines.append(f"{indent}{name}: {_cell(value)}")
    return lines


def _rows(value: object) -> list[Mapping[str, object]] | None:
    """Return a sequence of records as rows; None if it is something else."""
    if isinstance(value, str) or not isinstance(value, Sequence) or not value:
        return None
    rows = [_facts(item) for item in value]
    if any(row is None for row in rows):
        return None
    return [row for row in rows if row is not None]


def _facts(value: object) -> Mapping[str, object] | None:
    """Return a record or a view as named values; None if it is something else."""
    if isinstance(value, Mapping):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {name: getattr(value, name) for name in _names(type(value))}
    return None


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(item.name for item in fields(kind))


def _filled(value: object) -> bool:
    return value is not None and value != "" and value != () and value != [] and value != {}


def _cell(value: object) -> str:
    """Return a value in one line."""
    if value is None:
        return ""
    facts = _facts(value)
    if facts is not None:
        return "; ".join(f"{name} {_cell(v)}" for name, v in facts.items() if _filled(v))
    if not isinstance(value, str) and isinstance(value, Sequence):
        return ", ".join(_cell(item) for item in value)
    return scalar(value).replace("\n", " / ")
