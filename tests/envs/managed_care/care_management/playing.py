"""What the tests of care management share: tasks of a wanted kind, and playing scripts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from healthgym.core.episode import Episode
from healthgym.core.family import EpisodeConfig
from healthgym.core.seeding import Split
from healthgym.core.task import Task
from healthgym.core.tool import ToolCall, call
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.care_management.family import CareFamily
from healthgym.envs.managed_care.care_management.task import (
    CareInstance,
    CareReference,
    Ending,
)
from healthgym.rewards import SparseReward
from healthgym.worlds.managed_care.conversation.persona import Willingness
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.world import ManagedCareWorld

CareEpisode = Episode[Task, CareReference, WorldStart, ManagedCareWorld]
Script = list[ToolCall]
Json = Any
FINISH = call("finish")
SAY, END = "cm_outreach.send_message", "cm_outreach.end_outreach_call"
REVIEW, OPEN = "cm_chart.submit_chart_review", "cm_intake.open_case"
SECTION, PLAN = "cm_assessment.save_section", "cm_care_plan.save_care_plan"
DISENROLL = "cm_intake.disenroll_case"
FAMILY, LENIENT = CareFamily("medium"), CareFamily("medium", rules="compat")
_MOST = 60


@cache
def tasks(count: int = 24) -> tuple[CareInstance, ...]:
    """Return the first test tasks."""
    return tuple(FAMILY.generator.generate(Split.TEST, index) for index in range(count))


def task(ending: Ending, holds: Callable[[CareInstance], object] = lambda _: True) -> CareInstance:
    """Return the first task that ends so, and of which something holds."""
    for index in range(_MOST):
        instance = FAMILY.generator.generate(Split.TEST, index)
        if instance.reference.ending is ending and holds(instance):
            return instance
    raise LookupError(f"No task that ends {ending} is so.")


def lenient(instance: CareInstance) -> CareInstance:
    """Return the same task in an office with the source's rules."""
    return LENIENT.generator.generate(Split.TEST, instance.task.key.index)


def at_first_refusing(instance: CareInstance) -> bool:
    """Return whether the person says no first, and can be won."""
    return instance.reference.persona.willingness is Willingness.INITIALLY_REFUSES


def solution(instance: CareInstance) -> Script:
    """Return what the oracle does."""
    return list(FAMILY.oracle(instance, np.random.default_rng(0)))  # type: ignore[arg-type]


def play(
    instance: CareInstance, script: Sequence[ToolCall], family: CareFamily = FAMILY
) -> CareEpisode:
    """Play a script; calls may be refused."""
    episode: CareEpisode = Episode(family, instance, SparseReward(), EpisodeConfig(max_turns=200))
    for action in script:
        episode.step(action)
    if not episode.done():
        episode.stop()
    return episode


def fails(episode: CareEpisode, profile: Profile = Profile.STRICT) -> set[str]:
    """Return the names of the checks that an episode failed."""
    verdict = episode.verdict(profile=profile)
    return {result.check.name for result in verdict.checks if result.passed is False}


def places(script: Sequence[ToolCall], name: str) -> list[int]:
    """Return where a script calls a tool."""
    return [place for place, each in enumerate(script) if each.name == name]


def changed(script: Sequence[ToolCall], name: str, nth: int = 0, **arguments: Json) -> Script:
    """Return a script with other arguments for a call of a tool."""
    place = places(script, name)[nth]
    new = replace(script[place], arguments={**script[place].arguments, **arguments})
    return [*script[:place], new, *script[place + 1 :]]


def edited(
    script: Sequence[ToolCall], name: str, key: str, edit: Callable[[Json], Json], nth: int = 0
) -> Script:
    """Return a script in which an argument of a call is edited."""
    old = script[places(script, name)[nth]].arguments[key]
    return changed(script, name, nth, **{key: edit(old)})


def section(script: Sequence[ToolCall], name: str, **data: Json) -> Script:
    """Return a script with other entries in a section."""
    for nth, place in enumerate(places(script, SECTION)):
        payload: Mapping[str, Json] = script[place].arguments["payload"]
        if payload["section"] == name:
            new = {**payload, "data": {**payload["data"], **data}}
            return changed(script, SECTION, nth, payload=new)
    raise LookupError(name)


def data_of(script: Sequence[ToolCall], name: str) -> Mapping[str, Json]:
    """Return what a script files in a section."""
    for place in places(script, SECTION):
        payload: Mapping[str, Json] = script[place].arguments["payload"]
        if payload["section"] == name:
            found: Mapping[str, Json] = payload["data"]
            return found
    raise LookupError(name)


def saying(script: Sequence[ToolCall], nth: int, *words: str) -> Script:
    """Return a script in which something is said before a message."""
    place = places(script, SAY)[nth]
    session = script[place].arguments["session_id"]
    said = [call(SAY, session_id=session, message=each) for each in words]
    return [*script[:place], *said, *script[place:]]


def told(script: Sequence[ToolCall], part: str) -> int:
    """Return the number of the first message that has some words."""
    for nth, place in enumerate(places(script, SAY)):
        if part in str(script[place].arguments["message"]):
            return nth
    raise LookupError(part)


def without(script: Sequence[ToolCall], *names: str) -> Script:
    """Return a script without the calls of some tools."""
    return [each for each in script if each.name not in names]
