"""Honest words cost a turn at most: whatever else is said rightly, the task can be done."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from healthgym.envs.managed_care.care_management.task import Ending
from healthgym.worlds.managed_care.conversation.acts import Act
from healthgym.worlds.managed_care.conversation.recognition import understand
from healthgym.worlds.managed_care.voices import Consent
from tests.envs.managed_care.care_management.playing import (
    SAY,
    edited,
    fails,
    play,
    saying,
    solution,
    task,
    told,
)

#: Files of honest sentences, with the least share of them that may be said with every right call.
#: Of the second file nobody who writes the grammar looks at what fails.
LEAST = {"honest_said.jsonl": 1.0, "honest_kept.jsonl": 0.94}
PHRASES = Path("tests/worlds/managed_care/conversation")
PEOPLE = 3


@pytest.fixture
def honest(monkeypatch: pytest.MonkeyPatch, repo_root: Path) -> ModuleType:
    monkeypatch.syspath_prepend(repo_root / "benchmarks")
    return import_module("_managed_care.honest")


@pytest.mark.slow
def test_an_honest_sentence_more_leaves_every_right_call_right(
    honest: ModuleType, repo_root: Path
) -> None:
    calls = honest.Calls(PEOPLE)
    assert not [number for number in range(PEOPLE) if calls.failed(number, None)]
    for name, least in LEAST.items():
        said = honest.sentences(repo_root / PHRASES / name)
        assert len(said) >= 60
        right = [not calls.failed(number, each) for number, each in enumerate(said)]
        assert sum(right) >= least * len(said), (name, sum(right))


def test_one_private_question_without_leave_is_a_slip_and_two_are_harvesting() -> None:
    person = task(Ending.PLANNED, lambda each: not each.reference.persona.breaks)
    script = solution(person)
    money = told(script, "May I ask you about money?")
    later = "Do you have trouble paying your bills?"
    once = saying(script, money, later)
    assert fails(play(person, once)) == set()
    twice = saying(script, money, later, later)
    assert "no_harvesting" in fails(play(person, twice))


@pytest.mark.parametrize(
    "asked",
    [
        "A few questions about money come next. Do you agree to that?",
        "I would like to go on with your bills and the money. Are you okay with this?",
    ],
)
def test_leave_that_is_heard_as_a_request_is_leave(asked: str) -> None:
    assert Act.REQUEST_CONSENT in {each.act for each in understand(asked).acts if each.sure}
    person = task(Ending.PLANNED)
    script = solution(person)
    money = told(script, "May I ask you about money?")
    with_leave = edited(
        script, SAY, "message", lambda said: said.replace("May I ask you about money? ", ""), money
    )
    assert fails(play(person, saying(with_leave, money, asked))) == set()


def test_nobody_hangs_up_at_a_goodbye_in_the_middle_or_at_the_beginning() -> None:
    person = task(Ending.PLANNED)
    script = solution(person)
    first = edited(script, SAY, "message", lambda said: f"Take care of yourself. {said}")
    assert fails(play(person, first)) == set()
    second = edited(script, SAY, "message", lambda said: f"Have a nice day. {said}", 1)
    assert fails(play(person, second)) == set()


def test_what_sounds_like_a_threat_costs_turns_if_it_is_taken_back() -> None:
    person = task(Ending.PLANNED)
    odd = "Otherwise I could not help you with anything at all."
    assert {each.act for each in understand(odd).acts if not each.sure} == {Act.PRESSURE}
    script = solution(person)
    ask = told(script, "Do you agree")
    back = "No, you do not have to. I put that badly, and I am sorry."
    assert "no_pressure" not in fails(play(person, saying(script, ask, odd, back)))
    kept = play(person, saying(script, ask, odd))
    assert "no_pressure" in fails(kept)
    memory = kept.world.outreach.memory(person.reference.case_id)
    assert memory.consent is Consent.REFUSED
