"""The reader: what an agent is shown suffices, and has to be read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from healthgym.core.episode import AnyEpisode
from healthgym.core.players import Player
from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall, call
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.cases.situations import Bar, Course
from healthgym.envs.managed_care.prior_authorization import solver
from healthgym.envs.managed_care.prior_authorization.env import PriorAuthorizationEnv
from healthgym.envs.managed_care.prior_authorization.task import PRESETS, AuthorizationConfig
from tests.sized import some

EASY, MEDIUM = some(60, 40), some(24, 16)
Play = Callable[[str], solver.Play[None]]


@cache
def environment(level: str | AuthorizationConfig) -> PriorAuthorizationEnv:
    return PriorAuthorizationEnv(difficulty=level)


def played(
    level: str | AuthorizationConfig, index: int, play: Play, split: Split = Split.TRAIN
) -> tuple[AnyEpisode, list[ToolCall]]:
    """Play a task to its end; return the episode and the calls."""
    episode = environment(level).open_episode(split, index)
    moves = play(episode.instruction())
    calls = [next(moves)]
    while not episode.done():
        observation = episode.step(calls[-1]).observation
        if not episode.done():
            calls.append(moves.send(observation))
    return episode, calls


def solved(episode: AnyEpisode) -> bool:
    return episode.verdict(profile=Profile.STRICT).success


def failures(level: str, split: Split, count: int) -> list[str]:
    """Return what was not solved, with the checks that failed."""
    found = []
    for index in range(count):
        episode, _ = played(level, index, solver.solve, split)
        verdict = episode.verdict(profile=Profile.STRICT)
        wrong = [each.check.name for each in verdict.checks if each.passed is False]
        if wrong:
            found.append(f"{split}/{index} {episode.task.kind}: {', '.join(wrong)}")
    return found


@pytest.mark.parametrize("split", [Split.TRAIN, Split.TEST])
def test_the_reader_solves_nearly_every_easy_task(split: Split) -> None:
    missed = failures("easy", split, EASY // 2)
    assert len(missed) <= EASY // 2 // 10, missed


def test_the_reader_solves_most_tasks_of_medium_difficulty() -> None:
    missed = failures("medium", Split.TRAIN, MEDIUM)
    assert len(missed) <= MEDIUM // 4, missed


WITHOUT_NUMBERS = tuple(map(str, (Bar.INACTIVE, Bar.NOT_REQUIRED, Bar.OUT_OF_NETWORK)))
WRITES = ("save_form", "bundle", "finalize", "submit", "appeal", "upload", "create")


def written(calls: list[ToolCall]) -> list[str]:
    """Return the calls that put something down."""
    return [str(each) for each in calls if any(word in each.name for word in WRITES)]


@pytest.mark.slow
@pytest.mark.parametrize(("level", "share"), [("easy", 0.6), ("medium", 0.6)])
def test_numbers_known_by_heart_decide_often_and_fail_there(level: str, share: float) -> None:
    on_criteria, decided, right = 0, 0, 0
    for index in range(EASY // 2):
        episode, calls = played(level, index, solver.solve)
        other, others = played(level, index, solver.solve_by_heart)
        on_criteria += not episode.task.kind.endswith(WITHOUT_NUMBERS)
        if solved(episode) and written(calls) != written(others):
            decided += 1
            right += solved(other)
    assert decided >= share * on_criteria
    assert right <= decided // 5


def test_a_memory_keeps_what_it_read_first() -> None:
    memory = solver.Memory()
    played("easy", 0, lambda told: solver.remembering(memory, told))
    first = dict(memory.trees)
    assert len(first) == 1
    assert memory.channels is not None
    for index in range(1, 6):
        played("easy", index, lambda told: solver.remembering(memory, told))
    assert all(memory.trees[name] is tree for name, tree in first.items())


@pytest.mark.parametrize("course", list(Course))
def test_whatever_the_payer_answers_is_seen_through(course: Course) -> None:
    level = replace(PRESETS["medium"], courses=(course,))
    env = environment(level)
    found = (
        index
        for index in range(30)
        if str(course) in env.open_episode(Split.TRAIN, index).task.kind
    )
    index = next(found)
    episode, _ = played(level, index, solver.solve)
    verdict = episode.verdict(profile=Profile.STRICT)
    assert verdict.success, [each for each in verdict.checks if each.passed is False]


ODD = {
    "empty": "",
    "error": "Error: no.",
    "nothing": "nothing",
    "patient": "patient:\n",
    "table": "total: 1\nitems:\n  id | dob\n  P | 1900-01-01",
}


@pytest.mark.parametrize("answer", ODD.values(), ids=ODD)
def test_what_cannot_be_read_is_given_up(answer: str) -> None:
    told = environment("easy").open_episode(Split.TRAIN, 0).instruction()
    player = Player.of_solver(solver.solve, told)
    calls = [player.act()]
    while len(calls) < 80 and (move := player.act(answer)) is not None:
        calls.append(move)
    assert calls[-1] == call("finish")


def test_another_instruction_is_given_up_at_once() -> None:
    assert list(solver.solve("Hello.")) == [call("finish")]


@pytest.mark.parametrize("index", range(4))
def test_the_reader_writes_command_lines_where_calls_are_lines(index: int) -> None:
    env = PriorAuthorizationEnv(difficulty="easy", surface="cli")
    episode = env.open_episode(Split.TRAIN, index)
    player = env.family.player("solver", episode._instance, np.random.default_rng(0))
    line = player.act()
    while line is not None and not episode.done():
        assert isinstance(line, str)
        line = player.act(episode.step(line).observation)
    assert solved(episode)
