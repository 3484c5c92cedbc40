"""Problems of a care plan in the words of the trade: a need is no finding, a finding is one."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall
from healthgym.policies.scripted import resolve
from healthgym.registration import make_health_env
from healthgym.testing.play import actions_of

ENV = "HealthAgent/CareManagement-v1"
SAVED = "cm_care_plan.save_care_plan"

RIGHT = (
    ("clinical", "Knowledge deficit regarding {illness}"),
    ("clinical", "Deficient knowledge related to management of {illness}"),
    ("clinical", "Knowledge gaps about {illness}"),
    ("clinical", "Needs education on warning signs of {illness}"),
    ("clinical", "Needs teaching and reminders about {illness}"),
    ("clinical", "Ineffective self-management of {illness}"),
    ("clinical", "Lacks a written action plan for {illness}"),
    ("coordination", "Risk for fragmented care after discharge"),
    ("coordination", "Fragmentation of care between offices"),
)
WRONG = (
    ("clinical", "Knowledge deficit regarding {illness} since her stroke"),
    ("clinical", "Needs education on {illness} after two seizures"),
    ("coordination", "Fragmented care since her husband left"),
    ("coordination", "Has fragmented bone after a fracture"),
)


@cache
def plan_of(category: str) -> tuple[int, tuple[object, ...], int, int, str]:
    """Return a task whose plan has a problem of a category: its calls, where it is, the illness."""
    env = make_health_env(ENV)
    for index in range(40):
        calls = []
        for action in actions_of(env, resolve("oracle"), Split.TRAIN, index):
            calls.append(action)
            env.step(action)
        for place, made in enumerate(calls):
            if not (isinstance(made, ToolCall) and made.name == SAVED):
                continue
            problems = made.arguments["plan_data"]["problems"]
            for number, problem in enumerate(problems):
                illness = problem["description"].partition("what to do when ")[2]
                if problem["category"] == category and (illness or category != "clinical"):
                    return index, tuple(calls), place, number, illness.removesuffix(" acts up")
    raise AssertionError(category)


def judged(category: str, words: str) -> tuple[bool, list[str]]:
    """Return whether an episode passes whose plan calls a problem so, and what failed."""
    index, calls, place, number, illness = plan_of(category)
    saved = calls[place]
    assert isinstance(saved, ToolCall)
    data = saved.arguments["plan_data"]
    problems = list(data["problems"])
    problems[number] = {**problems[number], "description": words.format(illness=illness)}
    changed = replace(
        saved, arguments={**saved.arguments, "plan_data": {**data, "problems": problems}}
    )
    env = make_health_env(ENV)
    env.reset(options={"split": "train", "index": index})
    for call in (*calls[:place], changed, *calls[place + 1 :]):
        *_, info = env.step(call)
    checks = env.episode.verdicts()["strict"]["checks"]
    return info["success"], [check["name"] for check in checks if not check["passed"]]


@pytest.mark.parametrize(("category", "words"), RIGHT)
def test_a_need_in_the_words_of_the_trade_is_accepted(category: str, words: str) -> None:
    assert judged(category, words) == (True, [])


@pytest.mark.parametrize(("category", "words"), WRONG)
def test_what_nobody_told_is_refused_beside_it(category: str, words: str) -> None:
    assert judged(category, words) == (False, ["plan_follows"])
