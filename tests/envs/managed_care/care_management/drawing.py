"""Tasks of care management for tests, drawn once."""

from __future__ import annotations

from functools import cache

from healthgym.core.seeding import Split
from healthgym.envs.managed_care.care_management.generator import CareGenerator
from healthgym.envs.managed_care.care_management.task import (
    PRESETS,
    CareConfig,
    CareInstance,
)
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.records.care import CMReferral
from healthgym.worlds.managed_care.rules import Rules


def generator(config: CareConfig | str = "medium", *, canonical: bool = False) -> CareGenerator:
    """Return a generator."""
    chosen = PRESETS[config] if isinstance(config, str) else config
    name = "care-management-canonical" if canonical else "care-management"
    return CareGenerator(chosen, "medium", name, Rules.STRICT, canonical=canonical)


@cache
def drawn(split: Split, count: int, difficulty: str = "medium") -> tuple[CareInstance, ...]:
    """Return the first tasks of a split."""
    made = generator(difficulty)
    return tuple(made.generate(split, index) for index in range(count))


def meant(instance: CareInstance) -> CMReferral:
    """Return the referral that a task means."""
    return next(
        record
        for record in instance.start.records
        if isinstance(record, CMReferral) and record.referral_id == instance.reference.referral_id
    )


def chart_of(instance: CareInstance) -> PatientChart:
    """Return the chart of whom a task is about."""
    return instance.start.charts[instance.reference.patient_id]
