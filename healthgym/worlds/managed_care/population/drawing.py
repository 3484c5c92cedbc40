"""The population of a world: fifty patients with charts, drawn once and shared."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

import numpy as np

from healthgym.worlds.managed_care.charts.chart import ChartLibrary, PatientChart
from healthgym.worlds.managed_care.charts.rendering import render_chart
from healthgym.worlds.managed_care.population.background import Background, draw_background
from healthgym.worlds.managed_care.population.staff import Workforce, draw_workforce

#: Patients of a world at full size.
FULL_SIZE = 50
#: Each so-many-th patient resembles the one before.
_ALIKE_EVERY = 5


@dataclass(frozen=True, slots=True)
class Population:
    """Patients and the people who care for them; immutable, shared between worlds.

    Attributes:
        today: The day up to which the charts are kept.
        staff: Who works at the provider and at the payer.
        backgrounds: The patients before any case, in the order of their ids.
        charts: Their charts.
    """

    today: date
    staff: Workforce
    backgrounds: tuple[Background, ...]
    charts: ChartLibrary

    def background(self, patient_id: str) -> Background:
        """Return a patient's background.

        Raises:
            KeyError: If there is no such patient.
        """
        for each in self.backgrounds:
            if each.patient.id == patient_id:
                return each
        raise KeyError(patient_id)


def draw_population(
    sequence: np.random.SeedSequence, today: date, size: int = FULL_SIZE
) -> Population:
    """Draw a population.

    The patient of a number depends on the sequence, the day and, where it resembles the one
    before, on that one; not on the size.

    Args:
        sequence: Where chance comes from; its children are spawned by key, it is not changed.
        today: The day of the world.
        size: Patients.
    """
    staff = draw_workforce(_stream(sequence, 0, 0))
    backgrounds: list[Background] = []
    for number in range(1, size + 1):
        like = backgrounds[-1] if number % _ALIKE_EVERY == 0 else None
        rng = _stream(sequence, 1, number)
        backgrounds.append(draw_background(number, staff, rng, today, like=like))
    charts = [
        chart_of(each, staff, _stream(sequence, 2, number), today)
        for number, each in enumerate(backgrounds, 1)
    ]
    return Population(today, staff, tuple(backgrounds), ChartLibrary(charts))


def chart_of(
    background: Background, staff: Workforce, rng: np.random.Generator, today: date
) -> PatientChart:
    """Write the chart of a patient without a case."""
    return render_chart(
        background.patient,
        background.coverages,
        background.facts,
        background.orders,
        staff,
        rng,
        today,
    )


def _stream(sequence: np.random.SeedSequence, kind: int, number: int) -> np.random.Generator:
    key = (*sequence.spawn_key, kind, number)
    child = np.random.SeedSequence(entropy=sequence.entropy, spawn_key=key)
    return np.random.Generator(np.random.PCG64(child))
