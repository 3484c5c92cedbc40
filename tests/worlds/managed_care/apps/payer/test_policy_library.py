"""The policy library: what is found, and what is read."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from healthgym.worlds.managed_care.policies.book import PolicyBook
from healthgym.worlds.managed_care.policies.loading import library
from healthgym.worlds.managed_care.policies.policy import Policy, superseded
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.refusals import RefusalCode
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.payer.desk import refused, world


@pytest.fixture
def policy() -> Policy:
    return next(one for one in library().values() if one.in_force(date(2026, 3, 13)))


def _desk(*policies: Policy) -> ManagedCareWorld:
    return ManagedCareWorld(replace(world().start, policies=PolicyBook(policies)))


def _items(found: Any) -> list[dict[str, Any]]:
    return list(found["items"])


def test_a_category_tells_how_many_policies_are_in_force(policy: Policy) -> None:
    old = superseded(policy, "2024.1", date(2024, 1, 1), date(2024, 12, 31))
    rows = _items(_desk(policy, old).library.categories())
    assert rows == [{"category": policy.category, "policies_in_force": 1}]


def test_a_search_finds_by_title_and_by_code_and_tells_what_is_in_force(policy: Policy) -> None:
    old = superseded(policy, "2024.1", date(2024, 1, 1), date(2024, 12, 31))
    shelf = _desk(policy, old).library
    for words in (policy.title.split()[0].upper(), policy.procedures[0].code, ""):
        rows = _items(shelf.search(words))
        assert [(row["version"], row["in_force"]) for row in rows] == [
            (policy.version, True),
            ("2024.1", False),
        ]
    assert _items(shelf.search("no such words")) == []
    spoken = f"{policy.title} {policy.procedures[0].code} please"
    assert {row["policy_id"] for row in _items(shelf.search(spoken))} == {policy.id}


def test_a_search_finds_what_has_most_of_the_words(policy: Policy) -> None:
    other = next(one for one in library().values() if one.category is not policy.category)
    shelf = _desk(policy, other).library
    words = f"{policy.procedures[0].display} {other.title.split()[0]}"
    assert [row["policy_id"] for row in _items(shelf.search(words))] == [policy.id]


def test_a_file_says_how_its_criteria_fit_together(policy: Policy) -> None:
    found: Any = _desk(policy).library.file(policy.id)
    assert re.findall(r"C\d+", found["approved_if"]) == [
        one.id for one in criteria(policy.criteria)
    ]


def test_a_search_can_be_kept_to_plan_and_state(policy: Policy) -> None:
    texan = replace(policy, states=("TX",), plans=("Plan A",))
    shelf = _desk(texan).library
    assert len(_items(shelf.search("", texan.category, "Plan A", "tx"))) == 1
    assert _items(shelf.search("", None, "Plan B")) == []
    assert _items(shelf.search("", None, None, "NY")) == []


def test_a_policy_is_read_with_its_criteria(policy: Policy) -> None:
    found: Any = _desk(policy).library.file(policy.id)
    assert [row["criterion_id"] for row in found["criteria"]] == [
        one.id for one in criteria(policy.criteria)
    ]
    assert all(row["text"] for row in found["criteria"])


def test_versions_and_policies_that_there_are_not_are_named(policy: Policy) -> None:
    shelf = _desk(policy).library
    sentence = refused(RefusalCode.NOT_FOUND, lambda: shelf.file(policy.id, "1999.1"))
    assert policy.version in sentence
    refused(RefusalCode.NOT_FOUND, lambda: shelf.file("MP-NONE"))


def test_without_a_library_nothing_is_found() -> None:
    assert _items(world().library.search("knee")) == []


def test_procedures_are_looked_up_by_code_and_by_words(policy: Policy) -> None:
    shelf, first = _desk(policy).library, policy.procedures[0]
    for words in (first.code, first.display.upper()):
        assert first.code in [row["code"] for row in _items(shelf.procedures(words))]
    assert _items(shelf.procedures("no such words")) == []
