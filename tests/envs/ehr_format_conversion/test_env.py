from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("polars")
pytest.importorskip("yaml")
pytest.importorskip("pyarrow")

import numpy as np

from healthgym.core.seeding import Split
from healthgym.core.verdict import Profile
from healthgym.envs.ehr_format_conversion.clauses import ClauseKind
from healthgym.envs.ehr_format_conversion.env import EhrFormatConversionEnv
from healthgym.envs.ehr_format_conversion.family import ConversionFamily
from healthgym.envs.ehr_format_conversion.sources import FolderTables
from healthgym.envs.ehr_format_conversion.task import RequestConfig
from healthgym.errors import ConfigurationError, DamagedDataError, MissingDataError
from healthgym.registration import make_health_env
from healthgym.worlds.etl.hospital import draw_hospital
from tests.envs.ehr_format_conversion.conversion_play import (
    do,
    failed,
    hand_in,
    solved,
)
from tests.sized import some


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in the layout of MIMIC-IV, without concept maps."""
    for path, contents in draw_hospital(np.random.default_rng(3), range(1, 21)).items():
        if "/" in path:
            (tmp_path / path).parent.mkdir(exist_ok=True)
            (tmp_path / f"{path}.gz").write_bytes(gzip.compress(contents, mtime=0))
    return tmp_path


@pytest.mark.parametrize("difficulty", ["easy", "medium", "hard"])
def test_oracle_solves_every_difficulty(difficulty: str) -> None:
    env = EhrFormatConversionEnv(difficulty=difficulty)
    for split in Split:
        for index in range(some(4, 1)):
            verdicts = hand_in(solved(env, str(split), index))
            assert [failed(verdict) for verdict in verdicts.values()] == [set(), set()]


def test_difficulties_differ_in_size() -> None:
    wishes, tables = [], []
    for difficulty in ("easy", "medium", "hard"):
        env = EhrFormatConversionEnv(difficulty=difficulty)
        tasks = [env.family.generator.generate(Split.TRAIN, index) for index in range(20)]
        wishes.append(np.mean([task.task.metadata["wishes"] for task in tasks]))
        tables.append(len(tasks[0].start.pipeline.raw.names))
    assert wishes == sorted(wishes)
    assert wishes[0] < wishes[1] < wishes[2]
    assert tables[0] < tables[1]


def test_canonical_test_split_has_one_task() -> None:
    env = EhrFormatConversionEnv(canonical=True)
    assert env.family.generator.size(Split.TEST) == 1
    assert "MARITAL_STATUS//<marital_status>" in env.open_episode("test", 0).instruction()
    with pytest.raises(ConfigurationError, match="no number 1"):
        env.open_episode("test", 1)


def test_requests_belong_to_one_split() -> None:
    env = EhrFormatConversionEnv(difficulty="easy")
    configs = {
        split: {env.family.generator.generate(split, index).reference.config for index in range(60)}
        for split in Split
    }
    assert not configs[Split.TRAIN] & configs[Split.TEST]
    assert not configs[Split.TRAIN] & configs[Split.VALIDATION]
    assert not configs[Split.VALIDATION] & configs[Split.TEST]
    assert all(len(found) > 10 for found in configs.values())


@pytest.mark.parametrize(
    "arguments",
    [
        {"difficulty": "mild"},
        {"difficulty": {}},
        {"difficulty": {"easy": -1}},
        {"difficulty": {"easy": 1, "wishes": 1}},
        {"difficulty": {"wishes": [1, 2], "kinds": ["drop"]}},
        {"difficulty": 3},
        {"profile": "lax"},
        {"max_turns": 0},
        {"max_turns": True},
    ],
)
def test_arguments_are_checked(arguments: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError):
        EhrFormatConversionEnv(**arguments)  # type: ignore[arg-type]


def test_request_configs_are_checked() -> None:
    with pytest.raises(ConfigurationError):
        RequestConfig(wishes=(3, 2))
    with pytest.raises(ConfigurationError):
        RequestConfig(subjects=(3, 5))
    with pytest.raises(ConfigurationError):
        RequestConfig(kinds=())
    with pytest.raises(ConfigurationError, match="paint"):
        RequestConfig(kinds=("paint",))  # type: ignore[arg-type]


# -- a folder of raw tables ------------------------------------------------------------------------


@pytest.mark.parametrize("canonical", [False, True])
def test_a_folder_of_tables_is_a_source(folder: Path, canonical: bool) -> None:
    env = EhrFormatConversionEnv(source=str(folder), canonical=canonical)
    verdicts = hand_in(solved(env, "test", 0))
    assert all(verdict.success for verdict in verdicts.values())
    again = EhrFormatConversionEnv(source=folder)
    first = env.open_episode("test", 0).world.workspace.pipeline.raw
    assert again.open_episode("train", 5).world.workspace.pipeline.raw is first


def test_the_published_request_is_one_task(folder: Path) -> None:
    for source in ("synthetic", folder):
        env = EhrFormatConversionEnv(source=source, canonical=True)
        told = "The train split of .* has no tasks; use split='test'"
        with pytest.raises(ConfigurationError, match=told):
            env.open_episode("train", 0)
        with pytest.raises(ConfigurationError, match=told):
            env.reset(seed=0)
        with pytest.raises(ConfigurationError, match="use split='test'"):
            env.reset(options={"split": "validation", "kind": "canonical"})
    registered = make_health_env("HealthAgent/EhrFormatConversionCanonical-v1")
    assert registered.reset(seed=0)[1]["split"] == "test"


def test_missing_and_damaged_folders(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match="PhysioNet"):
        FolderTables(tmp_path / "nowhere")
    (folder / "hosp" / "omr.csv.gz").write_bytes(b"not compressed")
    with pytest.raises(DamagedDataError, match="omr"):
        FolderTables(folder)
    (folder / "hosp" / "omr.csv.gz").unlink()
    with pytest.raises(MissingDataError, match=r"hosp/omr\.csv\.gz"):
        FolderTables(folder)


def test_published_request_needs_its_tables(folder: Path) -> None:
    (folder / "icu" / "chartevents.csv.gz").unlink()
    env = EhrFormatConversionEnv(source=folder, canonical=True)
    with pytest.raises(MissingDataError, match="icu/chartevents"):
        env.open_episode("test", 0)


def test_the_demo_is_a_source(data_dir: Path) -> None:
    demo = data_dir / "mimic-iv-demo-2.2"
    if not demo.is_dir():
        pytest.skip(f"needs {demo}")
    env = EhrFormatConversionEnv(source=demo, difficulty="easy")
    episode = solved(env, "test", 0)
    assert "hosp/labevents.csv.gz" in do(episode, "list_files", folder="raw_input/hosp")
    assert "107727 rows" in do(episode, "describe_table", table="hosp/labevents")
    assert hand_in(episode)[Profile.STRICT].success


def test_a_curriculum_chooses_kinds_and_number_of_wishes() -> None:
    config = RequestConfig((10, 11), 0.4, False, (1, 1), (ClauseKind.DROP, ClauseKind.UNIT))
    env = EhrFormatConversionEnv(difficulty=config)
    tasks = [env.open_episode("train", index).task for index in range(30)]
    assert {task.kind for task in tasks} == {"drop", "unit"}
    assert {task.metadata["difficulty"] for task in tasks} == {"custom"}


@pytest.mark.parametrize("source", ["synthetic", "folder"])
def test_a_mapping_is_weights_of_presets(folder: Path, source: str) -> None:
    tables = folder if source == "folder" else source
    mixed = ConversionFamily({"easy": 2, "hard": 1}, source=tables).generator
    alone = {name: ConversionFamily(name, source=tables).generator for name in ("easy", "hard")}
    seen = Counter[str]()
    for index in range(30):
        task = mixed.generate(Split.TRAIN, index).task
        level = str(task.metadata["difficulty"])
        assert task == alone[level].generate(Split.TRAIN, index).task
        seen[level] += 1
    assert 3 < seen["hard"] < seen["easy"]


@pytest.mark.parametrize("index", [-1, 2**31])
def test_indices_that_are_none(index: int) -> None:
    with pytest.raises(ConfigurationError, match="no number"):
        ConversionFamily().generator.generate(Split.TRAIN, index)
