"""No word is owed on a request that intake has turned away; on any other the limit holds."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from healthgym.core.episode import Episode, EpisodeConfig
from healthgym.core.tool import call
from healthgym.envs.managed_care.utilization_management.checks import IN_TIME
from healthgym.envs.managed_care.utilization_management.task import (
    Path,
    ReviewInstance,
    StartStage,
)
from healthgym.envs.managed_care.utilization_management.working import ReviewEpisode
from healthgym.rewards import SparseReward
from tests.envs.managed_care.utilization_management.playing import (
    Script,
    fails,
    family_of,
    position,
    solution,
    task,
)

CONFIRM = "payer_intake_hub.confirm_decisions"
#: Whole weeks, so that whoever was at the desk is there again; longer than any limit.
LATER = timedelta(weeks=10)


def begun(instance: ReviewInstance) -> ReviewEpisode:
    return Episode(family_of(instance), instance, SparseReward(), EpisodeConfig(max_turns=400))


def pass_time(episode: ReviewEpisode, until: datetime) -> None:
    for _ in range(60):
        if episode.world.clock.now >= until:
            return
        episode.step(call("wait", until=f"{until:%Y-%m-%dT%H:%M}"))
    raise AssertionError("The time does not come.")


def late(instance: ReviewInstance, script: Script, place: int) -> bool:
    """Play a script with a long wait before one of its calls; return whether that was late."""
    episode = begun(instance)
    for made in script[:place]:
        assert not episode.step(made).errors
    pass_time(episode, (episode.world.clock.now + LATER).replace(second=0, microsecond=0))
    for made in script[place:]:
        episode.step(made)
    return IN_TIME.name in fails(episode)


@pytest.mark.parametrize("index", range(4))
def test_a_limit_that_passes_after_intake_has_turned_a_request_away_is_not_missed(index) -> None:
    instance = task(StartStage.INTAKE, Path.RETURNED, index)
    script = solution(instance)
    assert not late(instance, script, position(script, CONFIRM) + 1)


@pytest.mark.parametrize("index", range(4))
def test_one_that_passes_before_is_missed(index) -> None:
    instance = task(StartStage.INTAKE, Path.RETURNED, index)
    script = solution(instance)
    assert late(instance, script, position(script, CONFIRM))


@pytest.mark.parametrize("path", [Path.NURSE_APPROVES, Path.DENIED])
def test_intake_is_no_word_on_a_request_that_is_to_be_reviewed(path) -> None:
    instance = task(StartStage.INTAKE, path)
    script = solution(instance)
    assert late(instance, script, position(script, CONFIRM) + 1)
