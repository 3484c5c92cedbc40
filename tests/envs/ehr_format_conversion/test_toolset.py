from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("polars")
pytest.importorskip("yaml")
pytest.importorskip("pyarrow")

from healthgym.core.episode import AnyEpisode
from healthgym.core.tool import call
from healthgym.envs.ehr_format_conversion.env import EhrFormatConversionEnv
from healthgym.envs.ehr_format_conversion.wording import (
    CUSTOM_CONFIG,
    DEFAULT_CONFIG,
)
from tests.envs.ehr_format_conversion.conversion_play import do, solved

ENV = EhrFormatConversionEnv(difficulty="easy", max_turns=100)


@pytest.fixture
def episode() -> AnyEpisode:
    return ENV.open_episode("train", 0)


def refused(episode: AnyEpisode, name: str, **arguments: Any) -> str:
    before = episode.world.digest()
    outcome = episode.step(call(name, **arguments))
    assert outcome.errors
    assert episode.world.digest() == before
    return outcome.errors[0]


def test_files_are_listed_by_folder_and_page(episode: AnyEpisode) -> None:
    everything = do(episode, "list_files")
    assert DEFAULT_CONFIG in everything
    assert "raw_input/hosp/labevents.csv" in everything
    assert "README.md" not in do(episode, "list_files", folder="docs/")
    assert "no folder" in refused(episode, "list_files", folder="nowhere")
    assert "pages" in refused(episode, "list_files", page=9)


def test_long_files_come_in_pages(episode: AnyEpisode) -> None:
    first = do(episode, "read_file", path="raw_input/hosp/labevents.csv")
    second = do(episode, "read_file", path="raw_input/hosp/labevents.csv", page=2)
    assert "page 1 of" in first
    assert "labevent_id" in first
    assert "labevent_id" not in second
    assert "not a path" in refused(episode, "read_file", path="../secret")


def test_a_page_longer_than_an_observation_can_be_read_on() -> None:
    episode = EhrFormatConversionEnv(difficulty="medium").open_episode("train", 0)
    path = "raw_input/hosp/emar.csv"
    lines = episode.world.read_text(path).splitlines()
    first = do(episode, "read_file", path=path)
    shown, _, notice = first.rpartition("\n")
    assert "read_more continues" in notice
    whole = shown + do(episode, "read_more")
    assert whole.splitlines()[:-1] == lines[:120]
    assert whole.endswith(f"{len(lines)} lines)")
    assert "shown whole" in refused(episode, "read_more")


def test_the_code_that_runs_can_be_read_but_not_written(episode: AnyEpisode) -> None:
    assert "def table_events" in do(episode, "read_file", path="etl/pipeline/events.py")
    assert "read-only" in refused(episode, "write_file", path="etl/pipeline/events.py", text="pass")
    assert "read-only" in refused(episode, "write_file", path="raw_input/hosp/omr.csv", text="x")


def test_search_leaves_raw_tables_out_unless_asked(episode: AnyEpisode) -> None:
    found = do(episode, "search_files", text="hadm_id", folder="")
    assert "event_configs.yaml" in found
    assert "raw_input" not in found
    raw = do(episode, "search_files", text="ENGLISH", folder="raw_input/hosp/admissions.csv")
    assert "raw_input/hosp/admissions.csv:" in raw
    assert "No line" in do(episode, "search_files", text="zzzz")
    refused(episode, "search_files", text=" ")


def test_tables_are_described(episode: AnyEpisode) -> None:
    text = do(episode, "describe_table", table="raw_input/hosp/labevents.csv")
    assert "valuenum | Float64" in text
    assert "there are" in refused(episode, "describe_table", table="hosp/nothing")


def test_edits_need_a_text_that_is_there_once(episode: AnyEpisode) -> None:
    do(episode, "copy_file", source=DEFAULT_CONFIG, target=CUSTOM_CONFIG)
    assert "not in the file" in refused(
        episode, "edit_file", path=CUSTOM_CONFIG, old="nowhere", new="x"
    )
    assert "times" in refused(episode, "edit_file", path=CUSTOM_CONFIG, old="code:", new="x")
    refused(episode, "edit_file", path=CUSTOM_CONFIG, old="", new="x")
    do(episode, "edit_file", path=CUSTOM_CONFIG, old="code: MEDS_BIRTH", new="code: BORN")
    assert "BORN" in do(episode, "read_file", path=CUSTOM_CONFIG)
    assert "already" in refused(
        episode, "edit_file", path=CUSTOM_CONFIG, old="code: BORN", new="code: BORN"
    )


def test_a_run_with_a_bad_configuration_says_why(episode: AnyEpisode) -> None:
    do(episode, "write_file", path=CUSTOM_CONFIG, text="hosp/omr:\n  e: {code: X, time: col(at)}\n")
    reason = refused(episode, "run_etl", config=CUSTOM_CONFIG)
    assert "no column 'at'" in reason
    assert "chartdate" in reason


def test_cohorts_can_be_looked_at() -> None:
    episode = solved(ENV, "train", 0)
    summary = do(episode, "inspect_cohort")
    assert "MEDS_BIRTH | " in summary
    assert "train/0: " in summary
    codes = do(episode, "inspect_cohort", view="codes", search="GENDER")
    assert "GENDER//F: " in codes or "GENDER//M: " in codes
    rows = do(episode, "inspect_cohort", view="rows", search="MEDS_BIRTH", shard="tuning/0")
    assert "subject_id,time,code" in rows
    assert "no shard" in refused(episode, "inspect_cohort", shard="train/7")
    assert "no cohort" in refused(episode, "inspect_cohort", out="output/other")
    refused(episode, "inspect_cohort", out="docs")


def test_the_reference_cannot_be_read(episode: AnyEpisode) -> None:
    reference = ENV.family.generator.generate(episode.task.key.split, 0).reference
    assert reference.config != reference.default
    for path in episode.world.paths():
        if path.endswith((".yaml", ".py", ".md")):
            assert episode.world.read_text(path) != reference.config


def test_the_manual_names_a_folder_that_a_run_accepts(episode: AnyEpisode) -> None:
    _, info = ENV.reset(options={"index": 0})
    tools = {tool["function"]["name"]: tool["function"] for tool in info["tools"]}
    told = tools["run_etl"]["parameters"]["properties"]["out"]["description"]
    assert "such as output/MEDS_cohort;" in told
    assert "Wrote" in do(episode, "run_etl", config=DEFAULT_CONFIG, out="output/MEDS_cohort")
