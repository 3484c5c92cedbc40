from __future__ import annotations

import json

import pytest

pytest.importorskip("polars")
yaml = pytest.importorskip("yaml")
pytest.importorskip("pyarrow")

import numpy as np  # noqa: E402

from healthgym.core.seeding import Split  # noqa: E402
from healthgym.envs.ehr_format_conversion.clauses import (  # noqa: E402
    ClauseKind,
    Op,
    requested_config,
)
from healthgym.envs.ehr_format_conversion.defaults import (  # noqa: E402
    default_config,
    sectioned,
)
from healthgym.envs.ehr_format_conversion.grammar import (  # noqa: E402
    RequestGrammar,
    published_request,
)
from healthgym.envs.ehr_format_conversion.resources import dictionary, grammar  # noqa: E402
from healthgym.envs.ehr_format_conversion.wording import instruction  # noqa: E402
from healthgym.worlds.etl.config import Part, parse_config  # noqa: E402
from healthgym.worlds.etl.hospital import draw_hospital  # noqa: E402
from healthgym.worlds.etl.pipeline import Pipeline  # noqa: E402
from healthgym.worlds.etl.tables import RawTables, prefix_of  # noqa: E402


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    return Pipeline(RawTables(draw_hospital(np.random.default_rng(0), range(1, 21)), "k"))


@pytest.mark.parametrize("kind", ClauseKind)
def test_every_wish_of_a_kind_changes_the_cohort(pipeline: Pipeline, kind: ClauseKind) -> None:
    default = default_config()
    grammar_ = RequestGrammar(default, Split.TRAIN, pipeline.raw.names)
    plain = pipeline.run(default.text)
    entries = {(entry[0], entry[1]) for entry in grammar()[str(kind)]}
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(40 * len(entries)):
        (clause,) = grammar_.draw(rng, 1, (kind,))
        if (clause.table, clause.event) in seen:
            continue
        seen.add((clause.table, clause.event))
        cohort = pipeline.run(requested_config(default, [clause]))
        assert dict(cohort.files) != dict(plain.files), clause
        if seen == entries:
            break
    assert seen == entries


def test_words_are_of_one_split_and_columns_are_documented() -> None:
    tags = grammar()["tags"]
    everything = [tag for words in tags.values() for tag in words]
    assert len(everything) == len(set(everything))
    assert set(tags) == set(Split)
    for table, entry in dictionary().items():
        phrases = list(entry["columns"].values())
        assert len(phrases) == len(set(phrases)), table


def test_dictionary_has_the_columns_that_are_drawn(pipeline: Pipeline) -> None:
    for table in pipeline.raw.names:
        drawn = pipeline.raw.strings(table).columns
        assert set(drawn) <= set(dictionary()[table]["columns"]), table


def test_no_two_wishes_are_about_the_same_event() -> None:
    default = default_config()
    tables = [*default.sections, "hosp/services"]
    for seed in range(30):
        rng = np.random.default_rng(seed)
        clauses = RequestGrammar(default, Split.TEST, tables).draw(rng, 7, tuple(ClauseKind))
        assert len(clauses) == 7
        assert len({(clause.table, clause.event) for clause in clauses}) == 7


@pytest.mark.parametrize("indirect", [False, True])
def test_every_sentence_is_complete(indirect: bool) -> None:
    default = default_config()
    for seed in range(60):
        rng = np.random.default_rng(seed)
        grammar_ = RequestGrammar(default, Split.TRAIN, tuple(dictionary()))
        clauses = grammar_.draw(rng, 6, tuple(ClauseKind))
        text = instruction(clauses, rng, indirect=indirect)
        assert not set("{}") & set(text)
        assert "None" not in text
        for clause in clauses:
            assert clause.table in text
            codes = [
                change.value["code"][0] for change in clause.changes if change.op is Op.ADD_EVENT
            ]
            assert all(code in text for code in codes)


def test_published_request_is_the_published_one() -> None:
    default = default_config()
    config = parse_config(requested_config(default, published_request(default)))
    blocks = {(block.table, block.name): block for block in config.blocks}
    admission = blocks["hosp/admissions", "admission"]
    fields = ("insurance", "language", "marital_status", "race")
    assert not set(dict(admission.columns)) & set(fields)
    for field in fields:
        block = blocks["hosp/admissions", field]
        assert block.code == (Part(field.upper(), False), Part(field, True))
        assert block.time == "admittime"
        assert dict(block.columns) == {"hadm_id": "hadm_id"}
    first = {name: blocks[name].code[0].text for name in blocks}
    assert first["hosp/omr", "omr"] == "OMR"
    assert blocks["hosp/omr", "omr"].code[1] == Part("result_name", True)
    assert first["hosp/labevents", "lab"] == "HOSP_LAB"
    assert first["icu/chartevents", "event"] == "ICU_CHARTEVENT"


def test_sections_put_together_are_the_default() -> None:
    default = default_config()
    assert sectioned(default.text).text == default.text
    assert yaml.safe_load(default.text)["hosp/omr"]["omr"]["code"] == "col(result_name)"


def test_dictionaries_that_are_not_there_are_not_joined() -> None:
    default = default_config()
    bare = default.without_metadata(["hosp/d_hcpcs"])
    text = bare.text
    assert "d_labitems_to_loinc" not in text
    assert "hosp/d_hcpcs" in text
    events = [b.columns for b in parse_config(text).blocks]
    assert events == [b.columns for b in parse_config(default.text).blocks]


def test_hospitals_repeat_with_the_seed_and_have_gaps() -> None:
    one = draw_hospital(np.random.default_rng(5), range(1, 13))
    assert one == draw_hospital(np.random.default_rng(5), range(1, 13))
    assert one != draw_hospital(np.random.default_rng(6), range(1, 13))
    assert all(contents.count(b"\n") > 1 for contents in one.values())
    tables = RawTables(one, "k")
    labs = tables.events("hosp/labevents")
    assert labs.get_column("value").null_count() == 0
    assert labs.get_column("valuenum").null_count() > 0
    assert labs.is_duplicated().any()
    assert {prefix_of(path) for path in one} == set(tables.names)
    json.dumps(list(tables.names))
