import os
import subprocess
import sys
from pathlib import Path

DRIFTING = {
    "address": "VALUES = [repr(object())]",
    "clock": "import time\nVALUES = [time.time_ns()]",
    "process": "import os\nVALUES = [os.getpid()]",
    "set": "VALUES = {'ash', 'elm', 'fir', 'oak', 'yew', 'box', 'bay'}",
}
STEADY = "VALUES = [b'x', 'y', 3]"
TEST = "import pytest\n{}\n@pytest.mark.parametrize('value', VALUES)\ndef test_it(value): ...\n"


def collect_twice(
    root: Path, folder: Path, values: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    for name, text in values.items():
        (folder / f"test_{name}.py").write_text(TEST.format(text), encoding="utf-8")
    return subprocess.run(
        [sys.executable, root / "tests" / "collect_twice.py", "-p", "no:cacheprovider"],
        cwd=folder,
        # Plugins are half of the time pytest needs to start.
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
    )


def test_an_id_of_its_own_in_every_process_is_named(repo_root: Path, tmp_path: Path) -> None:
    found = collect_twice(repo_root, tmp_path, {**DRIFTING, "steady": STEADY})
    assert found.returncode == 1
    for name in DRIFTING:
        assert f"+test_{name}.py::test_it[" in found.stderr
    assert "test_steady.py" not in found.stderr
    assert "explicit ids" in found.stderr


def test_ids_that_stay_are_accepted(repo_root: Path, tmp_path: Path) -> None:
    found = collect_twice(repo_root, tmp_path, {"steady": STEADY})
    assert found.returncode == 0, found.stderr
    assert found.stdout == "3 tests, the same in two collections\n"


def test_what_cannot_be_collected_is_no_agreement(repo_root: Path, tmp_path: Path) -> None:
    found = collect_twice(repo_root, tmp_path, {"steady": STEADY, "broken": "VALUES = missing"})
    assert found.returncode == 1
    assert "NameError" in found.stderr
