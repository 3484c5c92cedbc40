"""The policies' half of the large library: every policy, and its likes under other payers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np

from healthgym.core.records import replace
from healthgym.core.seeding import content_hash, stable_hash
from healthgym.worlds.managed_care.handbook.full import MedicalSource
from healthgym.worlds.managed_care.handbook.page import Page
from healthgym.worlds.managed_care.policies.drawing import former_version, near_duplicate
from healthgym.worlds.managed_care.policies.loading import library
from healthgym.worlds.managed_care.policies.pages import render_page
from healthgym.worlds.managed_care.policies.policy import Policy

#: Payers beside the plan's own, and letters for their policies' ids. A task's member belongs to
#: none of them, so that nothing here can be in force for a task.
_PAYERS = {
    "Brightwater Mutual": ("BM", ("Brightwater Preferred PPO", "Brightwater Basic HMO")),
    "Stonebridge Health": ("SH", ("Stonebridge Direct EPO", "Stonebridge Senior Medicare")),
    "Tamarack Benefit Fund": ("TB", ("Tamarack Exchange Bronze", "Tamarack Union Plan")),
}
_STATES = ("", "CA", "IL", "NY", "TX")


def every_policy(page_of: Callable[[Policy], Page]) -> MedicalSource:
    """Return all policies, their likes under other payers and plans, and former versions of these.

    Args:
        page_of: Makes the page of a policy, at a path that no other policy's has.
    """
    printed = [render_page(policy) for policy in library().values()]
    return MedicalSource(
        content_hash(["every", printed]),
        lambda: (_archived(page_of(each)) if each.terminated else page_of(each) for each in _all()),
    )


def _archived(page: Page) -> Page:
    """Return the page of a former version, under a path that its successor does not have."""
    folder, _, name = page.path.rpartition("/")
    path = f"{folder}/archive/{name.removesuffix('.md')}-{page.version}.md"
    return replace(page, path=path)


def _all() -> Iterator[Policy]:
    for policy in library().values():
        yield policy
        for payer, (letters, plans) in _PAYERS.items():
            for plan, state in product(plans, _STATES):
                suffix = "-".join(filter(None, [letters, plan.split()[1].upper(), state]))
                key = np.random.SeedSequence(stable_hash(f"{policy.id}/{suffix}"))
                rng = np.random.Generator(np.random.PCG64(key))
                twin = near_duplicate(policy, suffix, rng, plan=plan, state=state)
                twin = replace(twin, payer=payer)
                yield twin
                yield former_version(twin, rng)
