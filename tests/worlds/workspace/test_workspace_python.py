"""Attempts to get out of the sandbox, or to take more of it than is given.

Each has a control: the same code does what it says where nothing holds it back.
"""

import contextlib
import functools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from healthgym.core.clock import Clock
from healthgym.errors import InfrastructureError, ToolError
from healthgym.worlds.workspace import (
    CodeLimits,
    CodeResult,
    PythonTools,
    SandboxedPython,
    Table,
    Workspace,
    WorkspaceWorld,
)
from tests.worlds.workspace.planted import PLANTED, planted_env

pytest.importorskip("pydantic_monty")
pa = pytest.importorskip("pyarrow")

NOW = datetime(2024, 1, 1, 12, tzinfo=UTC)
SECRET = "canary-on-the-host"

#: Ways to the host. Each prints or leaves behind something if it works.
ESCAPES = {
    "read": "print(open({secret!r}).read())",
    "read-path": "import pathlib\nprint(pathlib.Path({secret!r}).read_text())",
    "read-descriptor": "import os\nprint(os.read(os.open({secret!r}, 0), 100))",
    "list": "import os\nprint(os.listdir({folder!r})[0])",
    "write": "open({folder!r} + '/w', 'w').write('x')\nprint('done')",
    "link": "import pathlib\npathlib.Path({folder!r} + '/l').symlink_to({secret!r})\nprint('done')",
    "link-os": "import os\nos.symlink({secret!r}, {folder!r} + '/o')\nprint('done')",
    "delete": "import os\nos.unlink({folder!r} + '/victim')\nprint('done')",
    "environment": "import os\nprint(os.environ['HEALTHGYM_CANARY'])",
    "environment-get": "import os\nprint(os.getenv('HEALTHGYM_CANARY').upper())",
    "connect": "import socket\nsocket.create_connection(('127.0.0.1', {port}), 5)\nprint('done')",
    "download": "from urllib.request import urlopen\nprint(urlopen('file://' + {secret!r}).read())",
    "fork": "import os\nif not os.fork(): os._exit(0)\nprint('done')",
    "shell": "import os\nos.system('true')\nprint('done')",
    "process": "import subprocess\nsubprocess.run(['true'])\nprint('done')",
    "processes": "import multiprocessing\nprint(multiprocessing.cpu_count())",
    "thread": "import threading\nthreading.Thread(target=int).start()\nprint('done')",
    "library": "import ctypes\nprint(ctypes.CDLL(None).getpid())",
    "signal": "import os\nos.kill(os.getpid(), 0)\nprint('done')",
    "project": "import healthgym\nprint(healthgym.ids())",
    "frames": "import sys\nprint(sys._getframe())",
    "objects": "import gc\nprint(len(gc.get_objects()))",
    "import": "print(__import__('os').getpid())",
    "subclasses": "print(().__class__.__bases__[0].__subclasses__())",
    "globals": "print((lambda: 0).__globals__)",
    "host-function": "print(add.func.__globals__)",
    "host-builtins": "print(add.func.__globals__['__builtins__'])",
    "host-arguments": "print(add.keywords, add.args)",
    "eval": "print(eval('__import__(\"os\").getpid()'))",
    "exec": "exec('import os\\nprint(os.getpid())')",
    "mro": "print(type(add).__mro__[-1].__subclasses__())",
    "format": "print('{{0.func.__globals__}}'.format(add))",
}

#: Code that takes too much, and a modest form of it.
GREED = {
    "loop": ("while True: pass", "n = 0\nwhile n < 9: n += 1"),
    "recursion": ("def f(n): return f(n + 1)\nf(0)", "def f(n): return n and f(n - 1)\nf(50)"),
    "list": ("x = [0] * 10**10", "x = [0] * 10**3"),
    "growth": ("x = []\nwhile True: x.append('a' * 10**6)", "x = []\nx.append('a' * 10**6)"),
    "power": ("x = 2 ** (10 ** 9)", "x = 2 ** 9"),
    "text": ("x = 'a' * 10**11", "x = 'a' * 10**4"),
    "doubling": ("x = 'a'\nwhile True: x = x + x", "x = 'a' + 'a'"),
    "output": ("while True: print('x' * 1000)", "print('x' * 1000)"),
    "calls": ("while True: add(1, 2)", "for _ in range(50): add(1, 2)"),
    "sorting": ("sorted(range(10**9))", "sorted(range(10**3))"),
    "nesting": ("def f(): return [f()]\nf()", "[[[[0]]]]"),
    "comprehension": ("x = {i: i for i in range(10**9)}", "x = {i: i for i in range(9)}"),
    "argument": ("add('a' * 10**11, '')", "add('a' * 10**3, '')"),
}
SMALL = CodeLimits(seconds=1.0, memory=64 << 20, output=2_000, calls=50)
#: For code that must end by itself, however busy the machine is.
PATIENT = replace(SMALL, seconds=60.0)


def add(a, b):  # type: ignore[no-untyped-def]
    return a + b


def run(code: str, *, limits: CodeLimits | None = None, **functions: object) -> CodeResult:
    return SandboxedPython(limits).run(code, functions, now=NOW)  # type: ignore[arg-type]


def descendants(pid: int) -> Iterator[int]:
    """The processes below a process."""
    for place in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, place.read_text().split()):
            yield child
            yield from descendants(child)


@pytest.fixture
def host(tmp_path: Path) -> Iterator[dict[str, object]]:
    secret = tmp_path / "secret.txt"
    secret.write_text(SECRET)
    (tmp_path / "victim").write_text("x")
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield {"secret": str(secret), "folder": str(tmp_path), "port": server.getsockname()[1]}


def test_code_runs_and_calls_what_it_is_given() -> None:
    result = run("print(add(2, 3))\n[x * x for x in range(3)]", add=add)
    assert (result.output, result.value, result.error) == ("5\n", "[0, 1, 4]", "")


def test_clock_and_random_numbers_follow_from_the_episode() -> None:
    code = "import random, datetime\nprint(random.random(), datetime.datetime.now())"
    assert run(code) == run(code)
    assert "2024-01-01 12:00" in run(code).output


def test_runs_share_nothing() -> None:
    assert run("kept = 1").error == ""
    assert "NameError" in run("kept").error


@pytest.mark.parametrize("name", ESCAPES)
def test_no_way_to_the_host(
    name: str, host: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEALTHGYM_CANARY", SECRET)
    before = sorted(os.listdir(str(host["folder"])))
    result = run(ESCAPES[name].format(**host), add=functools.partial(add))
    assert result.error
    assert not result.output
    assert SECRET not in result.error
    assert sorted(os.listdir(str(host["folder"]))) == before


def test_each_way_leads_to_the_host_where_there_is_no_sandbox(host: dict[str, object]) -> None:
    program = (
        "import functools, io, json, contextlib, sys\n"
        "def plus(a, b): return a + b\n"
        "closed = []\n"
        "for name, code in json.loads(sys.argv[1]).items():\n"
        "    try:\n"
        "        with contextlib.redirect_stdout(io.StringIO()) as out:\n"
        "            exec(code, {'add': functools.partial(plus)})\n"
        "        worked = bool(out.getvalue())\n"
        "    except BaseException:\n"
        "        worked = False\n"
        "    closed += [] if worked else [name]\n"
        "print(json.dumps(closed))"
    )
    codes = {name: code.format(**host) for name, code in ESCAPES.items()}
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, json.dumps(codes)],
        env={**os.environ, "HEALTHGYM_CANARY": SECRET},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(found.stdout.splitlines()[-1]) == []


def test_the_environment_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEALTHGYM_CANARY", SECRET)
    result = run("import os\nprint(dir(os))\nprint(os.getenv('HEALTHGYM_CANARY'))")
    assert SECRET not in result.output + result.value


@pytest.mark.parametrize("name", GREED)
def test_endless_and_greedy_code_is_stopped(name: str) -> None:
    greedy, modest = GREED[name]
    result = run(greedy, limits=SMALL, add=add)
    assert result.error
    assert len(result.output) < 3_000
    assert run(modest, limits=PATIENT, add=add).error == ""


@pytest.mark.skipif(sys.platform != "linux", reason="processes' time is told by Linux")
def test_a_limit_of_time_counts_the_processor_and_not_the_clock() -> None:
    def hold() -> None:
        """Have the worker wait for longer than it may compute."""
        for pid in descendants(os.getpid()):
            if "monty" in Path(f"/proc/{pid}/comm").read_text(encoding="utf-8"):
                os.kill(pid, signal.SIGSTOP)
                threading.Timer(1.6, go_on, [pid]).start()

    def go_on(pid: int) -> None:
        # Of the processes that wait for work one may have been ended meanwhile.
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)

    result = run("hold()\nsum(range(1000))", limits=replace(SMALL, seconds=0.5), hold=hold)
    assert (result.value, result.error, result.late) == ("499500", "", False)
    endless = run("while True: pass", limits=replace(SMALL, seconds=0.3))
    assert endless.late
    assert endless.error == "TimeoutError: the code ran for more than 0.3 seconds."


def test_endless_output_is_the_same_each_time() -> None:
    results = [run(GREED["output"][0], limits=SMALL) for _ in range(2)]
    assert results[0] == results[1]
    assert results[0].output.endswith("(more was printed)")
    assert (results[0].error, results[0].late) == (
        "The code printed more than 200000 characters.", False,
    )  # fmt: skip


def test_a_search_that_backtracks_is_stopped_or_ends() -> None:
    result = run("import re\nre.match('(a*)*b', 'a' * 40)", limits=SMALL)
    assert len(result.error) < 4_000
    assert run("1 + 1", limits=PATIENT).value == "2"


def test_the_number_of_calls_is_bounded() -> None:
    code = "n = 0\nfor _ in range({}):\n    add(1, 2)\nn"
    assert run(code.format(50), limits=PATIENT, add=add).value == "0"
    assert run(code.format(51), limits=PATIENT, add=add).error


@pytest.mark.parametrize(
    "code",
    [
        "'x' * 10**6",
        "2 ** 100_000",  # a number of more digits than Python writes
        "x = []\nfor _ in range(100_000): x = [x]\nx",
        "x = []\nx.append(x)\nx",
        "raise ValueError('x' * 10**6)",
        "'\ud800'",
        "print('\\ud800')",
        "a\0b",
        "(" * 10_000 + ")" * 10_000,
        "-" * 100_000 + "1",
        "x" * 300_000,
    ],
)
def test_no_value_and_no_source_breaks_the_host(code: str) -> None:
    result = run(code, limits=CodeLimits(output=500))
    assert len(result.value) < 600
    assert len(result.error) < 4_000


#: Small in the sandbox, and without end for whoever writes it out or hashes it.
TWICE = "a = {0}\nfor _ in range(60): a = {1}\n"
ENDLESS_VALUES = {
    "list": TWICE.format("[1]", "[a, a]") + "a",
    "dictionary": TWICE.format("1", "{'a': a, 'b': a}") + "a",
    "set": "a = frozenset()\nfor i in range(60): a = frozenset([(a, i), (a, -i - 1)])\na",
    "key": TWICE.format("(1,)", "(a, a)") + "{a: 1}",
    "argument": TWICE.format("(1,)", "(a, a)") + "add({a: 1}, 2)",
    "record": "from collections import namedtuple\n" + TWICE.format("[1]", "[a, a]")
    + "namedtuple('P', 'a')(a)",
    "text": "a = 'x' * 10**6\n[a] * 10**6",
    "numbers": "[1 << 4000] * 10**6",
}  # fmt: skip


@pytest.mark.parametrize("name", ENDLESS_VALUES)
def test_what_code_hands_over_costs_its_own_time(name: str) -> None:
    """Nor does it cost ours: this process would neither end it nor have the memory."""
    limits = CodeLimits(seconds=0.5, output=500)
    # Since Python 3.14 hashes a tuple once, one as a key can get as far as the function.
    result = run(ENDLESS_VALUES[name], limits=limits, add=lambda *given: len(given))
    assert len(result.value) < 600
    assert result.value or result.late or "TypeError" in result.error
    assert run("1 + 1").value == "2"


def test_a_set_has_one_order() -> None:
    """Python's own follows from where its members lie."""
    code = "{'c', 'a', 'b', None, 12, 3, int}, frozenset('edcba'), [{'y', 'x'}]"
    shown = (
        "({3, 12, 'a', 'b', 'c', None, <class 'int'>}, frozenset({'a', 'b', 'c', 'd', 'e'}), "
        "[{'x', 'y'}])"
    )
    assert run(code).value == shown


@pytest.mark.parametrize("code", ["{A(): 1}", "{A(), A()}"])
def test_what_has_no_like_outside_is_refused_in_words(code: str) -> None:
    assert "cannot be shown" in run(f"class A:\n    pass\n{code}").error


@pytest.mark.parametrize(
    "code",
    ["(1,)", "()", "[1, [2.5, 'a\"b']]", "{'a': {}, 1: None}", "{1}", "set()", "frozenset()",
     "b'x'", "float('nan')", "...", "'it\\'s'", "True"],
)  # fmt: skip
def test_values_are_written_as_python_does(code: str) -> None:
    assert run(code).value == repr(eval(code))


def test_mistakes_in_host_functions_are_seen_and_ours_are_raised() -> None:
    def refuse() -> None:
        raise ToolError("no such table")

    def fail() -> None:
        raise InfrastructureError("disk is gone")

    def bug() -> object:
        return {}["missing"]

    assert "no such table" in run("refuse()", refuse=refuse).error
    assert "argument" in run("refuse(1)", refuse=refuse).error
    assert "argument" in run("refuse(x=1)", refuse=refuse).error
    for function, error in ((fail, InfrastructureError), (bug, KeyError)):
        with pytest.raises(error):
            run("try:\n    f()\nexcept Exception:\n    pass", f=function)


@pytest.fixture
def tools() -> PythonTools:
    start = Workspace(
        {"README.md": "one two"}, {"t": Table(pa.table({"id": ["a", "b"]}))}, writable=("out/",)
    )
    return PythonTools(WorkspaceWorld(start, Clock(NOW)))


@pytest.mark.parametrize(
    "code",
    [
        "sql('COPY t TO \\'/tmp/healthgym-escape.csv\\'')",
        "sql('DROP VIEW t')",
        "sql('SELECT * FROM read_text(\\'/etc/passwd\\')')",
        "sql('SELECT 1; SELECT 2')",
        "sql('x' * 30_000)",
        "sql(1)",
        "sql(['SELECT 1'])",
        "sql('SELECT 1', rows=10**9)",
        "sql('SELECT * FROM range(1000000)')",
        "read_file('../../etc/passwd')",
        "read_file('/etc/passwd')",
        "read_file('a\\0b')",
        "read_file('x' * 100_000)",
        "read_file(None)",
        "list_files('/')",
        "write_file('out/x', 'y')",
        "sql.__self__",
        "read_file.__globals__",
    ],
)
def test_host_functions_cannot_be_abused(tools: PythonTools, code: str) -> None:
    before = tools.world.digest()
    with pytest.raises(ToolError) as caught:
        tools.run_python(code)
    assert "root:" not in str(caught.value)
    assert len(str(caught.value)) < 5_000
    assert tools.world.digest() == before


def test_host_functions_answer_what_is_asked(tools: PythonTools) -> None:
    code = "print(sql('SELECT count(*) AS n FROM t'), read_file('README.md'), list_files())"
    assert tools.run_python(code).text == "[{'n': 2}] one two ['README.md']"
    assert tools.run_python("list_tables()").text == "['t']"


#: Looks at everything code can reach, and shows what the secret would be in.
HUNT = """
for path in list_files():
    print([line for line in read_file(path).split('\\n') if MARK in line])
for name in list_tables():
    for row in sql('SELECT * FROM ' + name + ' LIMIT 3000'):
        if MARK in str(row):
            print(row)
try:
    print(sorted(globals()))
except NameError:
    print('no globals')
""".replace("MARK", f"'{PLANTED[:6]}' + '{PLANTED[6:]}'")


def test_the_reference_is_out_of_reach() -> None:
    env = planted_env("HealthAgent/EhrDataQuality-v1")
    env.reset(options={"index": 0})
    observation = env.step({"name": "run_python", "arguments": {"code": HUNT}})[0]
    assert "Error" not in observation
    assert PLANTED not in observation


def test_what_is_in_a_file_would_have_been_found() -> None:
    start = Workspace({"notes.txt": f"found {PLANTED}"})
    tools = PythonTools(WorkspaceWorld(start, Clock(NOW)))
    assert PLANTED in tools.run_python(HUNT).text


def test_no_process_of_ours_runs_the_code() -> None:
    result = run("import os\nos.getpid()")
    assert str(os.getpid()) not in result.output + result.value
