"""Episodes of the conversion family, played part of the way and then tampered with."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import polars as pl

from healthgym.core.env import HealthEnv
from healthgym.core.episode import Episode
from healthgym.core.tool import call
from healthgym.core.verdict import Profile, Verdict
from healthgym.envs.ehr_format_conversion.wording import COHORT, CUSTOM_CONFIG
from healthgym.worlds.etl.world import EtlWorld


def oracle_calls(env: HealthEnv, split: str = "test", index: int = 0) -> list[Any]:
    instance = env.family.generator.generate(env.open_episode(split, index).task.key.split, index)
    return list(env.family.baselines()["oracle"](instance, np.random.default_rng(0)))


def solved(env: HealthEnv, split: str = "test", index: int = 0) -> Episode[EtlWorld]:
    """Return an episode the oracle has solved, short of handing in."""
    episode: Episode[EtlWorld] = env.open_episode(split, index)
    for action in oracle_calls(env, split, index)[:-1]:
        outcome = episode.step(action)
        assert not outcome.errors, outcome.errors
    return episode


def do(episode: Episode[EtlWorld], name: str, **arguments: Any) -> str:
    outcome = episode.step(call(name, **arguments))
    assert not outcome.errors, outcome.errors
    return outcome.observation


def hand_in(episode: Episode[EtlWorld]) -> dict[Profile, Verdict]:
    if not episode.done():
        do(episode, "submit")
    return {profile: episode.verdict(profile=profile) for profile in Profile}


def failed(verdict: Verdict) -> set[str]:
    return {result.check.name for result in verdict.checks if not result.passed}


def cohort_path(name: str) -> str:
    return f"{COHORT}/{name}"


def read(episode: Episode[EtlWorld], name: str) -> pl.DataFrame:
    return pl.read_parquet(io.BytesIO(episode.world.read(cohort_path(name))))


def put(episode: Episode[EtlWorld], name: str, contents: pl.DataFrame | bytes) -> None:
    """Place a file in the cohort as no tool could: made by hand."""
    if isinstance(contents, pl.DataFrame):
        sink = io.BytesIO()
        contents.write_parquet(sink)
        contents = sink.getvalue()
    episode.world.store(cohort_path(name), contents)


def custom(episode: Episode[EtlWorld]) -> str:
    return episode.world.read_text(CUSTOM_CONFIG)
