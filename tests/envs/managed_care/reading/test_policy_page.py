"""Policy pages read back."""

from dataclasses import replace

import numpy as np
import pytest

from healthgym.envs.managed_care.reading.policy_page import UnreadablePageError, read_page
from healthgym.envs.managed_care.reading.sentences import (
    Term,
    UnreadableSentenceError,
    criterion_from,
)
from healthgym.worlds.managed_care.policies.drawing import drawn, former_version
from healthgym.worlds.managed_care.policies.loading import library
from healthgym.worlds.managed_care.policies.pages import render_page, term_row
from healthgym.worlds.managed_care.policies.tree import criteria, transform
from healthgym.worlds.managed_care.policies.wording import criterion_text

POLICIES = sorted(library())


def bare(tree):
    """A tree without what its page says elsewhere, in the list of documents."""
    return transform(tree, lambda item: replace(item, documented_in=()))


@pytest.mark.parametrize("name", POLICIES)
def test_a_page_says_all_of_its_policy(name):
    rng = np.random.default_rng(9)
    original = library()[name]
    for policy in (original, former_version(original, rng), drawn(original, rng)):
        read = read_page(render_page(policy))
        assert read.criteria == bare(policy.criteria)
        assert (read.id, read.title, read.version) == (policy.id, policy.title, policy.version)
        assert (read.effective, read.terminated) == (policy.effective, policy.terminated)
        assert (read.plans, read.states) == (policy.plans, policy.states)
        assert (read.sites, read.category) == (policy.sites, policy.category)
        assert read.diagnosis_prefixes == policy.diagnosis_prefixes
        assert read.documents == policy.required_documents
        assert read.authorization == {item.code: item.authorization for item in policy.procedures}
        assert read.clocks == {
            "standard_hours": policy.standard_hours,
            "expedited_hours": policy.expedited_hours,
        }


@pytest.mark.parametrize("name", POLICIES)
def test_every_wording_of_a_criterion_says_the_same(name):
    for criterion in criteria(library()[name].criteria):
        source = term_row(criterion)
        terms = (Term(criterion.display, source),) if source else ()
        said = {criterion_text(f"P-{number}", criterion) for number in range(40)}
        assert len(said) > 1
        for sentence in said:
            read = criterion_from(sentence, criterion.id, terms)
            assert read == replace(criterion, documented_in=())


def test_what_says_nothing_known_is_an_error():
    page = render_page(library()["MP-SUR-042"])
    line = next(line for line in page.splitlines() if "**C1.**" in line)
    with pytest.raises(UnreadableSentenceError, match=r"C1: .* has 0 readings"):
        read_page(page.replace(line, "  - **C1.** The nose is a good one."))
    with pytest.raises(UnreadablePageError, match="a title and a header"):
        read_page("# Hello\n")
