"""Synthetic cohorts written in the published layouts, and read back; then damaged."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from healthgym.core.seeding import Split
from healthgym.envs.ehr_event_modelling.cohort import Cohort, cut_study, synthetic_cohort
from healthgym.envs.ehr_event_modelling.env import EhrEventModellingEnv
from healthgym.envs.ehr_event_modelling.labels import label_rows
from healthgym.envs.ehr_event_modelling.readers import read_source
from healthgym.envs.ehr_event_modelling.sizes import CohortConfig
from healthgym.envs.ehr_event_modelling.tables import timestamps
from healthgym.envs.ehr_event_modelling.task import Target
from healthgym.envs.ehr_event_modelling.timeline import NO_TIME
from healthgym.envs.ehr_event_modelling.vocabulary import vocabulary
from healthgym.errors import DamagedDataError, DataError, MissingDataError

pa = pytest.importorskip("pyarrow")
csv = pytest.importorskip("pyarrow.csv")
parquet = pytest.importorskip("pyarrow.parquet")

PARTS = ("train", "val", "test")
LUPUS = vocabulary().targets[Target.LUPUS].code


@pytest.fixture(scope="module")
def written_cohort(tiny_config: CohortConfig) -> Cohort:
    return synthetic_cohort(tiny_config, "written", Split.TRAIN, 0)


def texts(timeline: Any, name: str) -> Any:
    return pa.array(np.array([getattr(kind, name) for kind in timeline.kinds])[timeline.kind])


@pytest.fixture
def ehrshot(tmp_path: Path, written_cohort: Cohort) -> Path:
    timeline = written_cohort.timeline
    for folder in ("data", "splits", *(f"benchmark/{target}" for target in Target)):
        (tmp_path / folder).mkdir(parents=True)
    value = np.array([f"{v:g}" if np.isfinite(v) else "Negative" for v in timeline.value])
    events = {
        "patient_id": timeline.patient_ids[timeline.patient],
        "start": timestamps(timeline.start),
        "end": timestamps(timeline.end, timeline.end == NO_TIME),
        "code": texts(timeline, "code"),
        "value": pa.array(value),
        "unit": texts(timeline, "unit"),
        "visit_id": timeline.visit,
        "omop_table": texts(timeline, "table"),
    }
    csv.write_csv(pa.table(events), tmp_path / "data" / "ehrshot.csv")
    split = {
        "omop_person_id": timeline.patient_ids,
        "split": [PARTS[p] for p in written_cohort.part],
    }
    csv.write_csv(pa.table(split), tmp_path / "splits" / "person_id_map.csv")
    for target in Target:
        code = vocabulary().targets[target].code
        rows = label_rows(timeline, timeline.kinds_of({code}))
        table = {
            "patient_id": timeline.patient_ids[rows.patient],
            "prediction_time": timestamps(rows.time),
            "value": [str(label) for label in rows.label],
            "label_type": ["boolean"] * len(rows),
        }
        path = tmp_path / "benchmark" / str(target) / "labeled_patients.csv"
        csv.write_csv(pa.table(table), path)
    return tmp_path


@pytest.fixture
def meds(tmp_path: Path, written_cohort: Cohort) -> Path:
    timeline = written_cohort.timeline
    left = timeline.kinds_of({"Visit/IP", "Visit/ERIP"})[timeline.kind]
    lupus = timeline.kinds_of({LUPUS})[timeline.kind]
    code = np.array([kind.code for kind in timeline.kinds])[timeline.kind].astype("U60")
    code[lupus] = np.where(np.arange(lupus.sum()) % 2, "DIAGNOSIS//ICD//10//M3210", "ICD9CM/710.0")
    subject = timeline.patient_ids[timeline.patient]
    table = pa.table(
        {
            "subject_id": np.concatenate([subject, subject[left]]),
            "time": timestamps(np.concatenate([timeline.start, timeline.end[left]])),
            "code": np.concatenate(
                [code, np.full(left.sum(), "HOSPITAL_DISCHARGE//HOME")]
            ).tolist(),
            "numeric_value": np.concatenate([timeline.value, np.full(left.sum(), np.nan)]),
        }
    )
    (tmp_path / "data").mkdir()
    (tmp_path / "metadata").mkdir()
    parquet.write_table(table, tmp_path / "data" / "0.parquet")
    names = ("train", "tuning", "held_out")
    split = {"subject_id": timeline.patient_ids, "split": [names[p] for p in written_cohort.part]}
    parquet.write_table(pa.table(split), tmp_path / "metadata" / "subject_splits.parquet")
    return tmp_path


@pytest.mark.parametrize("layout", ["ehrshot", "meds"])
def test_what_is_written_is_read(
    layout: str, request: pytest.FixtureRequest, written_cohort: Cohort
) -> None:
    folder = request.getfixturevalue(layout)
    env = EhrEventModellingEnv(source=folder, targets=["new_lupus"])
    instance = env.family.generator.generate(Split.TEST, 0)
    study, labels = cut_study(written_cohort, "x", (LUPUS,))
    read = instance.start.study
    assert instance.reference.labels.tolist() == labels.tolist()
    assert read.test.time.tolist() == study.test.time.tolist()
    assert read.train.label.tolist() == study.train.label.tolist()
    assert read.timeline.patient_ids.tolist() == study.timeline.patient_ids.tolist()
    assert np.nansum(read.timeline.value) == pytest.approx(np.nansum(study.timeline.value))
    if layout == "ehrshot":
        assert len(read.timeline) == len(study.timeline)


@pytest.mark.parametrize("layout", ["ehrshot", "meds"])
def test_train_tasks_never_use_test_patients(
    layout: str, request: pytest.FixtureRequest, written_cohort: Cohort
) -> None:
    folder = request.getfixturevalue(layout)
    env = EhrEventModellingEnv(source=folder, targets=["new_lupus"])
    ids = written_cohort.timeline.patient_ids
    seen: dict[Split, set[int]] = {}
    for split in Split:
        starts = [
            env.family.generator.generate(split, i).start.study
            for i in range(1 if split is Split.TEST else 2)
        ]
        seen[split] = set(np.concatenate([start.timeline.patient_ids for start in starts]).tolist())
    assert seen[Split.TRAIN] <= set(ids[written_cohort.part == 0].tolist())
    assert seen[Split.VALIDATION] <= set(ids[written_cohort.part == 1].tolist())
    one, two = (env.family.generator.generate(Split.TRAIN, i).start.study for i in range(2))
    assert one.content_hash() != two.content_hash()


def test_oracle_on_real_data(meds: Path) -> None:
    env = EhrEventModellingEnv(source=meds, targets=["new_lupus"], split="train")
    env.reset(options={"index": 0})
    instance = env.family.generator.generate(Split.TRAIN, 0)
    for action in env.family.oracle(instance, np.random.default_rng(0)):
        *_, info = env.step(action)
    assert [info["verdict"][profile]["success"] for profile in ("paper", "strict")] == [True] * 2


@pytest.mark.parametrize(
    ("file", "content", "error", "message"),
    [
        ("splits/person_id_map.csv", None, MissingDataError, "person_id_map.csv"),
        ("benchmark/new_lupus/labeled_patients.csv", None, MissingDataError, "new_lupus"),
        ("data/ehrshot.csv", None, MissingDataError, r"data/\*.csv"),
        ("data/ehrshot.csv", "patient_id,start\n1,2\n", DamagedDataError, "lacks the columns end"),
        ("data/ehrshot.csv", "a,b\n1,2,3\n", DamagedDataError, "not a readable CSV"),
        (
            "data/ehrshot.csv",
            "patient_id,start,end,code,value,unit,visit_id,omop_table\n1,soon,,X,,,,\n",
            DamagedDataError,
            "no time",
        ),
        (
            "splits/person_id_map.csv",
            "omop_person_id,split\n1,practice\n",
            DamagedDataError,
            "'practice'",
        ),
        (
            "benchmark/new_lupus/labeled_patients.csv",
            "patient_id,prediction_time,value\n1,2015-01-01 23:59:00,maybe\n",
            DamagedDataError,
            "true/false",
        ),
        (
            "benchmark/new_lupus/labeled_patients.csv",
            "patient_id,prediction_time,value\n1,2015-01-01 23:59:00,True\n",
            DamagedDataError,
            "not in splits",
        ),
    ],
)
def test_incomplete_or_damaged_ehrshot(
    ehrshot: Path, file: str, content: str | None, error: type[Exception], message: str
) -> None:
    path = ehrshot / file
    path.unlink()
    if content is not None:
        path.write_text(content)
    with pytest.raises(error, match=message):
        read_source(ehrshot)


def rewritten(path: Path, name: str, column: Any) -> None:
    table = parquet.read_table(path)
    place = table.column_names.index(name)
    parquet.write_table(table.set_column(place, name, column), path)


def test_shards_may_differ_in_types_and_columns(meds: Path) -> None:
    expected = read_source(meds).cohort.timeline
    path = meds / "data" / "0.parquet"
    table = parquet.read_table(path)
    half = table.num_rows // 2
    numbered = table.slice(half).append_column("hadm_id", pa.array(["x"] * (len(table) - half)))
    place = table.column_names.index("code")
    coded = numbered.column("code").combine_chunks().dictionary_encode()
    parquet.write_table(numbered.set_column(place, "code", coded), meds / "data" / "1.parquet")
    parquet.write_table(table.slice(0, half), path)
    (meds / "data" / "2.parquet").write_bytes(b"")
    with pytest.raises(DamagedDataError, match=r"2\.parquet"):
        read_source(meds)
    (meds / "data" / "2.parquet").unlink()
    assert read_source(meds).cohort.timeline.content_hash() == expected.content_hash()


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("numeric_value", "high", r"0\.parquet, numeric_value is string"),
        ("time", "2015-01-01", r"0\.parquet, time is string"),
        ("subject_id", "a", r"0\.parquet holds patients whose id"),
        ("code", None, "without a code"),
    ],
)
def test_meds_columns_that_are_not_what_they_should_be(
    meds: Path, name: str, values: Any, message: str
) -> None:
    path = meds / "data" / "0.parquet"
    column = pa.array([values] * parquet.read_table(path).num_rows, pa.string())
    rewritten(path, name, column)
    with pytest.raises(DamagedDataError, match=message):
        read_source(meds)


def test_meds_without_a_row(meds: Path) -> None:
    path = meds / "data" / "0.parquet"
    parquet.write_table(parquet.read_table(path).slice(0, 0), path)
    with pytest.raises(MissingDataError, match="no events"):
        read_source(meds)


def test_ehrshot_times_with_fractions_in_the_folder_it_is_unpacked_to(ehrshot: Path) -> None:
    expected = read_source(ehrshot).cohort.timeline.content_hash()
    path = ehrshot / "data" / "ehrshot.csv"
    exact = {"start": pa.timestamp("us"), "end": pa.timestamp("us")}
    table = csv.read_csv(path, convert_options=csv.ConvertOptions(column_types=exact))
    csv.write_csv(table, path)
    assert ".000000" in path.read_text()[:500]
    outer = ehrshot.parent / "outer"
    outer.mkdir()
    ehrshot.rename(outer / "EHRSHOT_ASSETS")
    assert read_source(outer).cohort.timeline.content_hash() == expected


def test_missing_folder_names_both_data_sets(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match=r"(?s)no folder.*EHRSHOT.*MEDS"):
        EhrEventModellingEnv(source=tmp_path / "none")


def test_damaged_meds(meds: Path) -> None:
    (meds / "data" / "1.parquet").write_bytes(b"no parquet")
    with pytest.raises(DamagedDataError, match=r"1\.parquet"):
        read_source(meds)


def test_folder_without_events(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match="no events"):
        read_source(tmp_path)


def test_demo_of_ten_patients_is_read_and_too_small() -> None:
    root = Path(os.environ.get("HEALTHGYM_DATA", "../shared/data")) / "mimic-iv-demo-meds-sample"
    if not root.is_dir():
        pytest.skip("needs mimic-iv-demo-meds-sample in HEALTHGYM_DATA")
    source = read_source(root)
    assert len(source.cohort.part) == 10
    assert len(source.cohort.timeline) == 42_554
    assert "DIAGNOSIS//ICD//10//I10" in source.outcomes[Target.HYPERTENSION]
    with pytest.raises(DataError, match="10 patients is too small"):
        EhrEventModellingEnv(source=root)
