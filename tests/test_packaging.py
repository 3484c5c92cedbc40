"""The shape of the repository and the weight of `import healthgym`."""

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

HEAVY = ("PIL", "datasets", "matplotlib", "pettingzoo", "torch", "transformers", "trl")


@pytest.mark.parametrize("name", ["envs", "rewards", "wrappers"])
def test_the_root_links_lead_into_the_package(repo_root: Path, name: str) -> None:
    link = repo_root / name
    assert link.is_symlink()
    assert link.readlink() == Path("healthgym") / name
    assert (link / "__init__.py").is_file()


@pytest.fixture(scope="module")
def families(repo_root: Path) -> list[Path]:
    """Return the folders of the families; several of one domain stand in a folder of theirs."""
    return [file.parent for file in (repo_root / "healthgym" / "envs").rglob("family.py")]


def test_every_folder_of_the_environments_holds_a_family(
    repo_root: Path, families: list[Path]
) -> None:
    envs = repo_root / "healthgym" / "envs"
    folders = {file.parent for file in envs.glob("*/__init__.py")}
    assert folders == {envs / family.relative_to(envs).parts[0] for family in families}


def test_every_family_has_the_same_rooms(families: list[Path]) -> None:
    rooms = ("generator", "task", "verifier", "oracle", "env")
    assert families
    missing = [family / f"{r}.py" for family in families for r in rooms]
    assert [file for file in missing if not file.is_file()] == []
    # The families of one domain act through the same tools.
    assert [
        family
        for family in families
        if not (family / "toolset.py").is_file() and not (family.parent / "tools").is_dir()
    ] == []


def test_the_data_of_a_family_is_in_one_folder(repo_root: Path) -> None:
    files = [file for file in (repo_root / "healthgym" / "envs").rglob("*.*") if file.is_file()]
    data = [file for file in files if file.suffix not in (".py", ".pyc")]
    assert data
    assert [file for file in data if "data" not in file.parts[-3:-1]] == []


def test_import_loads_nothing_heavy() -> None:
    script = f"import healthgym, sys; print(*[m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


def test_the_package_says_it_is_typed() -> None:
    assert (files("healthgym") / "py.typed").is_file()


def test_constraints_name_versions_and_no_places(repo_root: Path) -> None:
    lines = (repo_root / "constraints.txt").read_text().splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert pins
    assert [line for line in pins if "==" not in line or "/" in line or "+" in line] == []
