"""What the tests of prior authorization share: tasks of a wanted kind, and playing scripts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from healthgym.core.episode import Episode
from healthgym.core.family import EpisodeConfig
from healthgym.core.seeding import Split
from healthgym.core.task import Task
from healthgym.core.tool import ToolCall, call
from healthgym.core.verdict import Profile, Verdict
from healthgym.envs.managed_care.cases.situations import Bar, Course, Gap, fits
from healthgym.envs.managed_care.prior_authorization import oracle
from healthgym.envs.managed_care.prior_authorization.choices import Ask, narrowed
from healthgym.envs.managed_care.prior_authorization.family import AuthorizationFamily
from healthgym.envs.managed_care.prior_authorization.generator import AuthorizationGenerator
from healthgym.envs.managed_care.prior_authorization.task import (
    PRESETS,
    AuthorizationInstance,
    AuthorizationReference,
)
from healthgym.rewards import PotentialReward, SparseReward
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.policies.loading import library
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.vocabulary.authorization import ServiceTypeCategory
from healthgym.worlds.managed_care.world import ManagedCareWorld

Ending = Course | Gap | Bar
AuthorizationEpisode = Episode[Task, AuthorizationReference, WorldStart, ManagedCareWorld]
ENDINGS: tuple[Ending, ...] = (*Course, *Gap, *Bar)
FINISH = call("finish")
CASE, BUNDLE = oracle.CASE, oracle.BUNDLE


@dataclass(frozen=True)
class Kind:
    """What a task is wanted to be."""

    ending: Ending
    category: ServiceTypeCategory | None = None
    difficulty: str = "medium"
    rules: Rules = Rules.STRICT
    index: int = 0

    def __str__(self) -> str:
        parts = (self.ending, self.category or "any", self.difficulty, self.rules)
        return "-".join(str(part) for part in parts)


def possible(ending: Ending, category: ServiceTypeCategory) -> bool:
    """Return whether a policy of a category can end so."""
    return any(
        policy.category is category and fits(policy, ending) for policy in library().values()
    )


@cache
def task(kind: Kind) -> AuthorizationInstance:
    """Return a task of a kind, under a policy of any depth."""
    config = narrowed(PRESETS[kind.difficulty], Ask(kind.ending, kind.category))
    drawing = AuthorizationGenerator(config, kind.difficulty, AuthorizationFamily.name, kind.rules)
    return drawing.generate(Split.TEST, kind.index)


def chart_of(instance: AuthorizationInstance) -> PatientChart:
    """Return the chart of the patient who is meant."""
    return instance.start.charts[instance.reference.patient_id]


def solution(instance: AuthorizationInstance) -> list[ToolCall]:
    """Return what the oracle does, its looks left out."""
    script = FAMILY.oracle(instance, np.random.default_rng(0))
    looks = ("chart.", "handbook.")
    return [each for each in script if not each.name.startswith(looks)]  # type: ignore[union-attr]


def play(
    instance: AuthorizationInstance,
    script: Sequence[ToolCall],
    *,
    refused: bool = False,
    shaped: bool = False,
) -> AuthorizationEpisode:
    """Play a script; what it leaves out is left out.

    Args:
        instance: The task.
        script: The calls.
        refused: Whether calls may be refused.
        shaped: Whether progress is paid.
    """
    reward = PotentialReward() if shaped else SparseReward()
    episode = Episode(FAMILY, instance, reward, EpisodeConfig(max_turns=80))
    for action in script:
        step = episode.step(action)
        assert refused or not step.errors, f"{action}: {step.observation[-400:]}"
    if not episode.done():
        episode.stop()
    return episode


FAMILY = AuthorizationFamily()


def failed(verdict: Verdict) -> set[str]:
    """Return the names of the checks that failed."""
    return {result.check.name for result in verdict.checks if result.passed is False}


def fails(episode: AuthorizationEpisode, profile: Profile = Profile.STRICT) -> set[str]:
    """Return the names of the checks that an episode failed."""
    return failed(episode.verdict(profile=profile))


def position(script: Sequence[ToolCall], name: str) -> int:
    """Return where a script first calls a tool."""
    return next(place for place, each in enumerate(script) if each.name == name)


def changed(script: Sequence[ToolCall], name: str, **arguments: object) -> list[ToolCall]:
    """Return a script with other arguments for the first call of a tool."""
    place = position(script, name)
    new = replace(script[place], arguments={**script[place].arguments, **arguments})
    return [*script[:place], new, *script[place + 1 :]]


def answering(script: Sequence[ToolCall], **answers: str) -> list[ToolCall]:
    """Return a script with other answers in the forms."""
    place = position(script, "forms.save_form_response")
    old = script[place].arguments["answers"]
    assert isinstance(old, Mapping)
    return changed(script, "forms.save_form_response", answers={**old, **answers})


def before(script: Sequence[ToolCall], name: str, *calls: ToolCall) -> list[ToolCall]:
    """Return a script with further calls before the first call of a tool."""
    place = position(script, name)
    return [*script[:place], *calls, *script[place:]]


def without(script: Sequence[ToolCall], *names: str) -> list[ToolCall]:
    """Return a script without the calls of some tools."""
    return [each for each in script if each.name not in names]


def first_of(
    ending: Ending, holds: Callable[[AuthorizationInstance], object], difficulty: str = "medium"
) -> AuthorizationInstance:
    """Return the first task of an ending of which something holds."""
    for index in range(60):
        instance = task(Kind(ending, difficulty=difficulty, index=index))
        if holds(instance):
            return instance
    raise LookupError(f"No task that ends {ending} is so.")
