"""Answers read back: what `present` writes and `layout` takes apart again."""

from __future__ import annotations

import pytest

from healthgym.envs.managed_care.presentation import present
from healthgym.envs.managed_care.reading.layout import (
    UnreadableAnswerError,
    body,
    is_cut,
    news,
    record,
    table,
    value,
)

HEAD = "[2026-03-30 17:59]\n(2026-03-30 17:59) A letter has arrived: LET-0001.\n"


def test_head_and_cut_are_not_part_of_an_answer():
    answer = f"{HEAD}status: approved\n(12 more characters; read_more continues)"
    assert is_cut(answer)
    assert body(answer) == "status: approved"
    assert news(answer) == "(2026-03-30 17:59) A letter has arrived: LET-0001."
    assert not is_cut(HEAD)
    assert (body("plain"), news("plain")) == ("plain", "")


def test_records_and_tables_come_back():
    long = "word " * 40
    rows = [{"id": "A", "note": "", "day": "x", "body": long}, {"id": "B", "note": "n", "day": ""}]
    answer = present({"case": {"id": "C", "open": True}, "items": rows, "message": "ok: done"})
    assert record(answer, "case") == {"id": "C", "open": "yes"}
    assert [dict(row) for row in table(answer, "items")] == [
        {"id": "A", "note": "", "day": "x", "body": long},
        {"id": "B", "note": "n", "day": ""},
    ]
    assert value(answer, "message") == "ok: done"
    assert value(answer, "id", "case") == "C"
    assert table(answer, "nothing") == []
    assert record(answer, "nothing") == {}


def test_a_value_that_is_not_there_is_named():
    with pytest.raises(UnreadableAnswerError, match="no case id"):
        value("Error: The case is closed.", "id", "case")


def test_lines_of_a_text_are_no_names_of_an_answer():
    answer = present(
        {"id": "D", "content": "Test | Result\nA1c | 7.1%\n\nSigned: me", "kind": "lab"}
    )
    assert record(answer, "content") == {"Signed": "me"}
    assert (value(answer, "id"), value(answer, "kind")) == ("D", "lab")
