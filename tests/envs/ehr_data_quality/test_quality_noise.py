"""What looks wrong and is right: fixed queries do not tell it from what is planted."""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall, call
from healthgym.core.verdict import Profile
from healthgym.envs.ehr_data_quality.family import DataQualityFamily
from healthgym.envs.ehr_data_quality.frames import Frame, Text
from healthgym.envs.ehr_data_quality.observed import observed_practice
from healthgym.envs.ehr_data_quality.oracle import audit, audit_by_rules, rules
from healthgym.envs.ehr_data_quality.practice import draw_practice
from healthgym.envs.ehr_data_quality.task import KINDS, AuditInstance, SubType
from healthgym.envs.ehr_data_quality.verifier import Audit
from healthgym.worlds.workspace import WorkspaceWorld
from tests.envs.ehr_data_quality.audits import AuditEpisode, episode_of

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")

#: Where no other test looks.
FRESH = 90_000
NEAR = "abs(date_diff('second', a.charttime, b.charttime)) <= 300"


@cache
def family(kind: str) -> DataQualityFamily:
    return DataQualityFamily("easy", kinds=[kind], python="none")


def audits(kind: str, count: int) -> Iterator[tuple[AuditInstance, WorkspaceWorld]]:
    for index in range(FRESH, FRESH + count):
        instance = family(kind).generator.generate(Split.TEST, index)
        yield instance, family(kind).open(instance)


def strict(episode: AuditEpisode) -> bool:
    return episode.verdict(profile=Profile.STRICT).success


def read(episode: AuditEpisode) -> None:
    reader = audit(episode.task.instruction)
    observation = episode.step(next(reader)).observation
    while not episode.done():
        observation = episode.step(reader.send(observation)).observation


def ask(table: str, query: str) -> ToolCall:
    return call("flag_query", table=table, query=query, reason="odd")


#: Queries that flag one row of each contradiction only, those with a wide gap, or the rare numbers.
SHARPER = {
    "one_row_of_a_pair": [
        ask(
            table,
            f"SELECT a._row_id FROM {table} a JOIN {table} b USING (subject_id, itemid) "
            f"WHERE {NEAR} AND a.valuenum >= 1.1 * b.valuenum AND b.valuenum > 0",
        )
        for table in ("labevents", "chartevents")
    ],
    "a_wide_gap": [
        ask(
            table,
            f"SELECT a._row_id FROM {table} a JOIN {table} b USING (subject_id, itemid) "
            f"WHERE {NEAR} AND a.valuenum >= 1.25 * b.valuenum AND b.valuenum > 0",
        )
        for table in ("labevents", "chartevents")
    ],
    "a_tube_of_its_own": [
        ask(
            "labevents",
            "SELECT _row_id FROM labevents QUALIFY count(*) OVER (PARTITION BY specimen_id) = 1",
        )
    ],
    "flag_against_its_range": [
        ask(
            "labevents",
            "SELECT _row_id FROM labevents WHERE (flag IS NULL) <> "
            "(valuenum BETWEEN ref_range_lower AND ref_range_upper)",
        )
    ],
}


@pytest.mark.parametrize("kind", KINDS)
def test_fixed_queries_fail_where_a_reader_succeeds(kind: str) -> None:
    for index in range(FRESH, FRESH + 1):
        instance = family(kind).generator.generate(Split.TEST, index)
        for script in (audit_by_rules("careful"), *SHARPER.values()):
            episode = episode_of(family(kind), instance)
            for action in [*script, call("submit")]:
                if not episode.done():
                    episode.step(action)
            assert not strict(episode)
        episode = episode_of(family(kind), instance)
        read(episode)
        assert strict(episode)
        assert episode.verdict().metrics["false_flags"] == 0


def test_a_rule_without_the_documents_flags_more_innocent_than_guilty() -> None:
    counts: dict[str, Counter[bool]] = {}
    for kind in KINDS:
        for instance, world in audits(kind, 1):
            wrong = {row for cluster in instance.reference.clusters for row in cluster.members}
            for action in audit_by_rules("careful")[:-1]:
                table, query = action.arguments["table"], action.arguments["query"]
                found = {(table, str(row[0])) for row in world.sql.query(query).rows()}
                name = f"{table}: {action.arguments['reason']}"
                counts.setdefault(name, Counter()).update(row in wrong for row in found)
    assert len(counts) == len(rules("careful"))
    for name, found in counts.items():
        # There are few old patients with drugs for dementia, and children have them by error only.
        if found[True] and "dementia" not in name:
            assert found[False] > found[True], name


def test_a_flag_against_its_range_is_mostly_innocent() -> None:
    (action,) = SHARPER["flag_against_its_range"]
    innocent = guilty = 0
    for instance, world in audits("impossible_value", 8):
        wrong = {row for cluster in instance.reference.clusters for row in cluster.anchors}
        for row in world.sql.query(action.arguments["query"]).rows():
            guilty += ("labevents", str(row[0])) in wrong
            innocent += ("labevents", str(row[0])) not in wrong
    assert innocent > 4 * guilty > 0


def test_all_is_charted_by_the_minute() -> None:
    for _, world in audits("inconsistency", 4):
        for table in ("labevents", "chartevents"):
            query = f"SELECT count(*) FROM {table} WHERE second(charttime) <> 0"
            assert world.sql.query(query).rows() == [(0,)]


def test_tubes_of_copies_are_no_more_often_alone_than_other_second_tubes() -> None:
    alone: Counter[tuple[bool, bool]] = Counter()
    query = (
        "SELECT _row_id, count(*) OVER (PARTITION BY specimen_id) = 1 FROM labevents "
        "WINDOW w AS (PARTITION BY subject_id, itemid ORDER BY charttime) "
        "QUALIFY lag(charttime) OVER w >= charttime - INTERVAL 5 MINUTE"
    )
    for instance, world in audits("inconsistency", 16):
        wrong = {row for cluster in instance.reference.clusters for row in cluster.anchors}
        for row, single in world.sql.query(query).rows():
            alone.update([(("labevents", str(row)) in wrong, bool(single))])
    share = {planted: alone[planted, True] / (alone[planted, True] + alone[planted, False])
             for planted in (True, False)}  # fmt: skip
    assert alone[True, False] > 0 < alone[False, True]
    assert share[True] < 0.75


@pytest.mark.parametrize("kind", KINDS)
def test_what_looks_wrong_is_in_every_hospital(kind: str) -> None:
    for instance, _ in audits(kind, 2):
        alike = {subtype for subtype, _ in instance.reference.innocent}
        assert alike >= {
            SubType.RANGE,
            SubType.DECIMAL_RX,
            SubType.UNIT_LABEL,
            SubType.IN_TABLE,
            SubType.CROSS_TABLE,
            SubType.GENDER_DRUG,
        }
        asked = {cluster.subtype for cluster in instance.reference.clusters}
        errors = len(instance.reference.clusters)
        assert sum(subtype in asked for subtype, _ in instance.reference.innocent) >= 2 * errors


def test_a_guess_among_what_looks_wrong_rarely_passes() -> None:
    passed = tried = 0
    for kind in ("inconsistency", "demographic_conflict"):
        for instance, _ in audits(kind, 8):
            clusters = instance.reference.clusters
            pairs = [sorted(cluster.anchors)[0] for cluster in clusters]
            asked = {cluster.subtype for cluster in clusters}
            alike = sorted(row for subtype, row in instance.reference.innocent if subtype in asked)
            # Two rows of an innocent pair are one thing that looks wrong.
            alike = alike[::2] if kind == "inconsistency" else alike
            rng = np.random.default_rng(len(alike))
            for share in (0.3, 0.4, 0.5):
                for _ in range(20):
                    rows = [row for row in (*pairs, *alike) if rng.random() < share]
                    made = Audit.of(frozenset(rows), clusters)
                    passed += len(made.found) == len(clusters) and made.claims_hold
                    tried += 1
    assert 0 < passed < 0.05 * tried


def test_each_number_of_a_band_is_as_likely_a_code() -> None:
    drawn = [draw_practice(np.random.default_rng(seed)) for seed in range(400)]
    shares = [np.mean([one.is_code(50983, value) for one in drawn]) for value in (405, 700, 990)]
    assert max(shares) - min(shares) < 0.12


def test_oddities_of_real_tables_are_written_down() -> None:
    day = np.datetime64("2150-01-01T08:00", "s")
    labs = Frame(
        {
            "subject_id": np.array([1, 1, 1, 2, 2, 2]),
            "itemid": np.array([51222, 51222, 50983, 50983, 50983, 50931]),
            "charttime": day + np.array([0, 120, 0, 0, 400, 0]).astype("timedelta64[s]"),
            "valuenum": np.array([10.0, 11.5, 140.0, 140.0, 180.0, 950.0]),
            "valueuom": Text.of(["g/dL", "%", "mEq/L", "mEq/L", "mEq/L", "mg/dL"]),
            "ref_range_upper": np.array([17.5, 15.5, 145.0, 145.0, 145.0, 100.0]),
        }
    )
    charts = Frame(
        {
            "subject_id": np.array([1, 2]),
            "itemid": np.array([220645, 220645]),
            "charttime": np.array([day, day]),
            "valuenum": np.array([140.0, 200.0]),
            "valueuom": Text.constant("mEq/L", 2),
        }
    )
    orders = Frame(
        {
            "subject_id": np.array([1, 2, 1, 2]),
            "drug": Text.of(["A", "A", "B", "Tamoxifen Citrate"]),
            "dose_val_rx": Text.of(["1", "20", "1-2", "5"]),
        }
    )
    people = Frame({"subject_id": np.array([1, 2]), "gender": Text.of(["F", "M"])})
    tables = {"labevents": labs, "chartevents": charts, "prescriptions": orders, "patients": people}
    found = observed_practice(tables)
    assert found.codes == {50931: ((950.0, 950.0),)}
    assert found.limits == {51222: 15, 50983: 43}
    assert found.labels == {51222: frozenset({"g/dL", "%"})}
    assert found.stocked == {"A"}
    assert found.register == {SubType.GENDER_RANGE: {1}, SubType.GENDER_DRUG: {2}}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_reader_solves_real_tables(kind: str, data_dir: Path) -> None:
    folder = data_dir / "mimic-iv-demo-2.2"
    if not folder.is_dir():
        pytest.skip(f"no MIMIC-IV demo at {folder}")
    real = DataQualityFamily("easy", kinds=[kind], python="none", source=folder)
    for index in range(2):
        episode = episode_of(real, real.generator.generate(Split.TRAIN, index))
        read(episode)
        assert strict(episode)


@pytest.mark.parametrize("kind", ["combined"])
def test_what_was_changed_does_not_stand_last_in_a_column(kind: str) -> None:
    for instance, _ in audits(kind, 3):
        for table in instance.start.tables.values():
            for column in table.data.itercolumns():
                if str(column.type).startswith("dictionary"):
                    values = column.chunk(0).dictionary.to_pylist()
                    assert values == sorted(values)
                    assert set(values) == {cell for cell in column.to_pylist() if cell is not None}


def test_women_of_any_age_take_hormones_and_the_readme_calls_it_normal() -> None:
    query = """
        SELECT count(*) FROM prescriptions JOIN patients USING (subject_id)
        WHERE drug IN ('Levonorgestrel', 'Norethindrone') AND gender = 'F' AND anchor_age > 55
    """
    found = 0
    for _, world in audits("demographic_conflict", 12):
        found += world.sql.query(query).rows()[0][0]
        readme = world.files.read("README.md")
        assert "Contraceptives and other hormones for women of any adult age" in readme
    assert found
