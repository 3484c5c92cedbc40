"""What the tests of utilization management share: tasks of a wanted kind, and playing scripts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from healthgym.core.episode import Episode
from healthgym.core.family import EpisodeConfig
from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall, call
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.utilization_management.family import ReviewFamily
from healthgym.envs.managed_care.utilization_management.generator import ReviewGenerator
from healthgym.envs.managed_care.utilization_management.task import (
    PRESETS,
    PUBLISHED_STAGES,
    Path,
    ReviewInstance,
    StartStage,
)
from healthgym.envs.managed_care.utilization_management.working import ReviewEpisode
from healthgym.rewards import PotentialReward, SparseReward
from healthgym.worlds.managed_care.rules import Rules

Script = list[ToolCall]
FAMILY = ReviewFamily()
#: With the appeals desk.
EXTENDED = ReviewFamily(tools="extended")
FINISH = call("finish")
#: Tools that only look.
LOOKS = ("handbook.", "review.get_", "triage.calculate", "triage.check", "p2p.list")
NURSE, MD = "review.save_criteria_evaluation", "review.save_md_review"
RECOMMEND = "review.submit_nurse_case_recommendation"
DECIDE = "review.submit_md_case_decision"
FINALIZE = "determination.finalize"
DELIVER = "payer_letter_center.deliver"
NOTIFY = "payer_letter_center.generate_notification"


@cache
def task(
    stage: StartStage,
    path: Path,
    index: int = 0,
    difficulty: str = "medium",
    rules: Rules = Rules.STRICT,
) -> ReviewInstance:
    """Return a task of a kind."""
    config = replace(PRESETS[difficulty], stages=(stage,), paths=(path,), criteria=(1, 20))
    name = f"tests-{stage}-{path}"
    return ReviewGenerator(config, difficulty, name, rules).generate(Split.TEST, index)


def first_of(
    stage: StartStage,
    path: Path,
    holds: Callable[[ReviewInstance], object],
    rules: Rules = Rules.STRICT,
) -> ReviewInstance:
    """Return the first task of a kind of which something holds."""
    for index in range(60):
        instance = task(stage, path, index, rules=rules)
        if holds(instance):
            return instance
    raise LookupError(f"No task from {stage} that is {path} is so.")


@cache
def _solved(place: int) -> tuple[ToolCall, ...]:
    script = family_of(_KNOWN[place]).oracle(_KNOWN[place], np.random.default_rng(0))
    return tuple(each for each in script if isinstance(each, ToolCall))


_KNOWN: list[ReviewInstance] = []


def family_of(instance: ReviewInstance) -> ReviewFamily:
    """Return the family whose tools a task needs."""
    return FAMILY if instance.reference.stage in PUBLISHED_STAGES else EXTENDED


def solution(instance: ReviewInstance) -> Script:
    """Return what the oracle does."""
    for place, known in enumerate(_KNOWN):
        if known is instance:
            return list(_solved(place))
    _KNOWN.append(instance)
    return list(_solved(len(_KNOWN) - 1))


def play(
    instance: ReviewInstance,
    script: Sequence[ToolCall],
    *,
    refused: bool = False,
    shaped: bool = False,
    stops: bool = True,
) -> ReviewEpisode:
    """Play a script; what it leaves out is left out.

    Args:
        instance: The task.
        script: The calls.
        refused: Whether calls may be refused.
        shaped: Whether progress is paid.
        stops: Whether an episode that is not handed in is stopped.
    """
    reward = PotentialReward() if shaped else SparseReward()
    episode = Episode(family_of(instance), instance, reward, EpisodeConfig(max_turns=200))
    for action in script:
        step = episode.step(action)
        assert refused or not step.errors, f"{action}: {step.observation[-400:]}"
    if stops and not episode.done():
        episode.stop()
    return episode


def fails(episode: ReviewEpisode, profile: Profile = Profile.STRICT) -> set[str]:
    """Return the names of the checks that an episode failed."""
    checks = episode.verdict(profile=profile).checks
    return {result.check.name for result in checks if result.passed is False}


def position(script: Sequence[ToolCall], name: str, nth: int = 0) -> int:
    """Return where a script calls a tool for the first time, or the last where ``nth`` is -1."""
    return [place for place, each in enumerate(script) if each.name == name][nth]


def changed(script: Sequence[ToolCall], name: str, nth: int = 0, /, **arguments: object) -> Script:
    """Return a script with other arguments for one call of a tool."""
    place = position(script, name, nth)
    new = replace(script[place], arguments={**script[place].arguments, **arguments})
    return [*script[:place], new, *script[place + 1 :]]


def before(script: Sequence[ToolCall], name: str, *calls: ToolCall, nth: int = 0) -> Script:
    """Return a script with further calls before one call of a tool."""
    place = position(script, name, nth)
    return [*script[:place], *calls, *script[place:]]


def after(script: Sequence[ToolCall], name: str, *calls: ToolCall, nth: int = 0) -> Script:
    """Return a script with further calls after one call of a tool."""
    place = position(script, name, nth) + 1
    return [*script[:place], *calls, *script[place:]]


def without(script: Sequence[ToolCall], *names: str, nth: int | None = None) -> Script:
    """Return a script without the calls of some tools, or without one call of the first."""
    if nth is not None:
        place = position(script, names[0], nth)
        return [*script[:place], *script[place + 1 :]]
    return [each for each in script if each.name not in names]


def rows(script: Sequence[ToolCall], name: str = NURSE, nth: int = -1) -> list[dict[str, Any]]:
    """Return the findings of a call, to be changed."""
    given = script[position(script, name, nth)].arguments["evaluations"]
    assert isinstance(given, list)
    return [dict(row) for row in given]


def finding(
    script: Sequence[ToolCall], criterion: str, name: str = NURSE, /, **fields: object
) -> Script:
    """Return a script with another finding on a criterion, in the last review."""
    found = rows(script, name)
    for row in found:
        if row["criterion_id"] == criterion:
            row.update(fields)
    return changed(script, name, -1, evaluations=found)


def every(script: Sequence[ToolCall], name: str = NURSE, /, **fields: object) -> Script:
    """Return a script with something else in each finding of the last review."""
    return changed(script, name, -1, evaluations=[{**row, **fields} for row in rows(script, name)])


def other_case(instance: ReviewInstance) -> str:
    """Return a case of another member's that lies at intake or later."""
    world = FAMILY.open(instance)
    own = instance.reference.case_id
    return next(one.case_id for one in world.intake.intakes.values() if one.case_id != own)


def shown(instance: ReviewInstance, result: str) -> list[str]:
    """Return the criteria that end with a result."""
    final: Mapping[str, object] = instance.reference.final
    return [name for name, found in final.items() if str(found) == result]
