"""Queues for the tests: families by desk, and episodes that were played."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np

from healthgym.core.episode import Episode
from healthgym.core.seeding import Split
from healthgym.core.verdict import CheckResult, Verdict
from healthgym.envs.managed_care.care_management.family import CareFamily
from healthgym.envs.managed_care.marathon.crew import MarathonEpisode
from healthgym.envs.managed_care.marathon.family import (
    AuthorizationMarathon,
    CareMarathon,
    MarathonFamily,
    ReviewMarathon,
)
from healthgym.envs.managed_care.marathon.task import MarathonInstance
from healthgym.envs.managed_care.marathon.verifier import APART
from healthgym.envs.managed_care.prior_authorization.family import AuthorizationFamily
from healthgym.envs.managed_care.utilization_management.family import ReviewFamily
from healthgym.rewards import PotentialReward

FAMILIES: dict[str, MarathonFamily] = {
    "requests": AuthorizationMarathon(size=3),
    "reviews": ReviewMarathon(size=3),
    "referrals": CareMarathon(size=3),
}
SINGLE = {
    "requests": AuthorizationFamily(),
    "reviews": ReviewFamily(),
    "referrals": CareFamily(),
}


@cache
def a_task(desk: str, index: int = 0) -> MarathonInstance:
    return FAMILIES[desk].generator.draw(Split.TRAIN, index)


def begun(desk: str, index: int = 0, family: MarathonFamily | None = None) -> MarathonEpisode:
    family = family or FAMILIES[desk]
    return Episode(family, a_task(desk, index), PotentialReward(), family.rules)


def played(desk: str, script: Iterable[object], index: int = 0) -> MarathonEpisode:
    episode = begun(desk, index)
    for action in script:
        if episode.done():
            break
        episode.step(action)
    if not episode.done():
        episode.stop()
    return episode


def by(desk: str, policy: str, index: int = 0) -> MarathonEpisode:
    script = FAMILIES[desk].scripts()[policy](a_task(desk, index), np.random.default_rng(index))
    return played(desk, script, index)


def shared(verdict: Verdict) -> list[CheckResult]:
    """Return what is asked of a case whether it is alone or not."""
    asked_once = ("submitted", APART.name)
    return [result for result in verdict.checks if result.check.name not in asked_once]


def solved(episode: MarathonEpisode) -> float:
    metrics = episode.verdict().metrics
    return metrics["solved"] / metrics["cases"]
