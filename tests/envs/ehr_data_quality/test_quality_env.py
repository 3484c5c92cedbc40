"""Audits as they are played: solved, flooded, and without the published short cuts."""

from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from healthgym.core.episode import AnyEpisode
from healthgym.core.journal import InjectedFault
from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall, ToolKind, call
from healthgym.core.verdict import Profile
from healthgym.envs.ehr_data_quality.env import EhrDataQualityEnv
from healthgym.envs.ehr_data_quality.family import DataQualityFamily
from healthgym.envs.ehr_data_quality.frames import opaque_ids
from healthgym.envs.ehr_data_quality.ledger import PUBLISHED_LEAKS, Leak
from healthgym.envs.ehr_data_quality.oracle import audit_by_rules
from healthgym.envs.ehr_data_quality.sources import open_source
from healthgym.envs.ehr_data_quality.task import KINDS, SubType
from healthgym.envs.ehr_data_quality.toolset import AuditTools
from healthgym.errors import ConfigurationError, MissingDataError
from tests.envs.ehr_data_quality.audits import (
    AuditEpisode,
    clusters,
    oracle,
    start,
)

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")


def play(episode: AnyEpisode, script: list[ToolCall]) -> tuple[bool, bool]:
    """Play a script and return whether it passes (paper, strict)."""
    for action in script:
        if episode.done():
            break
        episode.step(action)
    return tuple(episode.verdict(profile=p).success for p in (Profile.PAPER, Profile.STRICT))


@pytest.mark.parametrize("kind", KINDS)
def test_oracle_solves_what_is_planted(kind: str) -> None:
    for index in range(3):
        assert play(start(kind, index), oracle(kind, index)) == (True, True)


def test_flooding_pays_only_under_paper() -> None:  # H1
    flood = audit_by_rules("flood")
    outcomes = [play(start("inconsistency", index), flood) for index in range(6)]
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
def solved() -> AuditEpisode:
    """A combined audit with the oracle's flags, not yet handed in."""
    episode = start("combined")
    for action in oracle("combined")[:-1]:
        episode.step(action)
    return episode


def failed(episode: AuditEpisode) -> set[str]:
    verdict = episode.verdict(profile=Profile.STRICT)
    assert verdict.success is all(result.passed for result in verdict.checks)
    return {result.check.name for result in verdict.checks if not result.passed}


def test_breaking_one_thing_fails_the_check_of_that_name() -> None:
    whole = solved().clone()
    whole.step(call("submit"))
    assert failed(whole) == set()

    for cluster in clusters("combined"):
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


def test_reasons_are_for_the_record_and_the_tools_say_so() -> None:
    script = [
        ToolCall(action.name, {**action.arguments, "reason": "correct, no error"})
        if action.name == "flag_rows"
        else action
        for action in oracle("combined", 0)
    ]
    assert play(start("combined", 0), script) == (True, True)
    for verb in (AuditTools.flag_rows, AuditTools.flag_query):
        assert "for the record, and not graded" in (verb.__doc__ or "")


def test_flags_that_are_not_handed_in_are_not_judged() -> None:
    stopped = solved().clone()
    stopped.stop()
    assert failed(stopped) == {"submitted", "all_errors_found"}
    for profile in Profile:
        verdict = stopped.verdict(profile=profile)
        assert (verdict.progress, verdict.metrics) == (0.0, {})


def test_progress_is_the_share_found_and_falls_with_false_flags() -> None:
    def handed_in(*actions: ToolCall) -> float:
        episode = start("inconsistency")
        for action in actions:
            assert not episode.step(action).errors
        episode.step(call("submit"))
        return episode.verdict().progress

    planted = clusters("inconsistency")
    table, row = sorted(planted[0].anchors)[0]
    one = call("flag_rows", table=table, row_ids=[row], reason="x")
    query = "SELECT _row_id FROM patients"
    many = call("flag_query", table="patients", query=query, reason="x")
    chance = EhrDataQualityEnv().family.chance["inconsistency"]
    assert handed_in(one) == pytest.approx((1 / len(planted) - chance) / (1 - chance))
    assert handed_in() < handed_in(one, many) < handed_in(one)


def test_nothing_tells_a_true_flag_from_a_false_one() -> None:
    env = EhrDataQualityEnv(reward="shaped", kinds=["inconsistency"])
    env.reset(options={"index": 0})
    instance = env.family.generator.generate(Split.TRAIN, 0)
    rewards = [
        env.step(action)[1] for action in env.family.oracle(instance, np.random.default_rng())
    ]
    assert rewards[:-1] == [0.0] * (len(rewards) - 1)
    assert rewards[-1] == pytest.approx(1.0)


PATIENTS = "SELECT _row_id FROM patients"
FLAG_ALL = call("flag_query", table="patients", query=PATIENTS, reason="odd")


def flag_first(episode: AuditEpisode) -> ToolCall:
    row = episode.world.tables["patients"].data["_row_id"][0].as_py()
    return call("flag_rows", table="patients", row_ids=[row], reason="odd")


#: For each tool that writes, a call of it that has something to write once all are flagged.
WRITES: dict[str, Callable[[AuditEpisode], ToolCall]] = {
    "save_table": lambda episode: call("save_table", name="mine", query="SELECT 1 AS n"),
    "flag_rows": lambda episode: flag_first(episode),
    "flag_query": lambda episode: call("flag_query", **{**FLAG_ALL.arguments, "reason": "new"}),
    "unflag_rows": lambda episode: call("unflag_rows", table="patients", row_ids=[]),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_call_that_fails_after_a_write_leaves_nothing_behind(name: str) -> None:
    episode = start("impossible_value")
    episode.step(call("flag_query", **{**FLAG_ALL.arguments, "reason": "first"}))
    action = WRITES[name](episode)
    before, content, turns = episode.world.digest(), episode.world.content_digest(), episode.turns
    episode.world.journal.fail_at(2)  # the first is the write, the second the clock
    with pytest.raises(InjectedFault):
        episode.step(action)
    assert (episode.world.digest(), episode.turns) == (before, turns)
    episode.world.journal.fail_at(None)
    assert not episode.step(action).errors
    assert episode.world.content_digest() != content


def test_every_tool_that_writes_is_among_them() -> None:
    specs = start("impossible_value").seat().catalog.specs
    assert {spec.method for spec in specs if spec.kind is ToolKind.WRITE} == set(WRITES)


def test_reading_leaves_the_contents_as_they_are() -> None:
    episode = start("impossible_value")
    episode.step(FLAG_ALL)
    before = episode.world.content_digest()
    for action in (
        call("list_files"),
        call("read_file", path="README.md"),
        call("search_files", words="the"),
        call("list_tables"),
        call("describe_table", table="patients"),
        call("profile_column", table="labevents", column="valuenum", by="itemid"),
        call("sample_rows", table="labevents"),
        call("sql", query=PATIENTS),
        call("review_flags"),
    ):
        assert not episode.step(action).errors
        assert episode.world.content_digest() == before


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
    episode.step(call("submit"))
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
    single = Counter((str(c.subtype)) for kind in list(KINDS)[:3] for c in clusters(kind, 2))
    combined = Counter(str(c.subtype) for c in clusters("combined", 2))
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
                      {"source": "/nowhere"}, {"max_turns": 0}, {"kinds": []},
                      {"difficulty": {"nope": 1.0}}):  # fmt: skip
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
        instance = env.family.generator.generate(Split.TEST, index)
        found = Counter(c.subtype for c in instance.reference.clusters)
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
        instance = env.family.generator.generate(Split.TRAIN, index)
        script = list(env.family.oracle(instance, np.random.default_rng(0)))
        assert play(env.episode, script) == (True, True)


def test_an_incomplete_folder_is_refused_with_the_files_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match=r"labevents\.csv\.gz"):
        open_source(tmp_path, whole=False)


def test_levels_can_be_mixed_and_keep_their_tasks() -> None:
    mixed = DataQualityFamily({"easy": 1.0, "medium": 1.0}, python="none").generator
    single = {n: DataQualityFamily(n, python="none").generator for n in ("easy", "medium")}
    drawn = [mixed.generate(Split.TRAIN, index) for index in range(6)]
    names = [str(instance.task.metadata["difficulty"]) for instance in drawn]
    assert set(names) == set(single)
    for index, (name, instance) in enumerate(zip(names, drawn, strict=True)):
        assert instance.task == single[name].generate(Split.TRAIN, index).task


def test_a_negative_index_is_refused() -> None:
    generator = EhrDataQualityEnv().family.generator
    for ask in (generator.generate, generator.kind):  # type: ignore[attr-defined]
        with pytest.raises(ConfigurationError, match="no number -1"):
            ask(Split.TRAIN, -1)
