"""What has to be true before a version is released."""

import importlib.util
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from healthgym.version import __version__

URLS = """
[project.urls]
Changelog = "https://healthgym.dev/changelog"
Documentation = "https://healthgym.dev"
Issues = "https://code.healthgym.dev/issues"
Repository = "https://code.healthgym.dev"
"""


@pytest.fixture
def release(repo_root: Path) -> Any:
    spec = importlib.util.spec_from_file_location("release", repo_root / ".ci" / "release.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def ready(repo_root: Path, tmp_path: Path) -> Path:
    """Return what of a checkout is looked at, with all that is asked for."""
    (tmp_path / "healthgym").mkdir()
    for name in ("healthgym/version.py", "CITATION.cff"):
        shutil.copy(repo_root / name, tmp_path / name)
    (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "healthgym"\n{URLS}')
    log = f"# Changelog\n\n## [Unreleased]\n\n## [{__version__}] - 2026-01-31\n\n- All of it.\n"
    (tmp_path / "CHANGELOG.md").write_text(log)
    built = tmp_path / "dist"
    built.mkdir()
    (built / f"healthgym-{__version__}-py3-none-any.whl").write_bytes(b"a wheel")
    (built / f"healthgym-{__version__}.tar.gz").write_bytes(b"an sdist")
    return tmp_path


def replaced(name: str, old: str, new: str) -> Callable[[Path], object]:
    def spoil(root: Path) -> None:
        text = (root / name).read_text()
        assert old in text
        (root / name).write_text(text.replace(old, new, 1))

    return spoil


SPOILED = {
    "no Issues": replaced("pyproject.toml", "Issues = ", "Bugs = "),
    "no address that others can open": replaced("pyproject.toml", "https://code.", "http://code."),
    "no address that others can open: https://example.org": replaced(
        "pyproject.toml", "https://healthgym.dev/changelog", "https://example.org"
    ),
    "its version is not": replaced("CITATION.cff", f"version: {__version__}", "version: 0.0.1"),
    "there is no section": replaced("CHANGELOG.md", f"[{__version__}] - 2026", "[0.0.1] - 2026"),
    "stand under Unreleased": replaced(
        "CHANGELOG.md", "[Unreleased]\n", "[Unreleased]\n\n- New.\n"
    ),
    "not one sdist": lambda root: (root / "dist" / f"healthgym-{__version__}.tar.gz").unlink(),
    "not one wheel": lambda root: (root / "dist" / "healthgym-0.0.1-py3-none-any.whl").touch(),
    "less than 5 MB": lambda root: (
        root / "dist" / f"healthgym-{__version__}-py3-none-any.whl"
    ).write_bytes(bytes(5_000_000)),
}


def test_a_version_that_is_ready_may_be_released(release: Any, ready: Path) -> None:
    assert release.problems(ready, ready / "dist") == []


@pytest.mark.parametrize("told", SPOILED)
def test_what_is_missing_keeps_it(release: Any, ready: Path, told: str) -> None:
    SPOILED[told](ready)
    (found,) = release.problems(ready, ready / "dist")
    assert told in found


def test_no_version_goes_out_without_addresses(release: Any, repo_root: Path) -> None:
    """As long as no host of the project is known, none is invented, and nothing is released."""
    known = "[project.urls]" in (repo_root / "pyproject.toml").read_text()
    told = "\n".join(release.problems(repo_root))
    assert ("has no Repository" in told) is not known


def test_the_workflow_checks_before_it_uploads_and_keeps_no_token(repo_root: Path) -> None:
    yaml = pytest.importorskip("yaml")
    told = yaml.safe_load((repo_root / ".github" / "workflows" / "release.yml").read_text())
    build, publish = told["jobs"]["build"], told["jobs"]["publish"]
    commands = "\n".join(step.get("run", "") for step in build["steps"]).split()
    for script in (".ci/run", ".ci/release.py"):
        assert script in commands
        assert (repo_root / script).is_file()
    assert publish["needs"] == "build"
    assert told["permissions"] == {}
    assert publish["permissions"] == {"id-token": "write"}
    upload = publish["steps"][-1]
    assert upload["with"] == {"attestations": True}
    assert "secrets." not in str(told)


def test_every_slow_test_is_run_at_night(repo_root: Path) -> None:
    yaml = pytest.importorskip("yaml")
    told = yaml.safe_load((repo_root / ".github" / "workflows" / "nightly.yml").read_text())
    rooms = [room.split() for room in told["jobs"]["slow"]["strategy"]["matrix"]["room"]]
    left = set((repo_root / "tests").rglob("test_*.py"))
    for place, *ignored in rooms:
        without = {repo_root / each.removeprefix("--ignore=") for each in ignored}
        found = {
            path
            for path in (repo_root / place).rglob("test_*.py")
            if not without & set(path.parents)
        }
        assert found
        left -= found
    assert not left
