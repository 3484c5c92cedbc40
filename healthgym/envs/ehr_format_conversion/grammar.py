"""Draws requests: which wishes, about which tables, with which names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.core.seeding import Split
from healthgym.envs.ehr_format_conversion.clauses import Change, Clause, ClauseKind, Op
from healthgym.envs.ehr_format_conversion.defaults import DefaultConfig, parsed_section
from healthgym.envs.ehr_format_conversion.resources import grammar
from healthgym.errors import MissingDataError

MINUTES, DAYS = "%Y-%m-%d %H:%M:%S", "%Y-%m-%d"
#: Tables whose times are now and then days only.
_MIXED_TIMES = frozenset({"hosp/pharmacy"})
#: The four fields of the published request, and its prefixes by table and event.
PUBLISHED_FIELDS = ("insurance", "language", "marital_status", "race")
PUBLISHED_PREFIXES = (
    ("hosp/omr", "omr", "OMR"),
    ("hosp/labevents", "lab", "HOSP_LAB"),
    ("icu/chartevents", "event", "ICU_CHARTEVENT"),
)


def published_request(default: DefaultConfig) -> tuple[Clause, ...]:
    """Return the one request of the source benchmark.

    Raises:
        MissingDataError: If a table it is about is not there.
    """
    tables = ("hosp/admissions", *(table for table, _, _ in PUBLISHED_PREFIXES))
    missing = [table for table in tables if table not in default.sections]
    if missing:
        raise MissingDataError(
            f"The published request is about {', '.join(missing)}, which the raw tables lack."
        )
    codes = {field: field.upper() for field in PUBLISHED_FIELDS}
    split = _split("hosp/admissions", "admission", codes, "admittime", "hadm_id")
    prefixes = (_prefix(default, *entry) for entry in PUBLISHED_PREFIXES)
    return (split, *prefixes)


class RequestGrammar:
    """Draws wishes that do not contradict each other.

    Args:
        default: The default configuration.
        split: Whose words for prefixes are used.
        tables: The raw tables there are.
    """

    def __init__(self, default: DefaultConfig, split: Split, tables: Collection[str]) -> None:
        self._default = default
        self._tags: Sequence[str] = grammar()["tags"][str(split)]
        self._tables = tables
        self._makers: Mapping[ClauseKind, Callable[[np.random.Generator, Any], Clause]] = {
            ClauseKind.SPLIT: self._draw_split,
            ClauseKind.PREFIX: self._draw_prefix,
            ClauseKind.TIME: self._draw_time,
            ClauseKind.UNIT: self._draw_unit,
            ClauseKind.JOIN: self._draw_join,
            ClauseKind.STATIC: self._draw_static,
            ClauseKind.VALUE: self._draw_value,
            ClauseKind.NEW: self._draw_new,
            ClauseKind.DROP: self._draw_drop,
            ClauseKind.CARRY: self._draw_carry,
        }

    def draw(
        self, rng: np.random.Generator, count: int, kinds: Sequence[ClauseKind]
    ) -> tuple[Clause, ...]:
        """Return up to ``count`` wishes of some kinds, no two about the same event.

        Kinds come evenly: each is used once before any is used again.
        """
        clauses: list[Clause] = []
        taken: set[tuple[str, str]] = set()
        waiting: list[ClauseKind] = []
        for _ in range(20 * count):
            if len(clauses) == count:
                break
            waiting = waiting or [kinds[place] for place in rng.permutation(len(kinds))]
            kind = waiting.pop()
            entries = [
                entry
                for entry in grammar()[str(kind)]
                if self._possible(kind, entry) and (entry[0], entry[1]) not in taken
            ]
            if entries:
                entry = _pick(rng, entries)
                clause = self._makers[kind](rng, entry)
                taken.add((clause.table, clause.event))
                clauses.append(clause)
        return tuple(clauses)

    def _possible(self, kind: ClauseKind, entry: Sequence[Any]) -> bool:
        table, event = entry[0], entry[1]
        if kind is ClauseKind.NEW:
            return table in self._tables and table not in self._default.sections
        blocks = self._blocks(table)
        return bool(blocks) and (kind is ClauseKind.STATIC or event in blocks)

    def _blocks(self, table: str) -> JsonObject:
        body = self._default.sections.get(table)
        return parsed_section(body) if body else {}

    def _name(self, rng: np.random.Generator, stem: str) -> str:
        return f"{_pick(rng, self._tags)}_{stem}"

    # -- one maker for each kind ---------------------------------------------------------------

    def _draw_split(self, rng: np.random.Generator, entry: Any) -> Clause:
        table, event, fields, times, carried = entry
        count = int(rng.integers(1, len(fields) + 1))
        chosen = sorted(int(place) for place in rng.permutation(len(fields))[:count])
        tagged = rng.random() < 0.6
        codes = {
            fields[place]: self._name(rng, fields[place].upper())
            if tagged
            else fields[place].upper()
            for place in chosen
        }
        time = _pick(rng, times)
        carry = carried if time is not None and rng.random() < 0.6 else ""
        return _split(table, event, codes, time, carry)

    def _draw_prefix(self, rng: np.random.Generator, entry: Any) -> Clause:
        table, event, stems = entry
        return _prefix(self._default, table, event, self._name(rng, _pick(rng, stems)))

    def _draw_time(self, rng: np.random.Generator, entry: Any) -> Clause:
        table, event, columns = entry
        old = self._blocks(table)[event]["time"][4:-1]
        new = _pick(rng, columns)
        changes = tuple(
            Change(Op.SET, table, event, key, value) for key, value in _timed(table, new).items()
        )
        return Clause(ClauseKind.TIME, table, event, {"old": old, "column": new}, changes)

    def _draw_unit(self, rng: np.random.Generator, entry: Any) -> Clause:
        table, event, unit = entry
        code = [part for part in self._blocks(table)[event]["code"] if part != f"col({unit})"]
        changes = (
            Change(Op.SET, table, event, "code", code),
            Change(Op.SET, table, event, "unit", unit),
        )
        return Clause(ClauseKind.UNIT, table, event, {"column": unit, "key": "unit"}, changes)

    def _draw_join(self, rng: np.random.Generator, entry: Any) -> Clause:
        table, event, columns = entry
        column = _pick(rng, columns)
        code = [*_parts(self._blocks(table)[event]["code"]), f"col({column})"]
        changes = (Change(Op.SET, table, event, "code", code),)
        return Clause(ClauseKind.JOIN, table, event, {"column": column}, changes)

    def _draw_static(self, rng: np.random.Generator, entry: Any) -> Clause:
        table, event, stem, column = entry
        code = self._name(rng, stem)
        block = {"code": [code, f"col({column})"], "time": None}
        words = {"code": code, "column": column}
        changes = (Change(Op.ADD_EVENT, table, event, value=block),)
        return Clause(ClauseKind.STATIC, table, event, words, changes)

    def _draw_value(self, rng: np.random.Generator, entry: Any) -> Clause:
        table, event, old, key, column = entry
        changes = (
            Change(Op.REMOVE, table, event, old),
            Change(Op.SET, table, event, key, column),
        )
        words = {"old": old, "key": key, "column": column}
        return Clause(ClauseKind.VALUE, table, event, words, changes)

    def _draw_new(self, rng: np.random.Generator, entry: Any) -> Clause:
        table, event, stems, columns, times, extra = entry
        code, time = self._name(rng, _pick(rng, stems)), _pick(rng, times)
        parts = [code, *(f"col({column})" for column in columns)]
        block = {"code": parts, **_timed(table, time), **extra}
        words = {"code": code, "columns": tuple(columns), "time": time, "extra": dict(extra)}
        changes = (Change(Op.ADD_EVENT, table, event, value=block),)
        return Clause(ClauseKind.NEW, table, event, words, changes)

    def _draw_drop(self, rng: np.random.Generator, entry: Any) -> Clause:
        table, event = entry
        return Clause(ClauseKind.DROP, table, event, {}, (Change(Op.DROP_EVENT, table, event),))

    def _draw_carry(self, rng: np.random.Generator, entry: Any) -> Clause:
        table, event, columns = entry
        column = _pick(rng, columns)
        changes = (Change(Op.SET, table, event, column, column),)
        return Clause(ClauseKind.CARRY, table, event, {"column": column}, changes)


def _split(
    table: str, event: str, codes: Mapping[str, str], time: str | None, carry: str
) -> Clause:
    removed = [Change(Op.REMOVE, table, event, field) for field in codes]
    added = []
    for field, code in codes.items():
        block = {"code": [code, f"col({field})"], **_timed(table, time)}
        if carry:
            block[carry] = carry
        added.append(Change(Op.ADD_EVENT, table, field, value=block))
    words = {"codes": dict(codes), "time": time, "carry": carry}
    return Clause(ClauseKind.SPLIT, table, event, words, (*removed, *added))


def _prefix(default: DefaultConfig, table: str, event: str, code: str) -> Clause:
    parts = _parts(parsed_section(default.sections[table])[event]["code"])
    own = parts[0].startswith("col(")
    new = [code, *(parts if own else parts[1:])]
    words = {"code": code, "old": "" if own else parts[0]}
    changes = (Change(Op.SET, table, event, "code", new),)
    return Clause(ClauseKind.PREFIX, table, event, words, changes)


def _timed(table: str, column: str | None) -> JsonDict:
    """Return time and format keys for a column of a table, or for no time."""
    if column is None:
        return {"time": None}
    formats: Any = [MINUTES, DAYS] if table in _MIXED_TIMES else MINUTES
    return {"time": f"col({column})", "time_format": formats}


def _parts(code: Any) -> list[str]:
    return [code] if isinstance(code, str) else list(code)


def _pick(rng: np.random.Generator, items: Sequence[object]) -> Any:
    return items[int(rng.integers(len(items)))]
