"""The policies under which a case can end in a way, and in which order they are tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from healthgym.envs.managed_care.cases.shelf import Shelf
from healthgym.envs.managed_care.cases.situations import Bar, Course, Gap, fits
from healthgym.worlds.managed_care.policies.loading import library
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.policies.trimming import EDITIONS, editions
from healthgym.worlds.managed_care.vocabulary.authorization import ServiceTypeCategory

#: How a request ends at the provider.
Ending = Course | Gap | Bar
#: Policies of one category after another.
Groups = tuple[tuple[Policy, ...], ...]
#: Draws from one category before another is tried, and of all categories together.
_TRIES, _LEAST = 10, 40


def able_policies(
    categories: Sequence[ServiceTypeCategory],
    depth: tuple[int, int],
    ending: Ending,
    shelf: Shelf | None = None,
) -> Groups:
    """Return the policies under which a request can end in a way, category by category.

    Args:
        categories: Kinds of service.
        depth: Fewest and most criteria.
        ending: How a request is to end.
        shelf: The payer's policies; those of the library if None.
    """
    able = [
        edition
        for policy in (library().values() if shelf is None else shelf.policies)
        for edition in _editions(policy, depth, ending, whole=shelf is not None)
    ]
    groups = (tuple(p for p in able if p.category is each) for each in categories)
    return tuple(group for group in groups if group)


def tries(groups: Groups, rng: np.random.Generator) -> Iterator[Policy]:
    """Yield policies to try: of one category, each category as often, then of the others.

    Args:
        groups: The policies, category by category.
        rng: Where the order comes from.
    """
    count = max(_TRIES, _LEAST // len(groups))
    for place in rng.permutation(len(groups)):
        group = groups[int(place)]
        for _ in range(count):
            yield group[int(rng.integers(len(group)))]


def _editions(
    policy: Policy, depth: tuple[int, int], ending: Ending, *, whole: bool
) -> tuple[Policy, ...]:
    """Return the editions of a policy that can end so; one alone stands there repeatedly.

    Args:
        policy: The policy.
        depth: How many criteria there are to be.
        ending: How a request is to end.
        whole: Whether a policy that is longer is left out rather than shortened.
    """
    low, high = depth
    if whole and len(criteria(policy.criteria)) > high:
        return ()
    able = [edition for edition in editions(policy, low, high) if fits(edition, ending)]
    return tuple(able[place % len(able)] for place in range(EDITIONS)) if able else ()
