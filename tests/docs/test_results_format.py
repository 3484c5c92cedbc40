"""The page on results names what is written, field by field."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from healthgym.cli import main
from healthgym.policies.leaderboard import Entry
from healthgym.policies.results import EpisodeResult, Evaluation, Row

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "results-format.md"


def tables() -> list[set[str]]:
    """The first column of each table of fields: the names in it."""
    text = PAGE.read_text(encoding="utf-8")
    found = re.findall(r"^\| field \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", text, re.MULTILINE)
    return [
        {name for line in rows.splitlines() for name in re.findall(r"`(\w+)`", line.split("|")[1])}
        for rows in found
    ]


def test_the_page_names_the_fields_of_an_evaluation(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "HealthAgent/FhirRecord-v1", "--episodes", "2", "--json", "-"]) == 0
    told = json.loads(capsys.readouterr().out)
    whole, row, episode = tables()
    assert whole == {*told, "failure_modes"}
    assert all(set(found) == row == set(Row.__dataclass_fields__) for found in told["rows"])
    assert episode == set(EpisodeResult.__dataclass_fields__)
    assert set(told["results"][0]) <= episode
    assert isinstance(Evaluation, type)


def test_the_page_names_every_layout() -> None:
    package = PAGE.parents[2] / "healthgym"
    written = {
        name
        for path in package.rglob("*.py")
        for name in re.findall(r'"(healthgym\.\w+/\d)"', path.read_text(encoding="utf-8"))
    }
    listed = set(re.findall(r"`(healthgym\.\w+/\d)`", PAGE.read_text(encoding="utf-8")))
    assert listed == written


def test_the_page_names_the_fields_of_an_entry() -> None:
    (rows,) = re.findall(
        r"^\| field of an entry \|.*\n\|[-|]+\|\n((?:\|.*\n)+)",
        PAGE.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    told = {name for row in rows.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert told == {field.alias or name for name, field in Entry.model_fields.items()}
