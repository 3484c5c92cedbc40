"""What ``healthgym train`` does for an id unless told otherwise, and what its options change."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import healthgym
from healthgym.errors import ConfigurationError
from healthgym.integrations.trl.command import DEFAULT_ENV, parser, settings
from healthgym.integrations.trl.config import Shown, TrainConfig
from healthgym.integrations.trl.defaults import defaults, known
from healthgym.registration import make_health_env
from tests.envs.fhir_record.clinic_charts import charts


def told(*words: str) -> TrainConfig:
    return settings(parser().parse_args(words))


def test_there_are_defaults_for_ids_that_exist_and_they_are_accepted() -> None:
    assert set(known()) <= set(healthgym.ids())
    for env_id in known():
        if env_id == "HealthAgent/CtAbnormality-v1":
            pytest.importorskip("scipy")
        config = told(env_id)
        env = make_health_env(config.env, config.env_kwargs)
        names = {*env.family.scripts(), *env.family.solvers()}
        assert {*config.supervised.policies} <= names
        assert not config.supervised.also or config.supervised.also in names
        for changes in config.transfer.values():
            make_health_env(config.env, {**config.env_kwargs, **changes})


def test_demonstrations_are_seen_once_where_reward_follows_at_length() -> None:
    for env_id in ("HealthAgent/PriorAuthorization-v1", DEFAULT_ENV):
        shown = told(env_id).supervised
        assert shown.steps * shown.batch == shown.demos


def test_the_main_job_is_shown_by_those_who_disagree_and_has_a_control() -> None:
    config = told()
    assert config == defaults(DEFAULT_ENV)
    assert len(config.supervised.policies) == 3
    assert config.supervised.inertia == 0
    assert config.control
    assert config.copies
    assert config.env_kwargs["difficulty"] == "drill"
    assert "medium" in config.transfer


def test_words_of_the_command_line_go_before() -> None:
    config = told("--policy", "oracle", "house=2", "--no-control", "--copy-steps", "0")
    assert config.supervised.policies == {"oracle": 1.0, "house": 2.0}
    assert not config.control
    assert not config.copies
    assert told("--inertia", "0.5", "--policy", "oracle").supervised.inertia == 0.5
    assert told("--difficulty", "easy").env_kwargs["difficulty"] == "easy"
    assert told("HealthAgent/PriorAuthorization-v1").reinforced.steps == 80
    assert told("--model", "smollm2").supervised.policies == told().supervised.policies
    small = told("--no-transfer", "--beside", "8", "--watch", "0", "--max-new-tokens", "32")
    assert not small.transfer
    assert (small.beside, small.watch, small.max_new_tokens) == (8, 0, 32)
    with pytest.raises(ConfigurationError, match="at least 1"):
        told("--beside", "0")
    with pytest.raises(ConfigurationError, match="NAME=2"):
        told("--policy", "oracle=much")
    with pytest.raises(ConfigurationError, match="policies"):
        told("--policy", "oracle=-1")


def test_given_charts_have_their_own_types_and_one_demonstrator() -> None:
    config = told("--source", "charts")
    assert "task_types" not in config.env_kwargs
    assert config.supervised.policies == {"stepwise": 1}
    assert config.transfer == {}
    assert defaults(DEFAULT_ENV).transfer


def test_an_unknown_id_has_the_general_settings() -> None:
    assert defaults("No/Such-v0") == TrainConfig("No/Such-v0")


def test_settings_are_read_back_as_they_were_written() -> None:
    for env_id in known():
        config = told(env_id)
        assert TrainConfig.from_json(config.to_json()) == config


def test_a_folder_is_learned_from_charts_in_its_style_and_told_anew() -> None:
    config = told("--source", "somewhere", "--fold", "3")
    assert config.model == "small"
    assert config.copies
    assert {*config.shown} == {"styled", "pseudonymous", "synthetic"}
    assert config.env_kwargs["fold"] == 3
    assert config.practice == {"retold": "pseudonymous"}
    assert "task_types" not in config.env_kwargs
    assert not config.transfer
    assert config.supervised.steps * config.supervised.batch == config.supervised.demos
    assert TrainConfig.from_json(config.to_json()) == config
    assert told("--source", "somewhere", "--model", "tiny").model == "tiny"
    with pytest.raises(ConfigurationError, match="shown tasks"):
        replace(config, shown={"styled": Shown({}, weight=-1.0)})


def test_levels_and_further_ids_make_a_mixture() -> None:
    config = told("--levels", "drill=2", "easy", "--adaptive")
    assert {name: part.weight for name, part in config.mixture.items()} == {"drill": 2, "easy": 1}
    assert config.adaptive is not None
    parts = config.parts()
    assert parts["easy"].arguments == {**config.env_kwargs, "difficulty": "easy"}
    # What is scored stays what it was.
    assert config.env_kwargs["difficulty"] == "drill"
    calls = "HealthAgent/CareManagement-v1"
    mixed = told("--mix", f"{calls}=0.5")
    assert mixed.parts()["scored"].arguments == mixed.env_kwargs
    assert mixed.parts()[calls].arguments == defaults(calls).env_kwargs
    assert mixed.adaptive is None
    assert not told("--source", ".", "--levels", "easy", "hard").shown
    with pytest.raises(ConfigurationError, match="--levels"):
        told("--adaptive")
    with pytest.raises(ConfigurationError, match="difficulty with a weight"):
        told("--levels", "easy=much")


def test_what_cannot_be_asked_the_named_types_is_not_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "charts.ndjson").write_text("\n".join(map(json.dumps, charts())))
    source = ("--source", str(tmp_path), "--task-types")
    assert set(told(*source, "v1-t2").shown) == {"styled", "pseudonymous", "synthetic"}
    assert not capsys.readouterr().err
    assert set(told(*source, "own-t1", "own-t2").shown) == {"styled", "pseudonymous"}
    assert "nothing synthetic is shown: task_types names own-t1" in capsys.readouterr().err
    with pytest.raises(ConfigurationError, match="needs glucose"):
        told(*source, "v1-t7")
