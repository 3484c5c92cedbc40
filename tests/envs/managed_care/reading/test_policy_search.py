"""The policy in force, found among those that resemble it, with what amends it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest

from healthgym.core.seeding import Split
from healthgym.envs.managed_care.prior_authorization.family import AuthorizationFamily
from healthgym.envs.managed_care.prior_authorization.task import PRESETS
from healthgym.envs.managed_care.reading.policy_page import read_page
from healthgym.envs.managed_care.reading.policy_search import in_force, paths_in, reading_of
from healthgym.worlds.managed_care.policies.loading import library
from healthgym.worlds.managed_care.policies.pages import render_page
from healthgym.worlds.managed_care.policies.tree import transform
from tests.sized import first_ones

FAMILY = AuthorizationFamily(replace(PRESETS["hard"], amended=1.0))
KNEE = library()["MP-SUR-027"]
CODE = KNEE.procedures[0].code
DAY = date(2026, 3, 10)


def bare(tree):
    return transform(tree, lambda item: replace(item, documented_in=()))


@pytest.mark.parametrize("index", first_ones(range(12), 4))
def test_page_and_bulletins_say_what_is_in_force(index):
    instance = FAMILY.generator.generate(Split.TRAIN, index)
    policy, start = instance.reference.policy, instance.start
    texts = {
        page.path: page.text
        for page in (start.handbook.read(entry.path) for entry in entries(start.handbook))
    }
    pages = {path: read_page(text) for path, text in texts.items() if "/bulletins/" not in path}
    chart = start.charts[instance.reference.patient_id]
    plan, state = chart.coverages[0].plan_name, chart.patient.address_state
    day = start.now.date()
    path = in_force(pages, instance.reference.procedure_code, plan, state, day)
    later = [text for name, text in texts.items() if "/bulletins/" in name]
    read = reading_of(pages[path], texts[path], later, day)
    assert read.page.id == policy.id
    assert read.page.criteria == bare(policy.criteria)
    assert set(read.required()) == set(policy.required_documents)
    assert read.out_of_network == policy.out_of_network
    assert read.on_request == frozenset(instance.reference.on_request)
    before = reading_of(pages[path], texts[path], later, day - timedelta(days=400))
    assert before.page == pages[path]


def entries(handbook):
    """Return the policies of a handbook, former versions and bulletins included."""
    folder = "medical-library/medical-policies"
    found = [*handbook.contents(folder)]
    for each in tuple(found):
        if each.path.endswith("/"):
            found += handbook.contents(each.path)
    return [each for each in found if each.path.endswith(".md") and "README" not in each.path]


def test_a_page_for_the_state_goes_before_one_for_all():
    page = read_page(render_page(KNEE))
    pages = {"all.md": page, "state.md": replace(page, states=("TX",))}
    plan = KNEE.plans[0]
    assert in_force(pages, CODE, plan, "TX", DAY) == "state.md"
    assert in_force(pages, CODE, plan, "IL", DAY) == "all.md"
    assert in_force(pages, CODE, "Another plan", "TX", DAY) is None
    assert in_force(pages, "00000", plan, "TX", DAY) is None
    assert in_force(pages, CODE, plan, "IL", KNEE.effective - timedelta(days=1)) is None


def test_hits_are_paths():
    hits = "a/b.md | Title | 2026.1\n    snippet a/c.md | no\nd.md | Other | 1\na/b.md | Title | 2"
    assert paths_in(hits) == ("a/b.md", "d.md")
