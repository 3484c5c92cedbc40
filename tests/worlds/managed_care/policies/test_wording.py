"""What pages and forms say of a criterion is English, and says the right way round."""

import re

import pytest

from healthgym.worlds.managed_care.policies.criteria import FindingCriterion, MeasurementCriterion
from healthgym.worlds.managed_care.policies.loading import library
from healthgym.worlds.managed_care.policies.pages import (
    page_wordings,
    questionnaire_text,
    render_page,
)
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.policies.wording import summary

POLICIES = sorted(library())


@pytest.mark.parametrize("name", POLICIES)
def test_no_word_stands_twice(name):
    policy = library()[name]

    found = [
        match[0]
        for text in (render_page(policy), questionnaire_text(policy))
        for match in re.finditer(r"\b([a-z]{3,}) \1\b", text, re.IGNORECASE)
    ]

    assert not found


@pytest.mark.parametrize("name", POLICIES)
def test_one_point_is_one_point(name):
    assert not re.search(r"(?<![\d.])1 (?:points|months|weeks)\b", render_page(library()[name]))


@pytest.mark.parametrize("name", POLICIES)
def test_a_packet_shows_that_something_is_absent_where_its_absence_is_asked_for(name):
    absent = [
        each
        for each in criteria(library()[name].criteria)
        if isinstance(each, FindingCriterion) and each.accepted == ("absent",)
    ]
    wanted = [
        each
        for each in criteria(library()[name].criteria)
        if isinstance(each, FindingCriterion) and each.accepted == ("present",)
    ]

    assert all(summary(name, each).startswith("absence of ") for each in absent)
    assert not any(summary(name, each).startswith("absence of ") for each in wanted)


def test_a_number_is_not_asked_for_with_its_date():
    for policy in library().values():
        if any(isinstance(each, MeasurementCriterion) for each in criteria(policy.criteria)):
            assert "result and date" not in questionnaire_text(policy)


def test_a_packet_shows_the_contrary_of_what_must_not_hold():
    page = render_page(library()["MP-DME-009"])

    assert "; absence of safe use of a cane or walker within 6 months (C2)" in page


@pytest.mark.parametrize("name", POLICIES)
def test_a_page_says_who_approves_unless_nobody_reviews(name):
    policy = library()[name]
    page = render_page(policy)
    says = [re.escape(each) for kind in ("nurse", "physician") for each in page_wordings()[kind]]
    said = [each for each in says if re.search(re.sub(r"\\\{\w+\\\}", ".+", each), page, re.I)]

    assert len(said) == (0 if policy.lanes.notification_only else 1)
