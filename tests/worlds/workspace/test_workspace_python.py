"""Attempts to get out of the sandbox, or to take more of it than is given."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from healthgym.errors import InfrastructureError, ToolError
from healthgym.worlds.workspace import CodeLimits, CodeResult, SandboxedPython

pytest.importorskip("pydantic_monty")

NOW = datetime(2024, 1, 1, 12, tzinfo=UTC)


def run(code: str, *, limits: CodeLimits | None = None, **functions: object) -> CodeResult:
    return SandboxedPython(limits).run(code, functions, now=NOW)  # type: ignore[arg-type]


def test_code_runs_and_calls_what_it_is_given() -> None:
    result = run("print(add(2, 3))\n[x * x for x in range(3)]", add=lambda a, b: a + b)
    assert (result.output, result.value, result.error) == ("5\n", "[0, 1, 4]", "")


def test_clock_and_random_numbers_follow_from_the_episode() -> None:
    code = "import random, datetime\nprint(random.random(), datetime.datetime.now())"
    assert run(code) == run(code)
    assert "2024-01-01 12:00" in run(code).output


def test_runs_share_nothing() -> None:
    assert run("kept = 1").error == ""
    assert "NameError" in run("kept").error


@pytest.mark.parametrize(
    "code",
    [
        "open('/etc/passwd').read()",
        "open('/tmp/healthgym-escape', 'w').write('x')",
        "import pathlib\npathlib.Path('/etc/passwd').read_text()",
        "import pathlib\npathlib.Path('/tmp/healthgym-link').symlink_to('/etc/passwd')",
        "import os\nos.listdir('/')",
        "import os\nos.environ['PATH']",
        "import os\nos.getenv('PATH').upper()",
        "import os\nos.fork()",
        "import os\nos.system('id')",
        "import os\nos.symlink('/etc/passwd', 'x')",
        "import subprocess",
        "import socket",
        "import urllib.request",
        "import ctypes",
        "import multiprocessing",
        "import threading",
        "import healthgym",
        "import sys\nsys._getframe()",
        "import gc\ngc.get_objects()",
        "__import__('os').system('id')",
        "().__class__.__bases__[0].__subclasses__()",
        "(lambda: 0).__globals__",
        "add.__globals__['__builtins__']",
        "add.__self__",
        "add.func",
        'eval(\'__import__("os").listdir("/")\')',
    ],
)
def test_no_way_to_the_host(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEALTHGYM_CANARY", "canary-in-the-environment")
    result = run(code, add=lambda a, b: a + b)
    assert result.error
    assert "root:" not in result.output + result.value
    assert not Path("/tmp/healthgym-escape").exists()
    assert not Path("/tmp/healthgym-link").is_symlink()


def test_the_environment_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEALTHGYM_CANARY", "canary-in-the-environment")
    result = run("import os\nprint(dir(os))\nprint(os.getenv('HEALTHGYM_CANARY'))")
    assert "canary-in-the" not in result.output + result.value


@pytest.mark.parametrize(
    "code",
    [
        "while True: pass",
        "def f(n): return f(n + 1)\nf(0)",
        "x = [0] * 10**10",
        "x = []\nwhile True: x.append('a' * 10**6)",
        "2 ** (10 ** 9)",
        "'a' * 10**11",
        "x = 'a'\nwhile True: x = x + x",
        "while True: print('x' * 1000)",
        "while True: add(1, 2)",
        "import re\nre.match('(a*)*b', 'a' * 40)",
        "sorted(range(10**9))",
    ],
)
def test_endless_and_greedy_code_is_stopped(code: str) -> None:
    limits = CodeLimits(seconds=1.0, memory=64 << 20, output=2_000, calls=50)
    result = run(code, limits=limits, add=lambda a, b: a + b)
    assert len(result.output) < 3_000
    assert result.error or "re.match" in code
    assert run("1 + 1").value == "2"


def test_a_huge_value_is_cut() -> None:
    assert len(run("'x' * 10**6", limits=CodeLimits(output=500)).value) < 600


def test_mistakes_in_host_functions_are_seen_and_ours_are_raised() -> None:
    def refuse() -> None:
        raise ToolError("no such table")

    def fail() -> None:
        raise InfrastructureError("disk is gone")

    assert "no such table" in run("refuse()", refuse=refuse).error
    with pytest.raises(InfrastructureError):
        run("try:\n    fail()\nexcept Exception:\n    pass", fail=fail)


def test_no_process_of_ours_runs_the_code() -> None:
    result = run("import os\nos.getpid()")
    assert str(os.getpid()) not in result.output + result.value
