"""`healthgym new` writes an environment outside the package that keeps every promise."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import gymnasium as gym
import pytest

from healthgym import testing
from healthgym.cli import main
from healthgym.cli.new import create, names_of
from healthgym.errors import ConfigurationError, MissingDependencyError

ENV_ID = "WardRounds-v0"
#: Lines of a new environment that are not blank, the words on its page aside.
MOST_LINES = 130


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("new") / "somewhere" / "else"
    assert main(["new", "WardRounds", "--folder", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def module(folder: Path) -> Iterator[ModuleType]:
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module("ward_rounds")
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop("ward_rounds", None)
        gym.registry.pop(ENV_ID, None)


@pytest.mark.parametrize("check", testing.CHECKS, ids=lambda check: check.__name__)
def test_it_keeps_every_promise(module: ModuleType, check: Callable[[str], object]) -> None:
    try:
        check(f"ward_rounds:{ENV_ID}")
    except MissingDependencyError as error:
        pytest.skip(str(error))


def test_every_check_is_among_the_checks() -> None:
    named = {name for name in testing.__all__ if name.startswith("check_")}
    named.remove("check_careless")  # of arenas, which this is none of
    assert {check.__name__ for check in testing.CHECKS} == named


def test_its_page_says_what_is_declared(module: ModuleType) -> None:
    page = inspect.getdoc(module.WardRoundsEnv) or ""
    for said in ("`flag_bed` | write", "*no_stray_flag*", f"- ``{ENV_ID}``.", "(int, 20)"):
        assert said in page


def test_it_is_short(folder: Path) -> None:
    source = (folder / "ward_rounds.py").read_text(encoding="utf-8")
    (env,) = (
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef) and node.name == "WardRoundsEnv"
    )
    page = (ast.get_docstring(env) or "").splitlines()
    written = [len([line for line in text if line.strip()]) for text in (source.splitlines(), page)]
    assert written[0] - written[1] <= MOST_LINES


def test_it_needs_only_public_modules(folder: Path) -> None:
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("healthgym."):
                public = importlib.import_module(str(node.module))
                assert {alias.name for alias in node.names} <= {*dir(public)}
                assert str(node.module).count(".") == 1


@pytest.mark.slow
def test_it_is_typed(folder: Path, repo_root: Path) -> None:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent"]
    command += ["--cache-dir", str(folder / "cache"), "ward_rounds.py", "test_ward_rounds.py"]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "MYPYPATH": str(repo_root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_its_own_tests_find_it(folder: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "indices"]
    done = subprocess.run(
        [*command, str(folder)], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "module", "title"),
    [
        ("NightShift", "night_shift", "Night shift"),
        ("night_shift", "night_shift", "Night shift"),
        ("ICUHandover2", "icu_handover2", "Icu handover2"),
        ("Sepsis", "sepsis", "Sepsis"),
    ],
)
def test_a_name_has_its_forms(name: str, module: str, title: str) -> None:
    names = names_of(name)
    assert (names["module"], names["title"]) == (module, title)
    assert names["project"] == module.replace("_", "-")
    assert names["name"].isidentifier()
    assert names["name"][0].isupper()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("ward-rounds", "names no environment"),
        ("wardRounds", "names no environment"),
        ("2Wards", "names no environment"),
        ("Ward/../Rounds", "names no environment"),
        ("", "names no environment"),
        ("class", "a module 'class' already"),
        ("Random", "a module 'random' already"),
        ("numpy", "a module 'numpy' already"),
        ("healthgym", "a module 'healthgym' already"),
    ],
)
def test_a_name_that_will_not_do_is_refused(
    name: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", name, "--folder", str(tmp_path / "there")]) == 2
    assert reason in capsys.readouterr().err
    assert not (tmp_path / "there").exists()


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("mine")
    with pytest.raises(ConfigurationError, match=r"pyproject\.toml exists already"):
        create(names_of("NightShift"), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["pyproject.toml"]


def test_without_a_folder_it_gets_one_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "NightShift"]) == 0
    assert (tmp_path / "night_shift" / "night_shift.py").is_file()
    assert main(["new", "NightShift"]) == 2
