"""Patients: who they are, what ails them, and the decoys that share their names."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal

import numpy as np

from healthgym.worlds.fhir.charts import ChartBuilder
from healthgym.worlds.fhir.cohort.tables import AGE_BANDS, disease_tables, signal_tables
from healthgym.worlds.fhir.cohort.vocabulary import vocabulary
from healthgym.worlds.fhir.shapes import Address

Gender = Literal["female", "male"]

YOUNGEST, OLDEST = 18.0, 96.0
_DAYS_A_YEAR = 365.2425
_DEMOGRAPHICS = 14  # uniform variates that a person's particulars use


@dataclass(frozen=True, slots=True)
class PatientProfile:
    """A synthetic patient.

    ``conditions`` are names of latent diseases and ``severities`` (0 to 1) belong to them one by
    one. ``offsets`` are standard scores, one for each signal of the vocabulary in its order: how
    far this patient's own level lies from that of like patients.
    """

    mrn: str
    family: str
    given: str
    gender: Gender
    birth_date: date
    phone: str
    address: Address
    race: str
    ethnicity: str
    conditions: tuple[str, ...]
    severities: tuple[float, ...]
    offsets: tuple[float, ...] = field(repr=False)

    def age_at(self, moment: date) -> int:
        """Return the age in completed years on the day of ``moment``."""
        before = (moment.month, moment.day) < (self.birth_date.month, self.birth_date.day)
        return moment.year - self.birth_date.year - before


def draw_patient(
    rng: np.random.Generator,
    *,
    mrn: str,
    now: datetime,
    avoid_names: Collection[tuple[str, str]] = (),
    morbidity: float = 1.0,
) -> PatientProfile:
    """Draw an adult patient.

    Args:
        rng: Source of randomness.
        mrn: The record number, as drawn by :func:`draw_mrn`.
        now: The moment from which the age is counted.
        avoid_names: Pairs (family, given) that the patient must not bear.
        morbidity: Factor on the prevalence of every disease; above 1 for people in hospital.
    """
    u = rng.random(_DEMOGRAPHICS).tolist()
    gender: Gender = "female" if u[0] < 0.52 else "male"
    family, given = _draw_name(u[1], u[2], gender)
    while (family, given) in avoid_names:
        family, given = _draw_name(rng.random(), rng.random(), gender)
    return _profile(rng, u, mrn, family, given, gender, now, morbidity)


def namesake(
    rng: np.random.Generator, patient: PatientProfile, *, mrn: str, now: datetime
) -> PatientProfile:
    """Draw a decoy for ``patient``: another person with the same family name.

    Half of them also bear the same given name. The birth date always differs.
    """
    u = rng.random(_DEMOGRAPHICS).tolist()
    gender: Gender = patient.gender
    given = patient.given
    if u[1] < 0.5:
        gender = "female" if u[0] < 0.5 else "male"
        while given == patient.given:
            _, given = _draw_name(0.0, rng.random(), gender)
    decoy = _profile(rng, u, mrn, patient.family, given, gender, now, 1.0)
    while decoy.birth_date == patient.birth_date:
        u[3] = rng.random()
        decoy = _profile(rng, u, mrn, patient.family, given, gender, now, 1.0)
    return decoy


def write_patient(builder: ChartBuilder, patient: PatientProfile) -> None:
    """Add the Patient resource of ``patient`` to ``builder``."""
    builder.patient(
        mrn=patient.mrn,
        family=patient.family,
        given=patient.given,
        gender=patient.gender,
        birth_date=patient.birth_date,
        phone=patient.phone,
        address=patient.address,
        race=patient.race,
        ethnicity=patient.ethnicity,
    )


def _draw_name(family: float, given: float, gender: Gender) -> tuple[str, str]:
    people = vocabulary().people
    specific = people.female if gender == "female" else people.male
    position = int(given * (len(specific) + len(people.either)))
    chosen = (
        specific[position] if position < len(specific) else people.either[position - len(specific)]
    )
    return people.family[int(family * len(people.family))], chosen


def _profile(
    rng: np.random.Generator,
    u: list[float],
    mrn: str,
    family: str,
    given: str,
    gender: Gender,
    now: datetime,
    morbidity: float,
) -> PatientProfile:
    people = vocabulary().people
    # u[3]^0.8 tilts adults towards the older, as among people with a hospital chart.
    age = YOUNGEST + (OLDEST - YOUNGEST) * (0.85 * u[3] ** 0.8 + 0.15 * u[4])
    birth_date = date.fromordinal(now.toordinal() - int(age * _DAYS_A_YEAR) - 1)
    city = people.cities[int(u[5] * len(people.cities))]
    street = people.streets[int(u[6] * len(people.streets))]
    suffix = people.suffixes[int(u[7] * len(people.suffixes))]
    conditions, severities = _draw_conditions(rng, gender, age, morbidity)
    return PatientProfile(
        mrn=mrn,
        family=family,
        given=given,
        gender=gender,
        birth_date=birth_date,
        phone=f"{city.area_code}-555-{int(u[8] * 10_000):04d}",
        address=Address(
            line=f"{100 + int(u[9] * 9_900)} {street} {suffix}",
            city=city.city,
            state=city.state,
            postal_code=f"{city.zip3}{int(u[10] * 100):02d}",
        ),
        race=_choose(people.race, u[11]),
        ethnicity=_choose(people.ethnicity, u[12]),
        conditions=conditions,
        severities=severities,
        offsets=tuple(rng.standard_normal(len(signal_tables().level)).tolist()),
    )


def _choose(shares: tuple[tuple[str, float], ...], u: float) -> str:
    for name, share in shares:
        u -= share
        if u < 0:
            return name
    return shares[-1][0]


def _draw_conditions(
    rng: np.random.Generator, gender: Gender, age: float, morbidity: float
) -> tuple[tuple[str, ...], tuple[float, ...]]:
    tables = disease_tables()
    prevalence = tables.prevalence[gender][(age >= AGE_BANDS[0]) + (age >= AGE_BANDS[1])]
    if morbidity != 1.0:
        prevalence = np.minimum(prevalence * morbidity, 0.9)
    u = rng.random((2, len(prevalence)))
    present = u[0] < prevalence
    causes = present.nonzero()[0]
    if len(causes):
        # The same variate is compared again, so that a cause only ever adds diseases.
        present |= u[0] < prevalence * np.exp(tables.log_boost[causes].sum(axis=0))
        for disease, other in tables.excludes:
            if present[disease]:
                present[other] = False
    found = present.nonzero()[0]
    names = vocabulary().diseases
    return (
        tuple(names[i].name for i in found.tolist()),
        tuple(u[1, found].round(3).tolist()),
    )
