"""What the pages show runs, and what they name is there."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: Written pages, by their path.
PAGES = sorted(
    path.relative_to(ROOT).as_posix() for path in (ROOT / "README.md", *ROOT.glob("docs/**/*.md"))
)
_BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^healthgym (\w+)", re.MULTILINE)
_LINK = re.compile(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)")


def blocks(page: str) -> list[str]:
    return _BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)])
def test_code_of_a_page_runs(page: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for extra in ("pettingzoo", "datasets", "scipy"):
        pytest.importorskip(extra)
    monkeypatch.chdir(tmp_path)
    space: dict[str, object] = {"__name__": "__main__"}
    # One page is one session: what a block makes is there for the next.
    for block in blocks(page):
        exec(compile(block, page, "exec"), space)


@pytest.mark.parametrize("page", PAGES)
def test_commands_and_files_of_a_page_exist(page: str) -> None:
    from healthgym.cli import _parser as parser

    text = (ROOT / page).read_text(encoding="utf-8")
    known = parser().format_help()
    assert all(re.search(rf"\b{name}\b", known) for name in _COMMAND.findall(text))
    # The site writes some pages when it is built; mkdocs looks for those itself.
    written = (
        "environments/",
        "api/",
        "results/proofs.md",
        "results/integrity.md",
        "results/cards.md",
        "results/figures.md",
        "leaderboard.md",
    )
    for link in _LINK.findall(text):
        found = (ROOT / page).parent / link
        where = found.resolve().relative_to(ROOT).as_posix().removeprefix("docs/")
        assert found.exists() or where.startswith(written), link


def test_tables_are_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    tables = import_module("tables")
    found = []
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        assert tables.renewed(text) == text, f"{page}: python docs/tables.py writes its tables"
        found += re.findall(r"<!-- table: (\w+) -->", text)
    assert sorted(found) == sorted(tables.TABLES)


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


@pytest.mark.parametrize("path", sorted(ROOT.glob("docs/notebooks/*.ipynb")), ids=lambda p: p.stem)
def test_cells_of_a_notebook_run(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert code
    assert not any(cell.get("outputs") for cell in cells)
    space: dict[str, object] = {"__name__": "__main__"}
    for block in code:
        exec(compile(block, path.name, "exec"), space)
