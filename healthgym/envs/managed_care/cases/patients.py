"""The patient of a case: a background, the case's facts in it, and the chart that states both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

import numpy as np

from healthgym.core.records import replace
from healthgym.envs.managed_care.cases.clinic import workforce
from healthgym.envs.managed_care.cases.ordering import (
    listed_condition,
    order_days,
    orderer,
    ordering_visit,
)
from healthgym.envs.managed_care.cases.situations import Bar, Gap, Situation
from healthgym.envs.managed_care.cases.subjects import MEDICARE, SENIOR
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.charts.ages import age_on
from healthgym.worlds.managed_care.charts.chart import PatientChart, UnwrittenChart
from healthgym.worlds.managed_care.charts.hours import visit_start
from healthgym.worlds.managed_care.charts.ordering import Ordering
from healthgym.worlds.managed_care.charts.prose import begun
from healthgym.worlds.managed_care.charts.rendering import render_chart, render_unopened_case
from healthgym.worlds.managed_care.charts.sheets import renamed
from healthgym.worlds.managed_care.charts.subjects import (
    Subjects,
    asked_of,
    quiet,
    subjects_of,
)
from healthgym.worlds.managed_care.deferred import Deferred, varied
from healthgym.worlds.managed_care.facts import AnyFact, Diagnosis
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.population.background import Background
from healthgym.worlds.managed_care.population.companions import companions
from healthgym.worlds.managed_care.population.person import group_number
from healthgym.worlds.managed_care.records.chart import Coverage, Patient, ServiceRequest
from healthgym.worlds.managed_care.staff import Worker
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind, Urgency

#: Kinds of notes in which a practice may keep its visits; of these at most one is ever missing.
VISIT_NOTES = (
    DocumentKind.PROGRESS_NOTE,
    DocumentKind.CHART_NOTE,
    DocumentKind.PCP_FOLLOW_UP_NOTE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFacts:
    """The patient with the case, before the chart is written.

    Attributes:
        patient: Who it is, of the age that the request needs.
        coverages: Coverage history.
        order: What was ordered.
        ordering: The visit from which the order comes.
        facts: Everything true of the patient.
        missing: Kinds of documents that are to be missing.
    """

    patient: Patient
    coverages: tuple[Coverage, ...]
    order: ServiceRequest
    ordering: Ordering
    facts: tuple[AnyFact, ...]
    missing: tuple[str, ...] = ()

    @property
    def on_file(self) -> frozenset[str]:
        """Kinds of documents that the chart will have: those in which a fact is told."""
        return told_in(self.facts).difference(self.missing)


def _told_otherwise(fact: AnyFact, missing: tuple[str, ...]) -> AnyFact:
    """Return a fact that notes of another kind tell, if those of its kind are to be missing.

    Only what the case is about is missing then: visits before it have their notes.
    """
    kinds = tuple(
        next(note for note in VISIT_NOTES if note not in missing)
        if kind in VISIT_NOTES and kind in missing
        else kind
        for kind in fact.noted_in
    )
    return fact if kinds == fact.noted_in else replace(fact, noted_in=tuple(dict.fromkeys(kinds)))


def told_in(facts: Iterable[AnyFact]) -> frozenset[str]:
    """Return the kinds of documents in which one of some facts is told."""
    # Hundreds of facts are told in a few kinds of places.
    return frozenset(str(kind) for kinds in {fact.noted_in for fact in facts} for kind in kinds)


@dataclass(frozen=True, slots=True, kw_only=True)
class CasePatient:
    """The patient who is meant.

    Attributes:
        chart: The chart, with the case in it.
        order: What was ordered.
        void: Pages of the chart that do not count: errors put right, drafts, other patients'.
        erring: Which of these is an error put right; empty if none is.
    """

    chart: PatientChart
    order: ServiceRequest
    void: frozenset[str] = frozenset()
    erring: str = ""


class _Unopened(Deferred, CasePatient):
    """A patient of whom is known which pages do not count once the chart is written."""

    __slots__ = ("_write",)

    plain = CasePatient
    late = ("void", "erring")


def unopened(patient: CasePatient, write: Callable[[], CasePatient]) -> CasePatient:
    """Return a patient whose chart gets further pages when somebody first opens it.

    Args:
        patient: The patient, as yet.
        write: Returns the patient with these pages; the same every time.
    """
    chart = patient.chart
    late = UnwrittenChart.later(
        lambda: write().chart,
        patient=chart.patient,
        coverages=chart.coverages,
        orders=chart.orders,
        facts=chart.facts,
    )
    return _Unopened.later(write, chart=late, order=patient.order)


def number_of(patient: Patient) -> int:
    """Return the number from which a patient's ids follow."""
    return int(patient.id.removeprefix("PAT-"))


def plan_patient(
    subject: Background, drawn: Situation, rng: np.random.Generator, today: date
) -> CaseFacts:
    """Return a patient in whom a situation is true, without the chart: that costs more."""
    patient = subject.patient
    code = drawn.request.diagnosis_codes[0]
    subjects = asked_of(drawn.policy.criteria) | subjects_of(drawn.facts)
    subjects |= Subjects(codes=frozenset({code[:3]}))
    own = {fact.id for fact in drawn.facts}
    kept = [
        fact
        for fact in quiet(dict(subject.diseases), subjects)
        if begun(fact) > patient.dob and fact.id not in own
    ]
    facts: tuple[AnyFact, ...] = (*kept, *drawn.facts)
    listed, added = listed_condition(facts, drawn, today, rng)
    if listed is not None and added:
        listed = replace(listed, noted_in=(subject.habits.note,))
        facts = (*facts, listed)
    ill = [fact for fact in (*drawn.facts, listed) if isinstance(fact, Diagnosis)]
    note = (subject.habits.note,)
    facts = (*facts, *companions(ill, facts, subjects.classes, note, today))
    doctor = orderer(drawn.policy, code, drawn.request.age, rng)
    seen, entered = order_days(patient, today, rng)
    order = _order(patient, drawn, doctor, entered, rng)
    missing = drawn.missing if drawn.ending is Gap.DOCUMENT else ()
    if missing:
        facts = tuple(fact if fact.id in own else _told_otherwise(fact, missing) for fact in facts)
    on_file = told_in(facts).difference(missing)
    return CaseFacts(
        patient=patient,
        coverages=_coverages(subject, patient, drawn, rng, today),
        order=order,
        ordering=ordering_visit(order, doctor, visit_start(patient, seen), listed, drawn, on_file),
        facts=facts,
        missing=missing,
    )


def write_patient(
    planned: CaseFacts, rng: np.random.Generator, today: date, units: Mapping[str, str]
) -> CasePatient:
    """Return a patient with the chart, which is written when somebody first opens it.

    Args:
        planned: The patient with the case.
        rng: Where the wording comes from.
        today: The day of the request.
        units: Unit in which documents give a measurement, by fact id, where it is another one.

    Raises:
        ConfigurationError: If the facts contradict each other.
    """
    render = render_chart if planned.missing else render_unopened_case
    try:
        written = render(
            planned.patient,
            planned.coverages,
            planned.facts,
            (planned.order,),
            workforce(),
            rng,
            today,
            units=units,
            ordering=planned.ordering,
        )
    except ValueError as error:
        who = planned.patient.id
        raise ConfigurationError(f"The chart of {who} cannot be written: {error}") from error
    if planned.missing:
        written = without_kinds(written, planned.missing)
    return CasePatient(chart=written, order=planned.order)


def without_kinds(chart: PatientChart, kinds: tuple[str, ...]) -> PatientChart:
    """Return a chart from which documents of some kinds are missing.

    What is left is numbered without gaps: a number left out would tell what was there.
    """
    kept = [document for document in chart.documents if document.kind not in kinds]
    # A world's ids have three digits, so that they sort as their numbers do.
    old = sorted(document.id for document in kept)
    names = {name: f"{name.rpartition('-')[0]}-{n:03d}" for n, name in enumerate(old, 1)}
    documents = [varied(document, id=names[document.id]) for document in kept]
    return varied(
        chart,
        documents=tuple(sorted(documents, key=lambda one: (one.created_at, one.id))),
        shows=renamed(chart.shows, names),
    )


def _coverages(
    subject: Background, patient: Patient, drawn: Situation, rng: np.random.Generator, today: date
) -> tuple[Coverage, ...]:
    """Return the coverage history, its latest under the policy's plan."""
    latest = subject.coverages[0]
    policy = drawn.policy
    plans = [p for p in policy.plans if (p == MEDICARE) is (age_on(patient.dob, today) >= SENIOR)]
    plans = plans or list(policy.plans)
    ended = drawn.ending is Bar.INACTIVE
    last = today - timedelta(days=int(rng.integers(12, 75)))
    begun = latest.effective_date or date(today.year - 1, 1, 1)
    plan = plans[int(rng.integers(len(plans)))]
    latest = replace(
        latest,
        payer_name=policy.payer,
        plan_name=plan,
        group_number=latest.group_number and group_number(plan, 1000 + int(rng.integers(9000))),
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
    patient: Patient,
    drawn: Situation,
    doctor: Worker,
    entered: datetime,
    rng: np.random.Generator,
) -> ServiceRequest:
    policy, request = drawn.policy, drawn.request
    service = next(item for item in policy.procedures if item.code == request.procedure_code)
    return ServiceRequest(
        id=f"SR-{number_of(patient)}-1",
        patient_id=patient.id,
        ordering_practitioner_id=doctor.id,
        service_type=str(policy.category),
        procedure_code=request.procedure_code,
        description=_described(service.display, drawn),
        priority=Urgency.EXPEDITED if rng.random() < 0.2 else Urgency.STANDARD,
        diagnosis_codes=request.diagnosis_codes,
        site_of_service=str(request.site),
        requested_date=entered,
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
