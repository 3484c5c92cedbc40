from __future__ import annotations

import pytest

pytest.importorskip("polars")
pytest.importorskip("yaml")

from healthgym.errors import ToolError
from healthgym.worlds.etl.config import MAX_CHARACTERS, Part, parse_config

ONE = "a:\n  e:\n    code: {code}\n    time: {time}\n"


def test_block_is_read_in_full() -> None:
    config = parse_config(
        "subject_id_col: mrn\n"
        "a/b:\n"
        "  e:\n"
        "    code: [X, col(kind)]\n"
        "    time: col(at)\n"
        '    time_format: ["%Y", "%Y-%m-%d"]\n'
        "    numeric_value: n\n"
        "    text_value: col(t)\n"
        "c:\n"
        "  subject_id_col: person\n"
        "  f: {code: col(x), time: null}\n"
    )
    first, second = config.blocks
    assert dict(config.subjects) == {"a/b": "mrn", "c": "person"}
    assert first.code == (Part("X", False), Part("kind", True))
    assert (first.time, first.formats) == ("at", ("%Y", "%Y-%m-%d"))
    assert first.columns == (("numeric_value", "n"), ("text_value", "t"))
    assert (second.code, second.time) == ((Part("x", True),), None)


def test_meaning_ignores_names_and_ways_of_writing() -> None:
    one = parse_config("a:\n  e: {code: [X], time: col(t), n: c, m: d}\n").blocks[0]
    two = parse_config("a:\n  f:\n    code: X\n    time: col(t)\n    m: col(d)\n    n: c\n").blocks[
        0
    ]
    assert one.meaning == two.meaning
    other = parse_config("a:\n  e: {code: [X, Y], time: col(t), n: c, m: d}\n").blocks[0]
    assert one.meaning != other.meaning


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "mapping"),
        ("- a", "mapping"),
        ("a: 0x" + "f" * 5000, "too large"),
        ("a: {", "YAML"),
        ("a:\n  e: {code: X}\n", "no time"),
        ("a:\n  e: {time: null}\n", "no code"),
        ("a:\n  e: {code: 3, time: null}\n", "code of a.e"),
        ("a:\n  e: {code: [X, 3], time: null}\n", "code of a.e"),
        ("a:\n  e: {code: [], time: null}\n", "code of a.e"),
        ("a:\n  e: {code: X, time: at}\n", "time of a.e"),
        ("a:\n  e: {code: X, time: null, subject_id: s}\n", "subject_id"),
        ("a:\n  e: {code: X, time: null, n: 3}\n", "column"),
        ('a:\n  e: {code: X, time: col(t), time_format: "%Q"}\n', "time format"),
        ("a:\n  e: {code: X, time: col(t), time_format: []}\n", "time_format"),
        ("a:\n  e: {code: X, time: null, _metadata: [m]}\n", "_metadata"),
        ("a:\n  e: {code: X, time: null}\n  e: {code: Y, time: null}\n", "twice"),
        ("a: &x\n  e: {code: X, time: null}\nb: *x\n", "aliases"),
        ("a: {}\n", "event blocks"),
        ("subject_id_col: s\n", "no event blocks"),
        ('a:\n  e: {code: X, time: null, "\\0": n}\n', "plain names"),
        ('a:\n  e: {code: X, time: null, _metadata: {m: {"\\0": n}}}\n', "plain names"),
        ("a:\n  e: !!python/object/apply:os.getcwd []\n", "YAML"),
        ("[" * 5000, "YAML"),
        ("- " * 5000 + "x", "YAML"),
        ("x" * (MAX_CHARACTERS + 1), "characters"),
        ("\x00", "YAML"),
        ("[a]: b\n", "YAML"),
        ("a:\n" + "".join(f"  e{i}: {{code: X, time: null}}\n" for i in range(151)), "at most"),
    ],
)
def test_what_is_no_configuration_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(ToolError, match=reason):
        parse_config(text)


@pytest.mark.parametrize(
    "value",
    [
        "!!bool xyz", "!!timestamp xyz", "!!timestamp 2001-99-99", "!!int ''", "!!int -",
        "!!int 0x", "!!float ''", "!!float .", "!!binary '!'", "!!set [1]", "!!omap 5",
        "!!python/object:os.x y",         "2001-02-30", "!!null x", "!!int 1:99:x",
    ],
)  # fmt: skip
def test_a_value_that_is_none_of_its_tag_is_refused(value: str) -> None:
    with pytest.raises(ToolError):
        parse_config(ONE.format(code=value, time="null"))
    with pytest.raises(ToolError):
        parse_config(f"a: {value}\n")
