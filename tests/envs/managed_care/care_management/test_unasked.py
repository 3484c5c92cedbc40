"""What honest nurses wrote and was refused: lists of what was not asked, conditions, words."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

import pytest

from healthgym.envs.managed_care.care_management.advice import harmful, told_in
from healthgym.envs.managed_care.care_management.clauses import Speaks
from healthgym.envs.managed_care.care_management.granted_words import PAGES, other_words
from healthgym.envs.managed_care.care_management.taken_for_granted import taken_for_granted
from healthgym.envs.managed_care.care_management.unasked import without_lists
from healthgym.worlds.managed_care.seen import Seen
from healthgym.worlds.managed_care.texts import Texts

PEOPLE = 2


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch, repo_root: object) -> ModuleType:
    monkeypatch.syspath_prepend(f"{repo_root}/benchmarks")
    return import_module("_managed_care.texts")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Topics: mood, alcohol, safety, money.", "Topics: subjects."),
        ("Asked before each (mood, alcohol, money): fine.", "Asked before each (subjects): fine."),
        ("Permission first for mood, alcohol and money.", "."),
        ("Barriers: money, alcohol, housing.", "Barriers: money, alcohol, housing."),
        ("At home, alcohol is a problem.", "At home, alcohol is a problem."),
        ("Depression and alcohol.", "Depression and alcohol."),
        ("Not asked: mood, the bus, phone and internet.", "."),
        ("Called at ten. Not discussed: medicines, wine, the gym", "Called at ten."),
        ("Could not be found: a blood pressure, any PHQ-9, follow-up with cardiology.", "."),
        ("Not asked so far: how medicines are taken, work hours.", "."),
        ("Phone and internet were not asked about.", "."),
        ("Not asked about mood, alcohol and smoking.", "."),
        # Somebody, or what somebody does, is told of wherever it stands.
        ("Not asked: mood, his brother, sleep.", "Not asked: his brother."),
        ("Not asked: mood, she drinks every day.", "Not asked: she drinks every day."),
        ("Not found: the chart, the house was sold.", "Not found: the house was sold."),
        ("Asked: mood, the bus, phone and internet.", "Asked: mood, the bus, phone and internet."),
        ("Takes it daily. Left out: two pills.", "Takes it daily. Left out: two pills."),
        ("He was not asked about and drinks.", "He was not asked about and drinks."),
    ],
)
def test_a_list_of_what_was_not_asked_tells_of_no_thing_in_it(text: str, left: str) -> None:
    assert without_lists(text).strip() == left


RIGHT = (
    ("review.key_findings", "{value}. Not found: follow-up with cardiology, a video, the gym."),
    ("outreach.notes", "Not asked: mood, help at home, phone and internet, work hours."),
    ("outreach.notes", "Not discussed: wine, the dentist, smoking."),
    ("medication.adherence_barriers", "No longer knew what {medicine} is for"),
    ("plan.problem", "Lives with {condition}, which is not fully in hand"),
    ("plan.problem", "Sixteen days without a word from the practice about {condition}"),
    ("plan.intervention", "Go over when to call about breathing, without telling her off"),
    ("plan.escalation", "She stops taking insulin: call the primary care practice the same day"),
    ("plan.escalation", "Skips doses because of side effects: call the practice"),
)
WRONG = (
    ("review.key_findings", "{value}. Not found: the dentist, his yacht sank."),
    ("outreach.notes", "Not asked: mood, her sister drinks."),
    ("outreach.notes", "Discussed: wine, the dentist, smoking."),
    ("plan.intervention", "Change the doses without telling her doctor"),
    ("plan.escalation", "Stop insulin: call the practice later"),
    ("plan.escalation", "Dizziness: skip the insulin and call the practice"),
)


@pytest.mark.parametrize(("field", "text"), RIGHT)
def test_honest_words_of_a_file_pass(reading: ModuleType, field: str, text: str) -> None:
    files = reading.Files(PEOPLE)
    for number in range(PEOPLE):
        failed = files.failed(number, [reading.Text(field, text)])
        assert not [each for each in failed if "Sixteen" not in text or "nowhere seen" in each]


@pytest.mark.parametrize(("field", "text"), WRONG)
def test_falsehoods_beside_them_fail(reading: ModuleType, field: str, text: str) -> None:
    files = reading.Files(PEOPLE)
    assert any(files.failed(number, [reading.Text(field, text)]) for number in range(PEOPLE))


def test_what_a_condition_says_of_the_person_is_no_advice_and_what_follows_is() -> None:
    assert not list(harmful(told_in("Stops taking insulin: call the practice the same day")))
    for text in ("Stop insulin: call", "Fever: stop insulin", "Stops taking insulin"):
        assert list(harmful(told_in(text))), text


def _seen(on_file: str) -> Seen:
    return Seen(Texts([on_file]), str, talked=True, pages=PAGES, other_words=other_words)


@pytest.mark.parametrize(
    ("text", "on_file"),
    [
        ("Agreement with the landlord confirmed in writing", "I'm behind with the rent."),
        ("Three stays, the last 2026-01-27 to 2026-01-31", "Nothing."),
        ("How is each of the thirteen medicines taken", "Nothing."),
    ],
)
def test_what_follows_from_what_was_said_takes_nothing_for_granted(text: str, on_file: str) -> None:
    seen = _seen(on_file)
    for speaks in (Speaks.TELLS, Speaks.AIMS):
        assert [*filter(None, (doubt(seen) for doubt in taken_for_granted(text, speaks)))] == []


def test_a_landlord_of_whom_nothing_points_is_taken_for_granted() -> None:
    seen = _seen("Nothing.")
    doubts = taken_for_granted("Agreement with the landlord in writing", Speaks.AIMS)
    assert any(filter(None, (doubt(seen) for doubt in doubts)))
