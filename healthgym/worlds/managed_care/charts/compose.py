"""A case planted into a patient's background, and what may be wrong with the paper about it.

The background must neither fulfil nor contradict what a case is about by accident: what touches
the same subjects is taken out of it before the case's facts go in. Disturbances leave what is true
as it is and change the documents: one is missing, two disagree, a unit differs, a note is not
signed, a page is somebody else's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.charts.disturbing import Disturbance, OtherUnit, disturb
from healthgym.worlds.managed_care.charts.rendering import render_chart
from healthgym.worlds.managed_care.charts.subjects import Subjects, subjects_of, without
from healthgym.worlds.managed_care.facts import AnyFact
from healthgym.worlds.managed_care.population.staff import Workforce
from healthgym.worlds.managed_care.records.chart import Coverage, Patient, ServiceRequest

_NOTHING = Subjects()


@dataclass(frozen=True, slots=True)
class Composition:
    """A background with a case in it, not written yet.

    Attributes:
        facts: Everything true of the patient.
        disturbances: What will be wrong with the paper.
    """

    facts: tuple[AnyFact, ...]
    disturbances: tuple[Disturbance, ...] = ()


def compose(
    background: Iterable[AnyFact],
    planted: Sequence[AnyFact],
    disturbances: Sequence[Disturbance] = (),
    *,
    silent: Subjects = _NOTHING,
) -> Composition:
    """Put a case's facts into a background that is silent on what the case is about.

    Args:
        background: What is true of the patient besides.
        planted: The case's facts.
        disturbances: What will be wrong with the paper.
        silent: What the background must not speak of besides what is planted: subjects of
            criteria that the case leaves absent.

    Raises:
        ValueError: If a background fact and a planted one share an id, or a disturbance is about a
            fact that is not there or cannot be disturbed so.
    """
    kept = without(background, silent | subjects_of(planted))
    taken = {fact.id for fact in planted}
    for fact in kept:
        if fact.id in taken:
            raise ValueError(f"The background and the case both have a fact {fact.id}.")
    facts = (*kept, *planted)
    known = {fact.id: fact for fact in facts}
    for each in disturbances:
        each.check(known)
    return Composition(facts, tuple(disturbances))


def render_composition(
    composition: Composition,
    patient: Patient,
    coverages: Sequence[Coverage],
    orders: Sequence[ServiceRequest],
    staff: Workforce,
    rng: np.random.Generator,
    today: date,
) -> PatientChart:
    """Write the chart of a composition, disturbed as it says.

    Args:
        composition: What is true, and what is wrong with the paper.
        patient: Whom it is about.
        coverages: Coverage history.
        orders: What is ordered.
        staff: Who writes.
        rng: Where wording comes from.
        today: The day of the world.

    Raises:
        ValueError: If the facts contradict themselves, or a disturbance finds nothing to disturb.
    """
    units = {
        each.fact_id: each.unit for each in composition.disturbances if isinstance(each, OtherUnit)
    }
    chart = render_chart(
        patient, coverages, composition.facts, orders, staff, rng, today, units=units
    )
    for each in composition.disturbances:
        chart = disturb(chart, each, staff, rng, today)
    return chart
