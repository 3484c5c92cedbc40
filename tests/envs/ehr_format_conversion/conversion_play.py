"""Episodes of the conversion family, played part of the way and then tampered with."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import polars as pl

from healthgym.core.env import HealthEnv
from healthgym.core.episode import AnyEpisode
from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall, call
from healthgym.core.verdict import Profile, Verdict
from healthgym.envs.ehr_format_conversion.wording import COHORT, CUSTOM_CONFIG


def oracle_calls(env: HealthEnv, split: str = "test", index: int = 0) -> list[ToolCall]:
    instance = env.family.generator.generate(Split(split), index)
    return list(env.family.oracle(instance, np.random.default_rng(0)))


def solved(env: HealthEnv, split: str = "test", index: int = 0) -> AnyEpisode:
    """Return an episode the oracle has solved, short of handing in."""
    episode = env.open_episode(split, index)
    for action in oracle_calls(env, split, index)[:-1]:
        outcome = episode.step(action)
        assert not outcome.errors, outcome.errors
    return episode


def do(episode: AnyEpisode, name: str, **arguments: Any) -> str:
    outcome = episode.step(call(name, **arguments))
    assert not outcome.errors, outcome.errors
    return outcome.observation


def as_it_stands(episode: AnyEpisode, profile: Profile = Profile.STRICT) -> Verdict:
    """Return the verdict of a running episode if it ended now, without being handed in."""
    twin = episode.clone()
    twin.stop()
    return twin.verdict(profile=profile)


def hand_in(episode: AnyEpisode) -> dict[Profile, Verdict]:
    if not episode.done():
        do(episode, "submit")
    return {profile: episode.verdict(profile=profile) for profile in Profile}


def failed(verdict: Verdict) -> set[str]:
    return {result.check.name for result in verdict.checks if not result.passed}


def cohort_path(name: str) -> str:
    return f"{COHORT}/{name}"


def read(episode: AnyEpisode, name: str) -> pl.DataFrame:
    return pl.read_parquet(io.BytesIO(episode.world.read(cohort_path(name))))


def put(episode: AnyEpisode, name: str, contents: pl.DataFrame | bytes) -> None:
    """Place a file in the cohort as no tool could: made by hand."""
    if isinstance(contents, pl.DataFrame):
        sink = io.BytesIO()
        contents.write_parquet(sink)
        contents = sink.getvalue()
    episode.world.store(cohort_path(name), contents)


def custom(episode: AnyEpisode) -> str:
    return episode.world.read_text(CUSTOM_CONFIG)
