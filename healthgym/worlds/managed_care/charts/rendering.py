"""Facts → a chart: structured records, encounters, and documents that tell the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import partial
from types import MappingProxyType

import numpy as np

from healthgym.worlds.managed_care.charts.chart import (
    DeferredChart,
    PatientChart,
    UnwrittenChart,
)
from healthgym.worlds.managed_care.charts.checking import check_facts
from healthgym.worlds.managed_care.charts.filing import Desk
from healthgym.worlds.managed_care.charts.ordering import Ordering, with_visit
from healthgym.worlds.managed_care.charts.phrases import Ahead, Chooser
from healthgym.worlds.managed_care.charts.planning import plan
from healthgym.worlds.managed_care.charts.prose import begun, day_of
from healthgym.worlds.managed_care.charts.sheets import Stated
from healthgym.worlds.managed_care.charts.stays import Stay, with_stays
from healthgym.worlds.managed_care.charts.structured import structured
from healthgym.worlds.managed_care.charts.visits import visits_of
from healthgym.worlds.managed_care.facts import AnyFact
from healthgym.worlds.managed_care.population.staff import Workforce
from healthgym.worlds.managed_care.records.chart import Coverage, Patient, ServiceRequest

#: Choices of an encounter and of a document, at most: type, words, code, summary, who; and words,
#: who, time, title, and the seed of its text, which is two.
_OF_A_VISIT, _OF_A_DOCUMENT = 5, 6
_NO_UNITS: Mapping[str, str] = MappingProxyType({})
#: What the world, the patient and the staff give for a chart.
_Given = tuple[
    Patient, Sequence[Coverage], Sequence[AnyFact], Sequence[ServiceRequest], Workforce, date
]


def render_chart(
    patient: Patient,
    coverages: Sequence[Coverage],
    facts: Sequence[AnyFact],
    orders: Sequence[ServiceRequest],
    staff: Workforce,
    rng: np.random.Generator,
    today: date,
    *,
    units: Mapping[str, str] = _NO_UNITS,
    ordering: Ordering | None = None,
    stays: Sequence[Stay] = (),
) -> PatientChart:
    """Write the chart of a patient.

    Args:
        patient: Whom it is about.
        coverages: Coverage history; records are kept from the first effective date on.
        facts: What is true of the patient.
        orders: What is ordered; notes on or after the day of an order mention it.
        staff: Who writes.
        rng: Where wording, authors and times of day come from.
        today: The day of the world; nothing is dated later.
        units: UCUM unit in which documents give a measurement, by fact id, where it is not the
            fact's own; the structured record keeps the fact's.
        ordering: The visit from which the orders come; None where it is not kept.
        stays: Days in the hospital; what changed in one makes no visit to the practice.

    Raises:
        ValueError: If two facts share an id, or a date is before birth, after today, or an end
            is before its start; the message names the fact.
    """
    check_facts(patient, facts, today)
    given = (patient, coverages, facts, orders, staff, today)
    return _composed(given, Chooser(rng), units=units, ordering=ordering, stays=stays)


def render_unopened(
    patient: Patient,
    coverages: Sequence[Coverage],
    facts: Sequence[AnyFact],
    staff: Workforce,
    rng: np.random.Generator,
    today: date,
    *,
    stays: Sequence[Stay] = (),
) -> PatientChart:
    """Return what :func:`render_chart` does, written when somebody first opens it.

    Arguments are the same, and the stream is left as by that: of what a chart takes of it only the
    first block is known beforehand, so that one which may need more is written at once.
    """
    given = (patient, coverages, facts, (), staff, today)
    return _unopened(given, partial(_written, given, stays=stays), rng, _most_choices(facts, stays))


def render_unopened_case(
    patient: Patient,
    coverages: Sequence[Coverage],
    facts: Sequence[AnyFact],
    orders: Sequence[ServiceRequest],
    staff: Workforce,
    rng: np.random.Generator,
    today: date,
    *,
    units: Mapping[str, str],
    ordering: Ordering,
) -> PatientChart:
    """Return what :func:`render_chart` does, as :func:`render_unopened`, its facts checked now.

    Arguments are the same as there.

    Raises:
        ValueError: As there.
    """
    check_facts(patient, facts, today)
    given = (patient, coverages, facts, orders, staff, today)
    write = partial(_composed, given, units=units, ordering=ordering)
    most = _most_choices(facts, ()) + _OF_A_VISIT + _OF_A_DOCUMENT
    return _unopened(given, write, rng, most)


def _unopened(
    given: _Given, write: Callable[[Chooser], PatientChart], rng: np.random.Generator, most: int
) -> PatientChart:
    """Return a chart that is written when it is opened, or now if it may take too many choices."""
    if most > Ahead.MOST:
        return write(Chooser(rng))
    patient, coverages, facts, orders, *_ = given
    numbers = Ahead.drawn(rng)
    return UnwrittenChart.later(
        lambda: write(Ahead(numbers.tolist())),
        patient=patient,
        coverages=tuple(coverages),
        orders=tuple(orders),
        facts=tuple(facts),
    )


def _most_choices(facts: Sequence[AnyFact], stays: Sequence[Stay]) -> int:
    """Return how many choices a chart without orders takes at most.

    There is a visit on each day on which something becomes true at most, and of each kind of
    document one, a questionnaire's for each of its forms.
    """
    visits: set[date] = set()
    documents = 0
    for fact in facts:
        days = {begun(fact), day_of(fact)}
        visits |= days
        documents += len(days) * len(fact.noted_in)
    return 1 + _OF_A_VISIT * (len(visits) + len(stays)) + _OF_A_DOCUMENT * (documents + len(stays))


def _written(given: _Given, chooser: Chooser, *, stays: Sequence[Stay] = ()) -> PatientChart:
    patient, _, facts, _, _, today = given
    check_facts(patient, facts, today)
    return _composed(given, chooser, stays=stays)


def _composed(
    given: _Given,
    chooser: Chooser,
    *,
    units: Mapping[str, str] = _NO_UNITS,
    ordering: Ordering | None = None,
    stays: Sequence[Stay] = (),
) -> PatientChart:
    patient, coverages, facts, orders, staff, today = given
    starts = [each.effective_date for each in coverages if each.effective_date is not None]
    first = min(starts, default=patient.dob)
    changed = frozenset(name for stay in stays for name in stay.changed)
    own = [fact for fact in facts if fact.id not in changed] if changed else facts
    visits = visits_of(own, first, today, patient.address_state or "")
    desk = Desk(patient, facts, orders, staff, chooser, units)
    planned = plan(facts, visits, today)
    if stays:
        inside, visits, planned = with_stays(stays, visits, planned)
        desk.admit(inside)
    if ordering is not None:
        place, visits, planned = with_visit(ordering, visits, planned)
        desk.expect(ordering, place)
    desk.write_encounters(visits, planned)
    for each in planned:
        desk.write(each)
    if ordering is not None:
        desk.write_order_note(ordering)
    if stays:
        desk.write_stays()
    return DeferredChart.later(
        partial(structured, patient, facts, desk.encounters()),
        patient=patient,
        coverages=tuple(coverages),
        documents=tuple(sorted(desk.documents, key=lambda one: (one.created_at, one.id))),
        orders=tuple(orders),
        facts=tuple(facts),
        shows=Stated(desk.shows),
    )
