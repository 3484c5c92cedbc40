"""Whatever a query returns is shown, and no host function's failure is taken for an outage."""

import pickle
from datetime import UTC, date, datetime, time

import pytest

from healthgym.core.clock import Clock
from healthgym.errors import ToolError
from healthgym.worlds.workspace import Table, Workspace, WorkspaceWorld
from healthgym.worlds.workspace.full_tools import _column
from healthgym.worlds.workspace.sql_running import Refusal
from healthgym.worlds.workspace.sql_worker import Worker
from healthgym.worlds.workspace.tools import HostFunctions, TableTools

pa = pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")


@pytest.fixture(scope="module")
def world() -> WorkspaceWorld:
    start = Workspace({}, {"t": Table(pa.table({"id": ["a"]}))})
    return WorkspaceWorld(start, Clock(datetime(2024, 1, 1, tzinfo=UTC)))


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("date '2024-02-29'", date(2024, 2, 29)),
        ("date '10000-01-01'", "10000-01-01"),
        ("date '-infinity'", "-infinity"),
        ("date '0044-03-15 (BC)'", "0044-03-15 (BC)"),
        ("date '5881580-07-10'", "5881580-07-10"),
        ("timestamp 'infinity'", "infinity"),
        ("timestamp '10000-01-01 10:02:03.5'", "10000-01-01 10:02:03.5"),
        ("timestamp '0001-12-31 (BC) 23:00:00'", "0001-12-31 (BC) 23:00:00"),
        ("timestamptz '290000-12-31 00:00:00+00'", "290000-12-31 00:00:00+00"),
        ("timestamptz '-infinity'", "-infinity"),
        ("timestamp_s '10000-01-01'", "10000-01-01 00:00:00"),
        ("timestamp_ms '10000-01-01 00:00:00.007'", "10000-01-01 00:00:00.007"),
        ("[date '10000-01-01', date '2024-01-01', NULL]", ["10000-01-01", date(2024, 1, 1), None]),
        ("{'a': date 'infinity', 'b': 1}", {"a": "infinity", "b": 1}),
        ("map {'a': date 'infinity'}", [("a", "infinity")]),
        ("170141183460469231731687303715884105727::hugeint", 2**127 - 1),
        ("340282366920938463463374607431768211455::uhugeint", str(2**128 - 1)),
        ("time '12:30:00.5'", time(12, 30, 0, 500_000)),
        ("time '24:00:00'", "24:00:00"),
        ("{'a': [time '24:00:00']}", {"a": ["24:00:00"]}),
        ("'12:30:00+05'::timetz", "12:30:00+05"),
        ("repeat('9', 60)::bignum", "9" * 60),
        ("['10101'::bit]", "[10101]"),
        ("{'a': 1}::variant", "{'a': 1}"),
        ("union_value(a := 'x')", "x"),
        ("interval '1 month 3 days'", "1 month 3 days"),
        ("timestamp_ns '2024-01-01 00:00:00.123456789'", datetime(2024, 1, 1, 0, 0, 0, 123456)),
        ("'infinity'::timestamp_ns", "infinity"),
        ("timestamptz '2024-01-01 02:00:00+02'", datetime(2024, 1, 1, tzinfo=UTC)),
    ],
)
def test_values_beyond_python_are_text(
    world: WorkspaceWorld, expression: str, value: object
) -> None:
    assert world.sql.query(f"SELECT {expression} AS v").rows() == [(value,)]


def test_text_of_times_is_that_of_the_database(world: WorkspaceWorld) -> None:
    days = "(SELECT date '0001-01-01' - (i * 9973)::int AS d FROM range(300) r(i))"
    found = world.sql.query(f"SELECT d, d::varchar FROM {days}").rows()
    assert all(str(value) == text for value, text in found)
    step = "timestamp '10000-01-01' + to_microseconds(i * 99999937000500)"
    moments = f"(SELECT {step} AS m FROM range(300) r(i))"
    found = world.sql.query(f"SELECT m, m::varchar FROM {moments}").rows()
    assert all(str(value) == text for value, text in found)


def test_every_type_of_the_database_is_shown(world: WorkspaceWorld) -> None:
    query = "SELECT * FROM test_all_types()"
    columns = [row[0] for row in world.sql.query(f"DESCRIBE {query}").rows()]
    assert len(columns) > 50
    shown = TableTools(world).sql(query).text  # type: ignore[call-arg]
    assert "5881580-07-10" in shown
    rows = HostFunctions(world).functions()["sql"](query)
    assert isinstance(rows, list)
    assert list(rows[0]) == columns


def test_a_table_of_any_type_is_saved_and_described(world: WorkspaceWorld) -> None:
    """Unions in lists brought down the process that asked for their size."""
    mine = world.clone()
    tools = TableTools(mine)
    tools.save_table("odd", "SELECT [union_value(a := 1)] AS u, * FROM test_all_types()")  # type: ignore[call-arg]
    held = "SELECT u, uhugeint, hugeint, bignum, time_tz, time_ns, timestamp_tz_ns FROM odd"
    tools.save_table("some", held)  # type: ignore[call-arg]
    about = tools.describe_table("some").text  # type: ignore[call-arg]
    assert "uhugeint | VARCHAR" in about
    assert "\nhugeint | DECIMAL(38,0)" in about
    tools.save_table("parts", "SELECT [1, 2]::int[2] AS a, interval 1 day AS i")  # type: ignore[call-arg]
    for column in ("a", "i"):
        assert "1 row" in tools.profile_column("parts", column).text  # type: ignore[call-arg]
    for by in ("", "a"):
        with pytest.raises(ToolError, match="no column ''"):
            tools.profile_column("parts", "", by)  # type: ignore[call-arg]
    with pytest.raises(ToolError, match="no column 'z'"):
        tools.profile_column("parts", "a", "z")  # type: ignore[call-arg]


def test_times_mean_the_same_in_a_process_that_knows_no_zones(world: WorkspaceWorld) -> None:
    (row,) = world.sql.query("SELECT now(), timestamp_ns '2024-01-01 00:00:00.000000001'").rows()
    for value in row:
        assert type(pickle.loads(pickle.dumps(value))) is datetime
    assert b"zoneinfo" not in pickle.dumps(row)
    assert b"pandas" not in pickle.dumps(row)


def test_a_result_that_cannot_be_handed_over_is_the_querys_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from healthgym.worlds.workspace import sql_worker

    def broken(*_: object) -> None:
        raise pa.ArrowNotImplementedError("no such type")

    monkeypatch.setattr(sql_worker, "run", broken)
    request = {"drop": [], "session": 1, "memory": 1 << 28, "tables": {}, "seconds": 5.0}
    request |= {"sql": "SELECT 1", "rows": 1, "bytes": 1 << 10}
    with pytest.raises(Refusal, match="no such type"):
        Worker(None).query({**request, "now": "2024-01-01T00:00:00+00:00"})  # type: ignore[arg-type]


@pytest.mark.parametrize("cells", [[10**400, 1.5], [10**400], [2**64], [1.5, None, -(10**999)]])
def test_numbers_that_no_column_holds_are_refused(cells: list[object]) -> None:
    with pytest.raises(ToolError, match="Column 'a'"):
        _column(pa, "a", cells)
