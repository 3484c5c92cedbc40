"""Completion scripts: what a shell offers after what was typed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from healthgym.cli import main
from healthgym.registration import ids


@pytest.fixture
def script(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    capture = request.getfixturevalue("capsys")
    assert main(["completion", "bash"]) == 0
    path = tmp_path / "completion.bash"
    path.write_text(capture.readouterr().out, encoding="utf-8")
    return path


def offered(script: Path, *words: str) -> list[str]:
    """Return what bash offers for the last word."""
    typed = " ".join(f"'{word}'" for word in words)
    asked = (
        f"source {script}; COMP_WORDS=(healthgym {typed}); COMP_CWORD={len(words)}; "
        '_healthgym; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_offers_what_fits(script: Path) -> None:
    assert offered(script, "ev") == ["eval"]
    assert offered(script, "eval", "HealthAgent/") == list(ids())
    assert offered(script, "eval", ids()[0], "--spl") == ["--split"]
    assert offered(script, "eval", ids()[0], "--split", "") == ["train", "validation", "test"]
    assert offered(script, "serve", "fhir", "--po") == ["--port"]
    assert offered(script, "train", "--grpo-s") == ["--grpo-steps"]
    assert offered(script, "eval", "no-such") == []


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_a_script_too(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    told = capsys.readouterr().out
    assert ids()[0] in told
    assert "--grpo-steps" in told or "-l grpo-steps" in told
    program = shutil.which(shell)
    if program is not None:
        read = [program, "--no-execute"] if shell == "fish" else [program, "-n"]
        subprocess.run([*read, "/dev/stdin"], input=told, text=True, check=True)


def test_a_shell_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["completion", "cmd"])
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("healthgym completion: ")
    assert "--help" in line
