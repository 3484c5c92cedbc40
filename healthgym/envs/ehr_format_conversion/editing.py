"""Edits of a configuration by table and event, where an edit by lines would be error-prone."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.envs.ehr_format_conversion.defaults import dump_section
from healthgym.errors import ToolError
from healthgym.worlds.etl.config import lines_of, read_yaml

#: Longest table name named back in a message.
_NAMED = 80


def shown(text: str, table: str) -> str:
    """Return the section of a table, as it stands.

    Raises:
        ToolError: If the text is no configuration, or has no such table.
    """
    data, lines = read_yaml(text), text.splitlines(keepends=True)
    span = _span(lines, text, table)
    if span is None:
        tables = ", ".join(name for name, body in data.items() if isinstance(body, dict))
        raise ToolError(f"{table[:_NAMED]!r} is not in it; the tables are {tables[:1000]}.")
    return "".join(lines[slice(*span)]).rstrip()


def with_keys(text: str, table: str, event: str, keys: JsonObject, removed: Collection[str]) -> str:
    """Return a configuration in which an event block has other keys.

    The block, and the table, are added at the end where they are not there yet.

    Raises:
        ToolError: If the text is no configuration, a key to remove is not there, or nothing would
            change.
    """
    blocks = _blocks(text, table)
    block = blocks.get(event, {})
    if not isinstance(block, dict):
        raise ToolError(f"{event[:_NAMED]!r} of {table[:_NAMED]} is not an event.")
    missing = [key for key in removed if key not in block]
    if missing:
        there = ", ".join(block) or "none"
        raise ToolError(f"{missing[0][:_NAMED]!r} is not a key of it; its keys are {there}.")
    kept = {key: value for key, value in block.items() if key not in removed}
    changed = {**kept, **keys}
    if changed == block:
        raise ToolError(f"{event[:_NAMED]} of {table[:_NAMED]} holds exactly that already.")
    return _replaced(text, table, {**blocks, event: changed})


def without_event(text: str, table: str, event: str) -> str:
    """Return a configuration without an event block; the table goes with its last one.

    Raises:
        ToolError: If the text is no configuration, or there is no such event.
    """
    blocks = _blocks(text, table)
    if event not in blocks:
        there = ", ".join(blocks) or "none"
        raise ToolError(f"{table[:_NAMED]} has no event {event[:_NAMED]!r}; it has {there}.")
    return _replaced(text, table, {name: body for name, body in blocks.items() if name != event})


def _blocks(text: str, table: str) -> JsonDict:
    blocks = read_yaml(text).get(table, {})
    if not isinstance(blocks, dict):
        raise ToolError(f"{table[:_NAMED]!r} is not a table of event blocks.")
    return blocks


def _replaced(text: str, table: str, blocks: JsonObject) -> str:
    """Put other blocks into the section of a table; what stands around it stays as it is."""
    lines = text.splitlines(keepends=True)
    section = dump_section(table, blocks) if blocks else ""
    span = _span(lines, text, table)
    if span is None:
        return f"{text.rstrip()}\n\n{section}"
    start, end = span
    return "".join([*lines[:start], section, *lines[end:]])


def _span(lines: Sequence[str], text: str, table: str) -> tuple[int, int] | None:
    """Return the first line of a table's section and the line after its last, if there is one.

    Comments and empty lines after it belong to what comes next.
    """
    span = lines_of(text, table)
    if span is None:
        return None
    start, end = span
    while not lines[end - 1].strip() or lines[end - 1].startswith("#"):
        end -= 1
    return start, end
