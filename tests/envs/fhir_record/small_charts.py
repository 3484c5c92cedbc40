"""Small charts to read from a folder, and an oracle that plays over them."""

from __future__ import annotations

import numpy as np

from healthgym.core.clock import Clock
from healthgym.core.episode import Episode
from healthgym.core.family import EpisodeConfig
from healthgym.envs.fhir_record.family import FhirRecordFamily
from healthgym.envs.fhir_record.verifier import FhirRecordVerifier
from healthgym.envs.fhir_record.view import ChartView
from healthgym.rewards import resolve
from healthgym.worlds.fhir.store import FhirStore

LOINC = "http://loinc.org"


def view_at(base, now):
    return ChartView(FhirStore(base, clock=Clock(now)))


def small_patient(number, **more):
    return {
        "resourceType": "Patient",
        "id": f"p{number}",
        "name": [
            {"use": "maiden", "family": "Before", "given": ["Any"]},
            {"use": "official", "family": f"Family{number}", "given": [f"Given{number}", "Middle"]},
        ],
        "birthDate": f"19{40 + number}-02-2{number % 9}",
        **more,
    }


def small_lab(number, code, value, when, unit):
    return {
        "resourceType": "Observation",
        "id": f"o{number}-{code}-{when[:13]}".replace(":", "-"),
        "status": "final",
        "code": {"coding": [{"system": LOINC, "code": code}], "text": "x"},
        "subject": {"reference": f"Patient/p{number}"},
        "effectiveDateTime": when,
        "valueQuantity": {"value": value, "unit": unit},
    }


def small_resources():
    found = []
    for number in range(40):
        found.append(small_patient(number))
        found.append(small_lab(number, "2339-0", 90 + number, "2019-04-01T08:00:30Z", "mg/dL"))
        found.append(small_lab(number, "2339-0", 95 + number, "2019-04-01T20:00:00Z", "mg/dL"))
        found.append(
            small_lab(number, "2823-3", 3.0 + number / 20, "2019-06-01T08:00:00Z", "mmol/L")
        )
        found.append(small_lab(number, "4548-4", 6.5, "2018-06-01T08:00:00-05:00", "%"))
        found.append(
            small_lab(number, "19123-9", 1.0 + number / 30, "2019-06-01T08:00:00Z", "mg/dL")
        )
    dead = small_patient(90, deceasedDateTime="2020-01-01")
    odd = [
        {"resourceType": "Patient", "id": "nameless"},
        small_lab(90, "2339-0", 100, "2019-04-01T08:00:00Z", "mg/dL"),
        {**small_lab(91, "2339-0", 100, "2019-04-01T08:00:00Z", "mg/dL"), "subject": {}},
    ]
    return [*found, dead, *odd]


def play_oracle(generator, split, index, defects, **config):
    """Let the oracle play a task; return the verdicts by profile."""
    family = FhirRecordFamily()
    family.generator, family.verifier = generator, FhirRecordVerifier(defects)
    instance = generator.generate(split, index)
    episode = Episode(family, instance, resolve("sparse", None), EpisodeConfig(**config))
    for action in family.oracle(instance, np.random.default_rng(0)):
        outcome = episode.step(action)
        assert not outcome.errors
    return {profile: verdict["success"] for profile, verdict in episode.verdicts().items()}
