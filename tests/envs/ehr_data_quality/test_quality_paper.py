"""The published evaluator, vector by vector, and the holes the strict profile closes."""

from pathlib import Path

import pytest

from healthgym.envs.ehr_data_quality.paper import grade, read_submission
from healthgym.envs.ehr_data_quality.task import Cluster, ErrorFamily, SubType
from healthgym.envs.ehr_data_quality.verifier import Audit

pytest.importorskip("pyarrow")


def pair(number: int) -> Cluster:
    rows = frozenset({("labevents", f"a{number}"), ("labevents", f"b{number}")})
    return Cluster(ErrorFamily.INCONSISTENCY, SubType.IN_TABLE, rows, rows)


PAIRS = (pair(0), pair(1))


A, B = ("labevents", "a0"), ("labevents", "b1")
#: Files as people and programs write them, and the rows that the published evaluator takes.
FILES: dict[str, tuple[str, set[tuple[str, str]]]] = {
    "a comma at the end of each line": ("table,_row_id\nlabevents,a0,\n", {("a0", "")}),
    "a comma at the end of the header, too": ("table,_row_id,\nlabevents,a0,\n", {A}),
    "a reason without a column": ("table,_row_id\nodd,labevents,a0\nodd,labevents,b1\n", {A, B}),
    "a short line": ("table,_row_id,reason\nlabevents,a0\nlabevents\n", {A, ("labevents", "")}),
    "a long line": ("table,_row_id\nlabevents,a0\nlabevents,b1,odd\n", set()),
    "a long line first": ("table,_row_id\nlabevents,a0,x\nlabevents,b1\n",
                          {("a0", "x"), ("b1", "")}),
    "a column twice, once in capitals": ("Table,table,_row_id\nlabevents,labevents,a0\n", set()),
    "a column twice": ("table,table,_row_id\nlabevents,patients,a0\n", {A}),
    "two names of the id": ("table,row_id,_row_id\nlabevents,a0,b1\n", set()),
    "carriage returns": ("table,_row_id\rlabevents,a0\rlabevents,b1\r", {A, B}),
    "both ends of lines": ("table,_row_id\r\nlabevents,a0\r\nlabevents,b1", {A, B}),
    "blank lines": ("\n \ntable,_row_id\n\nlabevents,a0\n\t\n", {A}),
    "a comma behind a blank line that a carriage return ends": (
        "table,_row_id\r \r,a0\rlabevents,a0\r\r\n,b1\r\r,\r,labevents,b1\r",
        {("a0", ""), A, ("", "b1"), B},
    ),
    "such a comma in quotes": ('table,_row_id\rlabevents,"\r\r,a0"\r', {("labevents", "\r\r,a0")}),
    "an empty cell in quotes": ('table,_row_id\n""\nlabevents,a0\n', {("", ""), A}),
    "an open quote": ('table,_row_id\nlabevents,a0\nlabevents,"b1\n', set()),
    "a quote in a cell": ('table,_row_id,note\nlabevents,a0,5" off\nlabevents,b1,\n', {A, B}),
    "a line end in quotes": ('table,_row_id,note\nlabevents,a0,"x\ny"\n', {A}),
    "words that may stand for nothing": ("table,_row_id\nNA,nan\n", {("NA", "nan")}),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_files_are_read_as_the_published_evaluator_reads_them(name: str) -> None:
    text, rows = FILES[name]
    assert read_submission(text) == rows


@pytest.mark.parametrize("name", FILES)
def test_the_published_reader_reads_them_so(name: str, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    text, rows = FILES[name]
    path = tmp_path / "flagged_rows.csv"
    path.write_bytes(text.encode())
    try:
        found = pandas.read_csv(path, dtype=str, keep_default_na=False)
    except pandas.errors.ParserError:
        assert not rows
        return
    names = [column.strip().lower().replace("rowid", "row_id") for column in found.columns]
    names = ["_row_id" if column == "row_id" else column for column in names]
    if names.count("table") != 1 or names.count("_row_id") != 1:
        assert not rows  # its columns are then paired by name, and name no row
        return
    found.columns = names
    assert set(zip(found["table"], found["_row_id"], strict=True)) == rows


@pytest.mark.parametrize(
    "text", [None, "", "table,_row_id\n", "a,b\n1,2\n", "table\nlabevents\n", "\0", '"']
)
def test_unreadable_files_flag_nothing(text: str | None) -> None:
    assert read_submission(text) == frozenset()
    score = grade(read_submission(text), PAIRS)
    assert (score.recall, score.precision, score.success) == (0.0, 0.0, False)


def test_column_names_are_forgiven_and_rows_collapse() -> None:
    text = "note, Table,Row_ID \nx,labevents,a0\ny,labevents,a0\n"
    assert read_submission(text) == {("labevents", "a0")}


def test_one_row_of_each_conflict_is_enough() -> None:
    score = grade(frozenset({("labevents", "a0"), ("labevents", "b1")}), PAIRS)
    assert (score.recall, score.precision, score.success) == (1.0, 1.0, True)


@pytest.mark.parametrize(("junk", "passes"), [(396, True), (397, False)])
def test_the_floor_of_the_precision_is_one_in_a_hundred(junk: int, passes: bool) -> None:
    true = frozenset().union(*(cluster.members for cluster in PAIRS))
    flags = true | {("labevents", f"junk{n}") for n in range(junk)}
    assert grade(flags, PAIRS).success is passes
    audit = Audit.of(flags, PAIRS)
    assert len(audit.found) == 2
    assert not audit.claims_hold  # H1


def test_a_third_of_the_claims_may_be_false() -> None:
    true = frozenset({("labevents", "a0"), ("labevents", "a1")})
    assert Audit.of(true | {("x", "1")}, PAIRS).claims_hold
    assert not Audit.of(true | {("x", "1"), ("x", "2")}, PAIRS).claims_hold


def test_evidence_finds_nothing_and_costs_nothing() -> None:
    wrong, shown = ("prescriptions", "rx"), ("patients", "p")
    cluster = Cluster(
        ErrorFamily.DEMOGRAPHIC,
        SubType.GENDER_DRUG,
        frozenset({wrong}),
        frozenset({wrong, shown}),
        frozenset({("labevents", "near")}),
    )
    assert grade(frozenset({shown}), (cluster,)).success
    audit = Audit.of(frozenset({shown, ("labevents", "near")}), (cluster,))
    assert (audit.found, audit.false) == ((), 0)
