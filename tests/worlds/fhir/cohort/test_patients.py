"""Patients and their decoys."""

from collections import Counter
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import numpy as np
import pytest

from healthgym.worlds.fhir.cohort import (
    PatientProfile,
    draw_patient,
    namesake,
    vocabulary,
)


def share(crowd: list[PatientProfile], disease: str, **having: str) -> float:
    """Return the prevalence of a disease, among those who have another one if asked."""
    pool = [p for p in crowd if all(name in p.conditions for name in having.values())]
    return sum(disease in p.conditions for p in pool) / len(pool)


def test_patients_are_adults_of_plausible_age(crowd: list[PatientProfile], now: datetime) -> None:
    ages = [patient.age_at(now) for patient in crowd]
    assert min(ages) >= 18
    assert max(ages) <= 96
    assert 55 < np.mean(ages) < 67


def test_age_counts_completed_years(crowd: list[PatientProfile]) -> None:
    patient = crowd[0]
    birthday = patient.birth_date
    assert patient.age_at(date(birthday.year + 40, birthday.month, birthday.day)) == 40
    eve = date.fromordinal(date(birthday.year + 40, birthday.month, birthday.day).toordinal() - 1)
    assert patient.age_at(eve) == 39


def test_given_names_go_with_gender(crowd: list[PatientProfile]) -> None:
    people = vocabulary().people
    assert all(patient.given in people.given(patient.gender) for patient in crowd)
    counts = Counter(patient.gender for patient in crowd)
    assert 0.45 < counts["female"] / len(crowd) < 0.6


def test_diseases_follow_age_sex_and_comorbidity(
    crowd: list[PatientProfile], now: datetime
) -> None:
    old = [patient for patient in crowd if patient.age_at(now) >= 65]
    young = [patient for patient in crowd if patient.age_at(now) < 40]
    assert share(old, "hypertension") > 3 * share(young, "hypertension")
    assert share(crowd, "dm2", also="obesity") > 1.3 * share(crowd, "dm2")
    assert not any("bph" in p.conditions for p in crowd if p.gender == "female")


def test_diseases_that_exclude_each_other_do_not_meet(crowd: list[PatientProfile]) -> None:
    for disease in vocabulary().diseases:
        for other in disease.excludes:
            assert not any({disease.name, other} <= set(p.conditions) for p in crowd)


def test_severities_belong_to_conditions(crowd: list[PatientProfile]) -> None:
    assert all(len(p.severities) == len(p.conditions) for p in crowd)
    assert all(0 <= s <= 1 for p in crowd for s in p.severities)


def test_avoided_names_are_not_drawn(now: datetime) -> None:
    plain = draw_patient(np.random.default_rng(3), mrn="S7000001", now=now)
    name = (plain.family, plain.given)
    other = draw_patient(np.random.default_rng(3), mrn="S7000001", now=now, avoid_names={name})
    assert (other.family, other.given) != name
    assert other.gender == plain.gender


def test_morbidity_adds_diseases(now: datetime) -> None:
    def burden(morbidity: float) -> int:
        rng = np.random.default_rng(4)
        people = [
            draw_patient(rng, mrn="S7000001", now=now, morbidity=morbidity) for _ in range(200)
        ]
        return sum(len(person.conditions) for person in people)

    assert burden(2.0) > 1.5 * burden(1.0)


def test_namesakes_share_the_family_name_but_not_the_birth_date(
    crowd: list[PatientProfile], now: datetime
) -> None:
    rng = np.random.default_rng(5)
    patient = crowd[0]
    decoys = [namesake(rng, patient, mrn="S7000001", now=now) for _ in range(300)]
    assert {decoy.family for decoy in decoys} == {patient.family}
    assert all(decoy.birth_date != patient.birth_date for decoy in decoys)
    same = sum(decoy.given == patient.given for decoy in decoys)
    assert 110 < same < 190
    assert all(decoy.gender == patient.gender for decoy in decoys if decoy.given == patient.given)


def test_patient_resource_says_who_it_is(
    crowd: list[PatientProfile], chart_of: Callable[..., Any]
) -> None:
    patient = crowd[1]
    (resource,) = chart_of(patient, density=0.005)["Patient"]
    assert resource["id"] == patient.mrn
    assert resource["name"][0]["family"] == patient.family
    assert resource["birthDate"] == patient.birth_date.isoformat()
    assert resource["telecom"][0]["value"] == patient.phone
    assert resource["address"][0]["postalCode"] == patient.address.postal_code
    assert len(patient.address.postal_code) == 5


def test_profiles_are_immutable(crowd: list[PatientProfile]) -> None:
    with pytest.raises(AttributeError):
        crowd[0].family = "Other"  # type: ignore[misc]
