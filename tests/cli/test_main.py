"""The command line as a whole: help, errors in one line, interruption, and commands passed on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import types
from pathlib import Path

import httpx
import pytest

from healthgym import __version__
from healthgym.cli import common, delegates, main
from healthgym.errors import MissingDependencyError
from healthgym.registration import arena_ids, ids
from tests.cli.terminal import TOY, healthgym


def test_without_a_command_there_is_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    shown = capsys.readouterr().out
    for command in (
        "envs", "show", "play", "eval", "demos", "replay", "new", "train", "report", "bench",
        "serve",
    ):  # fmt: skip
        assert f"\n    {command} " in shown


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"healthgym {__version__}\n"


def test_every_id_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["envs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert tuple(line.split()[0] for line in lines) == (*ids(), *arena_ids())


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["show", "Nowhere-v0"], "no environment 'Nowhere-v0'"),
        (["show", TOY, "--set", "turns=3"], "no argument turns"),
        (["show", TOY, "--set", "turns"], "--set takes NAME=VALUE"),
        (["show", TOY, "--set", "reward=dense"], "reward 'dense'"),
        (["show", TOY, "--split", "dev"], "not a split"),
        (["show", TOY, "--index", "-1"], "index"),
        (["play", TOY, "--task", "toy-ledger"], "not a task id"),
        (["eval", TOY, "--policy", "llm"], "--base-url and --model"),
        (["eval", TOY, "--policy", "flood"], "no policy named 'flood'"),
        (["eval", TOY, "--json", "/dev/null/x.json"], "/dev/null"),
        (["eval", TOY, "--policy", "llm", "--base-url", "http://h", "--model", "m",
          "--extra", "[]"], "--extra takes a JSON object"),
        (["eval", TOY, "--policy", "llm", "--base-url", "h", "--model", "m"], "http://"),
        (["eval", TOY, "--model", "m"], "for --policy llm, not for oracle"),
        (["suite", "managed-care", "--base-url", "http://h"], "for --policy llm, not for oracle"),
        (["replay", "no-such-file.jsonl"], "no-such-file.jsonl"),
        (["replay", "."], ". is a folder"),
        (["session", "read", "no-such-file.json"], "no-such-file.json: No such file"),
        (["session", "read", __file__], "is not a session's task. `healthgym session new"),
        (["serve", "fhir", "--synthetic", "0"], "--synthetic is at least 1"),
        (["train", "Nowhere-v0"], "no environment 'Nowhere-v0'"),
        (["serve", "fhir", "--now", "noon"], "--now takes an ISO 8601 time"),
        (["serve", "fhir", "--bundles", "no-such-folder"], "no-such-folder"),
    ],
)  # fmt: skip
def test_an_error_is_one_line(
    arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    (line,) = shown.err.splitlines()
    assert line.startswith("healthgym: ")
    assert reason in line


@pytest.mark.parametrize("held", ["", '{"env_id"'], ids=["nothing", "a record cut short"])
@pytest.mark.parametrize("command", ["replay", "score", "view --text"])
def test_a_recording_without_an_episode_is_an_error(
    command: str, held: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text(held, encoding="utf-8")
    assert main([*command.split(), str(path)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert len(shown.err.splitlines()) == 1


def test_an_error_leaves_no_traceback_in_a_process() -> None:
    done = healthgym("show", "Nowhere-v0")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_interruption_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(argv: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("healthgym.cli._run", interrupt)
    assert main(["envs"]) == 130
    assert capsys.readouterr().err == "\nhealthgym: interrupted\n"


def test_a_reader_that_goes_away_leaves_no_traceback() -> None:
    command = [sys.executable, "-W", "error", "-m", "healthgym", "envs"]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert done.returncode == 1
    assert done.stderr == ""


@pytest.mark.parametrize("command", ["train", "report"])
def test_a_command_is_passed_on_with_its_arguments(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[list[str]] = []
    module = types.ModuleType("stand_in_for_the_command")
    module.main = heard.append  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, delegates.PASSED_ON[command], module)
    assert main([command, "--help", "x"]) == 0
    assert heard == [["--help", "x"]]


def test_a_missing_extra_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(argv: list[str]) -> int:
        raise MissingDependencyError('training needs torch: pip install "healthgym[trl]"')

    module = types.ModuleType("stand_in_for_the_command")
    module.main = missing  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, delegates.PASSED_ON["train"], module)
    assert main(["train"]) == 2
    assert "pip install" in capsys.readouterr().err


def test_bench_runs_the_checkouts_script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(delegates, "checkout", lambda: tmp_path)
    (tmp_path / "benchmarks").mkdir()
    script = tmp_path / "benchmarks" / "run.py"
    script.write_text("import sys; sys.exit(len(sys.argv))")
    assert main(["bench", "--only", "reset"]) == 3


@pytest.mark.parametrize("installed", [True, False], ids=["no checkout", "no script in it"])
def test_bench_says_that_it_needs_a_checkout(
    installed: bool,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(delegates, "checkout", lambda: None if installed else tmp_path)
    assert main(["bench"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("healthgym: ")
    assert "only a source checkout has" in line


def test_an_installed_package_is_no_checkout(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "benchmarks").mkdir()
    monkeypatch.setattr(common, "__file__", str(tmp_path / "healthgym" / "cli" / "common.py"))
    assert common.checkout() is None
    (tmp_path / "pyproject.toml").touch()
    assert common.checkout() == tmp_path


def test_a_served_record_store_answers_and_ends_cleanly() -> None:
    command = [sys.executable, "-W", "error", "-m", "healthgym", "serve", "fhir"]
    server = subprocess.Popen(
        [*command, "--port", "0", "--synthetic", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        with httpx.Client(timeout=60) as client:
            found = client.get(f"{url}/Patient", params={"_count": "3"}).json()
        assert found["resourceType"] == "Bundle"
        assert len(found["entry"]) == 3
    finally:
        server.send_signal(signal.SIGINT)
        _, errors = server.communicate(timeout=600)
    assert server.returncode == 0
    assert "Traceback" not in errors
