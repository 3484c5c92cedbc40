"""Boxes with full Python as a tool: what an agent gets of them, and what stays out of reach."""

import gymnasium as gym
import pytest

import healthgym
from healthgym.core.clock import Clock
from healthgym.errors import ConfigurationError, ToolError
from healthgym.worlds.workspace import FullPythonTools, Table, Workspace, WorkspaceWorld
from healthgym.worlds.workspace.box import Box
from tests.worlds.workspace.boxes import NOW
from tests.worlds.workspace.planted import PLANTED, planted_env

pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")


@pytest.fixture
def tools(box: Box) -> FullPythonTools:
    start = Workspace({"README.md": "one two"}, {"t": Table(pa.table({"id": ["a", "b"]}))})
    return FullPythonTools(WorkspaceWorld(start, Clock(NOW)))


def test_the_tool_has_the_face_of_the_other_tier(tools: FullPythonTools) -> None:
    code = "print(sql('SELECT count(*) AS n FROM t'), read_file('README.md'), list_files())"
    assert tools.run_python(code).text == "[{'n': 2}] one two ['README.md']"
    assert tools.run_python("table('t').shape").text == "(2, 1)"
    with pytest.raises(ToolError, match="no table 'x'"):
        tools.run_python("table('x')")


def test_an_environment_says_which_python_it_offers(box: Box) -> None:
    named = {}
    for tier in ("sandbox", "full", "none"):
        env = gym.make("HealthAgent/EhrDataQuality-v1", python=tier)
        _, info = env.reset(options={"index": 0})
        named[tier] = {tool["function"]["name"] for tool in info["tools"]}
    assert named["full"] - named["none"] == {"run_python", "compute_table"}
    assert named["sandbox"] - named["none"] <= {"run_python"}
    with pytest.raises(ConfigurationError, match="sandbox, full, none"):
        gym.make("HealthAgent/EhrDataQuality-v1", python="nope")


def test_a_computed_table_can_be_queried(tools: FullPythonTools) -> None:
    code = "result = table('t').with_columns(n=1)\nprint('made')"
    before = tools.world.digest()
    assert tools.compute_table("mine", code).text == "made\nSaved mine: 2 rows (id, n)."
    assert tools.world.digest() != before
    assert tools.world.sql.query("SELECT sum(n) FROM mine").rows() == [(2,)]
    assert tools.run_python("table('mine').shape").text == "(2, 2)"
    with pytest.raises(ToolError, match="already"):
        tools.compute_table("mine", code)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("t", "result = {'a': [1]}"),
        ("Bad Name", "result = {'a': [1]}"),
        ("mine", "pass"),
        ("mine", "result = 5"),
        ("mine", "result = {}"),
        ("mine", "result = {'a': [1], 'b': [1, 2]}"),
        ("mine", "result = {'a': [1], 'A': [1]}"),
        ("mine", "result = {'a': [1, 'b']}"),
        ("mine", "result = {'a': [{'time': 1}]}"),
        ("mine", "result = {'a': [object()]}"),
        ("mine", "result = {'a': [10**30]}"),
        ("mine", "result = {'a': [0] * 200_001}"),
        ("mine", "result = {'a': ['x' * 20_000]}"),
        ("mine", "result = {str(n): [0] for n in range(600)}"),
        ("mine", "1 / 0"),
    ],
)
def test_what_is_no_table_is_refused(tools: FullPythonTools, name: str, code: str) -> None:
    before = tools.world.digest()
    with pytest.raises(ToolError):
        tools.compute_table(name, code)
    assert tools.world.digest() == before


def test_whatever_sql_knows_can_be_handed_to_code(tools: FullPythonTools) -> None:
    odd = (
        "SELECT now() AS a, timestamp_ns '2024-01-01 00:00:00.000000001' AS b, interval 1 day AS c,"
        " time '24:00:00' AS d, {'k': uuid()} AS e, union_value(u := 1) AS f"
    )
    assert tools.run_python(f'print(sql("{odd}")[0]["a"])').text == f"{NOW}"
    tools.world.tables.save("odd", Table(tools.world.sql.query(odd).data))
    assert tools.run_python("table('odd')['c'][0]").text == "'1 day'"
    for code in ("pl.duration(days=1)", "pl.lit(np.timedelta64(1, 'ns'))"):
        made = f"import numpy as np, polars as pl; result = pl.select(a={code})"
        with pytest.raises(ToolError, match="A cell of a result"):
            tools.compute_table("mine", made)


@pytest.mark.parametrize(
    "family", ["HealthAgent/EhrDataQuality-v1", "HealthAgent/EhrEventModelling-v1"]
)
def test_the_reference_is_out_of_reach(box: Box, family: str) -> None:
    pytest.importorskip("lightgbm")
    env = planted_env(family, python="full", difficulty="easy")
    env.reset(options={"index": 0})
    hunt = (
        "import os\nmark = 'CANARY-' + 'c0ffee'\n"
        "for path in list_files():\n    assert mark not in read_file(path)\n"
        "for name in list_tables():\n    assert mark not in table(name).write_csv()\n"
        "for folder, _, names in os.walk('/'):\n"
        "    for name in names:\n"
        "        path = os.path.join(folder, name)\n"
        "        if folder.startswith(('/data', '/work', '/box')) and os.path.isfile(path):\n"
        "            assert mark.encode() not in open(path, 'rb').read(), path\n"
        "print(len(list_tables()), 'tables')"
    )
    observation = env.step(healthgym.call("run_python", code=hunt))[0]
    assert "Error" not in observation
    assert "tables" in observation
    assert PLANTED not in observation
    env.close()


def test_what_is_in_a_table_would_have_been_found(box: Box) -> None:
    start = Workspace({}, {"t": Table(pa.table({"id": [PLANTED]}))})
    tools = FullPythonTools(WorkspaceWorld(start, Clock(NOW)))
    assert PLANTED in tools.run_python("table('t')['id'][0]").text
