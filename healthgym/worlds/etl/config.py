"""Event configurations: which rows of which table become which MEDS events.

The grammar is that of MEDS-Transforms 0.2 (Extract). A file names tables; a table has event
blocks; a block has a ``code``, a ``time`` and further columns of the event.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import yaml

from healthgym.core.borders import Json
from healthgym.core.cache import short_text_cache
from healthgym.errors import ToolError

#: Largest configuration accepted, in characters, and most event blocks in one.
MAX_CHARACTERS = 64_000
MAX_BLOCKS = 150
_MAX_DEPTH = 20
_ENDLESS = 10**300

_COLUMN = re.compile(r"col\((.*)\)", re.DOTALL)
_TIME_FORMAT = re.compile(r"(?:%[YymdHMSfjbBpITFDRzZeklGgVuwaAsehn.]|%\.\d?f|[^%\x00-\x1f]){1,60}")
_SUBJECT = "subject_id_col"


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a code: a literal, or the value of a column.

    Attributes:
        text: The literal, or the name of the column.
        column: Whether it is a column.
    """

    text: str
    column: bool

    def __str__(self) -> str:
        return f"col({self.text})" if self.column else self.text


@dataclass(frozen=True, slots=True)
class Block:
    """How one kind of event is made from the rows of a table.

    Attributes:
        table: Prefix of the table, such as ``hosp/labevents``.
        name: Name of the block, for messages; it does not reach the events.
        code: Parts of the code, joined by ``//``.
        time: Column of the time, or None for static events.
        formats: Time formats, tried in order; none where the column is read as it is.
        columns: Further columns of the event as (event column, table column), in file order.
        metadata: Code descriptions as (metadata table, ((output column, expression), ...)).
    """

    table: str
    name: str
    code: tuple[Part, ...]
    time: str | None
    formats: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    metadata: tuple[tuple[str, tuple[tuple[str, Any], ...]], ...] = ()

    @property
    def meaning(self) -> Hashable:
        """What the block does, whatever it is called and however it is written down."""
        columns = tuple(sorted(self.columns))
        metadata = tuple(sorted((table, repr(sorted(rows))) for table, rows in self.metadata))
        return (self.table, self.code, self.time, self.formats, columns, metadata)


@dataclass(frozen=True, slots=True)
class EventConfig:
    """A parsed configuration.

    Attributes:
        subjects: Column of the subject id, by table, in file order.
        blocks: All event blocks, in file order.
    """

    subjects: Mapping[str, str]
    blocks: tuple[Block, ...]

    def of_table(self, table: str) -> tuple[Block, ...]:
        """Return the blocks of a table."""
        return tuple(block for block in self.blocks if block.table == table)


#: libyaml's loader where PyYAML was built with it; it is ten times as fast.
_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[misc]
    """YAML without repeated keys, as the published tools have it."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if not isinstance(key.value, str):
                raise yaml.constructor.ConstructorError(None, None, "keys are plain texts")
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key.value!r} is there twice", key.start_mark
                )
            seen.add(key.value)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        return mapping

    def construct_yaml_int(self, node: Any) -> int:
        value: int = super().construct_yaml_int(node)
        if abs(value) >= _ENDLESS:
            # Python reads such numbers in hexadecimal, and writes none of them in decimal.
            raise yaml.constructor.ConstructorError(None, None, "a number is too large")
        return value


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)


def _check_shape(text: str) -> None:
    """Refuse aliases and deep nesting before anything recursive sees the text.

    Raises:
        YAMLError: If there are any, or the text is no YAML.
    """
    depth = 0
    for event in yaml.parse(text, Loader=_Base):
        if isinstance(event, yaml.events.AliasEvent):
            raise yaml.YAMLError("aliases are not supported")
        if isinstance(event, yaml.events.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.events.CollectionEndEvent):
            depth -= 1
        if depth > _MAX_DEPTH:
            raise yaml.YAMLError("it is nested too deeply")


def read_yaml(text: str) -> dict[Json, Json]:
    """Return the mapping that a configuration is, its contents unchecked.

    Raises:
        ToolError: If it is too long, no YAML, or no mapping with plain keys.
    """
    if len(text) > MAX_CHARACTERS:
        raise ToolError(f"An event configuration has at most {MAX_CHARACTERS} characters.")
    try:
        _check_shape(text)
        # The loader derives from SafeLoader: no tag constructs anything but plain values.
        data = yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        raise ToolError(f"Not valid YAML: {' '.join(str(error).split())[:300]}") from None
    except Exception:
        # PyYAML's constructors index, convert and look up whatever stands behind a tag.
        raise ToolError("Not valid YAML: a value is none of its tag.") from None
    if not isinstance(data, dict):
        raise ToolError("An event configuration is a mapping from table names to event blocks.")
    return data


def lines_of(text: str, key: str) -> tuple[int, int] | None:
    """Return the first line of a key of the outermost mapping and the line after its value.

    Comments and empty lines below the value count as its own; lines are counted from 0.

    Args:
        text: What :func:`read_yaml` accepts.
        key: The key.

    Returns:
        The two lines; None if the key is not there.

    Raises:
        ToolError: If the outermost mapping is written in braces.
    """
    root = yaml.compose(text, Loader=_Base)
    if root.flow_style:
        raise ToolError("This configuration is written in braces; change it by edit_file.")
    for name, value in root.value:
        if name.value == key:
            end = value.end_mark
            return name.start_mark.line, end.line + (end.column > 0)
    return None


@short_text_cache(32, MAX_CHARACTERS)
def parse_config(text: str) -> EventConfig:
    """Read an event configuration.

    Raises:
        ToolError: If it is not one; the message names the block and what is accepted.
    """
    data = read_yaml(text)
    default = _subject_column(data.pop(_SUBJECT, "subject_id"), "the configuration")
    subjects: dict[str, str] = {}
    blocks: list[Block] = []
    for table, entry in data.items():
        if not isinstance(table, str) or not isinstance(entry, dict) or not entry:
            raise ToolError(f"Table {table!r} needs a mapping of event blocks.")
        subjects[table] = _subject_column(entry.pop(_SUBJECT, default), table)
        if not entry:
            raise ToolError(f"Table {table} has no event blocks.")
        blocks += [_block(table, str(name), body) for name, body in entry.items()]
    if not blocks:
        raise ToolError("The configuration has no event blocks.")
    if len(blocks) > MAX_BLOCKS:
        raise ToolError(f"An event configuration has at most {MAX_BLOCKS} event blocks.")
    return EventConfig(MappingProxyType(subjects), tuple(blocks))


def _subject_column(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise ToolError(f"{_SUBJECT} of {where} is the name of a column.")
    return value


def _block(table: str, name: str, body: object) -> Block:
    where = f"{table}.{name}"
    if not isinstance(body, dict):
        raise ToolError(f"Event block {where} is a mapping with at least code and time.")
    for key in ("code", "time"):
        if key not in body:
            raise ToolError(f"Event block {where} has no {key}.")
    if "subject_id" in body:
        raise ToolError(f"Event block {where} cannot set subject_id.")
    rest = dict(body)
    code = _code(rest.pop("code"), where)
    time = _time(rest.pop("time"), where)
    formats = _formats(rest.pop("time_format", None), where)
    metadata = _metadata(rest.pop("_metadata", None), where)
    columns = tuple((_event_column(key, where), _source(key, v, where)) for key, v in rest.items())
    return Block(table, name, code, time, formats, columns, metadata)


def column_of(text: str) -> str | None:
    """Return the column that ``col(name)`` names, or None for any other text."""
    match = _COLUMN.fullmatch(text)
    return match[1] if match else None


def _code(value: object, where: str) -> tuple[Part, ...]:
    parts = [value] if isinstance(value, str) else value
    if not isinstance(parts, list) or not parts or not all(isinstance(p, str) for p in parts):
        raise ToolError(
            f"The code of {where} is a string, or a list of strings joined by '//'; a column is "
            "written col(name). Quote numbers."
        )
    if len(parts) > 12 or any(len(part) > 200 for part in parts):
        raise ToolError(f"The code of {where} has at most 12 parts of 200 characters.")
    columns = (column_of(part) for part in parts)
    return tuple(
        Part(part if column is None else column, column is not None)
        for part, column in zip(parts, columns, strict=True)
    )


def _time(value: object, where: str) -> str | None:
    if value is None:
        return None
    column = column_of(value) if isinstance(value, str) else None
    if column is None:
        raise ToolError(f"The time of {where} is col(name), or null for static events.")
    return column


def _formats(value: object, where: str) -> tuple[str, ...]:
    if value is None:
        return ()
    formats = [value] if isinstance(value, str) else value
    if not isinstance(formats, list) or not 0 < len(formats) <= 8:
        raise ToolError(f"The time_format of {where} is a format, or a list of up to 8.")
    for item in formats:
        if not isinstance(item, str) or not _TIME_FORMAT.fullmatch(item):
            raise ToolError(f"{item!r} in {where} is not a time format such as %Y-%m-%d %H:%M:%S.")
    return tuple(formats)


def _event_column(key: object, where: str) -> str:
    # Arrow keeps names as C strings: a NUL in one would take the process down.
    if not isinstance(key, str) or not key.isprintable() or not 0 < len(key) <= 100:
        raise ToolError(f"Columns of {where} have plain names; {str(key)[:80]!r} is none.")
    return key


def _source(key: object, value: object, where: str) -> str:
    if not isinstance(value, str):
        raise ToolError(f"Column {key} of {where} takes the name of a column of the table.")
    column = column_of(value)
    return value if column is None else column


def _metadata(value: object, where: str) -> tuple[tuple[str, tuple[tuple[str, Any], ...]], ...]:
    if value is None or value == {}:
        return ()
    if not isinstance(value, dict) or not all(
        isinstance(table, str) and isinstance(rows, dict) and rows for table, rows in value.items()
    ):
        raise ToolError(f"The _metadata of {where} maps metadata tables to their output columns.")
    return tuple(
        (table, tuple((_event_column(name, where), spec) for name, spec in rows.items()))
        for table, rows in value.items()
    )
