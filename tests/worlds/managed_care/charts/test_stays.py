"""Stays in hospital and emergency visits in a chart."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import pairwise

import numpy as np

from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.charts.rendering import render_chart
from healthgym.worlds.managed_care.charts.stated import states
from healthgym.worlds.managed_care.charts.stays import Stay, StayKind
from healthgym.worlds.managed_care.facts import AnyFact, Measurement, MedicationCourse
from healthgym.worlds.managed_care.population.drawing import Population
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind

BEGUN = MedicationCourse(
    id="C-1",
    medication="enoxaparin",
    drug_class="anticoagulant",
    dose="40 mg",
    frequency="once daily",
    started=date(2026, 1, 9),
)
INSIDE = Stay(
    kind=StayKind.INPATIENT,
    begun=date(2026, 1, 3),
    ended=date(2026, 1, 9),
    code="J18.9",
    name="Pneumonia, unspecified organism",
    changed=frozenset({"C-1"}),
)
SEEN = Stay(
    kind=StayKind.EMERGENCY,
    begun=date(2025, 11, 2),
    ended=date(2025, 11, 2),
    code="R55",
    name="Syncope and collapse",
)


def render(population: Population, stays: tuple[Stay, ...], *more: AnyFact) -> PatientChart:
    home = population.backgrounds[0]
    return render_chart(
        home.patient,
        home.coverages,
        (*home.facts, *more),
        (),
        population.staff,
        np.random.default_rng(4),
        population.today,
        stays=stays,
    )


def test_a_stay_is_an_encounter_with_a_note_of_the_day_it_ended(population: Population) -> None:
    chart = render(population, (INSIDE, SEEN), BEGUN)
    plain = render(population, ())
    assert len(chart.encounters) == len(plain.encounters) + 2
    assert all(one.occurred_at <= other.occurred_at for one, other in pairwise(chart.encounters))
    inside = next(e for e in chart.encounters if e.occurred_at.date() == INSIDE.begun)
    assert inside.encounter_type == "inpatient"
    assert inside.summary.endswith("discharged 2026-01-09")
    note = next(page for page in chart.documents if page.encounter_id == inside.id)
    assert note.kind is DocumentKind.DISCHARGE_SUMMARY
    assert note.created_at.date() == INSIDE.ended
    assert states(note.content, BEGUN)
    assert "C-1" in chart.shows[note.id]
    seen = next(e for e in chart.encounters if e.occurred_at.date() == SEEN.begun)
    assert seen.encounter_type == "emergency"
    written = [page.note_type for page in chart.documents if page.encounter_id == seen.id]
    assert written == ["emergency"]


def test_what_began_at_discharge_makes_no_visit_and_is_taken(population: Population) -> None:
    chart = render(population, (INSIDE,), BEGUN)
    assert not [e for e in chart.encounters if e.occurred_at.date() == BEGUN.started]
    active = [each.medication_name for each in chart.medications if each.status == "active"]
    assert active.count("enoxaparin") == 1
    # Notes before it do not know of it.
    early = [p for p in chart.documents if p.created_at.date() < INSIDE.ended]
    assert not any("enoxaparin" in page.content.casefold() for page in early)


def test_notes_belong_to_their_visits_wherever_stays_fall(population: Population) -> None:
    chart = render(population, (INSIDE, SEEN), BEGUN)
    encounters = {each.id: each for each in chart.encounters}
    assert len(encounters) == len(chart.encounters)
    for page in chart.documents:
        if page.encounter_id is not None:
            visit = encounters[page.encounter_id]
            assert abs((page.created_at.date() - visit.occurred_at.date()).days) <= 10


def test_the_next_visit_tells_of_the_stay_and_the_one_after_does_not(
    population: Population,
) -> None:
    home = population.backgrounds[0]
    visits = sorted({x.taken for x in home.facts if isinstance(x, Measurement) and x.noted_in})
    days = [day for day in visits if day > visits[-1] - timedelta(days=500)]
    before = next(
        one for one, after in pairwise(days) if (after - one).days > 40 and after != days[-1]
    )
    stay = Stay(
        kind=StayKind.INPATIENT,
        begun=before + timedelta(days=15),
        ended=before + timedelta(days=20),
        code="J18.9",
        name="Pneumonia, unspecified organism",
    )
    chart = render(population, (stay,))
    places = {each.id: place for place, each in enumerate(chart.encounters)}
    inside = next(e for e in chart.encounters if e.encounter_type == "inpatient")
    told = {
        places[page.encounter_id or ""] - places[inside.id]
        for page in chart.documents
        if "pneumonia" in page.content and page.encounter_id in places
    }
    assert told == {0, 1}
