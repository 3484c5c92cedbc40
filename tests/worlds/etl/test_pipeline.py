from __future__ import annotations

import io
import json
from collections.abc import Mapping
from datetime import datetime

import numpy as np
import pytest

pl = pytest.importorskip("polars")
pytest.importorskip("yaml")
pytest.importorskip("pyarrow")

from healthgym.errors import ToolError  # noqa: E402
from healthgym.worlds.etl.pipeline import Pipeline  # noqa: E402
from healthgym.worlds.etl.splits import shard_subjects  # noqa: E402
from healthgym.worlds.etl.tables import RawTables  # noqa: E402

TIMES = '\n    time_format: "%Y-%m-%d %H:%M:%S"'


def run(rows: str, block: str, **more: str) -> pl.DataFrame:
    """Return the events of subject 1 that one block makes of a table ``t``."""
    others = "".join(f"{subject},2100-01-01 00:00:00,K,1,1\n" for subject in range(2, 14))
    files = {
        "t.csv": f"subject_id,at,kind,num,txt\n{rows}{others}".encode(),
        **{f"{name}.csv": text.encode() for name, text in more.items()},
    }
    cohort = Pipeline(RawTables(files, "k")).run(f"t:\n  e:\n    {block}")
    return all_events(cohort.files).filter(pl.col("subject_id") == 1)


def all_events(files: Mapping[str, bytes]) -> pl.DataFrame:
    shards = [pl.read_parquet(io.BytesIO(files[p])) for p in files if p.startswith("data/")]
    return pl.concat(shards, how="diagonal_relaxed")


def test_code_joins_parts_and_fills_missing_ones() -> None:
    block = f"code: [X, col(kind)]\n    time: col(at){TIMES}"
    events = run("1,2100-01-01 00:00:00,A,1,1\n1,2100-01-02 00:00:00,,1,1\n", block)
    assert events["code"].to_list() == ["X//A", "X//UNK"]


def test_missing_first_part_drops_the_row() -> None:
    block = f"code: [col(kind), X]\n    time: col(at){TIMES}"
    events = run("1,2100-01-01 00:00:00,A,1,1\n1,2100-01-02 00:00:00,,1,1\n", block)
    assert events["code"].to_list() == ["A//X"]


def test_times_that_do_not_fit_drop_the_row() -> None:
    rows = "1,2100-01-01 00:00:00,A,1,1\n1,2100-01-02,B,1,1\n1,,C,1,1\n"
    assert run(rows, f"code: col(kind)\n    time: col(at){TIMES}")["code"].to_list() == ["A"]
    both = 'code: col(kind)\n    time: col(at)\n    time_format: ["%Y-%m-%d %H:%M:%S", "%Y-%m-%d"]'
    events = run(rows, both)
    assert events["time"].to_list() == [datetime(2100, 1, 1), datetime(2100, 1, 2)]


def test_a_discouraged_time_format_is_no_warning() -> None:
    rows = "1,2100-01-01 00:00:00.5,A,1,1\n"
    block = 'code: X\n    time: col(at)\n    time_format: "%Y-%m-%d %H:%M:%S.%f"'
    assert run(rows, block).height == 1


def test_static_events_come_first_and_once() -> None:
    rows = "1,2100-01-01 00:00:00,A,1,1\n1,2100-01-02 00:00:00,A,1,1\n"
    block = f"code: [S, col(kind)]\n    time: null\n  f:\n    code: D\n    time: col(at){TIMES}"
    events = run(rows, block)
    assert events["code"].to_list() == ["S//A", "D", "D"]
    assert events["time"].null_count() == 1


def test_text_that_repeats_the_number_is_dropped() -> None:
    rows = (
        "1,2100-01-01 00:00:00,A,7.5,7.50\n"
        "1,2100-01-02 00:00:00,A,7.5,<7.5\n"
        "1,2100-01-03 00:00:00,A,,NEG\n"
    )
    block = f"code: X\n    time: col(at){TIMES}\n    numeric_value: num\n    text_value: txt"
    events = run(rows, block)
    assert events["text_value"].to_list() == [None, "<7.5", "NEG"]
    assert events["numeric_value"].to_list() == [7.5, 7.5, None]
    assert events.schema["numeric_value"] == pl.Float32


def test_repeated_rows_are_written_once() -> None:
    rows = "1,2100-01-01 00:00:00,A,1,1\n" * 3
    assert run(rows, f"code: X\n    time: col(at){TIMES}").height == 1


def test_text_becomes_number_where_it_can() -> None:
    rows = "1,2100-01-01 00:00:00,12,1,1\n1,2100-01-02 00:00:00,x,1,1\n"
    events = run(rows, f"code: X\n    time: col(at){TIMES}\n    numeric_value: kind")
    assert events["numeric_value"].to_list() == [12.0, None]


def test_leading_columns_and_order() -> None:
    rows = "1,2100-01-02 00:00:00,B,1,1\n1,2100-01-01 00:00:00,A,1,1\n"
    events = run(rows, f"code: col(kind)\n    time: col(at){TIMES}\n    z: txt")
    assert events.columns == ["subject_id", "time", "code", "numeric_value", "z"]
    assert events["code"].to_list() == ["A", "B"]


def test_code_metadata_joins_lists_and_templates() -> None:
    names = "kind,title,other,v,c\nA,Alpha,,ICD,1\nA,Also,,ICD,2\nB,,Beta,ICD,3\nZ,Unused,,ICD,4\n"
    metadata = (
        "\n    _metadata:\n      names:\n        description: [title, other]\n"
        '        parent_codes: "{v}/{c}"'
    )
    rows = "1,2100-01-01 00:00:00,A,1,1\n1,2100-01-02 00:00:00,B,1,1\n"
    others = "".join(f"{subject},2100-01-01 00:00:00,K,1,1\n" for subject in range(2, 14))
    files = {
        "t.csv": f"subject_id,at,kind,num,txt\n{rows}{others}".encode(),
        "names.csv": names.encode(),
    }
    text = f"t:\n  e:\n    code: [X, col(kind)]\n    time: col(at){TIMES}{metadata}\n"
    cohort = Pipeline(RawTables(files, "k")).run(text)
    codes = pl.read_parquet(io.BytesIO(cohort.files["metadata/codes.parquet"]))
    assert codes.rows() == [
        ("X//A", "Alpha\nAlso", ["ICD/1", "ICD/2"]),
        ("X//B", "Beta", ["ICD/3"]),
    ]


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("code: col(nope)\n    time: null", "nope"),
        ("code: X\n    time: col(nope)", "nope"),
        ("code: X\n    time: col(at)", "time_format"),
        ('code: X\n    time: col(num)\n    time_format: "%Y"', "not times"),
        ("code: X\n    time: null\n    z: nope", "nope"),
        ("code: X\n    time: null\n    _metadata: {m: {description: d}}", "no table"),
    ],
)
def test_configurations_that_do_not_fit_the_tables(block: str, reason: str) -> None:
    with pytest.raises(ToolError, match=reason):
        run("1,2100-01-01 00:00:00,A,1,1\n", block)


def test_tables_without_rows_are_refused() -> None:
    tables = RawTables({"t.csv": b"subject_id,kind\n"}, "k")
    with pytest.raises(ToolError, match="no rows"):
        Pipeline(tables).run("t:\n  e: {code: X, time: null}\n")


def test_a_run_is_remembered_and_the_same_in_another_pipeline() -> None:
    rows = "".join(f"{subject},A\n" for subject in range(12))
    tables = RawTables({"t.csv": f"subject_id,kind\n{rows}".encode()}, "k")
    text = "t:\n  e: {code: [X, col(kind)], time: null}\n"
    pipeline = Pipeline(tables)
    first = pipeline.run(text)
    assert pipeline.run(text) is first
    assert dict(Pipeline(tables).run(text).files) == dict(first.files)
    assert json.loads(first.files["metadata/dataset.json"])["meds_version"] == "0.3.3"


def test_splits_are_drawn_as_published() -> None:
    # The example in the documentation of MEDS-Transforms 0.2.
    assert shard_subjects(np.arange(1, 11), per_shard=3) == {
        "train/0": [9, 4, 8],
        "train/1": [2, 1, 10],
        "train/2": [6, 5],
        "tuning/0": [3],
        "held_out/0": [7],
    }


def test_too_few_subjects_for_three_splits() -> None:
    with pytest.raises(ToolError, match="too few"):
        shard_subjects(np.arange(2))
