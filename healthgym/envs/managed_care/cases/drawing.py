"""A case drawn to deserve an ending: policies, patient, chart, and what is wrong with its paper.

Both offices work on cases like these: the provider's before anything is sent, the payer's after.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Protocol

import numpy as np

from healthgym.core.records import replace
from healthgym.envs.managed_care.cases.asking import askable
from healthgym.envs.managed_care.cases.paperwork import Chances, Paper, draw_trouble
from healthgym.envs.managed_care.cases.patients import (
    CaseFacts,
    CasePatient,
    plan_patient,
    write_patient,
)
from healthgym.envs.managed_care.cases.rulebook import Rulebook, Surroundings, draw_rulebook
from healthgym.envs.managed_care.cases.shelf import Shelf
from healthgym.envs.managed_care.cases.situations import (
    OWN_KINDS,
    Bar,
    Course,
    Gap,
    Situation,
    situation,
)
from healthgym.envs.managed_care.cases.subjects import Subject, fitting
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.charts.ages import age_on
from healthgym.worlds.managed_care.charts.sheets import stating
from healthgym.worlds.managed_care.charts.subjects import asked_of
from healthgym.worlds.managed_care.facts import AnyFact, Finding, TherapyCourse
from healthgym.worlds.managed_care.policies.evaluation import PolicyAssessment
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.questionnaire import answers_from
from healthgym.worlds.managed_care.policies.request import Request
from healthgym.worlds.managed_care.vocabulary.authorization import (
    PlaceOfService,
    Posture,
    ProviderDeterminationAction,
    UploadableDocumentKind,
)

#: Streams of a task: what it deserves, its policy, its patient, what stands around, the numbers
#: that the offices keep to, and what is wrong with the chart's paper.
STREAMS = 6
ENDING, RULES, PATIENT, AROUND, NUMBERS, PAPER = range(STREAMS)
#: Ways of a request that the payer's reviewers deny in error first.
MISREAD = frozenset({Course.PEER_CALL, Course.APPEALED, Course.EXTERNAL})
#: Facts of which no table knows.
_TOLD = (Finding, TherapyCourse)


class Settings(Surroundings, Chances, Protocol):
    """What a case is like besides its ending."""

    @property
    def open_criteria(self) -> int:
        """Most criteria that are open, or that stand against a request."""


class Sharing(Protocol):
    """What a case shares with others beside which it stands."""

    @property
    def first_paper(self) -> int:
        """Number of the first document that the practice writes for the next case."""

    def rulebook(
        self, policy: Policy, ending: Course | Gap | Bar, today: date, draw: Callable[[], Rulebook]
    ) -> Rulebook:
        """Return the policies of a case, an earlier one's or new ones."""

    def require_free(self, patient: str) -> None:
        """Return if nobody else's case is about a patient."""

    def require_room(self, case: DrawnCase) -> None:
        """Return if a case can stand beside the others."""


@dataclass(frozen=True, kw_only=True)
class DrawnCase:
    """A case, finished.

    Attributes:
        subject: Which of the clinic's patients it is about.
        book: The policies of the task.
        patient: The patient with the finished chart.
        drawn: What the request deserves.
        found: What the facts show of the policy in force, or where a document is missing, what is
            left of them.
        today: The day of the request.
        first_paper: Number of the first document that the practice writes for it.
    """

    subject: Subject
    book: Rulebook
    patient: CasePatient
    drawn: Situation
    found: PolicyAssessment
    today: date
    first_paper: int = 1

    @cached_property
    def bearing(self) -> tuple[AnyFact, ...]:
        """The facts of the chart for which the policy in force asks: of packets of it, too."""
        touching = asked_of(self.book.in_force.criteria).touching()
        return tuple(filter(touching, self.patient.chart.facts))

    @cached_property
    def answers(self) -> Mapping[str, str]:
        """What the facts answer of the questions of the policy in force, by key."""
        return answers_from(self.found.criteria)


def draw_case(
    config: Settings,
    policy: Policy,
    ending: Course | Gap | Bar,
    subject: Subject,
    today: date,
    streams: Sequence[np.random.Generator],
    shelf: Shelf | None = None,
    accept: Callable[[Policy, PolicyAssessment], bool] | None = None,
    shift: Sharing | None = None,
    fits: Callable[[CaseFacts], None] | None = None,
) -> DrawnCase:
    """Return a case under a policy that deserves an ending.

    Args:
        config: What it is like besides.
        policy: The policy on the shelf.
        ending: How the request is to end at the provider.
        subject: Which of the clinic's patients is meant; another one of the age that is needed.
        today: The day of the request.
        streams: Where chance comes from, by the numbers above.
        shelf: The payer's policies; those of the library if None.
        accept: Tells from the policy in force and from what the facts show of it whether the case
            will do, before the chart is written, which takes longest; any will if None.
        shift: The cases beside which it is to stand; None if it stands alone.
        fits: Refuses what was ordered and for whom, before that; nothing is refused if None.

    Raises:
        ConfigurationError: If no draw gives that ending, the finished chart does not deserve it,
            or the case will not do.
    """
    rng = streams[RULES]

    def drawn_book() -> Rulebook:
        return draw_rulebook(policy, config, today, rng, shelf)

    book = drawn_book() if shift is None else shift.rulebook(policy, ending, today, drawn_book)
    background = subject.background
    drawn = situation(
        book.in_force,
        ending,
        config.open_criteria,
        Request(
            procedure_code="",
            diagnosis_codes=(),
            site=PlaceOfService.OFFICE,
            age=age_on(background.patient.dob, today),
            sex=background.patient.sex,
        ),
        today,
        streams[PATIENT],
    )
    # What may have to be drawn again comes before the chart, which costs the most.
    subject = fitting(subject, drawn.request.age, today)
    if shift is not None:
        shift.require_free(subject.background.patient.id)
    planned = plan_patient(subject.background, drawn, streams[PATIENT], today)
    if fits is not None:
        fits(planned)
    if ending in MISREAD:
        book = book.with_misread(drawn, planned.facts, today, rng)
    found = assess(book, planned, drawn, today)
    if accept is not None and not accept(book.in_force, found):
        raise ConfigurationError("The case will not do.")
    trouble = draw_trouble(drawn, config, streams[PAPER])
    patient = write_patient(planned, streams[PATIENT], today, trouble.units)
    if ending is Course.PENDED:
        book = book.asking_for(askable(patient.chart, drawn, planned.ordering, today), rng)
    kept = frozenset((*planned.missing, *map(str, book.on_request)))
    paper = Paper(subject, drawn, found, kept, today, streams[PAPER])
    patient = paper.disturbed(patient, trouble)
    drawn = replace(drawn, policy=book.in_force)
    if planned.missing:
        found = as_shown(patient, drawn, today)
    case = DrawnCase(
        subject=subject,
        book=book,
        patient=patient,
        drawn=drawn,
        found=found,
        today=today,
        first_paper=shift.first_paper if shift else 1,
    )
    if shift is not None:
        shift.require_room(case)
    return case


def assess(book: Rulebook, planned: CaseFacts, drawn: Situation, today: date) -> PolicyAssessment:
    """Return what the facts show of the policy in force.

    Args:
        book: The policies of the task.
        planned: The patient, before the chart is written.
        drawn: What the request was drawn to deserve.
        today: The day of the request.

    Raises:
        ConfigurationError: If policy and facts do not deserve it after all.
    """
    _require_found(book, planned, today)
    on_file = planned.on_file
    kinds = tuple(k for k in UploadableDocumentKind if str(k) in on_file or k in OWN_KINDS)
    seen = replace(drawn, request=replace(drawn.request, documents=kinds))
    found = seen.assess(planned.facts, today)
    _require_deserved(drawn, found)
    return found


def as_shown(patient: CasePatient, drawn: Situation, today: date) -> PolicyAssessment:
    """Return what can be read in a finished chart from which a document is missing.

    What notes alone tell is known of only where one of them is on file: with the document that a
    policy requires, what stands nowhere else is open, too.

    Args:
        patient: The patient with the finished chart.
        drawn: What the request was drawn to deserve.
        today: The day of the request.

    Raises:
        ConfigurationError: If the chart then speaks against the request.
    """
    chart = patient.chart
    told = {fact.id for fact in chart.facts if isinstance(fact, _TOLD) and fact.noted_in}
    shown = {fact for facts in stating(chart.shows, told).values() for fact in facts}
    kinds = {str(document.kind) for document in chart.documents}
    on_file = tuple(k for k in UploadableDocumentKind if str(k) in kinds or k in OWN_KINDS)
    seen = replace(drawn, request=replace(drawn.request, documents=on_file))
    found = seen.assess((fact for fact in chart.facts if fact.id not in told - shown), today)
    if found.posture is Posture.CONTRADICTS or not found.missing_documents:
        raise ConfigurationError("What is left of the chart asks for no evidence.")
    return found


def _require_found(book: Rulebook, planned: CaseFacts, today: date) -> None:
    """Refuse a task in which the payer's book does not lead to the policy that was drawn."""
    latest = planned.coverages[0]
    found = book.book.in_force(
        planned.order.procedure_code, latest.plan_name, planned.patient.address_state, today
    )
    if found is not book.in_force:
        raise ConfigurationError("Another policy covers the service for this plan.")


def _require_deserved(drawn: Situation, found: PolicyAssessment) -> None:
    if drawn.ending is Course.PARTIAL:
        right = found.approved_quantity is not None and not found.missing_documents
    elif drawn.ending is Gap.DOCUMENT:
        right = set(map(str, found.missing_documents)) == set(drawn.missing)
        right = right and found.posture is Posture.SATISFIED
    else:
        right = found.action is drawn.action
        if drawn.action is not ProviderDeterminationAction.DO_NOT_SUBMIT:
            right = right and not found.missing_documents
    if not right:
        raise ConfigurationError(f"The chart does not deserve {drawn.ending.value}.")
