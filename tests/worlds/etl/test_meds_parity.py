"""The pipeline equals the published MEDS tools, event for event.

Slow: the published tools take half a minute for a cohort. See meds_tools.py for how to install
them; without them, or without the data, these tests are skipped.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

pl = pytest.importorskip("polars")
pytest.importorskip("yaml")
pq = pytest.importorskip("pyarrow.parquet")

from healthgym.core.seeding import Split, task_rng  # noqa: E402
from healthgym.envs.ehr_format_conversion.clauses import (  # noqa: E402
    ClauseKind,
    requested_config,
)
from healthgym.envs.ehr_format_conversion.defaults import default_config  # noqa: E402
from healthgym.envs.ehr_format_conversion.grammar import (  # noqa: E402
    RequestGrammar,
    published_request,
)
from healthgym.worlds.etl.config import parse_config  # noqa: E402
from healthgym.worlds.etl.hashes import full_row_hash  # noqa: E402
from healthgym.worlds.etl.hospital import draw_hospital  # noqa: E402
from healthgym.worlds.etl.pipeline import Cohort, Pipeline  # noqa: E402
from healthgym.worlds.etl.tables import RawTables, prefix_of  # noqa: E402
from tests.worlds.etl.meds_tools import MedsTools, meds_tools  # noqa: E402

pytestmark = pytest.mark.slow

#: Configurations that no request asks for, one for each corner of the grammar.
_UNUSUAL = sorted((Path(__file__).parent / "unusual").glob("*.yaml"))
_ITEM = "itemid (omop_source_code)"
_CONCEPT = ["omop_concept_name", "omop_vocabulary_id", "omop_concept_code"]


@pytest.fixture(scope="module")
def tools() -> MedsTools:
    return meds_tools()


@pytest.fixture(scope="module")
def demo(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The MIMIC-IV demo as the tools expect it, chart events and concept maps included."""
    source = data_dir / "mimic-iv-demo-2.2"
    charts = data_dir / "mimic-iv-demo-chartevents-rebuilt" / "chartevents_rebuilt.csv.gz"
    if not source.is_dir() or not charts.is_file():
        pytest.skip(f"needs {source} and {charts}")
    raw = tmp_path_factory.mktemp("demo")
    for folder in ("hosp", "icu"):
        (raw / folder).mkdir()
        for path in (source / folder).glob("*.csv.gz"):
            (raw / folder / path.name).symlink_to(path.resolve())
    (raw / "icu" / "chartevents.csv.gz").symlink_to(charts.resolve())
    _write_concept_maps(raw)
    return raw


@pytest.fixture(scope="module")
def prepared_demo(tools: MedsTools, demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    prepared = tmp_path_factory.mktemp("prepared")
    tools.prepare(demo, prepared)
    return prepared


@pytest.fixture(scope="module")
def demo_pipeline(demo: Path) -> Pipeline:
    return Pipeline(_tables(demo))


def test_published_default_on_the_demo(
    tools: MedsTools, prepared_demo: Path, demo_pipeline: Pipeline, tmp_path: Path
) -> None:
    config = tools.default_config.read_text()
    tools.convert(prepared_demo, tools.default_config, tmp_path / "cohort")
    cohort = demo_pipeline.run(config)
    _assert_equal(cohort, tmp_path / "cohort")
    ours = {block.meaning for block in parse_config(default_config().text).blocks}
    assert ours == {block.meaning for block in parse_config(config).blocks}


def test_published_request_on_the_demo(
    tools: MedsTools, prepared_demo: Path, demo_pipeline: Pipeline, tmp_path: Path
) -> None:
    default = default_config()
    config = requested_config(default, published_request(default))
    path = tmp_path / "custom.yaml"
    path.write_text(config)
    tools.convert(prepared_demo, path, tmp_path / "cohort")
    cohort = demo_pipeline.run(config)
    _assert_equal(cohort, tmp_path / "cohort")
    # The published summary of the reference cohort.
    assert cohort.rows == {"held_out/0": 42_634, "train/0": 804_944, "tuning/0": 69_688}
    families = _families(cohort)
    assert families["HOSP_LAB"] == 107_549
    assert families["ICU_CHARTEVENT"] == 668_862
    assert families["OMR"] == 2_838
    demographics = ("INSURANCE", "LANGUAGE", "MARITAL_STATUS", "RACE")
    assert [families[name] for name in demographics] == [275] * 4


@pytest.mark.parametrize("index", range(3))
def test_requests_of_every_kind_on_the_demo(
    tools: MedsTools, prepared_demo: Path, demo_pipeline: Pipeline, tmp_path: Path, index: int
) -> None:
    # Chart events are most of the work and are covered above.
    default = default_config()
    default = default.only([table for table in default.sections if table != "icu/chartevents"])
    rng = task_rng("parity", Split.TEST, index)
    grammar = RequestGrammar(default, Split.TEST, demo_pipeline.raw.names)
    clauses = grammar.draw(rng, 12, tuple(ClauseKind))
    assert len({clause.kind for clause in clauses}) >= len(ClauseKind) - 1
    config = requested_config(default, clauses)
    path = tmp_path / "custom.yaml"
    path.write_text(config)
    tools.convert(prepared_demo, path, tmp_path / "cohort")
    _assert_equal(demo_pipeline.run(config), tmp_path / "cohort")


@pytest.mark.parametrize("index", range(3))
def test_requests_on_drawn_hospitals(tools: MedsTools, tmp_path: Path, index: int) -> None:
    rng = task_rng("parity-synthetic", Split.TEST, index)
    files = draw_hospital(rng, range(10_000, 10_030), busy=1.0)
    raw = tmp_path / "raw"
    for name, contents in files.items():
        (raw / name).parent.mkdir(parents=True, exist_ok=True)
        (raw / name).write_bytes(contents)
    default = default_config()
    grammar = RequestGrammar(default, Split.TEST, [prefix_of(name) for name in files])
    config = requested_config(default, grammar.draw(rng, 9, tuple(ClauseKind)))
    path = tmp_path / "custom.yaml"
    path.write_text(config)
    tools.prepare(raw, tmp_path / "prepared")
    tools.convert(tmp_path / "prepared", path, tmp_path / "cohort")
    _assert_equal(Pipeline(_tables(raw)).run(config), tmp_path / "cohort")


@pytest.fixture(scope="module")
def drawn(tools: MedsTools, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A drawn hospital, as ``raw`` and as the tools prepare it."""
    folder = tmp_path_factory.mktemp("drawn")
    rng = task_rng("parity-unusual", Split.TEST, 0)
    for name, contents in draw_hospital(rng, range(10_000, 10_030), busy=1.0).items():
        (folder / "raw" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "raw" / name).write_bytes(contents)
    tools.prepare(folder / "raw", folder / "prepared")
    return folder


@pytest.mark.parametrize("path", _UNUSUAL, ids=lambda path: path.stem)
def test_unusual_configurations(tools: MedsTools, drawn: Path, tmp_path: Path, path: Path) -> None:
    config = path.read_text(encoding="utf-8")
    tools.convert(drawn / "prepared", path, tmp_path / "cohort")
    cohort = Pipeline(_tables(drawn / "raw")).run(config)
    _assert_equal(cohort, tmp_path / "cohort", described="_metadata" in config)


def _tables(folder: Path) -> RawTables:
    paths = sorted(path for path in folder.rglob("*.csv*") if path.is_file())
    return RawTables({str(p.relative_to(folder)): p.read_bytes() for p in paths}, str(folder))


def _families(cohort: Cohort) -> dict[str, int]:
    codes = pl.concat(
        pl.read_parquet(io.BytesIO(cohort.files[path]), columns=["code"])
        for path in cohort.files
        if path.startswith("data/")
    )
    family = codes.get_column("code").str.split("//").list.first()
    return dict(family.value_counts().iter_rows())


def _assert_equal(cohort: Cohort, reference: Path, *, described: bool = True) -> None:
    """Data and splits are equal to the row and its place; code metadata but for the order.

    The tools read metadata tables in random order and group without one, so the order of their
    codes, of the items in their lists and of their added columns means nothing.
    """
    data = {str(path.relative_to(reference)) for path in (reference / "data").rglob("*.parquet")}
    assert data == {path for path in cohort.files if path.startswith("data/")}
    for name in sorted({*data, "metadata/subject_splits.parquet"}):
        ours, theirs = cohort.files[name], (reference / name).read_bytes()
        assert _arrow_types(ours) == _arrow_types(theirs), name
        left, right = (pl.read_parquet(io.BytesIO(part)) for part in (ours, theirs))
        assert left.columns == right.columns, name
        assert left.equals(right), name
        assert full_row_hash(left) == full_row_hash(right), name
    name = "metadata/codes.parquet"
    ours, theirs = cohort.files[name], (reference / name).read_bytes()
    assert sorted(_arrow_types(ours)) == sorted(_arrow_types(theirs))
    left, right = (_unordered(pl.read_parquet(io.BytesIO(part))) for part in (ours, theirs))
    assert (left.height > 0) is described
    assert left.equals(right)
    ours_facts = json.loads(cohort.files["metadata/dataset.json"])
    their_facts = json.loads((reference / "metadata" / "dataset.json").read_text())
    assert ours_facts.pop("created_at") != their_facts.pop("created_at")
    assert ours_facts == their_facts


def _arrow_types(contents: bytes) -> list[tuple[str, str]]:
    schema = pq.read_schema(io.BytesIO(contents))
    # The name of the item of a list is free in Arrow.
    return [(f.name, str(f.type).replace("<element:", "<item:")) for f in schema]


def _unordered(codes: pl.DataFrame) -> pl.DataFrame:
    lines = codes.with_columns(pl.col("description").str.split("\n"))
    lists = [name for name, dtype in lines.schema.items() if dtype == pl.List]
    return (
        lines.select(sorted(lines.columns))
        .with_columns(pl.col(name).list.sort() for name in lists)
        .sort("code")
    )


def _write_concept_maps(raw: Path) -> None:
    """Write concept maps for the demo's items: stand-ins, of the published columns."""
    labs = list(_rows(raw / "hosp" / "d_labitems.csv.gz"))
    units: dict[str, set[str]] = {}
    for row in _rows(raw / "hosp" / "labevents.csv.gz"):
        units.setdefault(row["itemid"], set()).add(row["valueuom"])
    _write(
        raw / "d_labitems_to_loinc.csv",
        [_ITEM, "label", *_CONCEPT, "valueuom"],
        [
            [*_concept(row, place), unit]
            for place, row in enumerate(labs)
            for unit in sorted(units.get(row["itemid"], {""}))
        ],
    )
    items = list(_rows(raw / "icu" / "d_items.csv.gz"))
    for name, table in (
        ("proc_datetimeevents", "datetimeevents"),
        ("proc_itemid", "procedureevents"),
        ("inputevents_to_rxnorm", "inputevents"),
        ("outputevents_to_loinc", "outputevents"),
    ):
        chosen = [row for row in items if row["linksto"] == table]
        rows = [[*_concept(row, place), "mL"] for place, row in enumerate(chosen)]
        _write(raw / f"{name}.csv", [_ITEM, "label", *_CONCEPT, "unitname"], rows)


def _concept(row: dict[str, str], place: int) -> list[str]:
    """Return item, label, concept name, vocabulary and code, now and then without a concept."""
    name = f"Concept of {row['label']}" if place % 3 else ""
    return [row["itemid"], row["label"], name, "TEST", f"T-{place}" if place % 4 else ""]


def _rows(path: Path) -> Iterable[dict[str, str]]:
    with gzip.open(path, "rt", newline="") as file:
        yield from csv.DictReader(file)


def _write(path: Path, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
