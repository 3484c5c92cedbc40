"""The board of this repository: every entry is one, and today's code gives what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from healthgym.policies.leaderboard import (
    entry_files,
    grouped,
    is_published,
    read_board,
    read_entry,
)
from healthgym.testing.rechecking import Standing, play_again

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks" / "leaderboard"


@pytest.mark.parametrize("path", entry_files(FOLDER), ids=lambda path: path.stem)
def test_each_file_is_an_entry(path: Path) -> None:
    entry = read_entry(path)
    assert entry.by
    assert entry.command.startswith(f"healthgym eval {entry.env_id} ")


def test_published_benchmarks_come_first() -> None:
    published = [is_published(entries[0].env_id) for _, entries in grouped(read_board(FOLDER))]
    assert published == sorted(published, reverse=True)
    assert {True, False} == {*published}


def test_every_table_is_bounded() -> None:
    """What knows the answer stands above, and what does nothing below."""
    for heading, entries in grouped(read_board(FOLDER)):
        success = {entry.policy: entry.success.estimate for entry in entries}
        assert success.get("oracle", 1.0) == 1.0, heading
        assert success.get("nop", 0.0) <= 0.05, heading


@pytest.mark.parametrize("policy", ["nop", "prior", "solver"])
def test_an_entry_is_what_is_played_today(policy: str) -> None:
    env_id = "HealthAgent/MedicationReconciliation-v1"
    (entry,) = (e for e in read_board(FOLDER) if (e.env_id, e.policy) == (env_id, policy))
    checked = play_again(entry)
    assert checked.standing in (Standing.PLAYED_AGAIN, Standing.NOT_REPLAYED), checked.reason
