"""Two hundred questions to the handbook: each has one answer, and a reader finds most of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from healthgym.worlds.managed_care.handbook.edition import edition, written_library
from healthgym.worlds.managed_care.handbook.rules import OperatingRules

USUAL = OperatingRules()
QUESTIONS = "tests/worlds/managed_care/handbook/questions.jsonl"


@pytest.fixture
def quoting(monkeypatch: pytest.MonkeyPatch, repo_root: Path) -> ModuleType:
    monkeypatch.syspath_prepend(repo_root / "benchmarks")
    return import_module("_managed_care.quoting")


def test_each_answer_stands_in_one_place(quoting, repo_root):
    asked = quoting.questions(repo_root / QUESTIONS)
    pages = {page.path: quoting.flat(page.text) for page in edition().pages(USUAL)}
    for each in asked:
        answer = each.filled(USUAL)
        standing = {path: text.count(answer) for path, text in pages.items() if answer in text}
        assert standing == {each.page: 1}, each.question


def test_the_questions_are_two_hundred_of_every_role(quoting, repo_root):
    asked = quoting.questions(repo_root / QUESTIONS)
    roles = Counter(each.page.split("/")[0] for each in asked)
    assert len({each.question for each in asked}) == len(asked) == 200
    assert min(roles[role] for role in ("payer-um", "provider-pa", "care-manager")) >= 35
    assert len({each.page for each in asked}) >= 60


def test_a_reader_without_a_model_finds_most_of_a_sample(quoting, repo_root):
    tools = quoting.reader_of(written_library())
    sample = quoting.questions(repo_root / QUESTIONS)[::5]
    found = [(each, quoting.look_up(tools, each.question)) for each in sample]
    assert sum(each.page in one.pages[:3] for each, one in found) >= 0.85 * len(sample)
    right = [each.filled(USUAL) in " | ".join(one.passages[:3]) for each, one in found]
    assert sum(right) >= 0.7 * len(sample)


def test_the_answer_is_that_of_the_task(quoting, repo_root):
    rules = replace(USUAL, pend_days=7, urgent_discharge_days=10, p2p_turn_limit=6)
    tools = quoting.reader_of(written_library().overlay(edition().overlay(rules)))
    asked = quoting.questions(repo_root / QUESTIONS)
    changed = [each for each in asked if each.filled(rules) != each.filled(USUAL)]
    assert len(changed) == 3
    for each in changed:
        texts = quoting.look_up(tools, each.question).passages
        assert any(each.filled(rules) in text for text in texts)
        assert not any(each.filled(USUAL) in text for text in texts)
