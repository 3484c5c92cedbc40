"""One wish of a request: what it says, and what it changes in the configuration."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.envs.ehr_format_conversion.defaults import (
    DefaultConfig,
    dump_section,
    parsed_section,
)


class ClauseKind(StrEnum):
    """What a request can ask for."""

    SPLIT = "split"  #: fields of an event become events of their own
    PREFIX = "prefix"  #: codes of a table begin otherwise
    TIME = "time"  #: another column gives the time
    UNIT = "unit"  #: the unit moves from the code into a column
    JOIN = "join"  #: a further column becomes part of the code
    STATIC = "static"  #: a new event without time
    VALUE = "value"  #: a column becomes the event's value
    NEW = "new"  #: events of a table that had none
    DROP = "drop"  #: an event is no longer made
    CARRY = "carry"  #: an event carries a further column


class Op(StrEnum):
    """A primitive change of a configuration."""

    ADD_EVENT = "add_event"  #: value: the block
    DROP_EVENT = "drop_event"
    SET = "set"  #: key and value of a block: code, time, time_format or a column
    REMOVE = "remove"  #: key of a block


@dataclass(frozen=True, slots=True)
class Change:
    """A primitive change.

    Attributes:
        op: Its kind.
        table: The table.
        event: The event block.
        key: The key of the block, for ``SET`` and ``REMOVE``.
        value: The new value (JSON), for ``SET`` and ``ADD_EVENT``.
    """

    op: Op
    table: str
    event: str
    key: str = ""
    value: Any = None


@dataclass(frozen=True, slots=True)
class Clause:
    """One wish.

    Attributes:
        kind: Its kind.
        table: The table it is about.
        event: The event block it is about; the new one's name for new events.
        words: What its sentence is made of, by name.
        changes: What it changes.
    """

    kind: ClauseKind
    table: str
    event: str
    words: JsonObject
    changes: tuple[Change, ...]


def changed_sections(default: DefaultConfig, clauses: Sequence[Clause]) -> dict[str, str]:
    """Return the sections of the tables that clauses touch, as they should read.

    Tables come in the order of the default configuration, new ones after them.
    """
    blocks: dict[str, JsonDict] = {}
    for clause in clauses:
        for change in clause.changes:
            if change.table not in blocks:
                body = default.sections.get(change.table)
                found = parsed_section(body) if body else {}
                blocks[change.table] = copy.deepcopy(dict(found))
            _apply(blocks[change.table], change)
    order = [*(t for t in default.sections if t in blocks), *sorted(blocks)]
    return {table: dump_section(table, blocks[table]) for table in dict.fromkeys(order)}


def requested_config(default: DefaultConfig, clauses: Sequence[Clause]) -> str:
    """Return the configuration that a request asks for."""
    return default.with_sections({**default.sections, **changed_sections(default, clauses)})


def _apply(blocks: JsonDict, change: Change) -> None:
    match change.op:
        case Op.ADD_EVENT:
            blocks[change.event] = copy.deepcopy(change.value)
        case Op.DROP_EVENT:
            del blocks[change.event]
        case Op.SET:
            blocks[change.event][change.key] = copy.deepcopy(change.value)
        case Op.REMOVE:
            del blocks[change.event][change.key]
