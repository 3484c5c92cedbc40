"""The patient of a case: a background, the case's facts in it, and the chart that states both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta

import numpy as np

from healthgym.envs.managed_care.cases.clinic import clinic
from healthgym.envs.managed_care.cases.situations import Bar, Gap, Situation
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.charts.compose import compose, render_composition
from healthgym.worlds.managed_care.charts.sections import age_on
from healthgym.worlds.managed_care.charts.subjects import quiet, subjects_of, subjects_of_criteria
from healthgym.worlds.managed_care.facts import AnyFact
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.population.background import Background, draw_background
from healthgym.worlds.managed_care.population.drawing import chart_of
from healthgym.worlds.managed_care.records.chart import Coverage, Patient, ServiceRequest
from healthgym.worlds.managed_care.vocabulary.authorization import (
    DocumentKind,
    ServiceTypeCategory,
    Urgency,
)

#: Numbers of patients who are drawn for a task begin here.
_FIRST_NUMBER = 1001
_NUMBERS = 8900
#: Who orders what; elsewhere it is an internist.
_SPECIALTIES = {
    ServiceTypeCategory.SURGICAL: "Orthopedic Surgery",
    ServiceTypeCategory.CARDIOLOGY: "Cardiology",
    ServiceTypeCategory.ONCOLOGY: "Oncology",
    ServiceTypeCategory.BEHAVIORAL_HEALTH: "Psychiatry",
    ServiceTypeCategory.PAIN_MANAGEMENT: "Anesthesiology",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CasePatient:
    """The patient who is meant.

    Attributes:
        background: The patient before the case.
        chart: The chart, with the case in it.
        order: What was ordered.
    """

    background: Background
    chart: PatientChart
    order: ServiceRequest


def draw_subject(rng: np.random.Generator, today: date) -> Background:
    """Return somebody for whom something will be ordered."""
    number = _FIRST_NUMBER + int(rng.integers(_NUMBERS))
    return draw_background(number, clinic().staff, rng, today)


def draw_twin(like: Background, number: int, rng: np.random.Generator, today: date) -> PatientChart:
    """Return the chart of somebody who resembles a patient, by name, birthday and place."""
    twin = draw_background(number, clinic().staff, rng, today, like=like)
    return chart_of(twin, clinic().staff, rng, today)


def number_of(patient: Patient) -> int:
    """Return the number from which a patient's ids follow."""
    return int(patient.id.removeprefix("PAT-"))


def write_patient(
    subject: Background, drawn: Situation, rng: np.random.Generator, today: date
) -> CasePatient:
    """Return a patient with a situation in the chart.

    Raises:
        ConfigurationError: If the chart cannot show what the situation needs.
    """
    patient = _aged(subject.patient, drawn, today)
    subjects = subjects_of_criteria(criteria(drawn.policy.criteria)) | subjects_of(drawn.facts)
    kept = [
        fact
        for fact in quiet(dict(subject.diseases), subjects)
        if _born_before(fact, patient.dob) and fact.id not in {own.id for own in drawn.facts}
    ]
    order = _order(patient, drawn, rng, today)
    try:
        chart = render_composition(
            compose(kept, drawn.facts),
            patient,
            _coverages(subject, patient, drawn, rng, today),
            (order,),
            clinic().staff,
            rng,
            today,
        )
    except ValueError as error:
        raise ConfigurationError(f"The chart of {patient.id} cannot be written: {error}") from error
    if drawn.ending is Gap.DOCUMENT:
        chart = without_kinds(chart, drawn.missing)
    return CasePatient(background=subject, chart=chart, order=order)


def without_kinds(chart: PatientChart, kinds: tuple[str, ...]) -> PatientChart:
    """Return a chart from which documents of some kinds are missing."""
    kept = tuple(document for document in chart.documents if document.kind not in kinds)
    names = {document.id for document in kept}
    shows = {name: facts for name, facts in chart.shows.items() if name in names}
    return replace(chart, documents=kept, shows=shows)


def _aged(patient: Patient, drawn: Situation, today: date) -> Patient:
    """Return a patient of the age that the request needs, on another day of the year."""
    wanted = drawn.request.age
    if age_on(patient.dob, today) == wanted:
        return patient
    month, day = patient.dob.month, min(patient.dob.day, 28)
    year = today.year - wanted - ((today.month, today.day) < (month, day))
    return replace(patient, dob=date(year, month, day))


def _born_before(fact: AnyFact, born: date) -> bool:
    days = (getattr(fact, name, None) for name in _DAYS)
    return all(day is None or day > born for day in days)


_DAYS = ("onset", "taken", "started", "performed", "found", "recorded")


def _coverages(
    subject: Background, patient: Patient, drawn: Situation, rng: np.random.Generator, today: date
) -> tuple[Coverage, ...]:
    """Return the coverage history, its latest under the policy's plan."""
    latest = subject.coverages[0]
    policy = drawn.policy
    plans = policy.plans
    ended = drawn.ending is Bar.INACTIVE
    last = today - timedelta(days=int(rng.integers(12, 75)))
    begun = latest.effective_date or date(today.year - 1, 1, 1)
    latest = replace(
        latest,
        payer_name=policy.payer,
        plan_name=plans[int(rng.integers(len(plans)))],
        member_number=patient.member_id,
        active=not ended,
        effective_date=min(begun, last - timedelta(days=200)),
        termination_date=last if ended else None,
        network_status=("out_of_network" if drawn.ending is Bar.OUT_OF_NETWORK else "in_network"),
    )
    begins = latest.effective_date or begun
    earlier = tuple(
        replace(each, termination_date=min(each.termination_date or begins, begins - _DAY))
        for each in subject.coverages[1:]
        if each.effective_date is not None and each.effective_date < begins
    )
    return (latest, *earlier)


_DAY = timedelta(days=1)


def _order(
    patient: Patient, drawn: Situation, rng: np.random.Generator, today: date
) -> ServiceRequest:
    policy, request = drawn.policy, drawn.request
    specialty = _SPECIALTIES.get(policy.category, "Internal Medicine")
    doctors = clinic().staff.clinicians(specialty)
    service = next(item for item in policy.procedures if item.code == request.procedure_code)
    ordered = today - timedelta(days=int(rng.integers(1, 6)))
    return ServiceRequest(
        id=f"SR-{number_of(patient)}-1",
        patient_id=patient.id,
        ordering_practitioner_id=doctors[int(rng.integers(len(doctors)))].id,
        service_type=str(policy.category),
        procedure_code=request.procedure_code,
        description=_described(service.display, drawn),
        priority=Urgency.EXPEDITED if rng.random() < 0.2 else Urgency.STANDARD,
        diagnosis_codes=request.diagnosis_codes,
        site_of_service=str(request.site),
        requested_date=datetime.combine(ordered, time(15), UTC),
    )


def _described(service: str, drawn: Situation) -> str:
    """Return what is ordered, with how much of it where that is limited."""
    unit = next(
        (
            item.unit
            for item in criteria(drawn.policy.criteria)
            if hasattr(item, "maximum") and hasattr(item, "unit")
        ),
        "",
    )
    if drawn.request.quantity is None or not unit:
        return service
    return f"{service}, {drawn.request.quantity:g} {unit}"


#: Documents that an office may attach: what cannot be uploaded is not asked for either.
ATTACHABLE = frozenset(DocumentKind) - {DocumentKind.SUBMISSION_BUNDLE}
