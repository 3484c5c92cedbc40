"""What is left of workers when their parent is killed: nothing, a second later."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are watched by Linux")

_START = """
import json, os, shutil, threading, time
from datetime import UTC, datetime
import pyarrow as pa
from healthgym.core.clock import Clock
from healthgym.worlds.workspace import CodeLimits, PythonTools, SqlLimits, Table
from healthgym.worlds.workspace import Workspace, WorkspaceWorld
from healthgym.worlds.workspace.box import Box, BoxLimits
from healthgym.worlds.workspace.box.command import Identity
from healthgym.worlds.workspace.box.runtime import find_runtime
table = Table(pa.table({"n": list(range(100_000))}))
clock = Clock(datetime(2024, 1, 1, tzinfo=UTC))
world = WorkspaceWorld(Workspace({}, {"t": table}), clock, limits=SqlLimits(seconds=600))
world.sql.query("SELECT sum(n) FROM t")
PythonTools.limits = CodeLimits(seconds=600)
started = threading.Event()
last = threading.Timer(200, os._exit, [1])  # a test that hangs is one that fails
last.daemon = True
last.start()
def box(code):
    identity = Identity.DROPPED if os.geteuid() == 0 else Identity.MAPPED
    made = Box(shutil.which("bwrap"), find_runtime(), identity, BoxLimits(seconds=600))
    print(made.run(code, {"begin": started.set}, tables={"t": table}))
def busy():
    BEGIN
    try:
        ACT
    finally:
        started.set()
threading.Thread(target=busy, daemon=True).start()
started.wait()
time.sleep(1.0)
print(json.dumps(os.getpid()), flush=True)
time.sleep(600)
"""

#: Workers of a parent, as a vector of environments has them: they write to it after each step.
_VECTOR = """
import json, multiprocessing, os, time
from datetime import UTC, datetime
from healthgym.core.clock import Clock
from healthgym.worlds.workspace import SqlLimits, Workspace, WorkspaceWorld
def work(gate):
    clock = Clock(datetime(2024, 1, 1, tzinfo=UTC))
    world = WorkspaceWorld(Workspace({}, {}), clock, limits=SqlLimits(seconds=60))
    world.sql.query("SELECT 1")
    gate.wait()
    world.sql.query(ENDLESS)
gate = multiprocessing.Barrier(3)
for _ in range(2):
    multiprocessing.get_context("fork").Process(target=work, args=(gate,)).start()
gate.wait()
time.sleep(0.5)
print(json.dumps(os.getpid()), flush=True)
time.sleep(600)
"""

ENDLESS = "SELECT count(*) FROM range(100000000000)"
UNINTERRUPTIBLE = "SELECT sum(length(regexp_replace(repeat('ab', 20000000), 'a+b', 'c', 'g')))"
ACTS = {
    "idle": "pass",
    "in a query": f"world.sql.query({ENDLESS!r})",
    "in one function": f"world.sql.query({UNINTERRUPTIBLE!r})",
    "in the sandbox": "PythonTools(world).run_python('while True: pass')",
    "in the box": "box('table(\"t\")\\nbegin()\\nwhile True: pass')",
}


def family_of(pid: int) -> dict[int, str]:
    """The descendants of a process, with when each was started."""
    parents, born = {}, {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            fields = (place / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(place.name)], born[int(place.name)] = int(fields[1]), fields[19]
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return {child: born[child] for child in found}


def alive(pid: int, born: str) -> bool:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return False
    return fields[0] != "Z" and fields[19] == born


@pytest.mark.parametrize(
    "act", [pytest.param(act, marks=[pytest.mark.slow] * act.startswith("in the")) for act in ACTS]
)
def test_nothing_is_left_of_a_killed_process(act: str, tmp_path: Path) -> None:
    boxed = act == "in the box"  # where it says itself that it has begun
    if act == "in the sandbox":
        pytest.importorskip("pydantic_monty")
    if boxed and shutil.which("bwrap") is None:
        pytest.skip("There is no bubblewrap here.")
    begin = "pass" if boxed else "started.set()"
    program = _START.replace("BEGIN", begin).replace("ACT", ACTS[act])
    assert_nothing_is_left(program, tmp_path, seconds=30)


def test_busy_workers_of_a_killed_parent_end_with_it(tmp_path: Path) -> None:
    assert_nothing_is_left(_VECTOR.replace("ENDLESS", repr(ENDLESS)), tmp_path, seconds=2)


def assert_nothing_is_left(program: str, tmp_path: Path, *, seconds: float) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    assert parent.stdout is not None
    try:
        assert json.loads(parent.stdout.readline()) == parent.pid
        family = family_of(parent.pid)
        assert len(family) > 1
    finally:
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait()
        parent.stdout.close()  # its workers may still hold the other end
    # A tenth of a second on an idle machine; by themselves they would go on for ten minutes.
    until = time.monotonic() + seconds
    while left := [pid for pid, born in family.items() if alive(pid, born)]:
        if time.monotonic() > until:
            named = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in left]
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            pytest.fail(f"{named} went on.")
        time.sleep(0.05)
    assert list(tmp_path.iterdir()) == []
