"""Audits as they are played: solved, flooded, and without the published short cuts."""

from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from healthgym.core.episode import Episode
from healthgym.core.family import EpisodeConfig
from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall, call
from healthgym.core.verdict import Profile
from healthgym.envs.ehr_data_quality.env import EhrDataQualityEnv
from healthgym.envs.ehr_data_quality.family import DataQualityFamily
from healthgym.envs.ehr_data_quality.frames import opaque_ids
from healthgym.envs.ehr_data_quality.generator import (
    DIFFICULTIES,
    AuditGenerator,
    SyntheticSource,
)
from healthgym.envs.ehr_data_quality.ledger import PUBLISHED_LEAKS, Leak
from healthgym.envs.ehr_data_quality.oracle import audit_by_rules
from healthgym.envs.ehr_data_quality.sources import open_source
from healthgym.envs.ehr_data_quality.task import KINDS, AuditReference, SubType
from healthgym.errors import ConfigurationError, MissingDataError
from healthgym.rewards import SparseReward

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")

EASY = DIFFICULTIES["easy"]


def family(kind: str, leaks: Leak = Leak.NONE) -> DataQualityFamily:
    config = replace(EASY, recipe=replace(EASY.recipe, demographic=4))
    return DataQualityFamily(AuditGenerator(config, {kind: 1.0}, SyntheticSource(), leaks=leaks))


def start(kind: str, index: int = 0, leaks: Leak = Leak.NONE) -> Episode[Any]:
    made = family(kind, leaks)
    instance = made.generator.generate(Split.TRAIN, index)
    return Episode(made, instance, SparseReward(), EpisodeConfig(max_turns=60))


def play(episode: Episode[Any], name: str) -> tuple[bool, bool]:
    """Play a baseline and return whether it passes (paper, strict)."""
    if name == "rules":
        script = audit_by_rules("careful")
    else:
        baseline = episode._family.baselines()[name]
        script = baseline(episode._instance, np.random.default_rng(0))
    for action in script:
        if episode.done():
            break
        episode.step(action)
    return tuple(episode.verdict(profile=p).success for p in (Profile.PAPER, Profile.STRICT))


def clusters(episode: Episode[Any]) -> Any:
    reference = episode._instance.reference
    assert isinstance(reference, AuditReference)
    return reference.clusters


@pytest.mark.parametrize("kind", KINDS)
def test_oracle_and_rules_solve_what_is_planted(kind: str) -> None:
    for index in range(3):
        assert play(start(kind, index), "oracle") == (True, True)
        assert play(start(kind, index), "rules") == (True, True)


def test_flooding_pays_only_under_paper() -> None:  # H1
    outcomes = [play(start("inconsistency", index), "flood") for index in range(6)]
    assert any(paper for paper, _ in outcomes)
    assert not any(strict for _, strict in outcomes)


def test_ids_are_distinct_and_unlike_between_tasks() -> None:
    ids = opaque_ids(50_000, 7)
    assert len(np.unique(ids)) == len(ids)
    assert not np.intersect1d(ids, opaque_ids(50_000, 8)).size


def test_duplicates_have_tubes_of_their_own() -> None:  # H5
    query = (
        "SELECT a._row_id FROM labevents a JOIN labevents b USING (subject_id, itemid, "
        "specimen_id) WHERE a._row_id <> b._row_id"
    )
    assert start("inconsistency", 0, Leak.COPIED_COLUMNS).world.sql.query(query).rows()
    assert not start("inconsistency", 0).world.sql.query(query).rows()


def test_changed_cells_are_written_like_their_column() -> None:  # H6
    query = (
        "SELECT itemid FROM labevents WHERE valuenum IS NOT NULL GROUP BY itemid "
        "HAVING count(DISTINCT length(split_part(value, '.', 2))) > 1"
    )
    dose = "SELECT 1 FROM prescriptions WHERE dose_val_rx LIKE '%.0'"
    leaky, closed = (start("combined", 0, leak).world for leak in (PUBLISHED_LEAKS, Leak.NONE))
    assert leaky.sql.query(query).rows()
    assert leaky.sql.query(dose).rows()
    assert not closed.sql.query(query).rows()
    assert not closed.sql.query(dose).rows()


def test_added_rows_stand_among_those_of_their_moment() -> None:
    world = start("inconsistency", 1).world
    for table in ("labevents", "chartevents"):
        query = (
            f"SELECT count(*) FROM (SELECT subject_id, charttime, lag(subject_id) OVER () AS s, "
            f"lag(charttime) OVER () AS c FROM {table}) WHERE subject_id = s AND charttime < c"
        )
        assert world.sql.query(query).rows() == [(0,)]


@cache
def solved() -> Episode[Any]:
    """A combined audit with the oracle's flags, not yet handed in."""
    episode = start("combined")
    script = episode._family.oracle(episode._instance, np.random.default_rng(0))
    for action in script[:-1]:
        episode.step(action)
    return episode


def failed(episode: Episode[Any]) -> set[str]:
    verdict = episode.verdict(profile=Profile.STRICT)
    assert verdict.success is all(result.passed for result in verdict.checks)
    return {result.check.name for result in verdict.checks if not result.passed}


def test_breaking_one_thing_fails_the_check_of_that_name() -> None:
    assert failed(solved()) == {"submitted"}
    whole = solved().clone()
    whole.step(call("submit"))
    assert failed(whole) == set()

    for cluster in clusters(solved()):
        broken = solved().clone()
        for table, row in cluster.anchors:
            broken.step(call("unflag_rows", table=table, row_ids=[row]))
        broken.step(call("submit"))
        assert failed(broken) == {"all_errors_found"}

    flooded = solved().clone()
    flooded.step(
        call("flag_query", table="labevents", query="SELECT _row_id FROM labevents", reason="x")
    )
    flooded.step(call("submit"))
    assert failed(flooded) == {"few_false_flags"}


def test_progress_is_the_share_found_and_falls_with_false_flags() -> None:
    def handed_in(*actions: ToolCall) -> float:
        episode = start("inconsistency")
        for action in actions:
            assert not episode.step(action).errors
            # Before that, nothing tells a true flag from a false one.
            assert episode.verdict().progress == 0.0
        episode.step(call("submit"))
        return episode.verdict().progress

    planted = clusters(start("inconsistency"))
    table, row = sorted(planted[0].anchors)[0]
    one = call("flag_rows", table=table, row_ids=[row], reason="x")
    query = "SELECT _row_id FROM patients"
    many = call("flag_query", table="patients", query=query, reason="x")
    assert handed_in() == 0.0
    assert handed_in(one) == pytest.approx(1 / len(planted))
    assert 0 < handed_in(one, many) < handed_in(one)


def test_flags_are_checked_reviewed_and_taken_back() -> None:
    episode = start("impossible_value")
    before = episode.world.digest()
    for action in (
        call("flag_rows", table="labevents", row_ids=["nope"], reason="x"),
        call("flag_rows", table="nope", row_ids=["x"], reason="x"),
        call("flag_rows", table="labevents", row_ids=[], reason="x"),
        call("flag_query", table="labevents", query="SELECT 1 AS a", reason="x"),
        call("flag_query", table="labevents", query="SELECT _row_id FROM patients", reason="x"),
        call("unflag_rows", table="labevents", row_ids=[]),
    ):
        assert episode.step(action).errors
    assert episode.world.digest() == before
    query = "SELECT _row_id FROM patients LIMIT 1"
    flag = call("flag_query", table="patients", query=query, reason="odd")
    assert not episode.step(flag).errors
    assert episode.step(flag).errors  # flagged already
    assert "odd" in episode.step(call("review_flags")).observation
    episode.step(call("unflag_rows", table="patients", row_ids=[]))
    assert episode.verdict().metrics["flags"] == 0


def test_the_instruction_tells_as_much_as_its_level() -> None:
    texts = {}
    for level in ("clues", "base", "hard"):
        env = EhrDataQualityEnv(kinds=["demographic_conflict"], level=level)
        texts[level], _ = env.reset(options={"index": 0})
    assert len(texts["clues"]) > len(texts["base"]) > len(texts["hard"])
    assert "prescriptions" in texts["clues"]
    assert "sex" not in texts["hard"]


def test_a_combined_audit_holds_what_the_single_ones_hold() -> None:
    single = Counter((str(c.subtype)) for kind in list(KINDS)[:3] for c in clusters(start(kind, 2)))
    combined = Counter(str(c.subtype) for c in clusters(start("combined", 2)))
    assert sum((single - combined).values()) <= 2
    assert not combined - single - Counter(dict.fromkeys(combined, 2))


def test_environments_share_the_tables_of_a_task() -> None:
    one, other = (EhrDataQualityEnv() for _ in range(2))
    one.reset(options={"index": 5})
    other.reset(options={"index": 5})
    tables = [env.episode.world.tables["chartevents"] for env in (one, other)]
    assert tables[0] is tables[1]


def test_wrong_arguments_are_refused() -> None:
    for arguments in ({"kinds": ["nope"]}, {"difficulty": "nope"}, {"level": "nope"},
                      {"source": "/nowhere"}, {"max_turns": 0}):  # fmt: skip
        with pytest.raises(ConfigurationError):
            EhrDataQualityEnv(**arguments)


@pytest.mark.slow
def test_the_canonical_set_has_the_published_size_and_composition() -> None:
    env = EhrDataQualityEnv(canonical=True, split="test")
    assert env.family.generator.size(Split.TEST) == 8
    kinds = []
    for index in range(0, 8, 2):
        _, info = env.reset(options={"index": index})
        kinds.append(info["kind"])
        episode = env.episode
        assert episode.task.rows > 800_000
        found = Counter(c.subtype for c in clusters(episode))
        if info["kind"] == "impossible_value":
            assert found[SubType.DECIMAL_RX] == 12
            assert found[SubType.RANGE] == 7
            assert found[SubType.UNIT] == 2
        if info["kind"] == "inconsistency":
            assert (found[SubType.IN_TABLE], found[SubType.CROSS_TABLE]) == (24, 8)
    assert kinds == list(KINDS)


@pytest.mark.slow
def test_the_real_demo_can_be_audited(data_dir: Path) -> None:
    folder = data_dir / "mimic-iv-demo-2.2"
    if not folder.is_dir():
        pytest.skip(f"no MIMIC-IV demo at {folder}")
    env = EhrDataQualityEnv(source=folder)
    for index in range(3):
        env.reset(options={"index": index})
        assert play(env.episode, "oracle") == (True, True)


def test_an_incomplete_folder_is_refused_with_the_files_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match=r"labevents\.csv\.gz"):
        open_source(tmp_path, whole=False)
