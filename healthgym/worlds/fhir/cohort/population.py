"""A server's worth of patients, with the mix of records that the published server holds."""

from __future__ import annotations

from datetime import datetime

import numpy as np

from healthgym.errors import ConfigurationError
from healthgym.worlds.fhir.charts import ChartBuilder
from healthgym.worlds.fhir.cohort.charting import FULL_LABS, FULL_VITALS, Volume, write_volume
from healthgym.worlds.fhir.cohort.identity import draw_mrn
from healthgym.worlds.fhir.cohort.patients import PatientProfile, draw_patient, write_patient
from healthgym.worlds.fhir.cohort.tables import Ints
from healthgym.worlds.fhir.columns import ColumnBase

PUBLISHED_COUNTS = {
    "Observation": 563_426,
    "Procedure": 124_969,
    "Condition": 74_821,
    "MedicationRequest": 21_991,
}
"""Records by type on MedAgentBench's server (table 2 of its paper)."""
PUBLISHED_RECORDS = sum(PUBLISHED_COUNTS.values())

HOSPITAL_MORBIDITY = 1.6
"""Factor on disease prevalence among the patients with data."""
HISTORY_YEARS = 5.0


def population(
    seed: int,
    *,
    now: datetime,
    data_bearing: int = 100,
    patients: int = 700,
    records: int = PUBLISHED_RECORDS,
    partition: str = "train",
) -> ColumnBase:
    """Return a whole server: every patient's Patient resource and some patients' histories.

    Args:
        seed: Everything follows from it.
        now: End of all histories, timezone-aware.
        data_bearing: Patients with a history.
        patients: All patients.
        records: Observations, Procedures, Conditions and MedicationRequests in total.
        partition: The partition from which record numbers are drawn.

    Raises:
        ConfigurationError: If ``data_bearing`` is not from 1 to ``patients``.
    """
    if not 1 <= data_bearing <= patients:
        raise ConfigurationError("data_bearing must be from 1 to the number of patients.")
    people_seed, charts_seed, order_seed = np.random.SeedSequence(seed).spawn(3)
    rng = np.random.default_rng(people_seed)
    people = _draw_people(rng, patients, data_bearing, now, partition)
    builder = ChartBuilder()
    for patient in people:
        write_patient(builder, patient)
    volumes = _volumes(rng, people[:data_bearing], records)
    streams = charts_seed.spawn(data_bearing)
    for patient, volume, stream in zip(people, volumes, streams, strict=False):
        write_volume(
            builder,
            patient,
            np.random.default_rng(stream),
            now=now,
            years=HISTORY_YEARS,
            volume=volume,
        )
    return builder.build(shuffle=np.random.default_rng(order_seed))


def _draw_people(
    rng: np.random.Generator, count: int, sick: int, now: datetime, partition: str
) -> list[PatientProfile]:
    people: dict[str, PatientProfile] = {}
    while len(people) < count:
        mrn = draw_mrn(rng, partition)
        if mrn not in people:
            morbidity = HOSPITAL_MORBIDITY if len(people) < sick else 1.0
            people[mrn] = draw_patient(rng, mrn=mrn, now=now, morbidity=morbidity)
    return list(people.values())


def _volumes(rng: np.random.Generator, people: list[PatientProfile], records: int) -> list[Volume]:
    """Share the records among patients: the sicker the more, with a long tail."""
    burden = np.array([1.0 + len(patient.conditions) for patient in people])
    shares = burden**0.5 * rng.gamma(2.0, 1.0, len(people))
    shares /= shares.sum()
    totals = {
        kind: round(records * count / PUBLISHED_RECORDS) for kind, count in PUBLISHED_COUNTS.items()
    }
    labs = round(totals["Observation"] * FULL_LABS / (FULL_LABS + FULL_VITALS))
    columns = [
        _apportion(shares, total).tolist()
        for total in (
            labs,
            totals["Observation"] - labs,
            totals["Condition"],
            totals["MedicationRequest"],
            totals["Procedure"],
        )
    ]
    return [Volume(*row) for row in zip(*columns, strict=True)]


def _apportion(shares: np.ndarray, total: int) -> Ints:
    """Return whole numbers proportional to ``shares`` that add up to ``total``."""
    limits = np.rint(np.concatenate(([0.0], shares.cumsum())) * total).astype(np.int64)
    limits[-1] = total
    counts: Ints = np.diff(limits)
    return counts
