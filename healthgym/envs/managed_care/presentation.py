"""How an office shows what it has: records as lines, several of them as tables.

One renderer for every tool. What is empty is left out; a table shows only the columns in which
something stands, so that a chart takes a page and not forty kilobytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from enum import Enum, StrEnum
from operator import attrgetter
from typing import Any, cast

#: Longer texts are not put in a table but under it.
_WIDEST = 160
_NOTHING = "nothing"
#: Letters of a time up to its minutes.
_MINUTES = 16


def present(value: object) -> str:
    """Return a result as an agent reads it.

    Args:
        value: A record, a view (a mapping of names to values), a sequence of them, or a scalar.
    """
    shape = _SHAPES[value.__class__]
    if value is None or (shape in (_Shape.ROWS, _Shape.VIEW) and not value):
        return _NOTHING
    columns = _columns(value)
    if columns is not None:
        return table(columns)
    facts = named_values(value)
    return scalar(value) if facts is None else "\n".join(_lines(facts)) or _NOTHING


def table(columns: Mapping[str, Sequence[object]]) -> str:
    """Return columns of equal length as a table with a header, cells set apart by ``|``."""
    names: list[str] = []
    shown: list[list[str]] = []
    wide: dict[str, list[str]] = {}
    for name, values in columns.items():
        cells = _cells(values)
        if cells is None:
            continue
        if max(map(len, cells)) > _WIDEST:
            # Nothing, not "no" or 0, where there is none: these stand beside the text they explain.
            wide[name] = [cell if value else "" for cell, value in zip(cells, values, strict=True)]
        else:
            names.append(name)
            shown.append(cells)
    rows = [" | ".join(row) for row in zip(*shown, strict=True)] or [""] * _height(columns)
    if not wide:
        return "\n".join([" | ".join(names), *rows])
    lines = [" | ".join(names)]
    for place, row in enumerate(rows):
        lines.append(row)
        lines += [f"  {name}: {cells[place]}" for name, cells in wide.items() if cells[place]]
    return "\n".join(lines)


def _cells(values: Sequence[object]) -> list[str] | None:
    """Return a column's values, each in one line; None if nothing is in it."""
    # A column is of one type, as a rule: then it is written without asking each value for its own.
    kinds = set(map(type, values)) - {type(None)}
    if kinds == {str}:
        texts = [value or "" for value in cast("Sequence[str | None]", values)]
        if not any(texts):
            return None
        return [t.replace("\n", " / ") for t in texts] if "\n" in "".join(texts) else texts
    if kinds == {datetime}:
        days = cast("Sequence[datetime | None]", values)
        return ["" if day is None else day.isoformat()[:_MINUTES] for day in days]
    return [_cell(value) for value in values] if any(map(_filled, values)) else None


def _height(columns: Mapping[str, Sequence[object]]) -> int:
    return len(next(iter(columns.values()), ()))


def scalar(value: object) -> str:
    """Return a single value in words."""
    return _WORDS[value.__class__](value)


class _Words(dict[type, Callable[[Any], str]]):
    """What says a single value, by type, found out at first sight."""

    def __missing__(self, kind: type) -> Callable[[Any], str]:
        self[kind] = words = self._of(kind)
        return words

    @staticmethod
    def _of(kind: type) -> Callable[[Any], str]:
        if issubclass(kind, Enum):
            return lambda value: str(value._value_)
        if issubclass(kind, bool):
            return lambda value: "yes" if value else "no"
        if issubclass(kind, datetime):
            return lambda value: str(value.isoformat()[:_MINUTES])
        if issubclass(kind, date):
            return lambda value: str(value.isoformat())
        return "{:g}".format if issubclass(kind, float) else str


class _Shape(StrEnum):
    """How values of a type are shown."""

    PLAIN = "plain"
    VIEW = "view"
    RECORD = "record"
    ROWS = "rows"


class _Shapes(dict[type, _Shape]):
    """Shape by type, found out at first sight: a type is asked of once, values by the thousand."""

    def __missing__(self, kind: type) -> _Shape:
        self[kind] = shape = self._of(kind)
        return shape

    @staticmethod
    def _of(kind: type) -> _Shape:
        if is_dataclass(kind):
            return _Shape.RECORD
        if issubclass(kind, Mapping):
            return _Shape.VIEW
        if issubclass(kind, Sequence) and not issubclass(kind, str):
            return _Shape.ROWS
        return _Shape.PLAIN


class _Fields(dict[type, "_Reader"]):
    """The names of a record's fields, and what reads them all, by type."""

    def __missing__(self, kind: type) -> _Reader:
        names = tuple(item.name for item in fields(kind))
        read = attrgetter(*names) if len(names) > 1 else lambda record: (getattr(record, names[0]),)
        self[kind] = found = (names, read)
        return found


_Reader = tuple[tuple[str, ...], Callable[[object], tuple[object, ...]]]
_SHAPES, _FIELDS, _WORDS = _Shapes(), _Fields(), _Words()


def _lines(facts: Mapping[str, object], indent: str = "") -> list[str]:
    """Return the lines of a record, its own records set under it."""
    lines: list[str] = []
    for name, value in facts.items():
        # Most fields are empty, and most of the others plain: they are asked for their kind once.
        if value is None or not (value if value.__class__ is str else _filled(value)):
            continue
        if _SHAPES[value.__class__] is _Shape.PLAIN:
            text = _WORDS[value.__class__](value)
            if "\n" not in text:
                lines.append(f"{indent}{name}: {text}")
            elif isinstance(value, str):
                lines.append(f"{indent}{name}:\n{_below(text, indent)}")
            else:
                lines.append(f"{indent}{name}: {_cell(value)}")
            continue
        columns, inner = _columns(value), named_values(value)
        if columns is not None:
            lines.append(f"{indent}{name}:\n{_below(table(columns), indent)}")
        elif inner is not None:
            lines += [f"{indent}{name}:", *_lines(inner, indent + "  ")]
        else:
            lines.append(f"{indent}{name}: {_cell(value)}")
    return lines


def _below(text: str, indent: str) -> str:
    """Return a text as it stands under a name."""
    inner = f"{indent}  "
    return inner + text.replace("\n", f"\n{inner}")


def _columns(value: object) -> Mapping[str, Sequence[object]] | None:
    """Return a sequence of records as columns; None if it is something else.

    By columns rather than rows, because records are of one kind and most of their fields empty.
    """
    if _SHAPES[value.__class__] is not _Shape.ROWS or not value:
        return None
    items = cast("Sequence[object]", value)
    kinds = {item.__class__ for item in items}
    if len(kinds) == 1 and _SHAPES[items[0].__class__] is _Shape.RECORD:
        names, read = _FIELDS[items[0].__class__]
        return dict(zip(names, zip(*map(read, items), strict=True), strict=True))
    rows = []
    for item in items:
        facts = named_values(item)
        if facts is None:
            return None
        rows.append(facts)
    every = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in every}


def named_values(value: object) -> Mapping[str, object] | None:
    """Return a record or a view as named values; None if it is something else."""
    shape = _SHAPES[value.__class__]
    if shape is _Shape.VIEW:
        return cast("Mapping[str, object]", value)
    if shape is _Shape.RECORD:
        names, read = _FIELDS[value.__class__]
        return dict(zip(names, read(value), strict=True))
    return None


def _filled(value: object) -> bool:
    if value is None or value == "":
        return False
    return _SHAPES[value.__class__] in (_Shape.PLAIN, _Shape.RECORD) or bool(value)


def _cell(value: object) -> str:
    """Return a value in one line."""
    kind = value.__class__
    if kind is str:
        return value.replace("\n", " / ")  # type: ignore[attr-defined,no-any-return]
    if value is None:
        return ""
    shape = _SHAPES[kind]
    if shape is _Shape.PLAIN:
        return _WORDS[kind](value).replace("\n", " / ")
    if shape is _Shape.ROWS:
        return ", ".join([_cell(item) for item in cast("Sequence[object]", value)])
    facts = (named_values(value) or {}).items()
    return "; ".join([f"{name} {_cell(v)}" for name, v in facts if v is not None and _filled(v)])
