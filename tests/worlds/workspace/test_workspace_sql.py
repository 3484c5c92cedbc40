"""Queries: what they answer, what they may not do, and what they may not cost."""

import errno
import os
import resource
import signal
import socket
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from healthgym.core.borders import JsonDict
from healthgym.core.clock import Clock
from healthgym.errors import InfrastructureError, OutOfTimeError, ToolError
from healthgym.worlds.workspace import (
    PythonTools,
    SqlEngine,
    SqlLimits,
    Table,
    Workspace,
    WorkspaceWorld,
    sql,
    sql_process,
)
from healthgym.worlds.workspace.sql_process import QueryProcess
from healthgym.worlds.workspace.sql_worker import Watch, Worker
from healthgym.worlds.workspace.tables import MAX_SAVED_BYTES

pa = pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")


@pytest.fixture(scope="module")
def table() -> Table:
    return Table(pa.table({"id": ["a", "b", "c"], "n": [1, 2, None]}), about="Three rows.")


@pytest.fixture
def world(table: Table) -> WorkspaceWorld:
    start = Workspace({"README.md": "one\ntwo words"}, {"t": table})
    return WorkspaceWorld(start, Clock(datetime(2024, 1, 1, tzinfo=UTC)))


def test_rows_come_back_typed(world: WorkspaceWorld) -> None:
    found = world.sql.query("SELECT id, n FROM t ORDER BY id")
    assert found.columns == ["id", "n"]
    assert found.rows() == [("a", 1), ("b", 2), ("c", None)]
    assert not found.more


def test_results_are_bounded(world: WorkspaceWorld) -> None:
    found = world.sql.query("SELECT * FROM range(5000)", rows=10)
    assert len(found.rows()) == 10
    assert found.more
    exact = world.sql.query("SELECT * FROM range(10)", rows=10)
    assert (len(exact.rows()), exact.more) == (10, False)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE x (a INT)",
        "INSERT INTO t VALUES ('d', 4)",
        "DROP VIEW t",
        "COPY t TO '/tmp/healthgym-escape.csv'",
        "EXPORT DATABASE '/tmp/healthgym-escape'",
        "ATTACH ':memory:' AS other",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET threads = 4",
        "PRAGMA database_list",
        "CALL pragma_version()",
        "BEGIN",
        "CHECKPOINT",
        "SELECT 1; SELECT 2",
        "",
    ],
)
def test_only_single_queries_run(world: WorkspaceWorld, statement: str) -> None:
    with pytest.raises(ToolError):
        world.sql.query(statement)
    assert world.sql.query("SELECT count(*) FROM t").rows() == [(3,)]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM glob('/*')",
        "SELECT * FROM read_parquet('https://example.org/x.parquet')",
        "SELECT * FROM query('SELECT * FROM read_text(''/etc/passwd'')')",
        "SELECT getenv('PATH')",
        "SELECT * FROM pandas_scan(1)",
        "SELECT * FROM arrow_scan(1, 2, 3)",
        "SELECT * FROM sys",
    ],
)
def test_nothing_outside_the_tables_is_reached(world: WorkspaceWorld, query: str) -> None:
    with pytest.raises(ToolError):
        world.sql.query(query)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*) FROM range(100000000000)",
        "SELECT length(repeat('a', 3000000000))",
        "SELECT len(range(1000000000))",
        "WITH RECURSIVE r(x) AS (SELECT 'aaaa' UNION ALL SELECT x || x FROM r) SELECT x FROM r",
        "SELECT string_agg(repeat('a', 1000), '') FROM range(4000000)",
    ],
)
def test_time_and_memory_are_bounded(table: Table, query: str) -> None:
    engine = SqlEngine({"t": table}, SqlLimits(seconds=1.0, memory=128 << 20))
    with pytest.raises(ToolError):
        engine.query(query)
    patient = SqlEngine({"t": table}, SqlLimits(seconds=60.0))
    assert patient.query("SELECT sum(n) FROM t").rows() == [(3,)]


def test_a_query_process_that_dies_is_replaced(world: WorkspaceWorld) -> None:
    world.sql.query("SELECT 1")
    process = sql.POOL.get().idle[-1]
    assert process._child is not None
    process._child.kill()
    process._child.wait()
    assert world.sql.query("SELECT count(*) FROM t").rows() == [(3,)]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT nope FROM t",
        "SELECT * FROM nope",
        "SELEC 1",
        "SELECT id::INT FROM t",
        "SELECT error('own words')",
        "SELECT CASE WHEN range = 9000 THEN error('late') ELSE 1 END FROM range(20000)",
    ],
)
def test_a_failing_query_is_the_agents_mistake(world: WorkspaceWorld, query: str) -> None:
    with pytest.raises(ToolError):
        world.sql.query(query)
    assert world.sql.query("SELECT count(*) FROM t").rows() == [(3,)]


def test_a_table_that_cannot_be_loaded_is_our_fault(
    world: WorkspaceWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(Table):
        def open_shared(self) -> int:
            with tempfile.TemporaryFile() as file:
                file.write(b"no Arrow file")
                file.flush()
                return os.dup(file.fileno())

    broken = SqlEngine({"t": Broken(pa.table({"id": ["a"]}))})
    for _ in range(2):  # and it is not taken for loaded afterwards
        with pytest.raises(InfrastructureError, match="query process failed"):
            broken.query("SELECT 1 FROM t")

    class Full(Table):
        def open_shared(self) -> int:
            raise OSError("no space left")

    with pytest.raises(InfrastructureError, match="no space left"):
        SqlEngine({"t": Full(pa.table({"id": ["a"]}))}).query("SELECT 1 FROM t")
    assert world.sql.query("SELECT count(*) FROM t").rows() == [(3,)]


def test_what_the_worker_cannot_do_is_no_refusal_of_the_query() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        worker = Worker(theirs)
        request = {
            "load": [], "drop": [], "session": 1, "tables": {"t": 7}, "sql": "SELECT 1",
            "rows": 5, "bytes": 100, "seconds": 1.0, "memory": 1 << 26, "now": "2024-01-01",
        }  # fmt: skip
        assert "fault" in worker.answer(request, [])[0]  # nobody gave it table 7
        assert worker.answer(request | {"tables": {}, "bytes": 1000}, []) != ({}, b"")
        assert "refused" in worker.answer(request | {"tables": {}, "sql": "SELECT x"}, [])[0]
        assert worker.answer(request | {"tables": {}, "bytes": 1000}, [])[0]["more"] is False


def test_an_earlier_query_is_never_to_blame(
    world: WorkspaceWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a used process fails at is asked of a new one; what that fails at is the query's."""
    answer = Worker.answer
    with socket.socket() as channel:
        assert answer(Worker(channel, 1), {"load": [], "drop": []}, [])[0]["spent"]
    world.sql.query("SELECT 1")
    process = sql.POOL.get().idle[-1]
    spoilt, ask = process._child, QueryProcess._ask
    told: list[JsonDict] = [{"fault": "MemoryError: "}, {"refused": "no room", "doubtful": True}]

    def asked(
        self: QueryProcess, request: JsonDict, descriptors: list[int], seconds: float
    ) -> tuple[JsonDict, bytes]:
        if "sql" not in request or self._child is not spoilt:
            return ask(self, request, descriptors, seconds)
        answered = told.pop()
        if "fault" in answered:
            raise InfrastructureError("The query process failed.")
        return answered, b""

    monkeypatch.setattr(QueryProcess, "_ask", asked)
    while told:
        assert world.sql.query("SELECT count(*) FROM t").rows() == [(3,)]
        assert process._child is not spoilt
        spoilt = process._child


def test_a_process_that_keeps_what_it_was_given_is_replaced(world: WorkspaceWorld) -> None:
    hog = "SELECT len(list(range)) FROM range(15000000)"
    for _ in range(2):
        with suppress(ToolError):
            world.sql.query(hog)
        assert world.sql.query("SELECT count(*) FROM t").rows() == [(3,)]
    process = sql.POOL.get().idle[-1]
    assert process._child is not None
    held = Path(f"/proc/{process._child.pid}/statm").read_text(encoding="utf-8").split()[5]
    assert int(held) * resource.getpagesize() < sql_process._PROCESS_MEMORY // 2


def test_a_full_disk_is_no_fault_of_the_engines(
    world: WorkspaceWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object, **kwargs: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    world.tables.save("kept", Table(pa.table({"n": [1, 2]})))
    assert world.sql.query("SELECT sum(n) FROM kept").rows() == [(3,)]
    monkeypatch.setattr(os, "memfd_create", full)
    before = world.digest()
    with pytest.raises(ToolError, match="no room"):
        world.tables.save("more", Table(pa.table({"n": [1, 2]})))
    assert world.digest() == before


@pytest.mark.parametrize(
    "drawn",
    [
        "USING SAMPLE 20%", "TABLESAMPLE 10 PERCENT", "USING SAMPLE 20% (bernoulli)",
        "TABLESAMPLE bernoulli(20%)", "using/**/sample reservoir ( 20 % )", "TABLESAMPLE 2e1%",
    ],
)  # fmt: skip
def test_what_is_drawn_by_percent_needs_a_seed(world: WorkspaceWorld, drawn: str) -> None:
    with pytest.raises(ToolError, match="seed"):
        world.sql.query(f"SELECT range FROM range(1000) {drawn}")


@pytest.mark.parametrize(
    "drawn",
    [
        "USING SAMPLE 20% (bernoulli, 5)", "TABLESAMPLE bernoulli(20%) REPEATABLE (3)",
        "USING SAMPLE 10 ROWS", "USING SAMPLE reservoir(10 ROWS) REPEATABLE (1)",
    ],
)  # fmt: skip
def test_what_is_drawn_with_a_seed_is_the_same_again(world: WorkspaceWorld, drawn: str) -> None:
    query = f"SELECT range FROM range(1000) {drawn}"
    assert world.sql.query(query).rows() == world.clone().sql.query(query).rows() != []


def test_a_bound_of_time_is_the_querys_and_not_the_processs() -> None:
    """What a process has used before says nothing of a query, by whichever clock it is counted."""
    before = resource.getrlimit(resource.RLIMIT_CPU)
    watch = Watch(duckdb.connect(":memory:"), 5.0)
    assert resource.getrlimit(resource.RLIMIT_CPU) == before
    assert 5.0 < signal.getitimer(signal.ITIMER_PROF)[0] <= 7.1
    watch.end()
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def test_a_worker_ends_when_its_parent_is_gone_in_the_middle() -> None:
    for sent in (b"", b"\0\0", b"\0\0\0\x10{"):
        ours, theirs = socket.socketpair()
        with theirs:
            ours.sendall(sent)
            ours.close()
            assert Worker(theirs).receive() == (None, [])


def test_time_and_chance_are_the_episodes(world: WorkspaceWorld) -> None:
    query = "SELECT now(), current_date, random(), uuid(), (SELECT id FROM t USING SAMPLE 1)"
    first = world.sql.query(query).rows()
    assert first == world.clone().sql.query(query).rows()
    assert first[0][0] == datetime(2024, 1, 1, tzinfo=UTC)
    assert str(first[0][1]) == "2024-01-01"
    world.clock.advance(timedelta(days=1))
    assert world.sql.query("SELECT today()").rows()[0][0] == date(2024, 1, 2)


def test_saved_tables_are_bounded(world: WorkspaceWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("healthgym.worlds.workspace.tables.MAX_SAVED_BYTES", 1000)
    assert MAX_SAVED_BYTES > 1000
    world.tables.save("small", Table(pa.table({"n": [1] * 100})))
    with pytest.raises(ToolError, match="at most"):
        world.tables.save("more", Table(pa.table({"n": [1] * 100})))
    world.tables.save("small", Table(pa.table({"n": [2] * 100})))  # in place of the first
    with pytest.raises(ToolError, match="small letters"):
        world.tables.save("No Name", Table(pa.table({"n": [1]})))


def test_saved_tables_belong_to_one_world(world: WorkspaceWorld) -> None:
    before = world.digest()
    twin = world.clone()
    world.tables.save("mine", Table(world.sql.query("SELECT * FROM t WHERE n > 1").data))
    assert world.sql.query("SELECT id FROM mine").rows() == [("b",)]
    assert world.digest() != before == twin.digest()
    with pytest.raises(ToolError):
        twin.sql.query("SELECT id FROM mine")
    with pytest.raises(ToolError, match="task's tables"):
        world.tables.save("t", Table(pa.table({"id": ["z"]})))


def test_tables_are_held_once_between_the_processes(world: WorkspaceWorld, table: Table) -> None:
    world.sql.query("SELECT 1 FROM t")
    twin = world.clone()
    assert twin.tables["t"] is table
    assert table.data.num_rows == 3


def test_files_are_paged_searched_and_kept_inside() -> None:
    world = WorkspaceWorld(
        Workspace({"docs/a.txt": "\n".join(map(str, range(250)))}, writable=("out/",)),
        Clock(datetime(2024, 1, 1, tzinfo=UTC)),
    )
    page = world.files.page("docs/a.txt", 201, 100)
    assert (page.lines[0], len(page.lines), page.after) == ("200", 50, 0)
    assert world.files.search("24 x")[1] == 0
    assert world.files.search("249")[0][0].line == 250
    for path in ("../etc/passwd", "/../x", "docs/../../x", "a\0b", "", "x" * 1000):
        with pytest.raises(ToolError):
            world.files.read(path)
    with pytest.raises(ToolError):
        world.files.write("docs/a.txt", "changed")
    twin, before = world.clone(), world.digest()
    world.files.write("out/x.yaml", "a: 1")
    for path in ("out/x.yaml/y", "out"):  # a file is no folder, a folder no file
        with pytest.raises(ToolError):
            world.files.write(path, "changed")
    assert world.files.read("/out/x.yaml") == "a: 1"
    assert twin.digest() == before != world.digest()


# -- time -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query",
    [
        "SELECT system.main.now()",
        "SELECT system . now()",
        'SELECT "SYSTEM"."main"."now"()',
        "SELECT system/* */ . /**/ main.current_localtimestamp()",
        "SELECT list_transform([1], lambda x: system.main.now())",
        "SELECT * FROM query('SELECT sys' || 'tem.main.now()')",
        "SELECT * FROM main.query('SELECT 1')",
        "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT system.main.now()'))",
        "SELECT pg_catalog.now()",
        "SELECT txid_current()",
        "SELECT sleep_ms(1)",
        "SELECT * FROM enable_logging()",
        "SELECT * FROM duckdb_logs()",
        "EXPLAIN ANALYZE SELECT 1",
        "explain /* x */ (format json, analyze) SELECT 1",
        "-- x\nEXPLAIN\nANALYSE SELECT 1",
    ],
)
def test_the_machines_time_is_not_shown(world: WorkspaceWorld, query: str) -> None:
    with pytest.raises(ToolError):
        world.sql.query(query)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT now(), current_timestamp, localtimestamp, current_localtimestamp(), today()",
        "SELECT current_time, get_current_time(), localtime, current_localtime()",
        "SELECT age(TIMESTAMP '2020-01-01'), age(DATE '2020-01-01')",
        "SELECT uuidv7(), uuidv4(), gen_random_uuid(), random()",
        "EXPLAIN SELECT count(*) FROM t",
    ],
)
def test_whatever_tells_the_time_tells_the_episodes(world: WorkspaceWorld, query: str) -> None:
    first = world.sql.query(query).rows()
    real = datetime.now(UTC)
    assert f"{real:%Y-%m-%d}" not in str(first)
    assert f"{real:%H:%M}" not in str(first)
    sql.POOL.get().stop()  # nor does it depend on which process is asked
    assert world.sql.query(query).rows() == first


def test_names_that_only_look_like_it_are_let_through(world: WorkspaceWorld) -> None:
    query = "SELECT s.system, 'system.main.now()' FROM (SELECT 1 AS system) s -- system.now()"
    assert world.sql.query(query).rows() == [(1, "system.main.now()")]
    assert world.sql.query("EXPLAIN SELECT * FROM (SELECT 1 AS analyze)").rows()
    assert world.sql.query("SELECT age(DATE '2021-01-01', DATE '2020-01-01')").rows()


ENDLESS = "SELECT count(*) FROM range(100000000000)"


def test_a_query_never_waits_for_another_environments(table: Table) -> None:
    slow = SqlEngine({"t": table}, SqlLimits(seconds=3.0))
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(slow.query, ENDLESS)
        time.sleep(0.3)
        other = SqlEngine({"t": table})
        assert other.query("SELECT sum(n) FROM t").rows() == [(3,)]
        assert not running.done()
        with pytest.raises(OutOfTimeError):
            running.result()
    assert len(sql.POOL.get().idle) <= 2


def test_time_is_a_refusal_of_its_own_and_memory_is_not(table: Table) -> None:
    engine = SqlEngine({"t": table}, SqlLimits(seconds=0.3, memory=64 << 20))
    for query in (ENDLESS, "SELECT * FROM range(100000000000) WHERE range IN (0, 90000000000)"):
        with pytest.raises(OutOfTimeError, match=r"more than 0\.3 seconds"):
            engine.query(query)
    with pytest.raises(ToolError) as caught:
        engine.query("SELECT len(range(1000000000))")
    assert not isinstance(caught.value, OutOfTimeError)


def test_all_queries_of_a_program_have_the_time_of_one(table: Table) -> None:
    pytest.importorskip("pydantic_monty")
    start = Workspace({}, {"t": table})
    limits = SqlLimits(seconds=0.3)
    clock = Clock(datetime(2024, 1, 1, tzinfo=UTC))
    tools = PythonTools(WorkspaceWorld(start, clock, limits=limits))
    code = (
        "for _ in range(20):\n    try:\n        sql('SELECT sum(range) FROM range(20000000)')\n"
        "    except ValueError:\n        pass\nprint('went on')"
    )
    with pytest.raises(OutOfTimeError):
        tools.run_python(code)
    many = "for _ in range(20): sql('SELECT * FROM range(20000)')"
    with pytest.raises(ToolError, match="returned too much"):
        tools.run_python(many)
    assert tools.run_python("print(len(sql('SELECT * FROM range(20000)')))").text == "20000"


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_shared_tables_hold_no_descriptors() -> None:
    def query(number: int) -> Table:
        table = Table(pa.table({"n": [number] * 10}))
        start = Workspace({}, {"t": table})
        world = WorkspaceWorld(start, Clock(datetime(2024, 1, 1, tzinfo=UTC)))
        assert world.sql.query("SELECT sum(n) FROM t").rows() == [(10 * number,)]
        return table

    held = [query(0)]
    child = sql.POOL.get().idle[-1]._child
    assert child is not None
    folders = ("/proc/self/fd", f"/proc/{child.pid}/fd")
    before = [len(os.listdir(folder)) for folder in folders]
    held += [query(number) for number in range(1, 21)]
    assert [len(os.listdir(folder)) for folder in folders] == before
    assert held[7].data.column("n").to_pylist() == [7] * 10
