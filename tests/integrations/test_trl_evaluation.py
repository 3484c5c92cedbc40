"""Scores of checkpoints, and what one gained on another."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from healthgym.errors import ConfigurationError
from healthgym.registration import make_health_env

pytest.importorskip("trl")

from healthgym.core.seeding import Split
from healthgym.integrations.trl.evaluation import (
    Score,
    aligned,
    differences,
    gain,
    play_script,
    score,
    table,
)
from healthgym.integrations.trl.page import headline


def _played(policy: str, count: int = 12) -> Score:
    env = make_health_env("HealthAgent/FhirRecord-v1")
    tasks = [(Split.TEST, index) for index in range(count)]
    return score(policy, play_script(env, policy, tasks))


def test_a_score_is_read_back_as_it_was_written() -> None:
    oracle = _played("oracle")
    assert Score.from_dict(json.loads(json.dumps(oracle.to_dict()))) == oracle
    assert sum(oracle.solved.values()) == oracle.total.successes == 12


def test_a_gain_is_told_task_by_task() -> None:
    """With four of twelve: independent rates would leave open whether anything was gained."""
    after = _played("oracle")
    missed = [*after.solved][:4]
    before = replace(after, solved={**after.solved, **dict.fromkeys(missed, False)})
    found = gain(after, before)
    assert found.estimate == pytest.approx(4 / 12)
    assert 0 < found.low < found.estimate < found.high
    assert gain(before, after).estimate == pytest.approx(-4 / 12)


def test_scores_of_different_tasks_are_not_compared() -> None:
    with pytest.raises(ConfigurationError, match="same tasks"):
        gain(_played("oracle"), _played("oracle", 3))


def test_reward_is_compared_with_imitation_and_with_more_of_it() -> None:
    solved = _played("oracle")

    def worse(name: str, count: int) -> Score:
        missed = dict.fromkeys([*solved.solved][:count], False)
        total = replace(solved.total, successes=12 - count)
        return replace(solved, name=name, solved={**solved.solved, **missed}, total=total)

    runs = [worse("base", 12), worse("SFT", 6), worse("SFT+SFT", 3), worse("SFT+GRPO", 0)]
    rows = differences(runs, ())
    assert [row[0] for row in rows[1:]] == [
        f"SFT+GRPO - {name}" for name in ("SFT+SFT", "SFT", "base")
    ]
    assert rows[1][1].startswith("+25.0 [")
    assert rows[2][1].startswith("+50.0 [")
    assert "+25.0 [" in headline(runs)
    assert "+50.0 [" in headline(runs)
    assert "more imitation" not in headline([runs[1], runs[3]])
    shown = table(runs, (), {"harder": [runs[1], runs[3]]})
    assert shown[-1][0] == "transfer: harder"
    assert shown[-1][2:5] == ["-", runs[1].total.text(), "-"]
    lines = aligned(shown).splitlines()
    assert lines[-3].startswith("---")
    assert lines[-2].startswith("all")
