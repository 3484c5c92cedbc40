"""The benchmarks' harness: clocks, bounds, merging, and that every script declares measures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

ALL_HELP = Path(__file__).with_name("all_help.py")
SCRIPT = '''
"""A script of two measures."""
import os
from _harness import Suite, at_least, at_most, resident_mib

suite = Suite("toy", __doc__)
suite.parser.add_argument("--word", default="")

@suite.measure(bounds={"spent_ms": at_most(1), "done_per_s": at_least(5)})
def speed(run):
    return {"spent_ms": 2.0, "done_per_s": 7.0, "repeats": run.repeats(100)}

@suite.measure("import", usual=False)
def imports(run):
    return {"pid": os.getpid(), "inner": {"word": run.options.word}, "tasks": run.tasks(50)}

if __name__ == "__main__":
    raise SystemExit(suite.main())
'''


@pytest.fixture
def harness(repo_root: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(repo_root / "benchmarks")
    import _harness

    return _harness


def run(script: Path, *arguments: str, root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(script), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": f"{root / 'benchmarks'}:{root}", "PATH": ""},
    )


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "toy.py"
    path.write_text(SCRIPT)
    return path


def test_figures_are_shown_with_units_and_bounds(script: Path, repo_root: Path) -> None:
    done = run(script, "--quick", root=repo_root)
    assert done.returncode == 0, done.stderr
    assert [" ".join(line.split()) for line in done.stdout.splitlines()] == [
        "speed.spent_ms 2.000 ms <= 1 MISSED",
        "speed.done_per_s 7.000 /s >= 5 kept",
        "speed.repeats 3",
    ]


def test_results_are_merged_by_measure(script: Path, repo_root: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    old = {"speed": {"spent_ms": 9, "gone_ms": 9}, "other": {"kept_ms": 1}}
    (out / "toy.json").write_text(json.dumps({"figures": old}))
    arguments = ("--only", "speed", "--only", "import", "--word", "hello", "--tasks", "7")
    done = run(script, *arguments, "--out", str(out), root=repo_root)
    assert done.returncode == 0, done.stderr
    report = json.loads((out / "toy.json").read_text())
    assert report["bounds"] == {"speed.spent_ms": "<= 1", "speed.done_per_s": ">= 5"}
    assert report["figures"]["other"] == {"kept_ms": 1}
    assert report["figures"]["speed"] == {"spent_ms": 2.0, "done_per_s": 7.0, "repeats": 100}
    assert report["figures"]["import"]["inner"] == {"word": "hello"}
    assert report["figures"]["import"]["tasks"] == 7
    described = {"build", "cpu", "cores", "load_average", "python", "reference_us", "system"}
    assert set(report["machine"]) == described
    assert report["machine"]["reference_us"] > 0


def test_an_unknown_measure_is_an_error_that_names_the_known(script: Path, repo_root: Path) -> None:
    done = run(script, "--only", "sped", root=repo_root)
    assert done.returncode == 2
    assert "no measure sped; there are speed, import" in done.stderr


def test_warm_up_and_preparation_are_not_timed(harness: ModuleType) -> None:
    seen: list[tuple[str, int]] = []
    timing = harness.timed(
        lambda item: seen.append(("timed", item)),
        [1, 2],
        warm_up=[0],
        before=lambda item: seen.append(("before", item)),
    )
    assert seen == [("timed", 0), ("before", 1), ("timed", 1), ("before", 2), ("timed", 2)]
    assert len(timing.wall) == len(timing.cpu) == 2


def test_medians_percentiles_and_ratios(harness: ModuleType) -> None:
    timing = harness.Timing(tuple(n / 1000 for n in range(1, 102)), (0.5, 1.5, 2.5))
    assert timing.figures("reset") == {"reset_ms": 51.0, "reset_cpu_ms": 1500.0}
    spread = timing.spread("step", "us")
    assert spread == {"step_us": pytest.approx(51_000), "step_p95_us": pytest.approx(96_000)}
    assert timing.over(harness.Timing((0.017,), (0.0,))) == pytest.approx(3)
    assert harness.Timing.join([timing, timing]).median() == timing.median()


def test_actions_are_timed_in_turn(harness: ModuleType) -> None:
    seen: list[str] = []
    actions = {name: lambda name=name: seen.append(name) for name in ("a", "b")}
    timings = harness.alternate(actions, 2, warm_up=1)
    assert seen == ["a", "b"] * 3
    assert [len(timing.wall) for timing in timings.values()] == [2, 2]


def test_figures_become_plain_values(harness: ModuleType) -> None:
    from _harness.suite import tidy

    figures = {"a_ms": np.float64(1.23456789), "n": np.int64(3), "ok": np.bool_(True), "r": (1, 2)}
    assert tidy(figures) == {"a_ms": 1.23457, "n": 3, "ok": True, "r": [1, 2]}


def test_every_script_says_what_it_measures(repo_root: Path) -> None:
    scripts = sorted((repo_root / "benchmarks").glob("*.py"))
    assert scripts
    # In one process, for each takes a second to import the same.
    asked = run(ALL_HELP, *map(str, scripts), root=repo_root)
    assert asked.returncode == 0, asked.stderr
    told = json.loads(asked.stdout)
    assert told.keys() == set(map(str, scripts))
    for path in scripts:
        assert "--only NAME" in told[str(path)], path
        assert len(path.read_text().splitlines()) <= 400
