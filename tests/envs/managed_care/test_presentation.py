"""How results read: records as lines, several of them as tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from types import MappingProxyType

import pytest

from healthgym.envs.managed_care.presentation import present


class Status(StrEnum):
    OPEN = "open"


@dataclass(frozen=True)
class Line:
    id: str
    note: str | None = None
    units: float | None = None
    seen: datetime | None = None
    codes: tuple[str, ...] = ()


@dataclass(frozen=True)
class One:
    only: int


NOON = datetime(2026, 3, 2, 12, 5, 59, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "nothing"),
        ((), "nothing"),
        ({}, "nothing"),
        ({"note": ""}, "nothing"),
        (True, "yes"),
        (2.50, "2.5"),
        (7, "7"),
        (Status.OPEN, "open"),
        (NOON, "2026-03-02T12:05"),
        (date(2026, 3, 2), "2026-03-02"),
        (One(0), "only: 0"),
        (Line("A", units=0.0), "id: A\nunits: 0"),
        (MappingProxyType({"done": False}), "done: no"),
        ({"codes": ("M17.1", "M17.2")}, "codes: M17.1, M17.2"),
        ({"note": "one\ntwo"}, "note:\n  one\n  two"),
        (
            {"case": {"line": Line("A"), "at": NOON}},
            "case:\n  line:\n    id: A\n  at: 2026-03-02T12:05",
        ),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_single_values_and_records(value: object, text: str):
    assert present(value) == text


def test_a_table_leaves_out_what_no_row_has():
    rows = (Line("A", units=1.5), Line("B", codes=("x", "y")))
    assert present(rows) == "id | units | codes\nA | 1.5 | \nB |  | x, y"
    assert present({"lines": rows}) == "lines:\n  id | units | codes\n  A | 1.5 | \n  B |  | x, y"


def test_long_cells_stand_under_their_row_and_lines_are_joined():
    long = "word " * 40 + "\nend"
    shown = present((Line("A", note=long), Line("B", note="short"), Line("C")))
    assert shown.split("\n") == [
        "id",
        "A",
        f"  note: {'word ' * 40} / end",
        "B",
        "  note: short",
        "C",
    ]


def test_times_and_rows_of_other_keys():
    rows: list[Mapping[str, object]] = [{"id": "A", "at": NOON}, {"id": "B", "status": Status.OPEN}]
    assert present(rows) == "id | at | status\nA | 2026-03-02T12:05 | \nB |  | open"
    assert present((Line("A", seen=NOON), Line("B"))).endswith("A | 2026-03-02T12:05\nB | ")


def test_a_record_in_a_cell_is_one_line():
    assert present([{"who": Line("A", units=2.0)}]) == "who\nid A; units 2"


def test_values_that_are_no_records_are_listed():
    assert present({"ids": ["A", 2, None]}) == "ids: A, 2, "
    assert present(["A", "B"]) == "['A', 'B']"
