"""How an office shows what it has: records as lines, several of them as tables.

One renderer for every tool. What is empty is left out; a table shows only the columns in which
something stands, so that a chart takes a page and not forty kilobytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import date, datetime
from enum import Enum, StrEnum
from itertools import chain
from operator import attrgetter, itemgetter
from types import NoneType
from typing import Any, TypeAlias, cast

Named: TypeAlias = Iterable[tuple[str, object]]
Columns: TypeAlias = Iterable[tuple[str, Sequence[object]]]

#: Longer texts are not put in a table but under it.
_WIDEST = 160
_NOTHING = "nothing"
_YES_OR_NO = {True: "yes", False: "no"}
_TWO_DIGITS = tuple(f"{number:02}" for number in range(60))


def present(value: object) -> str:
    """Return a result as an agent reads it.

    Args:
        value: A record, a view (a mapping of names to values), a sequence of them, or a scalar.
    """
    kind = _KINDS[value.__class__]
    if value is None or (kind.sized and not value):
        return _NOTHING
    if kind.named is not None:
        return "\n".join(_lines(kind.named(value))) or _NOTHING
    columns = _columns(cast("Sequence[object]", value)) if kind.rows else None
    return scalar(value) if columns is None else table(columns)


def table(columns: Columns) -> str:
    """Return columns of equal length as a table with a header, cells set apart by ``|``."""
    names: list[str] = []
    shown: list[list[str]] = []
    wide: dict[str, list[str]] = {}
    height = 0
    for name, values in columns:
        height = len(values)
        cells = _cells(values)
        if cells is None:
            continue
        if max(map(len, cells)) > _WIDEST:
            # Nothing, not "no" or 0, where there is none: these stand beside the text they explain.
            wide[name] = [cell if value else "" for cell, value in zip(cells, values, strict=True)]
        else:
            names.append(name)
            shown.append(cells)
    rows = map(" | ".join, zip(*shown, strict=True)) if shown else [""] * height
    if not wide:
        return "\n".join([" | ".join(names), *rows])
    lines = [" | ".join(names)]
    for place, row in enumerate(rows):
        lines.append(row)
        lines += [f"  {name}: {cells[place]}" for name, cells in wide.items() if cells[place]]
    return "\n".join(lines)


def _cells(values: Sequence[object]) -> list[str] | None:
    """Return a column's values, each in one line; None if nothing is in it."""
    if len(values) == 1:
        return [_cell(values[0])] if values[0] or _filled(values[0]) else None
    # A column is of one type, as a rule: then it is written without asking each value for its own.
    types = set(map(type, values))
    types.discard(NoneType)
    if not types:
        return None
    words = _KINDS[types.pop()].words
    if types or words is None:
        return [_cell(value) for value in values] if any(map(_filled, values)) else None
    texts = ["" if value is None else words(value) for value in values]
    whole = "".join(texts)
    if not whole:
        return None
    return [text.replace("\n", " / ") for text in texts] if "\n" in whole else texts


def scalar(value: object) -> str:
    """Return a single value in words."""
    return (_KINDS[value.__class__].words or str)(value)


def named_values(value: object) -> Mapping[str, object] | None:
    """Return a record or a view as named values; None if it is something else."""
    kind = _KINDS[value.__class__]
    if kind.read is not None:
        return dict(zip(kind.names, kind.read(value), strict=True))
    return None if kind.named is None else cast("Mapping[str, object]", value)


@dataclass(frozen=True, slots=True)
class _Kind:
    """How values of a type are shown.

    Attributes:
        words: Says a plain value; None for what has parts.
        named: Tells the parts of a record or a view with their names; None for what has none.
        names: Of a record, the names of its parts.
        read: Reads all parts of a record; None for what is none.
        rows: Whether it is a sequence.
        sized: Whether it may have no parts, as a sequence or a view.
    """

    words: Callable[[Any], str] | None = None
    named: Callable[[Any], Named] | None = None
    names: tuple[str, ...] = ()
    read: Callable[[Any], tuple[object, ...]] | None = None
    rows: bool = False
    sized: bool = False


class _Kinds(dict[type, _Kind]):
    """Kinds by type, found out at first sight: a type is asked of once, values by the thousand."""

    def __missing__(self, kind: type) -> _Kind:
        self[kind] = found = self._of(kind)
        return found

    @staticmethod
    def _of(kind: type) -> _Kind:
        if is_dataclass(kind):
            return _record(tuple(item.name for item in fields(kind)))
        if issubclass(kind, Mapping):
            return _Kind(named=lambda view: view.items(), sized=True)
        if issubclass(kind, Sequence) and not issubclass(kind, str):
            return _Kind(rows=True, sized=True)
        return _Kind(words=_words(kind))


def _record(names: tuple[str, ...]) -> _Kind:
    whole = attrgetter(*names)
    read = whole if len(names) > 1 else lambda record: (whole(record),)
    return _Kind(named=lambda record: zip(names, read(record), strict=True), names=names, read=read)


def _words(kind: type) -> Callable[[Any], str]:
    """Return what says the plain values of a type."""
    if issubclass(kind, StrEnum):
        return attrgetter("_value_")
    if issubclass(kind, Enum):
        return lambda value: str(value._value_)
    if issubclass(kind, bool):
        return _YES_OR_NO.__getitem__
    if issubclass(kind, datetime):
        return _minute
    if issubclass(kind, date):
        return date.isoformat
    return "{:g}".format if issubclass(kind, float) else str


def _minute(at: datetime) -> str:
    """Return a time up to its minutes; in a third of the time that ``isoformat`` takes."""
    two = _TWO_DIGITS
    return f"{at.year:04}-{two[at.month]}-{two[at.day]}T{two[at.hour]}:{two[at.minute]}"


_KINDS = _Kinds()


def _lines(named: Named, indent: str = "") -> list[str]:
    """Return the lines of a record, its own records set under it."""
    lines: list[str] = []
    for name, value in named:
        if value is None:
            continue
        kind = _KINDS[value.__class__]
        words = kind.words
        if words is not None:
            text = words(value)
            if "\n" not in text:
                if text:
                    lines.append(f"{indent}{name}: {text}")
            elif isinstance(value, str):
                lines.append(f"{indent}{name}:\n{_below(text, indent)}")
            else:
                lines.append(f"{indent}{name}: {_cell(value)}")
        elif kind.sized and not value:
            continue
        elif kind.named is not None:
            lines += [f"{indent}{name}:", *_lines(kind.named(value), indent + "  ")]
        elif (columns := _columns(cast("Sequence[object]", value))) is not None:
            lines.append(f"{indent}{name}:\n{_below(table(columns), indent)}")
        else:
            lines.append(f"{indent}{name}: {_cell(value)}")
    return lines


def _below(text: str, indent: str) -> str:
    """Return a text as it stands under a name."""
    inner = f"{indent}  "
    return inner + text.replace("\n", f"\n{inner}")


def _columns(items: Sequence[object]) -> Columns | None:
    """Return a sequence of records as columns; None if it is one of something else.

    By columns rather than rows, because records are of one kind and most of their fields empty.
    """
    kinds = [_KINDS[kind] for kind in set(map(type, items))]
    if any(kind.named is None for kind in kinds):
        return None
    if len(kinds) == 1 and kinds[0].read is not None:
        return zip(kinds[0].names, zip(*map(kinds[0].read, items), strict=True), strict=True)
    rows = [named_values(item) or {} for item in items]
    every = tuple(dict.fromkeys(chain.from_iterable(rows)))
    if len(every) > 1 and all(len(row) == len(every) for row in rows):
        return zip(every, zip(*map(itemgetter(*every), rows), strict=True), strict=True)
    return [(name, [row.get(name) for row in rows]) for name in every]


def _filled(value: object) -> bool:
    """Return whether a value says something: what is true does, and so do "no" and 0."""
    return value is not None and value != "" and not (_KINDS[value.__class__].sized and not value)


def _cell(value: Any) -> str:
    """Return a value in one line."""
    if value is None:
        return ""
    kind = _KINDS[value.__class__]
    if kind.words is not None:
        return kind.words(value).replace("\n", " / ")
    if kind.named is not None:
        parts = [f"{name} {_cell(v)}" for name, v in kind.named(value) if v or _filled(v)]
        return "; ".join(parts)
    return ", ".join(map(_cell, value))
