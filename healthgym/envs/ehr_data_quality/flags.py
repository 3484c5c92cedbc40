"""The audit's draft: flagged rows, each with its reason."""

from __future__ import annotations

from collections.abc import Iterable

from healthgym.core.borders import JsonObject
from healthgym.envs.ehr_data_quality.task import Row

#: Name of the draft.
FLAGS = "flags"


def flags_of(drafts: JsonObject) -> dict[str, str]:
    """Return the reasons by ``table/row id``, in the order of flagging."""
    return dict(drafts.get(FLAGS, {}))


def flagged_rows(drafts: JsonObject) -> frozenset[Row]:
    """Return the flagged rows."""
    return frozenset(row_of(key) for key in drafts.get(FLAGS, {}))


def key_of(table: str, row_id: str) -> str:
    """Return the key of a row in the draft."""
    return f"{table}/{row_id}"


def row_of(key: str) -> Row:
    """Return the row of a key."""
    table, _, row_id = key.partition("/")
    return table, row_id


def by_table(flags: Iterable[str]) -> dict[str, int]:
    """Return the number of flags of each table."""
    counts: dict[str, int] = {}
    for key in flags:
        counts[row_of(key)[0]] = counts.get(row_of(key)[0], 0) + 1
    return counts
