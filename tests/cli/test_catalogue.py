"""ENVIRONMENTS.md, and `healthgym show`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from healthgym.cli import environments, main
from healthgym.cli.catalogue import index, pages
from healthgym.policies.evaluation import evaluate
from healthgym.registration import TABLE, Row
from tests.cli.terminal import TOY
from tests.core.toys import LEDGER_ID

TOYS = (Row(LEDGER_ID, "tests.core.toys:make_ledger", {}, "a ledger | a toy"),)


def page_of(results: Path | None) -> str:
    """Return the page of the toy."""
    ((_, _, text),) = pages(TOYS, results)
    return text


def test_the_index_has_a_row_for_each_and_links_what_has_a_page() -> None:
    assert f"| `{LEDGER_ID}` | a ledger \\| a toy |" in index(TOYS)
    assert f"| [`{LEDGER_ID}`](make_ledger.md) |" in index(TOYS, "{}.md".format)


def test_the_page_describes_an_environment(tmp_path: Path) -> None:
    page = page_of(tmp_path)
    assert f"| `{LEDGER_ID}` | a ledger \\| a toy |" in page
    usage = "`ledger__transfer(source: string, target: string, amount: integer)`"
    assert f"| {usage} | write | Move coins from one account to another. |" in page
    assert "Baselines" not in page


def test_published_scores_are_shown(tmp_path: Path) -> None:
    for policy in ("oracle", "nop"):
        scored = evaluate(LEDGER_ID, policy, episodes=10)
        (tmp_path / f"{policy}.json").write_text(scored.to_json(episodes=False))
    (tmp_path / "speed.json").write_text('{"reset_ms": 1}')
    page = page_of(tmp_path)
    assert f"## Baselines of `{LEDGER_ID}`" in page
    assert "Success under strict / paper, on the test split, 10 episodes each." in page
    assert "| task type | nop | oracle |" in page
    assert "| all | 0.0% / 0.0% | 100.0% / 100.0% |" in page


def test_published_proofs_are_shown(tmp_path: Path) -> None:
    counts = {
        "corruptions": {"another_answer": [0, 100], "never_applied": [0, 0]},
        "equivalents": {"noted": [3, 10]},
        "constants": {"report": {"oracle": [0, 40], "learnt script": [1, 40]}},
    }
    (tmp_path / "proofs.json").write_text(json.dumps({"figures": {LEDGER_ID: counts}}))
    page = page_of(tmp_path)
    assert f"## Proofs of `{LEDGER_ID}`" in page
    for line in (
        "| wrong work | another answer | 0 of 100 | 3.7% |",
        "| wrong work | never applied | refused by the tools |  |",
        "| right work | noted | 3 of 10 | 60.3% |",
        "| constants | report | 1 of 40 | 12.9% |",
    ):
        assert line in page


def test_the_page_shows_an_example_of_each_kind_and_an_episode(tmp_path: Path) -> None:
    page = page_of(tmp_path)
    assert page.startswith("# make_ledger\n")
    kinds = page[page.index("## Kinds of tasks") : page.index("## An episode")]
    assert kinds.count("### ") >= 1
    episode = page[page.index("## An episode") :]
    assert "**1.**" in episode
    assert "Success." in episode
    assert "| `submitted` | yes |" in episode


def test_long_episodes_are_cut_in_the_middle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("healthgym.cli.catalogue._TURNS", 2)
    monkeypatch.setattr("healthgym.cli.catalogue._LAST", 1)
    episode = page_of(tmp_path).partition("## An episode")[2]
    turns = re.findall(r"\*\*(\d+)\.\*\*", episode)
    assert len(turns) == 2
    assert f"*{int(turns[1]) - 2} turns left out*" in episode


def test_the_page_is_the_same_each_time(tmp_path: Path) -> None:
    assert page_of(tmp_path) == page_of(tmp_path)


def test_an_installed_package_writes_pages_without_scores(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(environments, "checkout", lambda: None)
    monkeypatch.setattr("healthgym.registration.TABLE", TOYS)
    assert main(["envs", "--pages", str(tmp_path / "pages")]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert "in a source checkout only" in line
    assert (tmp_path / "pages" / "make_ledger.md").read_text() == page_of(None)


def test_the_registry_is_listed_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["envs", "--markdown"]) == 0
    page = capsys.readouterr().out
    assert page.startswith("# Environments\n")
    assert all(f"| `{row.id}` | {row.title} |" in page for row in TABLE)


def test_the_page_of_records_has_all_twenty_types() -> None:
    rows = [row for row in TABLE if row.id == "HealthAgent/FhirRecord-v1"]
    ((slug, name, page),) = pages(rows, None)
    assert (slug, name) == ("fhir-record", "FhirRecord")
    for version in ("v1", "v2"):
        assert all(f"### {version}-t{number}: " in page for number in range(1, 11))
    assert "## Description" in page
    assert "- *no_stray_writes*: Nothing is written" in page


def test_an_environment_is_shown_with_a_task(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", TOY, "--split", "test", "--index", "2"]) == 0
    shown = capsys.readouterr().out
    assert "ledger__read_balance(account: string)  [read]" in shown
    assert "Example task toy-ledger/test/2 (" in shown
