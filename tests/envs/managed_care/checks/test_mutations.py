"""Every check can fail, and fails alone but for those that hang on the same thing."""

from __future__ import annotations

import pytest

from healthgym.envs.managed_care.checks.rule import catalog
from tests.envs.managed_care.checks import (
    mutations_payer,
    mutations_provider,
)
from tests.envs.managed_care.checks.mutation import Mutation, failures

ALL: tuple[Mutation, ...] = (
    *mutations_provider.MUTATIONS,
    *mutations_payer.MUTATIONS,
)


@pytest.mark.parametrize("mutation", ALL, ids=str)
def test_what_is_broken_fails_its_check_and_no_other(mutation: Mutation) -> None:
    assert failures(mutation, broken=False) == set()
    assert failures(mutation, broken=True) == {mutation.check, *mutation.also}


def test_every_check_of_the_catalogue_is_broken_once() -> None:
    listed = [name for names in catalog().values() for name in names]
    broken = [mutation.check for mutation in ALL]
    missing = [name for name in listed if not any(one == name or one.startswith(f"{name}.") for one in broken)]
    assert missing == []
    assert len(set(broken)) == len(broken)
