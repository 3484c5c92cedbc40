"""What those earn who do not read what decides: nothing worth having, under the strict profile."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from healthgym.core.family import CEILING
from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.utilization_management.choices import UNREVIEWED
from healthgym.envs.managed_care.utilization_management.family import ReviewFamily
from healthgym.envs.managed_care.utilization_management.guessing import guess
from healthgym.envs.managed_care.utilization_management.task import PRESETS, ReviewInstance
from tests.envs.managed_care.utilization_management.playing import (
    FAMILY,
    FINISH,
    Script,
    play,
    solution,
)
from tests.envs.managed_care.utilization_management.reading_play import played, wrong
from tests.sized import some

#: Tasks each policy plays, of each difficulty.
COUNT = some(40, 20)


@cache
def tasks(difficulty: str) -> tuple[ReviewInstance, ...]:
    generator = ReviewFamily(difficulty).generator
    return tuple(generator.generate(Split.TEST, index) for index in range(COUNT))


def solved(instance: ReviewInstance, script: Script, profile: Profile = Profile.STRICT) -> bool:
    return play(instance, script, refused=True).verdict(profile=profile).success


@pytest.mark.parametrize("difficulty", PRESETS)
def test_who_knows_the_answer_solves_every_task(difficulty: str) -> None:
    for place, instance in enumerate(tasks(difficulty)):
        script = FAMILY.oracle(instance, np.random.default_rng(place))
        episode = play(instance, [each for each in script if isinstance(each, ToolCall)])
        for profile in Profile:
            assert episode.verdict(profile=profile).success, (place, instance.task.kind)


@pytest.mark.parametrize("difficulty", PRESETS)
@pytest.mark.parametrize("name", FAMILY.baselines())
def test_no_habit_is_worth_having(name: str, difficulty: str) -> None:
    play_by = FAMILY.baselines()[name]
    rng = np.random.default_rng(0)
    found = 0
    for instance in tasks(difficulty):
        script = [each for each in play_by(instance, rng) if isinstance(each, ToolCall)]
        found += solved(instance, script)
    assert found <= max(CEILING * COUNT, some(1, 2))


@pytest.mark.parametrize("difficulty", PRESETS)
def test_who_opens_no_document_passes_hardly_a_task(difficulty: str) -> None:
    """In a lane, and where a request ends with intake, there is nothing to read in a packet."""
    passed = [one for one in tasks(difficulty) if not wrong(played(difficulty, one, guess)[0])]
    decided = [one for one in passed if one.reference.path not in UNREVIEWED]
    assert len(decided) <= max(CEILING / 2 * COUNT, 1)
    assert len(passed) <= max(CEILING * COUNT, some(1, 2))


@pytest.mark.parametrize("profile", Profile)
def test_doing_nothing_earns_nothing(profile: Profile) -> None:
    assert not any(solved(instance, [FINISH], profile) for instance in tasks("medium"))
    assert not any(solved(instance, [], profile) for instance in tasks("medium"))


def test_a_solution_of_another_task_of_the_kind_is_no_solution() -> None:
    every = tasks("medium")
    found = 0
    for place, instance in enumerate(every):
        like = [one for one in every if one.task.kind == instance.task.kind and one is not instance]
        if like:
            other = like[place % len(like)]
            names = {other.reference.case_id: instance.reference.case_id}
            found += solved(instance, [_about(each, names) for each in solution(other)])
    assert found <= max(CEILING * COUNT, some(1, 2))


def _about(made: ToolCall, names: dict[str, str]) -> ToolCall:
    """Return a call about another case."""
    arguments = {
        key: names.get(value, value) if isinstance(value, str) else value
        for key, value in made.arguments.items()
    }
    return ToolCall(made.name, arguments)
