"""The clinic that all tasks share: its people, its other patients, and the standing handbook."""

from __future__ import annotations

from datetime import date, datetime, time
from functools import cache

import numpy as np

from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.handbook.edition import written_library
from healthgym.worlds.managed_care.handbook.library import Library
from healthgym.worlds.managed_care.handbook.page import Audience, Page
from healthgym.worlds.managed_care.policies.loading import library
from healthgym.worlds.managed_care.policies.pages import render_page
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.population.drawing import Population, draw_population

#: The day up to which the shared charts are kept; tasks begin within five weeks after it.
CHARTED = date(2026, 3, 2)
#: Where the provider's desk is.
REGION = "TX"
_BUSINESS_DAYS = 24
#: Entropy of the clinic: its own, so that no task's stream is part of it.
_CLINIC = 20260302
_FOLDER = "medical-library/medical-policies"


@cache
def clinic() -> Population:
    """Return the clinic's people and its patients; drawn once for a process."""
    return draw_population(np.random.SeedSequence(_CLINIC), CHARTED)


@cache
def standing_handbook() -> Library:
    """Return the handbook with the library's policies as they are printed."""
    return written_library().overlay(page_of(policy) for policy in library().values())


def page_of(policy: Policy, *, archived: bool = False) -> Page:
    """Return the handbook's page of a policy.

    Args:
        policy: The policy.
        archived: Whether it is kept among the former versions.
    """
    name = f"archive/{policy.id}-{policy.version}" if archived else policy.id
    path = f"{_FOLDER}/{name}.md"
    return Page(
        path=path,
        title=policy.title,
        version=policy.version,
        effective=policy.effective,
        audience=(Audience.PROVIDER, Audience.PAYER),
        text=render_page(policy),
    )


def bulletin(policy: Policy, criterion_id: str, effective: date) -> Page:
    """Return the page by which a later rule amends one criterion of a policy.

    Args:
        policy: The policy as amended.
        criterion_id: What is amended.
        effective: First day of the amendment.
    """
    page = page_of(policy)
    text = (
        f"# Bulletin {effective:%Y-%m}: {policy.title}\n\n"
        f"From {effective:%Y-%m-%d} criterion {criterion_id} of [{policy.id}](/{page.path}) reads "
        f"as follows, for all plans under that policy:\n\n"
        f"- **{criterion_id}** {policy.text(criterion_id)}\n\n"
        "Requests received before that day are reviewed as the page has it. The page itself is "
        "reprinted with the next edition.\n"
    )
    return Page(
        path=f"{_FOLDER}/bulletins/{effective:%Y-%m}-{policy.id}.md",
        title=f"Bulletin: amendment of {policy.id}, {criterion_id}",
        version=f"{effective.year}.{effective.month}",
        effective=effective,
        amends=(page.path,),
        audience=(Audience.PROVIDER, Audience.PAYER),
        text=text,
    )


def draw_morning(rng: np.random.Generator) -> datetime:
    """Return when a task begins: on a business day, between eight and eleven, in UTC."""
    calendar = office_calendar(REGION)
    day = CHARTED
    for _ in range(int(rng.integers(1, _BUSINESS_DAYS + 1))):
        day = calendar.next_business_day(day)
    return calendar.utc(day, time(8 + int(rng.integers(3)), 5 * int(rng.integers(12))))
