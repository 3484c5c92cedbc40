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
    return [file.parent for file in (repo_root / "healthgym" / "envs").glob("*/__init__.py")]


def test_every_family_has_the_same_rooms(families: list[Path]) -> None:
    rooms = ("generator", "task", "toolset", "verifier", "oracle", "env", "family")
    assert families
    assert [
        f"{family.name}/{room}.py"
        for family in families
        for room in rooms
        if not (family / f"{room}.py").is_file()
    ] == []


def test_the_data_of_a_family_is_in_one_folder(families: list[Path]) -> None:
    files = [file for family in families for file in family.rglob("*.*") if file.is_file()]
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
