"""The two desks as a PettingZoo environment."""

from __future__ import annotations

import pytest

pytest.importorskip("pettingzoo")

from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from healthgym.envs.managed_care.prior_auth_arena.family import ArenaFamily
from healthgym.integrations.pettingzoo import Arena, parallel

pytestmark = [
    # PettingZoo would rather see numbers; text in a Dict is allowed, and that is all it says of it.
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be"),
    pytest.mark.filterwarnings("ignore:Action space for each agent probably should be"),
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array"),
]


def arena() -> Arena:
    return Arena(ArenaFamily("easy"))


def test_the_api() -> None:
    api_test(OrderEnforcingWrapper(arena()), num_cycles=60)
    parallel_api_test(parallel(arena()), num_cycles=60)


def test_seeds() -> None:
    seed_test(lambda: OrderEnforcingWrapper(arena()), num_cycles=30)
    parallel_seed_test(lambda: parallel(arena()), num_cycles=30)
