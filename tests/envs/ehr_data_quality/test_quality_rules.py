"""Careful rules find what is planted and nothing else: no accidental errors, nothing hidden."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from healthgym.core.family import EpisodeConfig
from healthgym.core.seeding import Split
from healthgym.core.verdict import Profile
from healthgym.envs.ehr_data_quality.auditor import Excused
from healthgym.envs.ehr_data_quality.documents import PRACTICE
from healthgym.envs.ehr_data_quality.env import EhrDataQualityEnv
from healthgym.envs.ehr_data_quality.family import DataQualityFamily
from healthgym.envs.ehr_data_quality.oracle import rules
from healthgym.envs.ehr_data_quality.task import KINDS, SubType
from tests.sized import some

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")

#: Where no other test looks.
FRESH = 70_000


def flagged(world: Any, text: str) -> dict[tuple[str, str], str]:
    found = {}
    excused = Excused.read(text)
    for table, reason, query in rules("careful"):
        result = world.sql.query(excused.fill(query))
        assert not result.more
        column = result.columns.index("_row_id")
        found.update({(table, str(row[column])): reason for row in result.rows()})
    return found


def compare(family: DataQualityFamily, split: Split, index: int) -> tuple[list[Any], list[Any]]:
    """Return the errors the rules miss, and the flags that have no part in one."""
    instance = family.generator.generate(split, index)
    found = flagged(family.open(instance), instance.start.files[PRACTICE])
    clusters = instance.reference.clusters
    parts = frozenset().union(*(c.members | c.witnesses for c in clusters))
    missed = [c for c in clusters if not c.anchors & found.keys()]
    return missed, [(row, reason) for row, reason in found.items() if row not in parts]


def family(difficulty: str, kind: str) -> DataQualityFamily:
    return DataQualityFamily(difficulty, kinds=[kind], python="none")


@pytest.mark.parametrize("kind", KINDS)
def test_rules_find_exactly_what_is_planted(kind: str) -> None:
    for split in Split:
        for index in range(FRESH, FRESH + some(3, 1)):
            assert compare(family("easy", kind), split, index) == ([], [])


@pytest.mark.slow
@pytest.mark.parametrize("difficulty", ["easy", "medium"])
def test_rules_find_exactly_what_is_planted_in_many(difficulty: str) -> None:
    for split in Split:
        for index in range(FRESH + 10, FRESH + 40):
            missed, extra = compare(family(difficulty, "combined"), split, index)
            assert extra == []
            # A hundredfold dose can hide among other doses of a drug that vary as much.
            assert all(cluster.subtype is SubType.DECIMAL_RX for cluster in missed)


def verdicts(env: EhrDataQualityEnv, script: Any) -> tuple[bool, bool]:
    for action in script:
        env.episode.step(action)
    return tuple(env.episode.verdict(profile=p).success for p in (Profile.PAPER, Profile.STRICT))


@pytest.mark.slow
def test_the_canonical_eight_are_solved_and_hold_nothing_else() -> None:
    env = EhrDataQualityEnv(canonical=True, split="test", python="none")
    assert isinstance(env.family, DataQualityFamily)
    assert isinstance(env.config, EpisodeConfig)
    for index in range(8):
        env.reset(options={"index": index})
        assert env.episode.task.rows > 800_000
        missed, extra = compare(env.family, Split.TEST, index)
        assert (missed, extra) == ([], [])
        instance = env.family.generator.generate(Split.TEST, index)
        script = env.family.oracle(instance, np.random.default_rng(0))
        assert verdicts(env, script) == (True, True)


@pytest.mark.slow
def test_the_real_demo_at_full_size(data_dir: Path) -> None:
    folder = data_dir / "mimic-iv-demo-2.2"
    if not folder.is_dir():
        pytest.skip(f"no MIMIC-IV demo at {folder}")
    env = EhrDataQualityEnv(source=folder, canonical=True, split="test", python="none")
    subtypes: set[SubType] = set()
    for index in range(8):
        env.reset(options={"index": index})
        assert env.episode.task.rows > 700_000
        instance = env.family.generator.generate(Split.TEST, index)
        subtypes |= {cluster.subtype for cluster in instance.reference.clusters}
        script = env.family.oracle(instance, np.random.default_rng(0))
        assert verdicts(env, script) == (True, True)
    # Nearly every result of the demo is charted already: a false copy stands beside a true one.
    assert SubType.CROSS_TABLE in subtypes
