"""The clinic that all tasks share: its people, its patients, and the standing handbook.

Patients come in groups of some who are easily taken for each other. A task is about one of them;
who else is on its roster, look-alikes included, is written once for a process and shared.
"""

from __future__ import annotations

from datetime import date, datetime, time
from functools import cache, lru_cache, partial

import numpy as np

from healthgym.envs.managed_care.cases.shelf import Shelf
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.charts.chart import PatientChart, UnwrittenChart
from healthgym.worlds.managed_care.handbook.edition import edition
from healthgym.worlds.managed_care.handbook.full import HandbookSize, full_library
from healthgym.worlds.managed_care.handbook.library import Library
from healthgym.worlds.managed_care.handbook.medical import every_policy
from healthgym.worlds.managed_care.handbook.page import Audience, DeferredPage, Page
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.policies.loading import library
from healthgym.worlds.managed_care.policies.pages import BULLETINS, page_path, render_page
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.population.background import (
    Background,
    draw_background,
    draw_person,
)
from healthgym.worlds.managed_care.population.drawing import chart_of
from healthgym.worlds.managed_care.population.staff import Workforce, draw_workforce
from healthgym.worlds.managed_care.records.chart import Patient
from healthgym.worlds.managed_care.staff import Staff

#: The day up to which the shared charts are kept; tasks begin within five weeks after it.
CHARTED = date(2026, 3, 2)
#: Where the provider's desk is.
REGION = "TX"
_BUSINESS_DAYS = 24
#: Groups of patients who are easily taken for each other, and how many are in one.
GROUPS, ALIKE = 48, 5
#: Patients of a group who may be asked for; the ids of more would not differ.
MOST_ALIKE = 61
#: People and charts kept: all but those who are alike beyond the usual.
_KNOWN = 288
#: Entropy of the clinic: its own, so that no task's stream is part of it.
_CLINIC = 20260302
_STAFF, _PERSON, _CHART = range(3)
#: Numbers of patients: prime to their count, the step scatters a group over all of them.
_FIRST_NUMBER, _NUMBERS, _STEP = 1001, 8900, 3571


@cache
def workforce() -> Workforce:
    """Return who works at the provider and at the payer."""
    return draw_workforce(_stream(_STAFF))


@cache
def staff() -> Staff:
    """Return the same people as a world looks them up."""
    return workforce().staff()


@lru_cache(maxsize=_KNOWN)
def person(group: int, place: int) -> Background:
    """Return a patient of the clinic before any case.

    Args:
        group: Which group, below :data:`GROUPS`; one of :func:`group_of_age` besides.
        place: Place in it, below :data:`MOST_ALIKE`; usually below :data:`ALIKE`.
    """
    like = person(group, 0) if place else None
    stream, ages = _stream(_PERSON, group, place), _ages(group)
    number, rank = _number(group, place), max(place, 1)
    return draw_background(number, workforce(), stream, CHARTED, like=like, rank=rank, ages=ages)


def group_of_age(age: int) -> int:
    """Return a group besides, whose patients are of an age on the days of tasks."""
    return GROUPS + age


@cache
def first_of(group: int) -> Patient:
    """Return the first patient of a group, who has the others' sex and nearly their birthday.

    Without illnesses, which take longer to draw.
    """
    return draw_person(_number(group, 0), _stream(_PERSON, group, 0), CHARTED, _ages(group))


def _number(group: int, place: int) -> int:
    return _FIRST_NUMBER + (group * MOST_ALIKE + place) * _STEP % _NUMBERS


def _ages(group: int) -> tuple[int, int] | None:
    return None if group < GROUPS else (group - GROUPS, group - GROUPS)


@lru_cache(maxsize=_KNOWN)
def chart(group: int, place: int) -> PatientChart:
    """Return the chart of a patient of the clinic without a case; arguments as of `person`."""
    own = person(group, place)
    return UnwrittenChart.later(
        partial(_written, group, place),
        patient=own.patient,
        coverages=own.coverages,
        orders=own.orders,
        facts=own.facts,
    )


@lru_cache(maxsize=64)
def _written(group: int, place: int) -> PatientChart:
    return chart_of(person(group, place), workforce(), _stream(_CHART, group, place), CHARTED)


def _stream(*key: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(_CLINIC, spawn_key=key)))


@cache
def standing_handbook(
    size: HandbookSize = HandbookSize.COMPACT, shelf: Shelf | None = None
) -> Library:
    """Return the handbook with the payer's policies as they are printed.

    Args:
        size: The full one holds the policies of other payers and much else besides; it is written
            into the user's cache folder once, and mapped.
        shelf: The payer's policies, for the compact one; those of the library if None.

    Raises:
        ConfigurationError: If the full one cannot be written there.
    """
    if size is HandbookSize.FULL:
        return full_library(every_policy(page_of))
    known = tuple(library().values()) if shelf is None else shelf.policies
    return Library.of([*edition().pages(OperatingRules()), *map(page_of, known)])


def page_of(policy: Policy, *, archived: bool = False) -> Page:
    """Return the handbook's page of a policy.

    Args:
        policy: The policy.
        archived: Whether it is kept among the former versions.
    """
    # Written when somebody reads or searches it: a task prints more pages than are read in it.
    return DeferredPage.later(
        partial(render_page, policy),
        path=page_path(policy.id, archived=policy.version if archived else ""),
        title=policy.title,
        version=policy.version,
        effective=policy.effective,
        supersedes="",
        amends=(),
        audience=(Audience.PROVIDER, Audience.PAYER),
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
        f"From {effective:%Y-%m-%d} criterion {criterion_id} of [{policy.id}]({page.path}) reads "
        f"as follows, for all plans under that policy:\n\n"
        f"- **{criterion_id}** {policy.text(criterion_id)}\n\n"
        "Requests received before that day are reviewed as the page has it. The page itself is "
        "reprinted with the next edition.\n"
    )
    return Page(
        path=f"{BULLETINS}/{effective:%Y-%m}-{policy.id}.md",
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
