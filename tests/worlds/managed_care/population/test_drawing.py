"""Patients drawn from one clinical model, and the people who care for them."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from datetime import date

import numpy as np
import pytest

from healthgym.worlds.managed_care.charts.prose import begun, day_of
from healthgym.worlds.managed_care.facts import Diagnosis, Measurement, MedicationCourse, StopReason
from healthgym.worlds.managed_care.population.background import draw_background
from healthgym.worlds.managed_care.population.conditions import conditions
from healthgym.worlds.managed_care.population.drawing import Population, draw_population
from healthgym.worlds.managed_care.population.kidney import creatinine_of
from healthgym.worlds.managed_care.population.staff import draw_workforce, names
from healthgym.worlds.managed_care.staff import WorkerRole

TODAY = date(2026, 3, 13)


@pytest.fixture(scope="module")
def full() -> Population:
    return draw_population(np.random.SeedSequence(11), TODAY)


def test_a_full_population_has_some_five_thousand_activities(full: Population) -> None:
    assert len(full.charts) == 50
    assert 4_500 <= sum(chart.activities() for chart in full.charts.values()) <= 6_500


def test_no_two_patients_share_an_id(full: Population) -> None:
    ids: list[str] = []
    for chart in full.charts.values():
        ids += [chart.patient.id, chart.patient.member_id]
        for part in ("coverages", "encounters", "conditions", "observations", "procedures"):
            ids += [each.id for each in getattr(chart, part)]
        for part in ("medications", "allergies", "documents", "orders"):
            ids += [each.id for each in getattr(chart, part)]
    assert [key for key, times in Counter(ids).items() if times > 1] == []


def test_dates_are_in_order(full: Population) -> None:
    for chart in full.charts.values():
        for fact in chart.facts:
            assert chart.patient.dob < begun(fact) <= day_of(fact) <= TODAY, fact
        for encounter in chart.encounters:
            day = encounter.occurred_at.date()
            assert chart.coverage_on(day) is not None, (chart.patient.id, day)
        for order in chart.orders:
            assert order.requested_date.date() <= TODAY


def test_coverage_has_no_gap_and_one_of_them_is_the_latest(full: Population) -> None:
    kinds: Counter[tuple[bool, str]] = Counter()
    for chart in full.charts.values():
        latest, *rest = chart.coverages
        kinds[latest.active, latest.network_status] += 1
        assert latest.active == (latest.termination_date is None)
        begin = latest.effective_date
        for each in rest:
            assert begin is not None
            assert each.termination_date is not None
            assert (begin - each.termination_date).days == 1
            assert not each.active
            begin = each.effective_date
    assert len(kinds) > 1, "nobody is without coverage or out of network"


def test_a_step_that_works_lowers_the_measure(full: Population) -> None:
    """After a further medicine for diabetes, HbA1c is lower on average."""
    changes = []
    for home in full.backgrounds:
        facts = home.diseases.get("diabetes", ())
        values = sorted(
            (x.taken, x.value) for x in facts if isinstance(x, Measurement) and x.code == "4548-4"
        )
        for course in facts:
            if isinstance(course, MedicationCourse) and course.ended is None:
                before = [value for day, value in values if day <= course.started]
                after = [value for day, value in values if (day - course.started).days > 60]
                if before and after:
                    changes.append(after[0] - before[-1])
    assert len(changes) > 3
    assert np.mean(changes) < -0.2


def test_an_ineffective_medicine_is_replaced_and_reasons_vary(full: Population) -> None:
    courses = [x for h in full.backgrounds for x in h.facts if isinstance(x, MedicationCourse)]
    reasons = Counter(x.stop_reason for x in courses)
    assert reasons[None] > reasons[StopReason.INEFFECTIVE] > 0
    assert reasons[StopReason.INTOLERANCE] > 0
    for course in courses:
        assert (course.ended is None) == (course.stop_reason is None)


def test_creatinine_follows_the_filtration_rate(full: Population) -> None:
    """Published points of the CKD-EPI equation of 2021: a man and a woman of 60."""
    man = next(h.patient for h in full.backgrounds if h.patient.sex == "M")
    day = date(man.dob.year + 60, man.dob.month, min(man.dob.day, 28))
    gfr = 142 * (2.0 / 0.9) ** -1.2 * 0.9938 ** ((day - man.dob).days / 365.25)
    assert creatinine_of(gfr, man, day) == pytest.approx(2.0, abs=0.001)


def test_every_fifth_patient_resembles_the_one_before(full: Population) -> None:
    for number in range(5, 51, 5):
        one = full.background(f"PAT-{number - 1:04d}").patient
        other = full.background(f"PAT-{number:04d}").patient
        assert one.last_name == other.last_name
        assert one.first_name != other.first_name
        assert 0 < abs((one.dob - other.dob).days) <= 21


def test_diseases_can_be_asked_for_and_left_out(full: Population) -> None:
    for seed in range(20):
        home = draw_background(
            900 + seed,
            full.staff,
            np.random.default_rng(seed),
            TODAY,
            having=("migraine",),
            lacking=("hypertension",),
        )
        assert "migraine" in home.diseases
        assert "hypertension" not in home.diseases
        codes = {x.code for x in home.facts if isinstance(x, Diagnosis)}
        assert codes & {code for code, _ in conditions()["migraine"].diagnoses}


def test_a_patient_does_not_depend_on_the_size(full: Population) -> None:
    small = draw_population(np.random.SeedSequence(11), TODAY, 7)
    for key in small.charts:
        assert small.charts[key] == full.charts[key]


def test_another_process_draws_the_same() -> None:
    script = (
        "import hashlib; import numpy as np; from datetime import date;"
        "from healthgym.worlds.managed_care.population.drawing import draw_population;"
        "drawn = draw_population(np.random.SeedSequence(5), date(2026, 3, 13), 6);"
        "whole = [(c.patient, c.documents, c.facts, c.encounters, c.observations,"
        " [(key, sorted(shown)) for key, shown in c.shows.items()])"
        " for c in drawn.charts.values()];"
        "print(hashlib.sha256(repr(whole).encode()).hexdigest())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


def test_names_give_enough_combinations() -> None:
    known = names()
    assert len({*known["female"], *known["male"]}) * len(set(known["last"])) > 20_000
    for group in known.values():
        assert len(set(group)) == len(group)


def test_about_ninety_people_work_there() -> None:
    staff = draw_workforce(np.random.default_rng(1))
    assert 85 <= len(staff.workers) <= 95
    assert {worker.role for worker in staff.workers} == set(WorkerRole)
    assert len({worker.name for worker in staff.workers}) == len(staff.workers)
    for worker in staff.workers:
        assert worker.hours[0] < worker.hours[1]
        licensed = worker.role in (
            WorkerRole.CLINICIAN,
            WorkerRole.UM_NURSE,
            WorkerRole.PHYSICIAN_REVIEWER,
            WorkerRole.APPEALS_MEDICAL_DIRECTOR,
            WorkerRole.CARE_MANAGER,
        )
        assert bool(worker.licence) == licensed
        if worker.npi is not None:
            assert luhn("80840" + worker.npi)
    people = staff.staff()
    assert all(people.role_of(worker.id) is worker.role for worker in staff.workers)
    assert {one.id for one in staff.practitioners()} == {
        worker.id for worker in staff.with_role(WorkerRole.CLINICIAN)
    }
    assert {one.role for one in staff.contacts()} == {role.value for role in WorkerRole}


def luhn(digits: str) -> bool:
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0
