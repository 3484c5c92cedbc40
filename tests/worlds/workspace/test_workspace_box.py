"""Boxes with full Python: that they hold, and that each attempt to break them could succeed."""

import gc
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import gymnasium as gym
import pytest

import healthgym
from healthgym.core.clock import Clock
from healthgym.errors import (
    ConfigurationError,
    InfrastructureError,
    SandboxUnavailableError,
    ToolError,
)
from healthgym.testing.leaks import MARKER, PlantedGenerator, find_marker
from healthgym.worlds.workspace import FullPythonTools, Table, Workspace, WorkspaceWorld
from healthgym.worlds.workspace.box import Box, BoxLimits, BoxRun, open_box, probe, probes
from healthgym.worlds.workspace.box import box as module
from healthgym.worlds.workspace.box.command import Identity
from healthgym.worlds.workspace.box.seccomp import call_numbers, seccomp_filter
from healthgym.worlds.workspace.box.spool import Spool

pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

NOW = datetime(2024, 1, 1, 12, tzinfo=UTC)
#: A filter that lets everything pass: RET ALLOW.
OPEN = bytes.fromhex("06 00 00 00 00 00 ff 7f")
Weakening = Callable[[list[str]], list[str]]


@pytest.fixture(scope="module")
def box() -> Box:
    """A box that holds; where there is none the tests are skipped, saying why."""
    try:
        return open_box(BoxLimits(seconds=60.0))
    except SandboxUnavailableError as error:
        pytest.skip(str(error))


def small(box: Box, **limits: float) -> Box:
    """A box of small limits. Its time stays long, but where the test waits for the end of it."""
    return Box(box.bwrap, box.runtime, box.identity, replace(probes.TRIAL, **limits))  # type: ignore[arg-type]


def run(box: Box, code: str, **functions: object) -> BoxRun:
    return box.run(code, functions)  # type: ignore[arg-type]


# -- what works ------------------------------------------------------------------------------------


def test_code_runs_with_numpy_and_polars_and_calls_what_it_is_given(box: Box) -> None:
    code = (
        "import numpy as np, polars as pl\n"
        "print(pl.DataFrame({'a': np.arange(4)})['a'].sum())\n"
        "add([1, 2], b=[3])"
    )
    made = run(box, code, add=lambda a, b: a + b)
    assert (made.output, made.value, made.error) == ("6\n", "[1, 2, 3]", "")


def test_chance_follows_from_the_seed_and_runs_share_nothing(box: Box) -> None:
    code = (
        "import numpy as np, os, random, uuid\n"
        "print(random.random(), np.random.default_rng().random(), uuid.uuid4(), hash('x'))\n"
        "print(os.listdir('/work'))\n"
        "open('/work/kept', 'w').close()"
    )
    assert run(box, code) == run(box, code)
    assert run(box, code) != box.run(code, {}, seed=1)
    assert "[]" in run(box, code).output


def test_tables_are_read_and_come_back(box: Box) -> None:
    data = pa.table(
        {
            "n": [1, None],
            "kind": pa.array(["a", None]).dictionary_encode(),
            "at": pa.array([NOW.replace(tzinfo=None)] * 2, pa.timestamp("s")),
        }
    )
    held = Table(data)
    spool = Spool()
    made = box.run(
        "t = table('t')\nresult = t.with_columns(m=t['n'] * 2.5)\ntable('t').shape",
        {},
        tables={"t": spool.file_of(held)},
        wants_table=True,
    )
    time = {"time": "2024-01-01T12:00:00"}
    columns = {"n": [1, None], "kind": ["a", None], "at": [time, time], "m": [2.5, None]}
    assert (made.value, made.table) == ("(2, 3)", columns)


def test_a_spooled_table_is_gone_with_its_table() -> None:
    spool = Spool()
    held = Table(pa.table({"n": [1]}))
    path = spool.file_of(held)
    assert path.is_file()
    assert spool.file_of(held) == path
    del held
    gc.collect()
    assert not path.exists()


def test_a_forked_process_leaves_its_parents_files(monkeypatch: pytest.MonkeyPatch) -> None:
    spool, held = Spool(), Table(pa.table({"n": [1]}))
    path = spool.file_of(held)
    here = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: here + 1)
    del held, spool
    gc.collect()
    assert path.is_file()
    monkeypatch.undo()
    shutil.rmtree(path.parent)


def test_errors_show_the_codes_own_lines(box: Box) -> None:
    made = run(box, "print('before')\ndef f():\n    return 1 / 0\nf()")
    assert made.output == "before\n"
    assert "line 3, in f" in made.error
    assert made.error.strip().endswith("ZeroDivisionError: division by zero")
    assert "runner" not in made.error


def test_mistakes_in_host_functions_are_seen_and_ours_are_raised(box: Box) -> None:
    def refuse() -> None:
        raise ToolError("no such table")

    def bug() -> object:
        return {}["missing"]

    assert "no such table" in run(box, "refuse()", refuse=refuse).error
    assert "argument" in run(box, "refuse(1)", refuse=refuse).error
    assert "JSON" in run(box, "refuse(object())", refuse=refuse).error
    with pytest.raises(InfrastructureError, match="bug"):
        run(box, "try:\n    bug()\nexcept Exception:\n    pass", bug=bug)


# -- that it holds ---------------------------------------------------------------------------------


def test_every_attempt_to_break_a_box_fails(box: Box) -> None:
    assert probe(box) == []


def share_network(line: list[str]) -> list[str]:
    return [
        word
        for word in line
        if word not in ("--unshare-net",)
        # Where all is unshared at once, only this brings it back.
    ] + (["--share-net"] if "--unshare-all" in line else [])


def show_host(line: list[str]) -> list[str]:
    place = tempfile.gettempdir()
    at = line.index("--symlink")
    return [*line[:at], "--bind", place, place, *line[at + 3 :]]


def name_canary(line: list[str]) -> list[str]:
    return [*line[:1], *line[1 : line.index("--clearenv") + 1], "--setenv", "HEALTHGYM_CANARY", "x",
            *line[line.index("--clearenv") + 1 :]]  # fmt: skip


def large_folder(line: list[str]) -> list[str]:
    return ["400000000" if line[n - 1] == "--size" else word for n, word in enumerate(line)]


def same(line: list[str]) -> list[str]:
    return line


class Anything(BoxLimits):
    """Limits that limit nothing."""

    def rlimits(self) -> dict[str, int]:
        return {}


#: For each attempt what must be taken from a box for it to succeed: a change of its command,
#: whether the filter is left out, and whether the limits are.
WEAKENED: dict[str, tuple[Weakening, bool, bool]] = {
    "connect": (share_network, True, False),
    "raw_sockets": (same, True, False),
    "host_files": (show_host, False, False),
    "environment": (name_canary, False, False),
    "fork": (same, True, True),
    "spawn": (same, True, True),
    "raw_clone": (same, True, True),
    "threads": (same, False, True),
    "memory": (same, False, True),
    "uncounted_memory": (same, True, False),
    "namespaces": (same, True, False),
    "tracing": (same, True, False),
    "writing": (show_host, False, False),
    "links": (show_host, False, False),
    "disk": (large_folder, False, True),
}


@pytest.mark.parametrize("name", WEAKENED)
def test_each_attempt_succeeds_where_its_wall_is_left_out(
    name: str, box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    change, unfiltered, unlimited = WEAKENED[name]
    whole = module.command
    monkeypatch.setattr(module, "command", lambda *a, **k: _changed(whole(*a, **k), change))
    if unfiltered:
        monkeypatch.setattr(module, "seccomp_filter", lambda: OPEN)
    limits = (Anything if unlimited else BoxLimits)(
        seconds=60.0, memory=1 << 30, disk=8 << 20, threads=12
    )
    weak = Box(box.bwrap, box.runtime, box.identity, limits)
    found = probes.make_attempts(weak, [name])
    assert found.get("controls") == ""
    assert found[name]


def _changed(line: list[str], change: Weakening) -> list[str]:
    end = line.index("--")
    return [*change(line[:end]), *line[end:]]


def test_a_box_without_its_walls_is_refused(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "seccomp_filter", lambda: OPEN)
    assert any(found.startswith("raw_sockets") for found in probe(box))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be root in a box")
def test_staying_root_is_found_out(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BOX_UID", 0)
    assert probes.make_attempts(small(box), ["identity"])["identity"] == "user 0"


def test_no_box_where_there_is_no_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "_opened", None)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(SandboxUnavailableError, match="apt-get install bubblewrap"):
        open_box()
    with pytest.raises(SandboxUnavailableError, match="python='sandbox'"):
        gym.make("HealthAgent/EhrDataQuality-v0", python="full")


def test_no_box_where_bubblewrap_isolates_nothing(
    box: Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setattr(probes, "_opened", None)
    monkeypatch.setattr(shutil, "which", lambda name: str(fake))
    with pytest.raises(SandboxUnavailableError, match="do not hold"):
        open_box()


@pytest.mark.parametrize(
    ("greedy", "modest"),
    [
        ("while True: pass", "for n in range(9): pass"),
        ("import time\ntime.sleep(60)", "import time\ntime.sleep(0.01)"),
        ("import signal\nsignal.pause()", "import signal"),
        ("def f(n): return f(n + 1)\nf(0)", "def f(n): return n and f(n - 1)\nf(9)"),
        ("x = [0] * 10**10", "x = [0] * 10**5"),
        ("x = []\nwhile True: x.append('a' * 10**7)", "x = ['a' * 10**7]"),
        ("import numpy\nnumpy.ones(10**10)", "import numpy\nnumpy.ones(10**5)"),
        ("for n in range(99_000): open(f'/work/{n}', 'w').close()", "open('/work/n', 'w').close()"),
        ("for n in range(99_000): os.mkdir(f'/work/{n}')", "os.mkdir('/work/n')"),
        ("while True: add(1, 2)", "add(1, 2)"),
        ("add('a' * (3 << 20), '')", "add('a' * 1000, '')"),
        ("held = [open('/work/x', 'w') for _ in range(99)]", "open('/work/x', 'w').close()"),
        ("os._exit(0)", "pass"),
        ("os.kill(os.getpid(), 11)", "os.kill(os.getpid(), 0)"),
        ("import ctypes\nctypes.string_at(0)", "import ctypes\nctypes.string_at(b'x')"),
        ("os.close(1)\nos.close(2)\nimport time\ntime.sleep(60)", "os.close(2)"),
    ],
)
def test_endless_and_greedy_code_is_stopped(box: Box, greedy: str, modest: str) -> None:

    def add(a: object, b: object) -> object:
        return a + b  # type: ignore[operator]

    assert run(small(box, seconds=1.0, calls=50), f"import os\n{greedy}", add=add).error
    assert run(small(box, calls=50), f"import os\n{modest}", add=add).error == ""


def test_output_values_and_results_are_bounded(box: Box) -> None:
    short = small(box, seconds=1.0, output=500)
    assert len(run(short, "while True: print('x' * 10_000)").output) < 700
    tight = small(box, output=500, result=1 << 20)
    assert len(run(tight, "'x' * 10**6").value) < 600
    wide = small(box, output=200_000)
    assert run(wide, "print('€' * 100_000)").output == "€" * 100_000 + "\n"
    assert len(run(tight, "raise ValueError('x' * 10**6)").error) < 4_000
    made = tight.run("result = {'a': ['x' * 1000] * 10_000}", {}, wants_table=True)
    assert "larger than" in made.error
    assert tight.run("result = {'a': [1]}", {}, wants_table=True).table == {"a": [1]}


@pytest.mark.parametrize(
    "code",
    [
        "os.write(ASK, b'garbage' * 1000)",
        "os.write(ASK, struct.pack('!I', 5) + b'[1,2]')",
        "os.write(ASK, struct.pack('!I', 4) + b'null')",
        "os.write(ASK, struct.pack('!I', 11) + b'{\"done\": 99}')",
        "os.write(ASK, struct.pack('!I', 6000) + b'[' * 6000)",
        "send({'call': 'add', 'args': 5, 'kwargs': {}})",
        "send({'call': 'add', 'args': [1], 'kwargs': [1]})",
        "[send({'call': 'big', 'args': [], 'kwargs': {}}) for _ in range(9)]",
        "os.close(ASK)",
        "os.close(ANSWER)",
    ],
)
def test_a_broken_channel_ends_the_run_and_nothing_else(box: Box, code: str) -> None:
    before = (
        "import os, struct, json, sys, time\nASK, ANSWER = int(sys.argv[1]), int(sys.argv[2])\n"
        "def send(message):\n    body = json.dumps(message).encode()\n"
        "    os.write(ASK, struct.pack('!I', len(body)) + body)\n"
    )
    made = run(
        small(box, seconds=1.0),
        f"{before}{code}\ntime.sleep(5)",
        add=lambda a: a,
        big=lambda: "x" * (1 << 20),
    )
    assert made.error
    assert made.table is None


def test_a_forged_answer_is_only_what_code_may_say_anyway(box: Box) -> None:
    code = (
        "import os, struct, json, sys\n"
        "body = json.dumps({'done': {'value': 'v' * 99_999, 'error': '', 'table': 5}}).encode()\n"
        "os.write(int(sys.argv[1]), struct.pack('!I', len(body)) + body)\nos._exit(0)"
    )
    made = small(box, output=300).run(code, {}, wants_table=True)
    assert len(made.value) < 400
    assert (made.table, made.error) == (None, "The code handed back no table.")


@pytest.mark.parametrize("said", [{"value": "v"}, None])
def test_a_program_that_lives_on_after_its_answer_is_ended(box: Box, said: object) -> None:
    code = (
        "import os, struct, json, sys, time\n"
        f"body = json.dumps({{'done': {said!r}}}).encode()\n"
        "os.write(int(sys.argv[1]), struct.pack('!I', len(body)) + body)\n"
        "for end in (0, 1, 2, int(sys.argv[1]), int(sys.argv[2])): os.close(end)\n"
        "time.sleep(600)"
    )
    made = small(box).run(code, {})
    assert (made.value == "v") is bool(said)
    assert bool(made.error) is not bool(said)


def commands_of_children() -> list[bytes]:
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parent = (place / "stat").read_text().rpartition(")")[2].split()[1]
            if int(parent) == os.getpid():
                found.append((place / "cmdline").read_bytes())
        except OSError:
            continue  # It has ended since.
    return found


def test_nothing_is_left_running(box: Box) -> None:
    run(small(box, seconds=0.5), "while True: pass")
    assert not [line for line in commands_of_children() if b"bwrap" in line or b"/box/" in line]
    assert not list(Path(tempfile.gettempdir()).glob("healthgym-escape*"))


def test_the_project_its_tests_and_other_packages_are_not_in_the_box(box: Box) -> None:
    code = (
        "import importlib.util, os\n"
        "print([n for n in ('healthgym', 'pyarrow', 'duckdb', 'pip', 'gymnasium', 'numpy')\n"
        "       if importlib.util.find_spec(n)])\n"
        "print(sum('healthgym' in name or 'generator.py' == name\n"
        "          for _, folders, files in os.walk('/') for name in folders + files\n"
        "          if '/box/packages' not in _ and '/box/lib' not in _))\n"
        "print(sorted(os.listdir('/')), sorted(os.listdir('/box')))"
    )
    lines = run(box, code).output.splitlines()
    assert lines[:2] == ["['numpy']", "0"]
    assert "'home'" not in lines[2]
    assert "'proc'" not in lines[2]


def test_the_filter_names_what_it_refuses_and_other_machines_are_refused() -> None:
    assert len(seccomp_filter("x86_64")) % 8 == 0
    assert seccomp_filter("aarch64") != seccomp_filter("x86_64")
    assert call_numbers("x86_64")["socket"] == 41
    with pytest.raises(SandboxUnavailableError, match="x86_64, aarch64"):
        seccomp_filter("riscv64")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a host root to map")
def test_a_mapped_root_is_refused_for_its_threads_are_not_counted(box: Box) -> None:
    mapped = Box(box.bwrap, box.runtime, Identity.MAPPED, probes.TRIAL)
    found = probes.make_attempts(mapped)
    assert [name for name, what in found.items() if what] == ["threads"]


# -- as a tool -------------------------------------------------------------------------------------


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
        env = gym.make("HealthAgent/EhrDataQuality-v0", python=tier)
        _, info = env.reset(options={"index": 0})
        named[tier] = {tool["function"]["name"] for tool in info["tools"]}
    assert named["full"] - named["none"] == {"run_python", "compute_table"}
    assert named["sandbox"] - named["none"] <= {"run_python"}
    with pytest.raises(ConfigurationError, match="sandbox, full, none"):
        gym.make("HealthAgent/EhrDataQuality-v0", python="nope")


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


@pytest.mark.parametrize(
    "family", ["HealthAgent/EhrDataQuality-v0", "HealthAgent/EhrEventModelling-v0"]
)
def test_the_reference_is_out_of_reach(box: Box, family: str) -> None:
    pytest.importorskip("lightgbm")
    env = gym.make(family, python="full", difficulty="easy").unwrapped
    env.family.generator = PlantedGenerator(env.family.generator)
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
    assert find_marker(observation) == ""
    env.close()


def test_what_is_in_a_table_would_have_been_found(box: Box) -> None:
    start = Workspace({}, {"t": Table(pa.table({"id": [MARKER]}))})
    tools = FullPythonTools(WorkspaceWorld(start, Clock(NOW)))
    assert find_marker(tools.run_python("table('t')['id'][0]").text) == MARKER
