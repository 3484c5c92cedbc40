"""What those earn who do not listen, or do not read: nothing worth having under ``strict``."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from healthgym.core.episode import Episode
from healthgym.core.family import CEILING
from healthgym.core.players import Player
from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.care_management.family import CareFamily
from healthgym.envs.managed_care.care_management.parroting import parrot
from healthgym.envs.managed_care.care_management.task import PRESETS, CareInstance, Ending
from healthgym.rewards import SparseReward
from tests.envs.managed_care.care_management.playing import (
    DISENROLL,
    FAMILY,
    FINISH,
    LENIENT,
    PLAN,
    CareEpisode,
    lenient,
    play,
    solution,
    tasks,
    without,
)
from tests.sized import first_ones

#: Tasks each policy plays here; on sixty of each difficulty it was measured once.
COUNT = 12
#: The same of those who need no more than one right class.
MANY = 100
NAMES = tuple(FAMILY.baselines())
#: What the source's checks pay for in the source's office.
PAID = ("flood", "empty_sections", "claimed_consent", "pressing_caller", "one_script")


def share(play_one: Callable[[CareInstance], list[ToolCall]]) -> float:
    solved = 0
    for instance in tasks(COUNT):
        solved += play(instance, play_one(instance)).verdict(profile=Profile.STRICT).success
    return solved / COUNT


@pytest.mark.parametrize("name", NAMES)
def test_who_does_not_listen_solves_nothing(name: str) -> None:
    baseline, rng = FAMILY.baselines()[name], np.random.default_rng(0)
    assert share(lambda each: list(baseline(each, rng))) <= max(CEILING, 1 / COUNT)  # type: ignore[arg-type]


@pytest.mark.parametrize("difficulty", first_ones(PRESETS))
def test_who_says_back_what_is_said_solves_nothing(difficulty: str) -> None:
    family = CareFamily(difficulty)
    solved = sum(_parroted(family, index) for index in range(MANY))
    assert solved / MANY <= CEILING


def _parroted(family: CareFamily, index: int) -> bool:
    instance = family.generator.generate(Split.TEST, index)
    episode: CareEpisode = Episode(family, instance, SparseReward(), family.rules)
    player, observation = Player.of_solver(parrot, episode.instruction()), ""
    while not episode.done() and (action := player.act(observation)) is not None:
        observation = episode.step(action).observation
    return bool(episode.verdict(profile=Profile.STRICT).success)


@pytest.mark.parametrize("difficulty", first_ones(PRESETS))
def test_taking_everybody_for_somebody_who_declines_hardly_pays(difficulty: str) -> None:
    family, rng, solved = CareFamily(difficulty), np.random.default_rng(0), 0
    declining = family.baselines()["disenroll_everybody"]
    for index in range(MANY):
        instance = family.generator.generate(Split.TEST, index)
        episode = play(instance, list(declining(instance, rng)), family)  # type: ignore[arg-type]
        solved += episode.verdict(profile=Profile.STRICT).success
    assert solved / MANY <= CEILING


def test_doing_nothing_earns_nothing() -> None:
    assert share(lambda _: [FINISH]) == 0.0


def test_a_polite_caller_who_knows_no_chart_solves_no_plan() -> None:
    polite, rng = FAMILY.baselines()["polite_caller"], np.random.default_rng(0)
    for instance in tasks(COUNT):
        if instance.reference.ending is Ending.PLANNED:
            verdict = play(instance, list(polite(instance, rng))).verdict(profile=Profile.STRICT)  # type: ignore[arg-type]
            assert not verdict.success


def test_a_solution_of_another_task_is_no_solution() -> None:
    scripts = {each.task.key.index: solution(each) for each in tasks(COUNT)}

    def replayed(instance: CareInstance) -> list[ToolCall]:
        return scripts[(instance.task.key.index + 1) % COUNT]

    assert share(replayed) == 0.0


def test_no_solution_without_its_last_step() -> None:
    for name in (PLAN, DISENROLL):
        relevant = [each for each in tasks(2 * COUNT) if name in {c.name for c in solution(each)}]
        assert relevant
        for instance in relevant[:3]:
            verdict = play(instance, without(solution(instance), name)).verdict()
            assert not verdict.success


@pytest.mark.parametrize("name", PAID)
def test_what_the_source_pays_for_is_worth_nothing_here(name: str) -> None:
    instance = next(each for each in tasks(COUNT) if each.reference.ending is Ending.PLANNED)
    script = list(LENIENT.baselines()[name](lenient(instance), np.random.default_rng(0)))
    episode = play(lenient(instance), script, LENIENT)  # type: ignore[arg-type]
    assert episode.verdict(profile=Profile.PAPER).success
    assert not episode.verdict(profile=Profile.STRICT).success
