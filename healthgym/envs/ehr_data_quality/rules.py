"""Audits without a reference: fixed queries, careful or flooding, as scripts for baselines."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

from healthgym.core.tool import ToolCall, call

_SET = re.compile(r"^-- set: (\w+)\n", re.M)
_RULE = re.compile(r"^-- (\w+): (.+)\n", re.M)


@cache
def rules(name: str) -> tuple[tuple[str, str, str], ...]:
    """Return (table, reason, query) of a set of rules: ``"careful"`` or ``"flood"``."""
    text = resources.files(__package__).joinpath("rules.sql").read_text(encoding="utf-8")
    parts = _SET.split(text)[1:]
    chosen = dict(zip(parts[::2], parts[1::2], strict=True))[name]
    found = _RULE.split(chosen)[1:]
    return tuple(zip(found[::3], found[1::3], map(str.strip, found[2::3]), strict=True))


def audit_by_rules(name: str) -> list[ToolCall]:
    """Return the calls that flag whatever a set of rules finds, and submit."""
    calls = [
        call("flag_query", table=table, query=query, reason=reason)
        for table, reason, query in rules(name)
    ]
    return [*calls, call("submit")]


def flag_all_patients() -> list[ToolCall]:
    """Return the calls that flag every patient: the published demographic tasks' open door."""
    query = "SELECT _row_id FROM patients"
    return [call("flag_query", table="patients", query=query, reason="any"), call("submit")]


def flag_the_tail(rows: int) -> list[ToolCall]:
    """Return the calls that flag the last rows of the tables to which rows are added."""
    calls = [
        call(
            "flag_query",
            table=table,
            query=f"SELECT _row_id FROM (SELECT _row_id, row_number() OVER () AS n FROM {table}) "
            f"ORDER BY n DESC LIMIT {rows}",
            reason="at the end",
        )
        for table in ("labevents", "chartevents")
    ]
    return [*calls, call("submit")]
