"""A patient before any case: who they are, their illnesses, and what is taken at every visit."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache, partial
from importlib.resources import files
from itertools import count
from typing import NamedTuple

import numpy as np

from healthgym.worlds.managed_care.charts.hours import business_day, visit_start
from healthgym.worlds.managed_care.deferred import Deferred
from healthgym.worlds.managed_care.facts import (
    AnyFact,
    Intolerance,
    Measurement,
    MedicationCourse,
)
from healthgym.worlds.managed_care.population.conditions import Condition, conditions
from healthgym.worlds.managed_care.population.disease import Habits, draw_disease
from healthgym.worlds.managed_care.population.person import draw_coverages, draw_patient
from healthgym.worlds.managed_care.population.pressure import LOWER, UPPER, below
from healthgym.worlds.managed_care.population.staff import Workforce
from healthgym.worlds.managed_care.population.suitability import closed_by, ruled_out
from healthgym.worlds.managed_care.records.chart import Coverage, Patient, ServiceRequest
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind, Urgency

#: Measures that come with the patient's body; a disease with one of these takes it over.
_BODY = (UPPER, LOWER, "8867-4")
#: How a practice writes its visit notes, by how often.
_NOTES = (
    (DocumentKind.PROGRESS_NOTE, 0.6),
    (DocumentKind.CHART_NOTE, 0.3),
    (DocumentKind.PCP_FOLLOW_UP_NOTE, 0.1),
)
#: An order is entered so long after its visit began.
_ENTERED = timedelta(minutes=18)
#: Notes tell what was measured in so many days before the world begins.
_TOLD = timedelta(days=540)
#: The population's median count of diseases is three.
_COUNTS = (1, 2, 2, 2, 3, 3, 3, 4)


@dataclass(frozen=True, slots=True)
class Background:
    """A patient before any case.

    Attributes:
        patient: Who it is.
        coverages: Coverage history, the latest first.
        habits: How the patient's notes are kept.
        illnesses: Names of diseases, those that were asked for first.
        diseases: Facts of each disease by its name; ``body`` has vital signs and allergies.
        orders: What was ordered, oldest first.
    """

    patient: Patient
    coverages: tuple[Coverage, ...]
    habits: Habits
    illnesses: tuple[str, ...]
    diseases: Mapping[str, tuple[AnyFact, ...]]
    orders: tuple[ServiceRequest, ...]

    @property
    def facts(self) -> tuple[AnyFact, ...]:
        """Everything true of the patient."""
        return tuple(fact for facts in self.diseases.values() for fact in facts)


class DeferredBackground(Deferred, Background):
    """A patient whose years are drawn when somebody asks for them, which takes longest.

    Many stand on a roster or in a queue of whom nobody ever reads more than the name.
    """

    __slots__ = ("_write",)

    plain = Background
    late = ("diseases", "orders")


class Years(NamedTuple):
    """What befell a patient before any case; attributes as of :class:`Background`."""

    diseases: Mapping[str, tuple[AnyFact, ...]]
    orders: tuple[ServiceRequest, ...]


@cache
def _allergies() -> tuple[tuple[str, tuple[str, ...]], ...]:
    rows = json.loads((files(__package__) / "allergies.json").read_text("utf-8"))
    return tuple((substance, tuple(reactions)) for substance, reactions in rows)


def draw_background(
    number: int,
    staff: Workforce,
    rng: np.random.Generator,
    today: date,
    *,
    like: Background | None = None,
    rank: int = 1,
    having: Sequence[str] = (),
    lacking: Sequence[str] = (),
    ages: tuple[int, int] | None = None,
) -> Background:
    """Draw a patient with illnesses, treatment and coverage of several years.

    Args:
        number: Number of the patient, from which the ids follow.
        staff: Who orders, and who pays.
        rng: Where chance comes from: the patient's own stream, which goes on where it is left here
            when the years are drawn.
        today: The day of the world; the last visit is at least two weeks before.
        like: A patient whom this one is to resemble, by name, birthday, place and a disease.
        rank: Number of those who resemble that one, up to this one.
        having: Diseases the patient has, by their names in the model.
        lacking: Diseases the patient does not have.
        ages: Youngest and oldest age; of an adult if left out.

    Raises:
        KeyError: If there is no disease of a name in ``having``.
    """
    known = conditions()
    wanted = [known[name] for name in having]
    if like is not None:
        shared = [name for name in like.illnesses if name not in lacking]
        wanted += [known[name] for name in shared[:1] if name not in having]
    patient = draw_patient(
        number,
        rng,
        today,
        ages=ages or _ages(wanted),
        sex=next((each.sex for each in wanted if each.sex), ""),
        like=like.patient if like else None,
        rank=rank,
    )
    active, inside = rng.random() > 0.05, rng.random() > 0.07
    coverages = draw_coverages(
        patient,
        staff.payer.name,
        rng,
        today,
        active=bool(active),
        network="in_network" if inside else "out_of_network",
    )
    ill = _illnesses(patient, wanted, lacking, rng, today)
    habits = Habits(_note_kind(rng), today - _TOLD)
    drawing = _Drawing(patient, coverages, tuple(ill), habits, staff, today)
    return DeferredBackground.later(
        partial(drawing.years, rng.bit_generator.state),
        patient=patient,
        coverages=coverages,
        habits=habits,
        illnesses=tuple(each.name for each in ill),
    )


@dataclass(frozen=True, slots=True)
class _Drawing:
    """What a patient's years are drawn from; attributes as of :class:`Background`."""

    patient: Patient
    coverages: tuple[Coverage, ...]
    ill: tuple[Condition, ...]
    habits: Habits
    staff: Workforce
    today: date

    def years(self, state: Mapping[str, object]) -> Years:
        """Draw them from where a stream was left, the same ones every time."""
        rng = np.random.Generator(np.random.PCG64(0))
        rng.bit_generator.state = state
        visits = _visits(self.patient, self.coverages, rng, self.today)
        numbers = count(1)
        diseases: dict[str, tuple[AnyFact, ...]] = {}
        closed = ruled_out(each.name for each in self.ill)
        for each in self.ill:
            facts = draw_disease(each, self.patient, visits, self.habits, numbers, rng, closed)
            closed |= closed_by({x.drug_class for x in facts if isinstance(x, MedicationCourse)})
            diseases[each.name] = facts
        diseases["body"] = _body(
            self.patient, self.ill, diseases, visits, self.habits, numbers, rng
        )
        return Years(diseases, _orders(self.patient, self.ill, self.staff, visits, rng))


def draw_person(
    number: int, rng: np.random.Generator, today: date, ages: tuple[int, int] | None = None
) -> Patient:
    """Draw the patient of a background who resembles nobody, and nothing else of it.

    Args:
        number: Number of the patient.
        rng: As the background's.
        today: The day of the world.
        ages: As the background's.
    """
    return draw_patient(number, rng, today, ages=ages or _ages(()))


def _ages(wanted: Sequence[Condition]) -> tuple[int, int]:
    least = max((each.ages[0] for each in wanted), default=24)
    most = min((each.ages[1] for each in wanted), default=88)
    return (least, most) if least <= most else (most, most)


def _illnesses(
    patient: Patient,
    wanted: Sequence[Condition],
    lacking: Sequence[str],
    rng: np.random.Generator,
    today: date,
) -> list[Condition]:
    """Draw which diseases a patient of this age and sex has, the wanted ones first."""
    age = (today - patient.dob).days // 365
    found = list(wanted)
    open_to = [
        each
        for each in conditions().values()
        # One without a weight is drawn only where it is asked for.
        if each.weight
        and each.ages[0] <= age <= each.ages[1]
        and each.sex in ("", patient.sex)
        and each not in found
        and each.name not in lacking
    ]
    count_of = int(_COUNTS[int(rng.integers(len(_COUNTS)))]) + (age > 65)
    while open_to and len(found) < count_of:
        weights = np.array([each.weight for each in open_to], dtype=float)
        place = int(rng.choice(len(open_to), p=weights / weights.sum()))
        found.append(open_to.pop(place))
    return found


def _note_kind(rng: np.random.Generator) -> DocumentKind:
    draw = rng.random()
    for kind, share in _NOTES:
        if draw < share:
            return kind
        draw -= share
    return _NOTES[0][0]


def _visits(
    patient: Patient, coverages: Sequence[Coverage], rng: np.random.Generator, today: date
) -> tuple[date, ...]:
    """Draw the days of visits, every three to six months while there was coverage."""
    state = patient.address_state or ""
    begin = max(patient.dob, min(x.effective_date for x in coverages if x.effective_date))
    end = coverages[0].termination_date or today - timedelta(days=14)
    day = begin + timedelta(days=int(rng.integers(20, 120)))
    found = []
    while day <= end:
        found.append(_open_day(day, state, end, rng))
        day += timedelta(days=int(rng.integers(88, 196)))
    return tuple(found) or (business_day(end, state),)


def _open_day(day: date, state: str, end: date, rng: np.random.Generator) -> date:
    """Return the day, or one of the week before on which the office opens, each as likely."""
    while business_day(day, state) != day or day > end:
        day -= timedelta(days=int(rng.integers(1, 6)))
    return day


def _height(patient: Patient, day: date, rng: np.random.Generator) -> int:
    """Draw a height in cm: means and deviations of adults by sex, a line through the curve before.

    About those of NHANES 2015-2018: women 162 (SD 6.8), men 175.5 (SD 7.3).
    """
    mean, deviation = (162.0, 6.8) if patient.sex == "F" else (175.5, 7.3)
    age = (day - patient.dob).days / 365.25
    share = min(1.0, 0.45 + 0.55 * max(age, 0) / 17)
    return round(share * (mean + deviation * float(np.clip(rng.normal(), -2.3, 2.3))))


def _body(
    patient: Patient,
    ill: Sequence[Condition],
    diseases: Mapping[str, tuple[AnyFact, ...]],
    visits: Sequence[date],
    habits: Habits,
    numbers: Iterator[int],
    rng: np.random.Generator,
) -> tuple[AnyFact, ...]:
    """Draw height, weight and vital signs over the visits, and allergies."""
    taken = {x.code for facts in diseases.values() for x in facts if isinstance(x, Measurement)}
    height = _height(patient, visits[0], rng)
    ranges = [each.bmi for each in ill if each.bmi]
    bmi = float(rng.uniform(*ranges[0])) if ranges else float(rng.uniform(20.5, 31))
    drift = float(rng.normal(0, 0.3))
    base = {
        UPPER: rng.uniform(108, 134),
        LOWER: rng.uniform(64, 84),
        "8867-4": rng.uniform(60, 88),
    }
    young = max(0.0, 1.0 - (visits[0] - patient.dob).days / 365.25 / _GROWN)
    base = {code: value + young * _YOUNG[code] for code, value in base.items()}
    bmi -= young * (bmi - _BMI_YOUNG)
    facts: list[AnyFact] = []

    def add(code: str, display: str, value: float, unit: str, day: date) -> None:
        noted = (habits.note,) if day >= habits.recent else ()
        facts.append(
            Measurement(
                id=f"B-{next(numbers):03d}",
                noted_in=noted,
                code=code,
                display=display,
                value=value,
                unit=unit,
                taken=day,
            )
        )

    add("8302-2", "Body height", float(height), "cm", visits[0])
    for place, day in enumerate(visits):
        upper = None
        for code, display, unit in _VITALS:
            if code in taken or (code == "8867-4" and place % 2):
                continue
            value = base[code] + rng.normal(0, _SWING[code])
            if code == LOWER:
                value = below(value, upper)
            add(code, display, float(round(value)), unit, day)
            upper = value if code == UPPER else upper
        if place % 2 == 0 or day == visits[-1]:
            now = bmi + drift * (day - visits[0]).days / 365 + float(rng.normal(0, 0.2))
            weight = round(now * (height / 100) ** 2, 1)
            add("29463-7", "Body weight", weight, "kg", day)
            add("39156-5", "Body mass index", round(weight / (height / 100) ** 2, 1), "kg/m2", day)
    facts += _intolerances(visits, habits, numbers, rng)
    return tuple(facts)


#: How far vital signs of the newborn lie from those of adults, by which those of children go.
_YOUNG = {UPPER: -38.0, LOWER: -24.0, "8867-4": 60.0}
_BMI_YOUNG, _GROWN = 16.0, 16
#: Standard deviation from visit to visit, near that of outpatients of MIMIC-IV (11.5 and 7.5).
_SWING = {UPPER: 10.5, LOWER: 7.0, "8867-4": 8.0}
_VITALS = (
    (UPPER, "Systolic blood pressure", "mm[Hg]"),
    (LOWER, "Diastolic blood pressure", "mm[Hg]"),
    ("8867-4", "Heart rate", "/min"),
)


def _intolerances(
    visits: Sequence[date], habits: Habits, numbers: Iterator[int], rng: np.random.Generator
) -> Iterator[AnyFact]:
    known = _allergies()
    places = rng.choice(len(known), size=int(rng.integers(0, 3)), replace=False)
    for place in sorted(int(each) for each in places):
        substance, reactions = known[place]
        yield Intolerance(
            id=f"B-{next(numbers):03d}",
            noted_in=(habits.note,),
            substance=substance,
            reaction=reactions[int(rng.integers(len(reactions)))],
            recorded=visits[0],
        )


def _orders(
    patient: Patient,
    ill: Sequence[Condition],
    staff: Workforce,
    visits: Sequence[date],
    rng: np.random.Generator,
) -> tuple[ServiceRequest, ...]:
    """Draw at most three orders of the last visits, one for a disease at most."""
    tail = patient.id.removeprefix("PAT-")
    able = [each for each in ill if each.orders]
    found: list[ServiceRequest] = []
    for each in able[: int(rng.integers(0, 4))]:
        order = each.orders[int(rng.integers(len(each.orders)))]
        day = visits[-1 - int(rng.integers(min(len(visits), 5)))]
        own = staff.clinicians("Internal Medicine")
        found.append(
            ServiceRequest(
                id=f"SR-{tail}-{len(found) + 1}",
                patient_id=patient.id,
                ordering_practitioner_id=own[int(rng.integers(len(own)))].id,
                service_type=order.service_type,
                procedure_code=order.code,
                description=order.description,
                priority=Urgency.STANDARD,
                diagnosis_codes=(each.diagnoses[0][0],),
                site_of_service=order.site,
                requested_date=visit_start(patient, day) + _ENTERED,
            )
        )
    return tuple(sorted(found, key=lambda one: (one.requested_date, one.id)))
