"""A run's folder is one run's, and says which of its files is damaged."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from healthgym.errors import ConfigurationError, DamagedDataError
from healthgym.integrations.trl import command
from healthgym.integrations.trl.config import TrainConfig
from healthgym.integrations.trl.folder import RunFolder

HOLD = """
import sys, time
from healthgym.integrations.trl.folder import RunFolder
folder = RunFolder(sys.argv[1])
folder.lock()
print("held", flush=True)
time.sleep(600)
"""


def test_two_runs_do_not_share_a_folder_and_a_dead_one_holds_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    RunFolder(tmp_path).begin(TrainConfig("HealthAgent/FhirRecord-v1"))
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert command.main(["--resume", str(tmp_path)]) == 2
        assert f"in use by another run (process {holder.pid})" in capsys.readouterr().err
        holder.kill()
        holder.wait()
    RunFolder(tmp_path).lock()


DAMAGE = ["", "{", "[1]", '{"base": 1}', "[" * 100_000, "\udcff"]


@pytest.mark.parametrize("text", DAMAGE)
def test_damaged_stages_are_named(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = RunFolder(tmp_path)
    folder.begin(TrainConfig("HealthAgent/FhirRecord-v1"))
    (tmp_path / "stages.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(DamagedDataError, match=r"stages\.json"):
        folder.results()
    from healthgym.integrations.trl import report

    assert report.main([str(tmp_path)]) == 2
    assert "stages.json" in capsys.readouterr().err


@pytest.mark.parametrize("text", DAMAGE)
def test_damaged_settings_are_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(DamagedDataError, match=r"config\.json"):
        RunFolder(tmp_path).config()


def test_a_damaged_line_of_figures_is_named_and_one_cut_short_is_left_out(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.log("sft", 1, {"loss": 1.0})
    with folder.metrics.open("a") as file:
        file.write('{"stage": "sf')
    assert len(folder.curve()) == 1
    folder.metrics.write_text('{"a": 1}\n{"b"\n')
    with pytest.raises(DamagedDataError, match=r"metrics\.jsonl is damaged in line 2"):
        folder.curve()


def test_damaged_checkpoints_are_named(tmp_path: Path) -> None:
    pytest.importorskip("trl")
    from healthgym.integrations.trl.models import open_checkpoint
    from healthgym.integrations.trl.phases import require_whole

    (tmp_path / "config.json").write_text("{")
    with pytest.raises(DamagedDataError, match="cannot be opened as a model"):
        open_checkpoint(tmp_path)
    with pytest.raises(DamagedDataError, match=r"config\.json is damaged"):
        require_whole(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"\xff" * 64)
    with pytest.raises(DamagedDataError, match=r"model\.safetensors is damaged"):
        require_whole(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    packed = tmp_path / "optimizer.pt"
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("data", b"x" * 1000)
    require_whole(tmp_path)
    packed.write_bytes(packed.read_bytes().replace(b"xxxx", b"xyxx", 1))
    with pytest.raises(DamagedDataError, match=r"optimizer\.pt is damaged"):
        require_whole(tmp_path)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ("--levels drll", "difficulty 'drll'"),
        ("--mix Nowhere-v0", "no environment 'Nowhere-v0'"),
        ("--policy nobody", "no policy named 'nobody'"),
        ("--demos 0", "--demos is at least 1"),
        ("--set turns=3", "no argument turns"),
        ("--model .", ". cannot be opened as a model"),
    ],
)
def test_a_slip_of_the_pen_leaves_no_run(
    wrong: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    assert command.main([*wrong.split(), "--quick", "--out", str(out)]) == 2
    assert reason in capsys.readouterr().err
    assert not out.exists()


def test_another_run_keeps_its_settings(tmp_path: Path) -> None:
    RunFolder(tmp_path).begin(TrainConfig("HealthAgent/FhirRecord-v1"))
    with pytest.raises(ConfigurationError, match="holds a run already"):
        RunFolder(tmp_path).begin(TrainConfig("HealthAgent/FhirRecord-v1"))
