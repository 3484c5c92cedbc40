"""Appeals for tests: tasks of a wanted kind, and what is changed of their solutions."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from healthgym.core.tool import ToolCall, call
from healthgym.envs.managed_care.utilization_management.family import ReviewFamily
from healthgym.envs.managed_care.utilization_management.task import (
    PRESETS,
    AppealTruth,
    Path,
    ReviewConfig,
    ReviewInstance,
    StartStage,
)
from healthgym.worlds.managed_care.records.decision import Appeal
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.staff import WorkerRole
from tests.envs.managed_care.utilization_management.playing import (
    EXTENDED,
    Script,
    changed,
    first_of,
    position,
    solution,
)

UPHELD, OVERTURNED = Path.APPEAL_UPHELD, Path.APPEAL_OVERTURNED
ACKNOWLEDGE, ASSIGN = "payer_appeals.acknowledge", "payer_appeals.assign_reviewer"
SAVE, ANSWER = "payer_appeals.save_review", "payer_appeals.decide"
LOOSE = Rules.COMPAT


def only_appeals(level: str) -> ReviewConfig:
    """Return a configuration that draws nothing but appeals."""
    return replace(PRESETS[level], stages=(StartStage.APPEAL,), paths=(UPHELD, OVERTURNED))


@cache
def appeals(level: str, count: int) -> tuple[ReviewInstance, ...]:
    """Return appeals of a difficulty, drawn as the environment draws them."""
    made = ReviewFamily(only_appeals(level), tools="extended").generator
    return tuple(made.generate("train", index) for index in range(count))


def truth(instance: ReviewInstance) -> AppealTruth:
    """Return how an appeal is to be decided."""
    found = instance.reference.appeal
    assert found is not None
    return found


def filed(instance: ReviewInstance) -> Appeal:
    """Return the appeal of a task."""
    return next(one for one in instance.start.records if isinstance(one, Appeal))


def partial(instance: ReviewInstance) -> str | None:
    """Return the director of appeals who signed the denial; None where a physician did."""
    who = filed(instance).original_reviewer_id
    assert who is not None
    role = instance.start.staff.role_of(who)
    return who if role is WorkerRole.APPEALS_MEDICAL_DIRECTOR else None


def grounded(path: Path, rules: Rules = Rules.STRICT) -> ReviewInstance:
    """Return an appeal that names what it has to name."""
    return first_of(StartStage.APPEAL, path, lambda one: truth(one).grounded, rules)


def reasoned(instance: ReviewInstance, said: str) -> Script:
    """Return a solution that gives another reason."""
    return changed(solution(instance), ANSWER, rationale=said)


def named(instance: ReviewInstance) -> str:
    """Return policy and version as a reason names them."""
    policy = instance.reference.policy
    return f"{policy.id}, version {policy.version}"


def in_the_hands_of(instance: ReviewInstance, person: str, *tools: str) -> Script:
    """Return a solution in which somebody else does some of the reviewer's steps."""
    script = solution(instance)
    for tool in tools:
        script = changed(script, tool, reviewer_id=person)
    return script


def also(instance: ReviewInstance, tool: str, name: str, **arguments: object) -> Script:
    """Return a solution with a call more, after one of a tool."""
    script = solution(instance)
    place = position(script, tool) + 1
    return [*script[:place], call(name, **arguments), *script[place:]]


def played_by(name: str, instance: ReviewInstance) -> list[ToolCall]:
    """Return what a script of the family does."""
    script = EXTENDED.baselines()[name](instance, np.random.default_rng(0))
    return [each for each in script if isinstance(each, ToolCall)]
