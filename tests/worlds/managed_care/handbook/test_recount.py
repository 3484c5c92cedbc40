"""A changed page is counted by what changed, to the same words."""

from __future__ import annotations

import numpy as np
import pytest

from healthgym.envs.managed_care.cases.clinic import page_of
from healthgym.worlds.managed_care.handbook.draws import draw
from healthgym.worlds.managed_care.handbook.edition import edition, written_library
from healthgym.worlds.managed_care.handbook.library import Library
from healthgym.worlds.managed_care.handbook.page import DeferredPage
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.handbook.search import Counted, count, recount
from healthgym.worlds.managed_care.policies.drawing import drawn
from healthgym.worlds.managed_care.policies.loading import library


def there(counted: Counted) -> tuple[dict[str, float], int]:
    return {word: weight for word, weight in counted.weights.items() if weight}, counted.length


@pytest.mark.parametrize("seed", range(6))
def test_a_page_under_other_rules_has_the_words_that_it_has_counted_alone(seed):
    base = {page.path: page for page in edition().pages(OperatingRules())}
    seen = 0
    for page in edition().overlay(draw(np.random.default_rng(seed))):
        old = base[page.path]
        found = recount(count(old.path, old.title, old.text), old.text, page.text)
        if found is not None:
            seen += 1
            assert there(found) == there(count(page.path, page.title, page.text))
    assert seen > 3


@pytest.mark.parametrize("name", sorted(library())[::5])
def test_a_policy_with_other_numbers_has_the_words_that_it_has_counted_alone(name):
    old = page_of(library()[name])
    new = page_of(drawn(library()[name], np.random.default_rng(3), 20))
    assert new.text != old.text
    found = recount(count(old.path, old.title, old.text), old.text, new.text)
    assert found is not None
    assert there(found) == there(count(new.path, new.title, new.text))


@pytest.mark.parametrize(
    "new", ["# Pends\n\n## Reply\n\nAt once.\n", "# Pends\n\n## Answer\n\nAt once.\n\nAt once.\n"]
)
def test_a_heading_or_a_line_that_comes_again_is_counted_anew(new):
    old = "# Pends\n\n## Answer\n\nAt once.\n"
    assert recount(count("pends.md", "Pends", old), old, new) is None


def test_search_finds_in_an_overlay_what_it_finds_in_a_library_of_its_own():
    pages = {page.path: page for page in edition().pages(OperatingRules())}
    changed = edition().overlay(draw(np.random.default_rng(1)))
    assert {type(page) for page in changed} == {DeferredPage}
    laid = written_library().overlay(changed)
    own = Library.of([*(pages | {page.path: page for page in changed}).values()])
    for query in ("days to answer a pend", "urgent hours of California", "outreach attempts"):
        paths = [hit.card.path for hit in own.search(query, limit=4)]
        assert set(paths[:2]) <= {hit.card.path for hit in laid.search(query, limit=4)}
