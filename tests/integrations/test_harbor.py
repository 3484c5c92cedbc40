"""Exported tasks are solved by their solutions, and by nothing else; Harbor runs them itself."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from healthgym.errors import ConfigurationError
from healthgym.integrations.harbor import HarborExport, export_harbor
from tests.integrations.harbor_container import Container

FHIR, XRAY = "HealthAgent/FhirRecord-v1", "HealthAgent/XrayCorrection-v1"
ROOT = Path(__file__).parents[2]


@pytest.fixture
def task(tmp_path: Path) -> Path:
    return export_harbor(HarborExport(FHIR), tmp_path / "out", [3])[0]


def begun(task: Path, root: Path) -> Container:
    container = Container(root)
    container.build(task / "environment")
    return container


def graded(task: Path, container: Container) -> tuple[int, str]:
    """Exit status of the tests, and what the reward file says; empty if there is none."""
    container.put(task / "tests", "/tests")
    done = container.run("/tests/test.sh")
    reward = container.at("/logs/verifier/reward.txt")
    return done.returncode, reward.read_text().strip() if reward.exists() else ""


def test_the_solution_scores_one_and_nothing_scores_zero(task: Path, tmp_path: Path) -> None:
    container = begun(task, tmp_path / "box")
    assert graded(task, container) == (0, "0")
    container.put(task / "solution", "/solution")
    done = container.run("/solution/solve.sh")
    assert done.returncode == 0, done.stderr
    assert graded(task, container) == (0, "1")
    verdict = json.loads(container.at("/logs/verifier/verdict.json").read_text())
    assert verdict["verdict"]["strict"]["success"]
    # What the agent finds there is not looked at: the tests have the task's file of their own.
    container.at("/opt/episode/task.json").write_text("{}")
    container.at("/opt/episode/actions.jsonl").write_text("no call\n")
    container.at("/logs/verifier/reward.txt").write_text("1")
    assert graded(task, container) == (2, "")


def test_nothing_that_the_agent_reads_holds_the_solution(task: Path) -> None:
    config = tomllib.loads((task / "task.toml").read_text())
    assert config["agent"]["user"] == "agent"
    assert config["verifier"]["user"] == "root"
    own = json.loads((task / "environment" / "task.json").read_text())
    assert set(own) == {
        "schema", "env_id", "env_kwargs", "split", "index", "task_id", "version",
    }  # fmt: skip
    image = (task / "environment" / "Dockerfile").read_text()
    # All that draws the task belongs to the keeper, in a folder that nobody else may enter.
    assert "install -d -m 0700 -o keeper -g keeper /opt/episode" in image
    assert not {"solution", "tests"} & {path.name for path in (task / "environment").iterdir()}


def test_the_agent_tells_the_keeper_calls_and_nothing_else(task: Path, tmp_path: Path) -> None:
    container = begun(task, tmp_path / "box")
    record = container.at("/opt/episode/actions.jsonl")
    assert container.run("episode read").stdout.strip() in (task / "instruction.md").read_text()
    assert "finish(" in container.run("episode tools").stdout
    assert json.loads(container.run("episode tools finish").stdout)["name"] == "finish"
    for command in ("score --reward mine", "new x", "call", "--help"):
        assert container.run(f"episode {command}").returncode == 2, command
    for options in ("search_patients --actions=elsewhere", "-h", "-- --pictures elsewhere"):
        container.run(f"episode call {options}")
    assert sorted(path.name for path in container.at("/home/agent").iterdir()) == []
    assert not Path("/elsewhere").exists()
    before = len(record.read_text().splitlines())
    refused = container.run("episode call nonsense '{broken'")
    assert (refused.returncode, "Error" in refused.stdout) == (1, True)
    accepted = container.run('echo \'{"family": "Doe"}\' | episode call search_patients -')
    assert accepted.returncode == 0
    # A refused call is one, too.
    assert len(record.read_text().splitlines()) == before + 2


@pytest.mark.parametrize("separate", [False, True], ids=["shared", "separate"])
def test_both_kinds_of_verifier_are_laid_out(tmp_path: Path, separate: bool) -> None:
    wheel = tmp_path / "healthgym-0-py3-none-any.whl"
    wheel.write_bytes(b"")
    export = HarborExport(XRAY, {"difficulty": "easy"}, "train", f"{wheel}[imaging]", separate)
    folders = export_harbor(export, tmp_path / "out", range(2, 4))
    assert [folder.name for folder in folders] == [
        "xraycorrection-v1-train-00002", "xraycorrection-v1-train-00003",
    ]  # fmt: skip
    config = tomllib.loads((folders[0] / "task.toml").read_text())
    assert ("environment_mode" in config["verifier"]) is separate
    rooms = [folders[0] / "environment", *([folders[0] / "tests"] if separate else [])]
    for room in rooms:
        assert (
            f'install --no-cache-dir "./{wheel.name}[imaging]"' in (room / "Dockerfile").read_text()
        )
        assert (room / "install" / wheel.name).is_file()
    assert (folders[0] / "tests" / "Dockerfile").exists() is separate
    assert json.loads((rooms[0] / "task.json").read_text())["env_kwargs"] == {"difficulty": "easy"}


def test_what_cannot_be_exported_is_refused(tmp_path: Path, task: Path) -> None:
    with pytest.raises(ConfigurationError, match="is there already"):
        export_harbor(HarborExport(FHIR), task.parent, [3])
    with pytest.raises(ConfigurationError, match="no wheel"):
        export_harbor(HarborExport(FHIR, install="nowhere.whl"), tmp_path / "other", [0])
    with pytest.raises(ConfigurationError, match="not a requirement"):
        export_harbor(HarborExport(FHIR, install='x"; rm -rf /'), tmp_path / "other", [0])
    assert not (tmp_path / "other").exists()


def harbor(home: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run Harbor's command, which keeps files of its own in its user's home."""
    return subprocess.run(
        [Path(sys.executable).with_name("harbor"), *arguments],
        capture_output=True, text=True, check=False, cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(home)},
    )  # fmt: skip


@pytest.mark.parametrize("separate", [False, True], ids=["shared", "separate"])
def test_harbors_own_loader_and_trials(tmp_path: Path, separate: bool) -> None:
    pytest.importorskip("harbor")
    from harbor.models.task.task import Task

    tasks = export_harbor(HarborExport(FHIR, separate=separate), tmp_path / "out", [0, 3])
    for folder in tasks:
        assert Task.is_valid_dir(folder)
        loaded = Task(folder)
        assert loaded.name == f"healthgym/{folder.name}"
        assert "episode call" in loaded.instruction
    for agent, expected in (("oracle", 1.0), ("nop", 0.0)):
        jobs = tmp_path / agent
        done = harbor(
            tmp_path, "run", "--path", str(tmp_path / "out"), "--agent", agent, "--env",
            "tests.integrations.harbor_local:LocalEnv", "--jobs-dir", str(jobs), "--quiet", "--yes",
        )  # fmt: skip
        found: list[dict[str, Any]] = [
            json.loads(path.read_text()) for path in jobs.glob("*/*/result.json")
        ]
        assert len(found) == 2, done.stdout + done.stderr
        rewards = [(each["verifier_result"] or {}).get("rewards") for each in found]
        assert rewards == [{"reward": expected}] * 2, [each["exception_info"] for each in found]
