from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

pl = pytest.importorskip("polars")
pytest.importorskip("yaml")
pytest.importorskip("pyarrow")

from healthgym.core.clock import Clock  # noqa: E402
from healthgym.core.journal import InjectedFault  # noqa: E402
from healthgym.errors import ToolError  # noqa: E402
from healthgym.worlds.etl.hashes import full_row_hash, keyed_hash  # noqa: E402
from healthgym.worlds.etl.pipeline import Pipeline  # noqa: E402
from healthgym.worlds.etl.tables import RawTables  # noqa: E402
from healthgym.worlds.etl.world import MAX_FILES, EtlWorld, Workspace  # noqa: E402

CONFIG = "t:\n  e: {code: [X, col(kind)], time: null}\n"


@pytest.fixture
def world() -> EtlWorld:
    rows = "".join(f"{subject},A\n" for subject in range(12))
    tables = RawTables({"t.csv": f"subject_id,kind\n{rows}".encode()}, "k")
    files = {"docs/a.md": b"words", "etl/default.yaml": CONFIG.encode()}
    start = Workspace(files, ("docs",), Pipeline(tables))
    return EtlWorld(start, Clock(datetime(2026, 1, 1, tzinfo=UTC)))


def test_writing_and_putting_back(world: EtlWorld) -> None:
    start = world.digest()
    world.write("etl/default.yaml", "other")
    assert world.read_text("etl/default.yaml") == "other"
    assert world.digest() != start
    world.write("etl/default.yaml", CONFIG)
    assert world.digest() == start
    assert world.written() == {}


@pytest.mark.parametrize(
    "path",
    ["docs/a.md", "docs/new.md", "raw_input/t.csv", "raw_input/new.csv", "../out", "", "a/../b",
     "etl", "etl/default.yaml/x", "a\nb", "x" * 300, "\u202e"],
)  # fmt: skip
def test_paths_that_cannot_be_written(world: EtlWorld, path: str) -> None:
    with pytest.raises(ToolError):
        world.write(path, "text")
    assert world.written() == {}


def test_number_of_files_is_bounded(world: EtlWorld) -> None:
    for number in range(MAX_FILES):
        world.write(f"x/{number}", "a")
    with pytest.raises(ToolError, match="at most"):
        world.write("x/more", "a")


def test_half_a_surrogate_pair_is_no_text(world: EtlWorld) -> None:
    with pytest.raises(ToolError, match="surrogate"):
        world.write("x", "\ud800")


def test_a_run_replaces_what_was_in_its_folder(world: EtlWorld) -> None:
    world.write("output/c/data/extra.parquet", "junk")
    world.run("etl/default.yaml", "output/c")
    assert "output/c/data/extra.parquet" not in world.written()
    assert "output/c/metadata/codes.parquet" in world.written()
    with pytest.raises(ToolError, match="already"):
        world.run("etl/default.yaml", "output/c")


@pytest.mark.parametrize("out", ["output", "etl", "raw_input/x", "../x", "output/f", "output/f/x"])
def test_folders_that_take_no_cohort(world: EtlWorld, out: str) -> None:
    world.write("output/f", "a file")
    before = world.digest()
    with pytest.raises(ToolError):
        world.run("etl/default.yaml", out)
    assert world.digest() == before


CHANGES: dict[str, Callable[[EtlWorld], object]] = {
    "write": lambda world: world.write("x", "a"),
    "write over": lambda world: world.write("etl/default.yaml", f"# mine\n{CONFIG}"),
    "put back": lambda world: world.write("etl/mine.yaml", CONFIG),
    "copy": lambda world: world.copy("docs/a.md", "b.md"),
    "run": lambda world: world.run("etl/default.yaml", "output/d"),
    "run again": lambda world: world.run("etl/other.yaml", "output/c"),
    "notify": lambda world: world.notify("agent", "news"),
    "clock": lambda world: world.clock.advance(timedelta(minutes=1)),
}


@pytest.fixture
def used(world: EtlWorld) -> EtlWorld:
    """A world in which something was written and run before."""
    world.write("etl/other.yaml", CONFIG.replace("X", "Y"))
    world.write("etl/mine.yaml", "mine")
    world.write("output/c/data/extra.parquet", "junk")
    world.run("etl/default.yaml", "output/c")
    return world


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_rolled_back_leaves_nothing_behind(used: EtlWorld, name: str) -> None:
    before, files = used.digest(), list(used.written().items())
    savepoint = used.journal.begin()
    CHANGES[name](used)
    assert used.digest() != before
    used.journal.rollback(savepoint)
    assert used.digest() == before
    assert list(used.written().items()) == files


def test_the_contents_are_the_files(used: EtlWorld) -> None:
    before = used.content_digest()
    CHANGES["notify"](used)
    CHANGES["clock"](used)
    assert used.content_digest() == before
    CHANGES["write"](used)
    assert used.content_digest() != before


def test_a_run_that_fails_halfway_writes_nothing(used: EtlWorld) -> None:
    before, number = used.digest(), 1
    while True:
        savepoint = used.journal.begin()
        used.journal.fail_at(number)
        try:
            CHANGES["run again"](used)
        except InjectedFault:
            used.journal.fail_at(None)
            used.journal.rollback(savepoint)
            assert used.digest() == before
            number += 1
            continue
        used.journal.fail_at(None)
        used.journal.rollback(savepoint)
        break
    assert number > 3
    assert used.digest() == before


def test_clones_are_independent(world: EtlWorld) -> None:
    twin = world.clone()
    twin.write("x", "a")
    assert world.get("x") is None
    assert twin.digest() != world.digest()


def test_binary_and_damaged_files_are_no_text(world: EtlWorld) -> None:
    world.run("etl/default.yaml", "output/c")
    with pytest.raises(ToolError, match="parquet"):
        world.read_text("output/c/metadata/codes.parquet")
    world.write("x.gz", "not compressed")
    with pytest.raises(ToolError, match="not a text"):
        world.read_text("x.gz")


def test_full_row_hash_knows_rows_not_their_order() -> None:
    frame = pl.DataFrame({"a": [1, 1, 2], "b": ["x", None, ""], "c": [["p", "q"], [], None]})
    turned = frame.reverse().select("c", "b", "a")
    assert full_row_hash(frame) == full_row_hash(turned)
    swapped = frame.with_columns(c=pl.Series([["q", "p"], [], None]))
    assert full_row_hash(frame) == full_row_hash(swapped)
    for other in (
        frame.with_columns(b=pl.Series(["x", "", None])),
        frame.with_columns(pl.col("a").cast(pl.Float64)),
        pl.concat([frame, frame.tail(1)]),
        frame.rename({"a": "d"}),
    ):
        assert full_row_hash(frame) != full_row_hash(other)


def test_keyed_hash_keeps_the_order_of_ties() -> None:
    frame = pl.DataFrame({"k": [1, 2], "v": [1, 2]})
    ties = pl.DataFrame({"k": [1, 1], "v": [1, 2]})
    assert keyed_hash(frame, ("k",)) == keyed_hash(frame.reverse(), ("k",))
    assert keyed_hash(ties, ("k",)) != keyed_hash(ties.reverse(), ("k",))
    assert full_row_hash(ties) == full_row_hash(ties.reverse())
