"""Who a patient is, and how they have been insured."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date, timedelta
from functools import cache
from importlib.resources import files
from typing import TypeVar

import numpy as np

from healthgym.core.borders import JsonObject
from healthgym.worlds.managed_care.population.origins import draw_origin, origin_of
from healthgym.worlds.managed_care.population.staff import names
from healthgym.worlds.managed_care.records.chart import Coverage, Patient

_T = TypeVar("_T")

_YEAR = 365.25


@cache
def places() -> JsonObject:
    """Return streets, cities, plans and what else registration asks for."""
    table: JsonObject = json.loads((files(__package__) / "places.json").read_text("utf-8"))
    return table


def patient_id(number: int) -> str:
    """Return the id of a patient by number."""
    return f"PAT-{number:04d}"


def draw_patient(
    number: int,
    rng: np.random.Generator,
    today: date,
    *,
    ages: tuple[int, int] = (21, 88),
    sex: str = "",
    like: Patient | None = None,
    rank: int = 1,
) -> Patient:
    """Draw a person.

    Args:
        number: Number of the patient, from which the ids follow.
        rng: Where chance comes from.
        today: The day of the world.
        ages: Youngest and oldest age.
        sex: ``F`` or ``M``; drawn if empty.
        like: Somebody whom the person is to resemble: the same last name, a birthday within
            three weeks, sex and often the first letter of the first name.
        rank: How many resemble that person before this one; no two of a rank share a name.
    """
    table = places()
    if like is not None:
        sex, born = like.sex, like.dob + timedelta(days=int(rng.integers(1, 21)))
    else:
        sex = sex or ("F", "M")[int(rng.integers(2))]
        age = rng.uniform(ages[0] + 0.1, ages[1] + 0.9)
        born = today - timedelta(days=int(age * _YEAR))
    origin = origin_of(like.last_name) if like is not None else draw_origin(rng)
    city, state, prefix, area = _pick(rng, table["cities"])
    return Patient(
        id=patient_id(number),
        member_id=f"CHP{int(rng.integers(10, 99))}{(number * 7919 + 104729) % 10**7:07d}",
        first_name=_first_name(rng, origin.first_names(sex), like, rank),
        last_name=like.last_name if like else _pick(rng, origin.last),
        dob=born,
        sex=sex,
        address_line=f"{int(rng.integers(11, 9800))} {_pick(rng, table['streets'])}",
        address_city=like.address_city if like else city,
        address_state=like.address_state if like else state,
        address_zip=like.address_zip if like else f"{prefix}{int(rng.integers(1, 99)):02d}",
        phone=f"{area}-555-{int(rng.integers(100, 9999)):04d}",
        race=_pick(rng, origin.races),
        ethnicity=origin.ethnicity,
        preferred_language=_pick(rng, origin.languages),
        marital_status=_marital(rng, (today - born).days // 365),
    )


def _marital(rng: np.random.Generator, age: int) -> str:
    """Draw the marital status of somebody of an age: children are single, widows mostly old."""
    if age < 20:
        return "single"
    options: list[str] = places()["marital"]
    return _pick(rng, options if age >= 60 else [x for x in options if x != "widowed"])


def _first_name(
    rng: np.random.Generator, known: Sequence[str], like: Patient | None, rank: int
) -> str:
    if like is None:
        return _pick(rng, known)
    # Those of the same first letter come first; each who resembles somebody takes another one.
    others = [name for name in known if name != like.first_name]
    others.sort(key=lambda name: name[0] != like.first_name[0])
    if rank > len(others):
        others += [x for x in names()[_LISTS[like.sex]] if x not in (*others, like.first_name)]
    return others[(rank - 1) % len(others)]


#: The list of first names of a sex.
_LISTS = {"F": "female", "M": "male"}


def draw_coverages(
    patient: Patient,
    payer: str,
    rng: np.random.Generator,
    today: date,
    *,
    active: bool = True,
    network: str = "in_network",
) -> tuple[Coverage, ...]:
    """Draw four to six years of coverage without a gap, the latest first.

    Args:
        patient: Who is insured.
        payer: The payer of the latest coverage; earlier ones may be another's.
        rng: Where chance comes from.
        today: The day of the world.
        active: Whether the latest is in force; if not, it ended one to four months ago.
        network: Standing of the practice with the latest plan.
    """
    table = places()
    ended = None if active else today - timedelta(days=int(rng.integers(30, 120)))
    begin = date(today.year - int(rng.integers(1, 4)), 1, 1)
    plan = _pick(rng, plans_for(patient, begin))
    found = [_coverage(patient, 1, payer, plan, rng, begin, ended, network=network)]
    first = max(date(today.year - int(rng.integers(4, 7)), 1, 1), patient.dob)
    while begin > first:
        last = begin - timedelta(days=1)
        begin = max(first, date(begin.year - int(rng.integers(1, 4)), 1, 1))
        own = rng.random() < 0.6 or _senior(patient, begin)
        other = _pick(rng, table["former"])
        name, plan = (payer, _pick(rng, plans_for(patient, begin))) if own else other
        found.append(_coverage(patient, len(found) + 1, name, plan, rng, begin, last))
    return tuple(found)


def plans_for(patient: Patient, day: date) -> list[str]:
    """Return the payer's plans for somebody of an age: Medicare from 65, the others before."""
    senior = _senior(patient, day)
    return [name for name, kind in places()["plans"] if (kind == "MA") is senior]


def group_number(plan: str, number: int) -> str:
    """Return a group number of a plan, which begins with the plan's kind."""
    kinds: dict[str, str] = dict(places()["plans"])
    last = plan.split()[-1]
    kind = kinds.get(plan, last if last.isupper() else "GRP")
    return f"{kind}-{number}"


def _senior(patient: Patient, day: date) -> bool:
    return (day - patient.dob).days >= 65 * _YEAR


def _coverage(
    patient: Patient,
    number: int,
    payer: str,
    plan: str,
    rng: np.random.Generator,
    begin: date,
    end: date | None,
    *,
    network: str = "in_network",
) -> Coverage:
    group = group_number(plan, int(rng.integers(1000, 9999))) if rng.random() < 0.85 else None
    return Coverage(
        id=f"COV-{patient.id.removeprefix('PAT-')}-{number}",
        patient_id=patient.id,
        payer_name=payer,
        plan_name=plan,
        member_number=patient.member_id if number == 1 else f"{int(rng.integers(10**8, 10**9))}",
        group_number=group,
        active=end is None,
        network_status=network,
        effective_date=begin,
        termination_date=end,
    )


def _pick(rng: np.random.Generator, options: Sequence[_T]) -> _T:
    return options[int(rng.integers(len(options)))]
