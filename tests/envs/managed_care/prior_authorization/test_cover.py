"""The oracle solves whatever can be drawn: pair by pair here, and all of it in the slow run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.prior_authorization.task import PRESETS, AuthorizationInstance
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import ServiceTypeCategory
from tests.envs.managed_care.prior_authorization.playing import (
    ENDINGS,
    FAMILY,
    Ending,
    Kind,
    fails,
    play,
    possible,
    task,
)

LEVELS = tuple(PRESETS)
#: Seeds tried before a category is said to give no task of an ending.
_TRIES = 6


def rows(ending: Ending) -> Iterator[Kind]:
    """Yield a task for each category that can end so; difficulty and rules take turns.

    Where few categories have a lane, they come round until each turn was taken.
    """
    able = [category for category in ServiceTypeCategory if possible(ending, category)]
    turns = list(product(LEVELS, Rules))
    first = ENDINGS.index(ending)
    for place in range(max(len(able), len(turns))):
        level, rules = turns[(first + place) % len(turns)]
        yield Kind(ending, able[place % len(able)], level, rules)


def drawn(kind: Kind) -> AuthorizationInstance:
    """Return the first task of a kind.

    The payer can only err by a superseded version where a policy has numbers; a small policy may
    have none, and is met at the level of the large ones.
    """
    for level, index in product((kind.difficulty, "hard"), range(_TRIES)):
        try:
            return task(replace(kind, difficulty=level, index=index))
        except ConfigurationError:
            continue
    raise AssertionError(f"{kind}: nothing could be drawn")


def require_solved(kind: Kind) -> None:
    """Play the oracle under both profiles: no check fails, and the shaped return is 1."""
    instance = drawn(kind)
    episode = play(instance, FAMILY.oracle(instance, np.random.default_rng(0)), shaped=True)
    for profile in Profile:
        assert not fails(episode, profile), f"{kind}, {profile}: {fails(episode, profile)}"
        assert episode.verdict(profile=profile).success
    assert episode.total_reward() == pytest.approx(1.0)


@pytest.mark.parametrize("ending", ENDINGS, ids=str)
def test_every_ending_is_solved_in_every_category(ending: Ending) -> None:
    for kind in rows(ending):
        require_solved(kind)


def test_the_rows_above_hold_every_pair() -> None:
    every = [kind for ending in ENDINGS for kind in rows(ending)]
    values = {
        "ending": ENDINGS,
        "category": tuple(ServiceTypeCategory),
        "difficulty": LEVELS,
        "rules": tuple(Rules),
    }
    for one, other in (
        ("ending", "difficulty"),
        ("ending", "rules"),
        ("category", "difficulty"),
        ("category", "rules"),
        ("difficulty", "rules"),
    ):
        seen = {(getattr(kind, one), getattr(kind, other)) for kind in every}
        missing = set(product(values[one], values[other])) - seen
        assert not missing, (one, other)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ENDINGS, ids=str)
def test_the_whole_product_is_solved(ending: Ending) -> None:
    for category, level, rules in product(ServiceTypeCategory, LEVELS, Rules):
        if possible(ending, category):
            require_solved(Kind(ending, category, level, rules))
