"""Codes of policies and of the clinical model, and their titles."""

from __future__ import annotations

import pytest

from healthgym.worlds.managed_care.policies.criteria import DiagnosisCriterion
from healthgym.worlds.managed_care.policies.diagnoses import billable, spoken_for, title_of, titles
from healthgym.worlds.managed_care.policies.loading import library
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.population.conditions import conditions


@pytest.mark.parametrize("policy", library().values(), ids=lambda policy: policy.id)
def test_every_code_that_a_case_may_give_has_a_title(policy: Policy) -> None:
    for item in criteria(policy.criteria):
        if isinstance(item, DiagnosisCriterion):
            for code in filter(None, (*item.examples, item.near)):
                assert title_of(code), code
    for prefix in policy.diagnosis_prefixes:
        assert set(billable(prefix)) <= set(titles())
        assert all(code.startswith(prefix) for code in billable(prefix))


def test_titles_are_those_of_the_codes() -> None:
    assert title_of("F11.10") == "Opioid abuse, uncomplicated"
    assert title_of("J34.2") == "Deviated nasal septum"
    assert title_of("no code", "otherwise") == "otherwise"
    assert spoken_for("J34.2") == ("exam.septal_deviation",)
    for each in conditions().values():
        for code, name in each.diagnoses:
            assert title_of(code, name) == name
