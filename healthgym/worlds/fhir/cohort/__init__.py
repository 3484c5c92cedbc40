"""Synthetic patients and their charts: identities, physiology, histories, whole servers."""

from healthgym.worlds.fhir.cohort.charting import Volume, write_chart, write_volume
from healthgym.worlds.fhir.cohort.identity import PARTITIONS, draw_mrn, partition_of
from healthgym.worlds.fhir.cohort.patients import (
    PatientProfile,
    draw_patient,
    namesake,
    write_patient,
)
from healthgym.worlds.fhir.cohort.physiology import lab_values
from healthgym.worlds.fhir.cohort.population import PUBLISHED_COUNTS, population
from healthgym.worlds.fhir.cohort.vocabulary import (
    Disease,
    Finding,
    Lab,
    Medication,
    Procedure,
    Vital,
    Vocabulary,
    vocabulary,
)

__all__ = [
    "PARTITIONS",
    "PUBLISHED_COUNTS",
    "Disease",
    "Finding",
    "Lab",
    "Medication",
    "PatientProfile",
    "Procedure",
    "Vital",
    "Vocabulary",
    "Volume",
    "draw_mrn",
    "draw_patient",
    "lab_values",
    "namesake",
    "partition_of",
    "population",
    "vocabulary",
    "write_chart",
    "write_patient",
    "write_volume",
]
