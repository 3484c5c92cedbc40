"""Edits by table and event: what they change, what they leave, what they refuse."""

from __future__ import annotations

import re
from typing import Any

import pytest

pytest.importorskip("polars")
pytest.importorskip("yaml")
pytest.importorskip("pyarrow")

import yaml

from healthgym.core.episode import AnyEpisode
from healthgym.core.seeding import Split
from healthgym.envs.ehr_format_conversion import editing
from healthgym.envs.ehr_format_conversion.env import EhrFormatConversionEnv
from healthgym.envs.ehr_format_conversion.wording import CUSTOM_CONFIG, DEFAULT_CONFIG
from healthgym.errors import ToolError
from healthgym.worlds.etl.config import parse_config
from tests.envs.ehr_format_conversion.conversion_play import custom, do, failed, hand_in, solved
from tests.envs.ehr_format_conversion.test_toolset import refused

ENV = EhrFormatConversionEnv(difficulty="easy", max_turns=100)

CONFIG = """\
subject_id_col: subject_id

# Measurements.
hosp/omr:
  omr:
    code: col(result_name)
    time: col(chartdate)

# Stays.
hosp/admissions:
  # the way in
  admission:
    code: [ADMISSION, col(admission_type)]
    time: col(admittime)
    hadm_id: hadm_id
  discharge:
    code: DISCHARGE
    time: col(dischtime)
# The end."""


@pytest.fixture
def episode() -> AnyEpisode:
    opened = ENV.open_episode("train", 0)
    do(opened, "copy_file", source=DEFAULT_CONFIG, target=CUSTOM_CONFIG)
    return opened


def test_a_section_is_shown_as_it_stands() -> None:
    assert editing.shown(CONFIG, "hosp/omr").splitlines() == [
        "hosp/omr:",
        "  omr:",
        "    code: col(result_name)",
        "    time: col(chartdate)",
    ]
    assert editing.shown(CONFIG, "hosp/admissions").endswith("time: col(dischtime)")
    with pytest.raises(ToolError, match="the tables are hosp/omr, hosp/admissions"):
        editing.shown(CONFIG, "hosp/labevents")


def test_only_the_section_of_the_table_is_written_anew() -> None:
    found = editing.with_keys(CONFIG, "hosp/omr", "omr", {"time": None, "unit": "u"}, ())
    assert found == CONFIG.replace("    time: col(chartdate)\n", "    time: null\n    unit: u\n")
    last = editing.with_keys(CONFIG, "hosp/admissions", "discharge", {"code": "OUT"}, ["time"])
    assert last.endswith("  discharge:\n    code: OUT\n# The end.")
    assert last.startswith(CONFIG[: CONFIG.index("  # the way in")])


@pytest.mark.parametrize("ending", ["", "\n", "\n\n\n"])
def test_new_events_and_tables_come_last(ending: str) -> None:
    keys = {"code": ["A", "col(a)"], "time": None}
    event = editing.with_keys(CONFIG + ending, "hosp/omr", "other", keys, ())
    assert list(yaml.safe_load(event)["hosp/omr"].items())[-1] == ("other", keys)
    table = editing.with_keys(CONFIG + ending, "hosp/new", "first", keys, ())
    assert list(yaml.safe_load(table).items())[-1] == ("hosp/new", {"first": keys})
    assert table.startswith(CONFIG)


def test_a_table_goes_with_its_last_event() -> None:
    once = editing.without_event(CONFIG, "hosp/admissions", "discharge")
    assert list(yaml.safe_load(once)["hosp/admissions"]) == ["admission"]
    twice = editing.without_event(once, "hosp/admissions", "admission")
    assert list(yaml.safe_load(twice)) == ["subject_id_col", "hosp/omr"]
    assert "# Stays.\n# The end." in twice


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{a: 1", "Not valid YAML"),
        ("- a\n- b\n", "is a mapping"),
        ("t: {e: &x {code: A}, f: *x}\n", "aliases"),
        ("{t: {e: {code: A, time: null}}}\n", "edit_file"),
        ("t: text\n", "not a table"),
        ("t: {e: text}\n", "not an event"),
        ("", "is a mapping"),
    ],
)
def test_what_is_no_configuration_is_not_edited(text: str, said: str) -> None:
    with pytest.raises(ToolError, match=said):
        editing.with_keys(text, "t", "e", {"code": "B"}, ())


@pytest.mark.parametrize("value", ["yes", "1.5", "null", "a: b", "# c", "%Y-%m-%d", "é ☃", "'", ""])
def test_any_text_is_read_back_as_it_was_given(value: str) -> None:
    found = editing.with_keys(CONFIG, "hosp/omr", "omr", {"code": [value, value]}, ())
    assert yaml.safe_load(found)["hosp/omr"]["omr"]["code"] == [value, value]


def test_the_tools_edit_the_copy(episode: AnyEpisode) -> None:
    place = {"config": CUSTOM_CONFIG, "table": "hosp/labevents"}
    do(episode, "set_event", **place, event="lab", remove=["priority"], keys={"code": "L"})
    shown = do(episode, "show_events", **place)
    assert "code: L\n" in shown
    assert "priority" not in shown
    do(episode, "drop_event", config=CUSTOM_CONFIG, table="icu/icustays", event="icu_discharge")
    blocks = {block.name: block for block in parse_config(custom(episode)).blocks}
    assert "icu_discharge" not in blocks
    assert blocks["lab"].metadata
    assert "priority" in do(episode, "show_events", config=DEFAULT_CONFIG, table="hosp/labevents")


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("set_event", {"event": "lab"}, "Give keys"),
        ("set_event", {"event": "lab", "remove": ["colour"]}, "its keys are code, time"),
        ("set_event", {"event": "lab", "keys": {"priority": "priority"}}, "exactly that already"),
        ("set_event", {"event": "lab", "keys": {"code": 5}}, "keys"),
        ("drop_event", {"event": "labs"}, "it has lab"),
        ("show_events", {"table": "hosp/no"}, "not in it"),
        ("show_events", {"config": "README.md"}, "YAML|mapping"),
        ("drop_event", {"config": "docs/tables.md", "event": "lab"}, "YAML|mapping"),
        ("set_event", {"config": "no.yaml", "event": "lab", "keys": {"a": "b"}}, "no file"),
    ],
)
def test_mistakes_change_nothing(
    episode: AnyEpisode, name: str, arguments: dict[str, Any], said: str
) -> None:
    place = {"config": CUSTOM_CONFIG, "table": "hosp/labevents"}
    assert re.search(said, refused(episode, name, **{**place, **arguments}))


def test_an_edit_of_the_default_by_event_is_an_edit_of_the_default() -> None:
    episode = solved(ENV, "train", 0)
    do(episode, "set_event", config=DEFAULT_CONFIG, table="hosp/omr", event="omr", keys={"a": "b"})
    verdicts = hand_in(episode)
    assert "repository_intact" in failed(next(v for p, v in verdicts.items() if p == "strict"))


@pytest.mark.parametrize("difficulty", ["easy", "medium", "hard"])
def test_edits_by_event_make_the_very_text_asked_for(difficulty: str) -> None:
    env = EhrFormatConversionEnv(difficulty=difficulty)
    for index in range(4):
        episode = solved(env, "test", index)
        reference = env.family.generator.generate(Split.TEST, index).reference
        assert custom(episode) == reference.config
