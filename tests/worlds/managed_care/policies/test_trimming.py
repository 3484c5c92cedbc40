"""Shorter editions of policies: whole policies of the size that is asked for."""

from __future__ import annotations

import numpy as np
import pytest

from healthgym.worlds.managed_care.policies.checking import contradiction
from healthgym.worlds.managed_care.policies.documents import required_kinds
from healthgym.worlds.managed_care.policies.loading import library
from healthgym.worlds.managed_care.policies.pages import render_page
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.tree import AtLeast, Group, criteria, parts, walk
from healthgym.worlds.managed_care.policies.trimming import EDITIONS, editions, trimmed

LONG = [policy for policy in library().values() if len(criteria(policy.criteria)) > 5]


@pytest.mark.parametrize("policy", LONG, ids=lambda policy: policy.id)
def test_a_long_policy_has_short_editions_that_are_policies(policy: Policy) -> None:
    found = editions(policy, 2, 5)
    assert 2 <= len(found) <= EDITIONS
    for short in found:
        names = [item.id for item in criteria(short.criteria)]
        assert 2 <= len(names) <= 5
        assert names == [f"C{place}" for place in range(1, len(names) + 1)]
        assert not contradiction(short)
        for node in walk(short.criteria):
            if isinstance(node, Group) and node is not short.criteria:
                assert len(parts(node)) > 1 or node.kind == "not"  # type: ignore[attr-defined]
            assert not isinstance(node, AtLeast) or node.n < len(node.parts)
        whole = {item.display for item in criteria(policy.criteria)}
        assert {item.display for item in criteria(short.criteria)} <= whole


@pytest.mark.parametrize("policy", LONG[::4], ids=lambda policy: policy.id)
def test_page_form_and_documents_follow_from_the_short_edition(policy: Policy) -> None:
    for short in editions(policy, 2, 5):
        page = render_page(short)
        for item in criteria(short.criteria):
            assert short.text(item.id) in page
        assert f"**C{len(criteria(short.criteria)) + 1}**" not in page
        assert set(required_kinds(short.criteria)) <= set(short.required_documents)
        asked = {question.key.partition("_")[0].upper() for question in short.form.questions}
        numbered = {name for name in asked if name[:1] == "C" and name[1:].isdigit()}
        assert numbered <= {item.id for item in criteria(short.criteria)}


@pytest.mark.parametrize("policy", LONG, ids=lambda policy: policy.id)
def test_no_text_of_the_whole_policy_speaks_of_what_is_left_out(policy: Policy) -> None:
    texts = policy.texts
    said = [text for text in (*texts.notes, *texts.exclusions, texts.background) if text]
    assert said
    assert all(text in render_page(policy) for text in said)
    for short in editions(policy, 2, 5):
        page = render_page(short)
        assert texts.scope in page
        assert not [text for text in said if text in page]


def test_the_indication_stays() -> None:
    for policy in LONG:
        first = {item.display for item in criteria(parts(policy.criteria)[0])}
        for short in editions(policy, 2, 5):
            assert criteria(short.criteria)[0].display in first


def test_a_policy_of_the_size_that_is_asked_for_stays_whole() -> None:
    for policy in library().values():
        size = len(criteria(policy.criteria))
        assert editions(policy, 1, 20) == (policy,)
        assert editions(policy, size + 1, 20) == ()


def test_editions_do_not_depend_on_what_was_asked_before() -> None:
    policy = LONG[0]
    before = editions(policy, 2, 5)
    editions.cache_clear()
    assert editions(policy, 2, 5) == before


def test_what_cannot_be_shortened_is_none() -> None:
    policy = next(p for p in LONG if len(criteria(p.criteria)) >= 9)
    assert trimmed(policy, 9, 2, np.random.default_rng(1)) is None
