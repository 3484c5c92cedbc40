"""Every exploit that was ever found scores 0, and a record of one can fail."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from healthgym.core.seeding import Split
from healthgym.errors import ConformanceError, TrajectoryError
from healthgym.policies.scripted import ScriptPolicy
from healthgym.registration import make_health_env
from healthgym.testing import Canary, freeze, read_canaries, replay_canary
from healthgym.testing.play import play
from tests.canaries.record import EXPLOITS, PATH

#: Exploits whose episodes take seconds.
LONG = ("event_", "conversion_", "quality_", "attack_ehr_")

#: What a trained policy found (`benchmarks/gap_by_attack.py --freeze`), which no script plays.
FOUND = PATH.with_name("attacks.jsonl")

CANARIES = [*read_canaries(PATH), *read_canaries(FOUND)]


def marks(canary: Canary) -> list[pytest.MarkDecorator]:
    return [pytest.mark.slow] if canary.name.startswith(LONG) else []


@pytest.mark.parametrize(
    "canary", [pytest.param(one, id=one.name, marks=marks(one)) for one in CANARIES]
)
def test_a_canary_earns_nothing(canary: Canary) -> None:
    for library in ("PIL", "duckdb", "polars", "bm25s", "scipy"):
        pytest.importorskip(library)
    replay_canary(canary)


def test_every_exploit_is_frozen() -> None:
    assert {one.name for one in CANARIES} >= {exploit.name for exploit in EXPLOITS}


@pytest.fixture
def solved(tmp_path: Path) -> Path:
    """The oracle's episode, frozen as if it were an exploit."""
    env = make_health_env("HealthAgent/MedicationReconciliation-v1")
    play(env, ScriptPolicy("oracle"), Split.TEST, 0)
    path = tmp_path / "found" / "exploits.jsonl"
    freeze(env.trajectory(), path, "oracle", "it knows the answer")
    return path


def test_what_is_paid_for_is_told(solved: Path) -> None:
    (canary,) = read_canaries(solved)
    with pytest.raises(ConformanceError, match="is paid for: it knows the answer"):
        replay_canary(canary)
    # It is found again where the version of the environment has risen.
    with pytest.raises(ConformanceError, match="is paid for"):
        replay_canary(replace(canary, env_id="HealthAgent/MedicationReconciliation-v7"))


def test_a_canary_of_another_task_is_stale(solved: Path) -> None:
    (canary,) = read_canaries(solved)
    with pytest.raises(TrajectoryError, match="freeze it anew"):
        replay_canary(replace(canary, task_id=canary.task_id.replace("/0", "/1")))


def test_a_canary_of_the_same_name_is_replaced(solved: Path) -> None:
    env = make_health_env("HealthAgent/MedicationReconciliation-v1")
    play(env, ScriptPolicy("prior"), Split.TEST, 0)
    freeze(env.trajectory(), solved, "oracle", "it guesses")
    (canary,) = read_canaries(solved)
    assert not replay_canary(canary).verdict.success


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(TrajectoryError, match="no file"):
        list(read_canaries(tmp_path / "none.jsonl"))
    path = tmp_path / "some.jsonl"
    path.write_text('{"name": 3}\n')
    with pytest.raises(TrajectoryError, match="line 1: no canary"):
        list(read_canaries(path))
