"""Every criterion of the library is raised by its names, and by those of no other."""

from __future__ import annotations

import pytest

from healthgym.worlds.managed_care.peers.hearing import heard
from healthgym.worlds.managed_care.peers.subjects import spoken, subjects_of
from healthgym.worlds.managed_care.policies.loading import library
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.tree import criteria

#: Words that rightly raise two criteria of one page.
_SHARED = {"stress test", "methotrexate", "epidural injection"}


@pytest.mark.parametrize("policy", library().values(), ids=lambda one: one.id)
def test_a_criterion_is_raised_by_each_of_its_names(policy: Policy) -> None:
    subjects = subjects_of(criteria(policy.criteria))
    for one in subjects:
        same = {other.id for other in subjects if other.title == one.title}
        for name in (one.title, *spoken().get(one.title, ())):
            raised = set(heard(f"Can you tell me about {name}, please?", subjects).subjects)
            assert one.id in raised, name
            assert raised <= same or name in _SHARED, (name, raised)
            if " not " not in name:
                aside = heard(f"I will not ask about {name}.", subjects).subjects
                assert one.id not in aside, name


@pytest.mark.parametrize("policy", library().values(), ids=lambda one: one.id)
def test_a_criterion_is_raised_by_its_number(policy: Policy) -> None:
    subjects = subjects_of(criteria(policy.criteria))
    for one in subjects:
        number = one.id.removeprefix("C")
        for said in (f"{one.id}?", f"What about criterion {number}?", f"And c-{number}, doctor."):
            assert heard(said, subjects).subjects == (one.id,), said


def test_what_is_spoken_of_stands_in_the_library() -> None:
    known = {item.display for one in library().values() for item in criteria(one.criteria)}
    assert set(spoken()) <= known
