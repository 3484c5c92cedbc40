"""Boxes with full Python: what works in them, and that greedy or broken code ends alone."""

import gc
import os
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from healthgym.errors import ToolError
from healthgym.worlds.workspace import Table
from healthgym.worlds.workspace.box import Box
from healthgym.worlds.workspace.box.spool import Spool
from tests.worlds.workspace.boxes import NOW, run, small

pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")


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


def test_time_and_chance_that_python_meets_are_the_episodes(box: Box) -> None:
    code = (
        "import importlib, random, sys, tempfile, uuid, polars as pl\n"
        "print(random.Random().random(), random.Random(None).random(), random.Random(3).random())\n"
        "print(uuid.uuid1(), tempfile.mkdtemp(), pl.Series(range(1000)).sample(3).to_list())\n"
        "print(pl.Series(range(99)).shuffle().to_list(), pl.Series(range(99)).sample(2))\n"
        "import time\nbefore = time\ndel sys.modules['time']\nimport time\n"
        "print(time is before, time.time(), importlib.reload(time) is before, time.time())"
    )
    made = box.run(code, {}, now=NOW)
    assert (made.error, made) == ("", box.run(code, {}, now=NOW))
    assert f"True {NOW.timestamp():.0f}" in made.output
    assert made.output != box.run(code, {}, now=NOW, seed=1).output


def test_boxes_side_by_side_use_up_nothing_of_each_other_s(box: Box) -> None:
    # All of them have their threads at the same time, and almost all that each may have.
    meeting = threading.Barrier(4, timeout=60)
    code = (
        "import threading\ngate = threading.Event()\nfor _ in range(10): "
        "threading.Thread(target=gate.wait, daemon=True).start()\nmeet()\nthreading.active_count()"
    )
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: run(small(box), code, meet=meeting.wait), range(4)))
    assert [(each.value, each.error) for each in made] == [("11", "")] * 4


def test_whose_turn_it_is_shows_in_no_run(box: Box) -> None:
    code = (
        "import ctypes, os\nopen('/work/x', 'w').close()\nmade = os.stat('/work/x')\n"
        "print(os.getuid(), os.getegid(), os.getresuid(), ctypes.CDLL(None).getuid())\n"
        "print(made.st_uid, made.st_gid, made.st_mtime)"
    )
    made = run(box, code)
    assert made == run(box, code)
    assert made.output.split() == ["65534", "65534", *["(65534,", "65534,", "65534)"], "65534",
                                   "65534", "65534", "0.0"]  # fmt: skip


def test_tables_are_read_and_come_back(box: Box) -> None:
    data = pa.table(
        {
            "n": [1, None],
            "kind": pa.array(["a", None]).dictionary_encode(),
            "at": pa.array([NOW.replace(tzinfo=None)] * 2, pa.timestamp("s")),
        }
    )
    held = Table(data)
    made = box.run(
        "t = table('t')\nresult = t.with_columns(m=t['n'] * 2.5)\ntable('t').shape",
        {},
        tables={"t": held},
        wants_table=True,
    )
    time = {"time": "2024-01-01T12:00:00"}
    columns = {"n": [1, None], "kind": ["a", None], "at": [time, time], "m": [2.5, None]}
    assert (made.value, made.table) == ("(2, 3)", columns)


def test_a_table_in_a_box_can_be_changed_by_nobody(box: Box) -> None:
    held = Table(pa.table({"n": [1, 2]}))
    code = (
        "import gc, mmap, os, struct\nprint(table('t')['n'].sum())\n"
        "maps = [m for m in gc.get_objects() if isinstance(m, mmap.mmap)]\n"
        "hand = next(o for o in gc.get_objects() if type(o).__name__ == 'Tables')\n"
        "hand._channel.send({'table': 't'})\nhand._channel.receive()\n"
        "at = struct.unpack('i', hand._hand.recvmsg(1, 100)[1][0][2])[0]\n"
        "for act in (lambda: os.pwrite(at, b'x', 0), lambda: os.ftruncate(at, 0),\n"
        "            lambda: mmap.mmap(at, 10), lambda: hand._hand.send(b'x')):\n"
        "    try:\n        act()\n        print('changed')\n"
        "    except (OSError, ValueError):\n        pass\n"
        "table('t')['n'].sum()"
    )
    for _ in range(2):
        made = box.run(code, {}, tables={"t": held})
        assert (made.output, made.value, made.error) == ("3\n", "3", "")


def test_spooled_tables_are_bounded_and_gone_with_their_tables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spool = Spool()
    held = [Table(pa.table({"n": [n]})) for n in range(5)]
    before = len(os.listdir("/proc/self/fd"))
    for table in held:
        os.close(spool.open(table))
    assert len(os.listdir("/proc/self/fd")) == before + 5
    monkeypatch.setattr("healthgym.worlds.workspace.box.spool.MAX_FILES", 2)
    os.close(spool.open(held[0]))
    assert len(os.listdir("/proc/self/fd")) == before + 2
    monkeypatch.setattr("healthgym.worlds.workspace.box.spool.MAX_BYTES", spool.size - 1)
    os.close(spool.open(held[0]))
    assert len(os.listdir("/proc/self/fd")) == before + 1
    del held, table
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_forked_process_leaves_its_parents_files(monkeypatch: pytest.MonkeyPatch) -> None:
    spool, held = Spool(), Table(pa.table({"n": [1]}))
    os.close(spool.open(held))
    before = len(os.listdir("/proc/self/fd"))
    here = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: here + 1)
    del held
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before


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
    with pytest.raises(KeyError, match="missing"):
        run(box, "try:\n    bug()\nexcept Exception:\n    pass", bug=bug)


# -- what is stopped ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("greedy", "modest"),
    [
        ("while True: pass", "for n in range(9): pass"),
        ("import threading\nthreading.Event().wait()", "import time\ntime.sleep(10**6)"),
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
        ("os.close(1)\nos.close(2)\nimport signal\nsignal.pause()", "os.close(2)"),
    ],
)
def test_endless_and_greedy_code_is_stopped(box: Box, greedy: str, modest: str) -> None:

    def add(a: object, b: object) -> object:
        return a + b  # type: ignore[operator]

    assert run(small(box, seconds=0.2, calls=50), f"import os\n{greedy}", add=add).error
    assert run(small(box, seconds=60.0, calls=50), f"import os\n{modest}", add=add).error == ""


def test_who_kills_itself_is_not_late(box: Box) -> None:
    killed = run(small(box, seconds=600.0), "import os\nos.kill(os.getpid(), 9)")
    assert "ended its own process" in killed.error
    assert not killed.late
    assert run(small(box, seconds=0.2), "while True: pass").late


def test_output_values_and_results_are_bounded(box: Box) -> None:
    short = small(box, seconds=0.2, output=500)
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
        "import os, struct, json, sys, signal\nASK, ANSWER = int(sys.argv[1]), int(sys.argv[2])\n"
        "def send(message):\n    body = json.dumps(message).encode()\n"
        "    os.write(ASK, struct.pack('!I', len(body)) + body)\n"
    )
    made = run(
        small(box, seconds=0.2),
        f"{before}{code}\nsignal.pause()",
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
        "import os, struct, json, sys, signal\n"
        f"body = json.dumps({{'done': {said!r}}}).encode()\n"
        "os.write(int(sys.argv[1]), struct.pack('!I', len(body)) + body)\n"
        "for end in (0, 1, 2, int(sys.argv[1]), int(sys.argv[2])): os.close(end)\n"
        "signal.pause()"
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
