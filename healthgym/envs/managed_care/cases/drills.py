"""Drills: one skill of a desk on a case small enough for a small model to read.

A drill is a case as any other: a policy of the library in its shortest editions, with numbers of
its own, and facts of a patient that satisfy it, fall short of it or contradict it. Its page has the
criteria and nothing else, and what the patient's chart would tell in many pages is one document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, partial

import numpy as np

from healthgym.core.records import replace
from healthgym.core.seeding import Split
from healthgym.envs.managed_care.cases.clinic import workforce
from healthgym.envs.managed_care.cases.drawing import DrawnCase
from healthgym.envs.managed_care.cases.drill_note import note_of
from healthgym.envs.managed_care.cases.ordering import orderer
from healthgym.envs.managed_care.cases.patients import CasePatient, number_of
from healthgym.envs.managed_care.cases.rulebook import Rulebook
from healthgym.envs.managed_care.cases.shift import Shift
from healthgym.envs.managed_care.cases.situations import (
    Bar,
    Course,
    Gap,
    Situation,
    fits,
    situation,
)
from healthgym.envs.managed_care.cases.subjects import draw_subject
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.apps.provider.opening import first_line
from healthgym.worlds.managed_care.charts.ages import age_on
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.handbook.page import Audience, Page
from healthgym.worlds.managed_care.policies.book import PolicyBook
from healthgym.worlds.managed_care.policies.criteria import (
    AnyCriterion,
    DiagnosisCriterion,
    FindingCriterion,
    MeasurementCriterion,
    TherapyCriterion,
)
from healthgym.worlds.managed_care.policies.drawing import drawn as with_own_numbers
from healthgym.worlds.managed_care.policies.loading import library
from healthgym.worlds.managed_care.policies.pages import page_path, term_row
from healthgym.worlds.managed_care.policies.planting import possible
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.request import Request
from healthgym.worlds.managed_care.policies.tree import AllOf, Group, criteria, parts
from healthgym.worlds.managed_care.policies.trimming import editions
from healthgym.worlds.managed_care.records.case import PriorAuthCase, PriorAuthLine
from healthgym.worlds.managed_care.records.chart import Patient, ServiceRequest
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    PlaceOfService,
    Posture,
    Urgency,
)

#: What may become of the case of a drill, in three classes, as often one as another.
CLASSES: tuple[tuple[Course | Gap | Bar, ...], ...] = (
    (Course.APPROVED,),
    (Gap.INSUFFICIENT, Gap.ABSENT),
    (Bar.CONTRADICTED,),
)
#: The postures of a criterion, by what is found of it.
_RESULTS: tuple[tuple[Posture, ...], ...] = (
    (Posture.SATISFIED,),
    (Posture.CONTRADICTS,),
    (Posture.INSUFFICIENT, Posture.ABSENT),
)
#: Number of the case that is open when a drill begins, and of its one document; where a second case
#: stands beside it, that has the next number.
_NUMBER = 7001
CASE, NOTE = f"CASE-{_NUMBER}", f"DOC-{_NUMBER}"
SECOND = f"CASE-{_NUMBER + 1}"
_KINDS = (DiagnosisCriterion, FindingCriterion, MeasurementCriterion, TherapyCriterion)
#: Criteria of a drill's policy at most, and draws until one fits.
_CRITERIA, _TRIES = 2, 40
_DECISION = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drill:
    """A case for a drill.

    Attributes:
        drawn: The case as any other; the patient's chart is one document, the handbook one page.
        case: Its record, which is open.
        line: Its line.
    """

    drawn: DrawnCase
    case: PriorAuthCase
    line: PriorAuthLine

    @property
    def note(self) -> str:
        """Id of its one document."""
        return self.drawn.patient.chart.documents[0].id


def draw_drill(now: datetime, split: Split, rng: np.random.Generator) -> Drill:
    """Return a case for a drill.

    Args:
        now: When it is worked on, in UTC.
        split: Whose patients it may be about.
        rng: Where everything is drawn from.

    Raises:
        ConfigurationError: If no policy gives one, which does not happen.
    """
    chosen = CLASSES[int(rng.integers(len(CLASSES)))]
    ending = chosen[int(rng.integers(len(chosen)))]
    able = _able(ending)
    for _ in range(_TRIES):
        policy = with_own_numbers(able[int(rng.integers(len(able)))], rng)
        try:
            return _drill(policy, ending, now, split, rng)
        except ConfigurationError:
            continue
    raise ConfigurationError(f"No policy gives a drill that ends {ending.value!r}.")


def draw_findings(
    now: datetime, split: Split, rng: np.random.Generator, shift: Shift | None = None
) -> Drill:
    """Return a case for a drill whose criteria are met, not met or unclear, each by itself.

    Each result is as likely as another, whatever the criterion and whatever the other one has. A
    nurse may approve; which documents the policy requires besides is no part of the drill.

    Args:
        now: When it is worked on, in UTC.
        split: Whose patients it may be about.
        rng: Where everything is drawn from.
        shift: The cases beside which it is to stand; None if it stands alone.

    Raises:
        ConfigurationError: If no policy gives one, which does not happen, or not beside the others.
    """
    picks = [_RESULTS[int(n)] for n in rng.integers(len(_RESULTS), size=_CRITERIA)]
    wanted = [each[int(rng.integers(len(each)))] for each in picks]
    return _standing(_any_result(), wanted, now, split, rng, shift)


def draw_standing(
    wanted: Sequence[Posture],
    now: datetime,
    split: Split,
    rng: np.random.Generator,
    first: Drill | None = None,
) -> Drill:
    """Return a case for a drill whose criteria stand as asked for, under any short policy.

    It is a physician who decides, whoever the whole policy leaves the service to.

    Args:
        wanted: How the facts stand to each of the two criteria, in the order of the page.
        now: When it is worked on, in UTC.
        split: Whose patients it may be about.
        rng: Where everything is drawn from.
        first: The case beside which it stands, about somebody else and under the same policy; None
            if it stands alone.

    Raises:
        ConfigurationError: If no policy gives one, which does not happen, or not beside the first.
    """
    if first is None:
        return _standing(_reserved(), wanted, now, split, rng)
    policy = first.drawn.book.in_force
    postures = dict(zip([item.id for item in criteria(policy.criteria)], wanted, strict=True))
    drill = _drill(policy, _ending(wanted), now, split, rng, postures, _NUMBER + 1)
    if drill.case.patient_id == first.case.patient_id:
        raise ConfigurationError(f"{drill.case.patient_id} has a case already.")
    return replace(drill, case=replace(drill.case, assigned_to=first.case.assigned_to))


def _standing(
    able: Sequence[Policy],
    wanted: Sequence[Posture],
    now: datetime,
    split: Split,
    rng: np.random.Generator,
    shift: Shift | None = None,
) -> Drill:
    number = _NUMBER + (len(shift.patients) if shift else 0)
    for _ in range(_TRIES):
        policy = with_own_numbers(able[int(rng.integers(len(able)))], rng)
        if shift is not None:
            policy = shift.printed(policy)
        names = [item.id for item in criteria(policy.criteria)]
        postures = dict(zip(names, wanted, strict=True))
        try:
            drill = _drill(policy, _ending(wanted), now, split, rng, postures, number)
            if shift is not None:
                shift.require_free(drill.case.patient_id)
            return drill
        except ConfigurationError:
            continue
    raise ConfigurationError(f"No policy gives a drill whose criteria are {wanted}.")


def _ending(postures: Sequence[Posture]) -> Course | Gap | Bar:
    """Return what becomes of a request whose criteria stand so."""
    if Posture.CONTRADICTS in postures:
        return Bar.CONTRADICTED
    return Course.APPROVED if set(postures) == {Posture.SATISFIED} else Gap.INSUFFICIENT


@cache
def _any_result() -> tuple[Policy, ...]:
    """Return the short editions of which each criterion can take any posture."""
    return tuple(
        each
        for each in _able(Course.APPROVED)
        if each.nurse_may_approve
        and all(set(possible(item)) == set(Posture) for item in criteria(each.criteria))
    )


@cache
def _reserved() -> tuple[Policy, ...]:
    """Return the short editions, each with its service left to a physician."""
    return tuple(replace(each, nurse_may_approve=False) for each in _able(Course.APPROVED))


@cache
def _able(ending: Course | Gap | Bar) -> tuple[Policy, ...]:
    """Return the short editions under which a request can end in a way."""
    short = (each for policy in library().values() for each in editions(policy, 1, _CRITERIA))
    return tuple(each for each in short if _plain(each) and fits(each, ending))


def _plain(policy: Policy) -> bool:
    """Return whether a policy asks for one thing after the other, and for what a note tells."""
    tree = policy.criteria
    nested = not isinstance(tree, AllOf) or any(isinstance(each, Group) for each in parts(tree))
    asked = criteria(tree)
    return not nested and len(asked) == _CRITERIA and all(isinstance(i, _KINDS) for i in asked)


def _drill(
    policy: Policy,
    ending: Course | Gap | Bar,
    now: datetime,
    split: Split,
    rng: np.random.Generator,
    postures: Mapping[str, Posture] | None = None,
    number: int = _NUMBER,
) -> Drill:
    today = now.date()
    subject = draw_subject(rng, policy, split)
    background = subject.background
    who = background.patient
    drawn = situation(
        policy,
        ending,
        1,
        Request(
            procedure_code="",
            diagnosis_codes=(),
            site=PlaceOfService.OFFICE,
            age=age_on(who.dob, today),
            sex=who.sex,
        ),
        today,
        rng,
        postures=postures,
    )
    found = drawn.assess(drawn.facts, today)
    if found.action is not drawn.action:
        raise ConfigurationError("The facts do not deserve what they were drawn for.")
    order = _ordered(drawn, who, now, rng)
    case_id = f"CASE-{number}"
    note = note_of(drawn.facts, order, today, rng, name=f"DOC-{number}", case_id=case_id)
    chart = PatientChart(
        patient=who,
        coverages=(replace(background.coverages[0], plan_name=policy.plans[0], active=True),),
        documents=(note,),
        orders=(order,),
        facts=drawn.facts,
        shows={note.id: frozenset(fact.id for fact in drawn.facts)},
    )
    case, line = _open(order, case_id, now, rng)
    whole = DrawnCase(
        today=today,
        subject=subject,
        book=_printed(policy),
        patient=CasePatient(chart=chart, order=order),
        drawn=drawn,
        found=found,
    )
    return Drill(drawn=whole, case=case, line=line)


def _ordered(
    drawn: Situation, who: Patient, now: datetime, rng: np.random.Generator
) -> ServiceRequest:
    """Return the order from which the case comes."""
    policy, request = drawn.policy, drawn.request
    return ServiceRequest(
        id=f"SR-{number_of(who)}-1",
        patient_id=who.id,
        ordering_practitioner_id=orderer(policy, request.diagnosis_codes[0], request.age, rng).id,
        service_type=str(policy.category),
        procedure_code=request.procedure_code,
        description=policy.title,
        priority=Urgency.STANDARD,
        diagnosis_codes=request.diagnosis_codes,
        site_of_service=str(request.site),
        requested_date=now - timedelta(days=2),
    )


def _printed(policy: Policy) -> Rulebook:
    """Return the one policy there is, and its page: the criteria and nothing else."""
    page = Page(
        path=page_path(policy.id),
        title=policy.title,
        version=policy.version,
        effective=policy.effective,
        audience=(Audience.PROVIDER, Audience.PAYER),
        text="".join(map(partial(_line, policy), criteria(policy.criteria))),
    )
    return Rulebook(printed=policy, in_force=policy, book=PolicyBook([policy]), pages=(page,))


def _line(policy: Policy, item: AnyCriterion) -> str:
    """Return a criterion as a line of the page, with the codes where it goes by codes."""
    codes = f" ({term_row(item)})" if isinstance(item, DiagnosisCriterion) else ""
    return f"- {item.id}: {policy.text(item.id)}{codes}\n"


def _open(
    order: ServiceRequest, case_id: str, now: datetime, rng: np.random.Generator
) -> tuple[PriorAuthCase, PriorAuthLine]:
    """Return the case that somebody has opened for an order, and its line."""
    desks = workforce().with_role(WorkerRole.PA_COORDINATOR)
    case = PriorAuthCase(
        id=case_id,
        external_case_id=case_id.replace("CASE-", "PA-"),
        patient_id=order.patient_id,
        service_request_id=order.id,
        status=CaseStatus.DRAFT,
        urgency=order.priority,
        requested_by=order.ordering_practitioner_id,
        assigned_to=desks[int(rng.integers(len(desks)))].id,
        created_at=now - timedelta(hours=1),
        updated_at=now - timedelta(hours=1),
        decision_due_at=now + _DECISION,
    )
    return case, first_line(order, case_id)
