"""Every check can fail, and fails alone but for those that hang on the same thing."""

from __future__ import annotations

import pytest

from healthgym.envs.managed_care.checks.paper import judge
from healthgym.envs.managed_care.checks.rule import catalog
from tests.envs.managed_care.checks import (
    mutations_care,
    mutations_payer,
    mutations_peer,
    mutations_provider,
    mutations_submission,
)
from tests.envs.managed_care.checks.judged import answers, expectation_of, play, recorded
from tests.envs.managed_care.checks.mutation import Mutation, failures

#: What is either so or does not apply: the source never holds its absence against anybody.
NEVER_FALSE = "e2e.p2p_provider_position_recorded"
ALL: tuple[Mutation, ...] = (
    *mutations_provider.MUTATIONS,
    *mutations_submission.MUTATIONS,
    *mutations_payer.MUTATIONS,
    *mutations_peer.MUTATIONS,
    *mutations_care.MUTATIONS,
)


@pytest.mark.parametrize("mutation", ALL, ids=str)
def test_what_is_broken_fails_its_check_and_no_other(mutation: Mutation) -> None:
    assert failures(mutation, broken=False) == set()
    assert failures(mutation, broken=True) == {mutation.check, *mutation.also}


def test_every_check_of_the_catalogue_is_broken_once() -> None:
    listed = [name for names in catalog().values() for name in names]
    broken = [mutation.check for mutation in ALL]
    missing = [
        name
        for name in listed
        if not any(one == name or one.startswith(f"{name}.") for one in broken)
    ]
    assert missing == [NEVER_FALSE]
    assert len(set(broken)) == len(broken)


def test_a_position_that_was_not_stated_counts_for_nothing() -> None:
    row = recorded()["v-e2e-12"]
    world = play(row)
    assert answers(judge(world, expectation_of(row)))[NEVER_FALSE] is True
    mutations_peer.other_words(provider_position=None)(world)
    assert answers(judge(world, expectation_of(row)))[NEVER_FALSE] is None
