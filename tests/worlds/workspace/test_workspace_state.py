"""What a workspace remembers: undone when a call is refused, apart in clones."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from healthgym.core.clock import Clock
from healthgym.core.journal import InjectedFault
from healthgym.errors import ToolError
from healthgym.worlds.workspace import (
    FullPythonTools,
    Table,
    TableTools,
    Workspace,
    WorkspaceWorld,
)
from healthgym.worlds.workspace.box import BoxRun

pa = pytest.importorskip("pyarrow")

Mutator = Callable[[WorkspaceWorld], object]


@pytest.fixture
def world() -> WorkspaceWorld:
    """A world in which something has been written already."""
    start = Workspace({"README.md": "one"}, {}, drafts={"plan": [1]}, writable=("out/",))
    made = WorkspaceWorld(start, Clock(datetime(2024, 1, 1, tzinfo=UTC)))
    made.files.write("out/a.txt", "one")
    made.files.write("out/b.txt", "two")
    made.tables.save("old", Table(pa.table({"n": [1]})))
    return made


MUTATORS: dict[str, Mutator] = {
    "write a file": lambda world: world.files.write("out/c.txt", "three"),
    "write over a file": lambda world: world.files.write("out/a.txt", "three"),
    "delete a file": lambda world: world.files.delete("out/a.txt"),
    "save a table": lambda world: world.tables.save("new", Table(pa.table({"n": [2]}))),
    "replace a table": lambda world: world.tables.save("old", Table(pa.table({"n": [2]}))),
    "make a draft": lambda world: world.drafts.put("flags", {"a": "b"}),
    "replace a draft": lambda world: world.drafts.put("plan", [1, 2]),
    "forget a draft": lambda world: world.drafts.discard("plan"),
}


@pytest.mark.parametrize("mutate", MUTATORS.values(), ids=MUTATORS)
def test_what_is_rolled_back_was_never_there(world: WorkspaceWorld, mutate: Mutator) -> None:
    before, content = world.digest(), world.content_digest()
    files, tables = world.files.written, list(world.tables.saved)
    savepoint = world.journal.begin()
    mutate(world)
    assert world.content_digest() != content
    world.journal.rollback(savepoint)
    assert world.digest() == before
    assert list(world.files.written.items()) == list(files.items())  # the order included
    assert list(world.tables.saved) == tables
    mutate(world)
    assert world.digest() != before


def test_a_clone_shares_nothing_that_changes(world: WorkspaceWorld) -> None:
    for mutate in MUTATORS.values():
        twin, before = world.clone(), world.digest()
        mutate(twin)
        assert world.digest() == before != twin.digest()


def test_a_query_sees_the_tables_of_its_own_world() -> None:
    pytest.importorskip("duckdb")
    world = WorkspaceWorld(Workspace(), Clock(datetime(2024, 1, 1, tzinfo=UTC)))
    twin = world.clone()  # of a world without tables
    twin.tables.save("mine", Table(pa.table({"n": [7]})))
    assert twin.sql.query("SELECT n FROM mine").rows() == [(7,)]
    with pytest.raises(ToolError):
        world.sql.query("SELECT n FROM mine")


def test_a_query_leaves_no_trace(world: WorkspaceWorld) -> None:
    pytest.importorskip("duckdb")
    before, writes = world.digest(), world.journal.writes
    savepoint = world.journal.begin()
    world.sql.query("SELECT count(*) FROM old")
    world.journal.rollback(savepoint)
    assert (world.digest(), world.journal.writes) == (before, writes)


def check_one_write(world: WorkspaceWorld, save: Callable[[], object]) -> None:
    before, writes = world.digest(), world.journal.writes
    world.journal.fail_at(1)
    with pytest.raises(InjectedFault):
        save()
    assert world.digest() == before
    world.journal.fail_at(None)
    save()
    assert world.journal.writes == writes + 2  # the one that failed, and this
    assert world.tables["new"].data.to_pydict() == {"n": [1]}


def test_a_query_is_saved_by_one_write(world: WorkspaceWorld) -> None:
    pytest.importorskip("duckdb")
    check_one_write(world, lambda: TableTools(world).save_table("new", "SELECT 1 AS n"))


def test_what_a_box_made_is_saved_by_one_write(world: WorkspaceWorld) -> None:
    class Made(FullPythonTools):
        """Tools whose box has run already."""

        def _run(self, code: str, *, wants_table: bool = False) -> BoxRun:
            return BoxRun("", "", "", {"n": [1]})

    check_one_write(world, lambda: Made(world).compute_table("new", "result = {'n': [1]}"))
