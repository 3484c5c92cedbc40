"""The drill: one request between a coordinator and a physician, from a page, a note and a report.

It is for training small models on a processor: at most five tools and eight calls a seat, some
three hundred tokens to read. Neither side knows all: the provider has read the note, the payer
reads what is sent, and the report lies on file unread. So a request is rightly not sent, approved,
denied, or decided once the report has been asked for; each is judged by the checks that judge it in
every other task.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from healthgym.core.family import Role
from healthgym.core.seeding import Split, task_rng
from healthgym.core.task import Instance, Task, TaskKey
from healthgym.core.verbs import Verb
from healthgym.envs.managed_care.cases.clinic import draw_morning, staff, workforce
from healthgym.envs.managed_care.cases.drills import CASE, NOTE, Drill, draw_standing, note_of
from healthgym.envs.managed_care.cases.situations import Bar
from healthgym.envs.managed_care.checks.expectation import PreSubmission
from healthgym.envs.managed_care.prior_auth_arena.drill_offices import physician
from healthgym.envs.managed_care.prior_auth_arena.task import (
    ArenaInstance,
    ArenaReference,
    ArenaTaskGenerator,
)
from healthgym.envs.managed_care.prior_authorization.drill import packet_of
from healthgym.envs.managed_care.prior_authorization.oracle import request_answers
from healthgym.envs.managed_care.prior_authorization.reference import reference_of
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationReference
from healthgym.envs.managed_care.tools.auth import AuthToolset
from healthgym.envs.managed_care.tools.handbook import HandbookToolset
from healthgym.envs.managed_care.tools.review import ReviewToolset
from healthgym.envs.managed_care.utilization_management.packet import seen
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.apps.provider.forms import UNKNOWN
from healthgym.worlds.managed_care.charts.chart import ChartLibrary
from healthgym.worlds.managed_care.handbook.draws import draw
from healthgym.worlds.managed_care.handbook.library import Library
from healthgym.worlds.managed_care.policies.pages import page_path
from healthgym.worlds.managed_care.policies.questionnaire import (
    answers_from,
    question_keys,
)
from healthgym.worlds.managed_care.records.case import QuestionnaireResponse
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DocumentKind,
    Posture,
    ProviderDeterminationAction,
)

#: Name of the difficulty.
DRILL = "drill"
#: Calls of a seat at most.
TURNS = 8
#: The tools that each seat is played with.
TOOLS: Mapping[str, tuple[str, ...]] = {
    PROVIDER: (
        "handbook.read",
        "auth.finalize_provider_determination",
        "auth.submit_authorization",
        "auth.respond_to_pend",
        "finish",
    ),
    PAYER: (
        "handbook.read",
        "review.save_md_review",
        "review.submit_md_case_decision",
        "finish",
    ),
}


class _Quiet:
    """Tools that say of a record only that it is made."""

    def show(self, result: object) -> str:
        """Return no more than that it was done."""
        return "Done."


class DrillAuthToolset(_Quiet, AuthToolset):
    """Decide, submit and answer the payer."""


class DrillReviewToolset(_Quiet, ReviewToolset):
    """Findings on the criteria of a case, and the physician's decision."""


_FINISH = frozenset({Verb.FINISH})
ROLES: Mapping[str, Role] = {
    PROVIDER: Role([HandbookToolset, DrillAuthToolset], _FINISH, only=TOOLS[PROVIDER]),
    PAYER: Role([HandbookToolset, DrillReviewToolset], _FINISH, only=TOOLS[PAYER], waits=True),
}
#: The other documents on file: the report, and a paper that shows nothing.
PAPERS = ("DOC-7002", "DOC-7003")
REPORT_TITLE = "Report"
_BLANKS = ("Invoice", "Appointment card", "Consent form", "Visitor pass")
_TRIES = 60
_SENDS = ProviderDeterminationAction.SUBMIT_PA
_PROVIDER = (
    "{case} is open: {service}. The note {note} says:\n{text}\nThe packet has {packed}. Also on "
    "file, unread: {papers}. Read {page}. If the note contradicts a criterion, decide "
    "do_not_submit with the reason {code}: {policy} and the criterion. Else decide submit_pa and "
    "send it by portal; if the payer asks, answer with the one document that settles it. Finish "
    "once it is over."
)
_PAYER = (
    "You review requests as {physician}. If one is yours, read its policy, save what was sent "
    "shows on each criterion (met; not_met if it contradicts it; unclear if it leaves it open; "
    "cite the document), and decide, signed: approve if both are met, deny naming the criterion "
    "that is not, request_info naming the criterion that is open. Finish once you have decided, or "
    "if nothing comes."
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What becomes of a request between two honest sides.

    Attributes:
        name: Its name, for the kind of the task.
        note: How the note stands to its criterion.
        report: How the report stands to the other.
        packed: Whether the report is in the packet from the beginning.
    """

    name: str
    note: Posture
    report: Posture
    packed: bool

    @property
    def sent(self) -> bool:
        """Whether it is to be sent."""
        return self.note is Posture.SATISFIED

    @property
    def status(self) -> CaseStatus:
        """Where the case ends."""
        if not self.sent:
            return CaseStatus.CLOSED
        good = self.report is Posture.SATISFIED
        return CaseStatus.APPROVED if good else CaseStatus.DENIED


_YES, _NO = Posture.SATISFIED, Posture.CONTRADICTS
#: Every outcome, as often as it stands here.
OUTCOMES: tuple[Outcome, ...] = (
    Outcome("withheld", _NO, _YES, True),
    Outcome("withheld", _NO, _YES, False),
    Outcome("approved", _YES, _YES, True),
    Outcome("denied", _YES, _NO, True),
    Outcome("asked-approved", _YES, _YES, False),
    Outcome("asked-denied", _YES, _NO, False),
)


@dataclass(frozen=True, slots=True)
class _Dealt:
    """A drawn drill whose facts are told in two documents.

    Attributes:
        drill: The drill, its chart rewritten.
        report: Id of the report.
        noted: The criterion that the note is about.
    """

    drill: Drill
    report: str
    noted: str


class DrillGenerator(ArenaTaskGenerator):
    """Draws drills.

    Args:
        name: Family name in task keys.
    """

    def __init__(self, name: str) -> None:
        self.name = f"{name}-{DRILL}"

    def draw(self, split: Split, index: int) -> ArenaInstance:
        """Return a drill."""
        rng = task_rng(self.name, split, index, 0)
        now = draw_morning(rng)
        outcome = OUTCOMES[int(rng.integers(len(OUTCOMES)))]
        dealt = _deal(outcome, now, split, rng)
        drawn, case = dealt.drill.drawn, dealt.drill.case
        people, packed = workforce(), (NOTE, *((dealt.report,) if outcome.packed else ()))
        start = WorldStart(
            now=now,
            provider=people.provider,
            payer=people.payer,
            staff=staff(),
            charts=ChartLibrary((drawn.patient.chart,)),
            rules=Rules.STRICT,
            operations=draw(rng),
            handbook=Library.of(drawn.book.pages),
            policies=drawn.book.book,
            actor=case.assigned_to,
        )
        task = Task(
            TaskKey(self.name, split, index),
            outcome.name,
            _brief(dealt, packed),
            {"difficulty": DRILL},
        )
        wanted, line = _reference(dealt, outcome), dealt.drill.line
        records = (
            case,
            line,
            drawn.book.book.card(drawn.book.in_force, CASE, line.procedure_code),
            *_forms(dealt.drill, start, wanted),
            packet_of(dealt.drill, packed),
        )
        reference = ArenaReference(provider=wanted, case=drawn)
        return Instance(task, reference, replace(start, records=records))


def _deal(outcome: Outcome, now: datetime, split: Split, rng: np.random.Generator) -> _Dealt:
    """Return a drill whose facts are told in two documents, so that it ends as it is to."""
    for _ in range(_TRIES):
        first = bool(rng.integers(2))
        wanted = (outcome.note, outcome.report)
        drill = draw_standing(wanted if first else wanted[::-1], now, split, rng)
        names = list(drill.drawn.found.criteria)
        noted, reported = names if first else names[::-1]
        dealt = _told(drill, noted, reported, rng)
        if _as_dealt(dealt, outcome, reported):
            return dealt
    raise ConfigurationError(f"No policy gives a drill that is {outcome.name}.")


def _told(drill: Drill, noted: str, reported: str, rng: np.random.Generator) -> _Dealt:
    """Return a drill with a note on one criterion, a report on the other, and a blank paper."""
    drawn = drill.drawn
    chart, order = drawn.patient.chart, drawn.patient.order
    about = set(drawn.found.criteria[reported].facts)
    report, blank = (PAPERS[int(place)] for place in rng.permutation(len(PAPERS)))
    pages = {
        NOTE: note_of(
            tuple(fact for fact in chart.facts if fact.id not in about), order, drawn.today, rng
        ),
        report: replace(
            note_of(
                tuple(fact for fact in chart.facts if fact.id in about), order, drawn.today, rng
            ),
            kind=DocumentKind.OTHER,
            title=REPORT_TITLE,
        ),
        blank: replace(
            note_of((), order, drawn.today, rng),
            kind=DocumentKind.OTHER,
            title=_BLANKS[int(rng.integers(len(_BLANKS)))],
        ),
    }
    documents = tuple(
        replace(pages[name], id=name, content=f"{chart.patient.id}\n{pages[name].content}")
        for name in (NOTE, *PAPERS)
    )
    told = replace(
        chart,
        documents=documents,
        shows={
            NOTE: frozenset(fact.id for fact in chart.facts if fact.id not in about),
            report: frozenset(about),
        },
    )
    patient = replace(drawn.patient, chart=told)
    return _Dealt(replace(drill, drawn=replace(drawn, patient=patient)), report, noted)


def _as_dealt(dealt: _Dealt, outcome: Outcome, reported: str) -> bool:
    """Return whether note and report show what they are to, and the note nothing of the report."""
    case = dealt.drill.drawn
    alone, both = seen(case, (NOTE,), ()), seen(case, (NOTE, dealt.report), ())
    return (
        alone.criteria[dealt.noted].posture is outcome.note
        and alone.criteria[reported].posture in (Posture.INSUFFICIENT, Posture.ABSENT)
        and both.criteria[dealt.noted].posture is outcome.note
        and both.criteria[reported].posture is outcome.report
        and not both.missing_documents
    )


def _forms(
    drill: Drill, start: WorldStart, wanted: AuthorizationReference
) -> tuple[QuestionnaireResponse, ...]:
    """Return the answers that a colleague has given on the forms."""
    known = answers_from(drill.drawn.found.criteria)
    keys = question_keys(drill.drawn.book.in_force.criteria)
    answers = {
        f"FORM-REQUEST-{CASE}": request_answers(start, drill.drawn.patient.chart, wanted),
        f"FORM-POLICY-{CASE}-QUESTIONNAIRE-01": {key: known.get(key, UNKNOWN) for key in keys},
    }
    return tuple(
        QuestionnaireResponse(
            id=f"QRESP-{7000 + number}",
            case_id=CASE,
            questionnaire_id=name,
            answers=given,
            created_at=drill.case.created_at,
        )
        for number, (name, given) in enumerate(answers.items(), 1)
    )


def _reference(dealt: _Dealt, outcome: Outcome) -> AuthorizationReference:
    """Return what is right at the provider, who has not read the report."""
    drawn = dealt.drill.drawn
    found = reference_of(drawn)
    paper = replace(
        found.paper,
        target_case_id=CASE,
        target_status=outcome.status,
        pre_submission=PreSubmission(),
    )
    found = replace(found, status=outcome.status, paper=paper, drilled=CASE)
    if not outcome.sent:
        return found
    return replace(
        found,
        action=_SENDS,
        bar=None,
        gaps=frozenset(),
        course=None,
        documents=frozenset({NOTE, dealt.report}),
    )


def _brief(dealt: _Dealt, packed: tuple[str, ...]) -> str:
    drawn = dealt.drill.drawn
    policy, pages = drawn.book.in_force, drawn.patient.chart.documents
    return _PROVIDER.format(
        case=CASE,
        service=drawn.patient.order.description,
        note=NOTE,
        text=pages[0].content.partition("\n")[2],
        packed=" and ".join(packed),
        papers=", ".join(f"{page.id} ({page.title})" for page in pages[1:]),
        page=page_path(policy.id),
        policy=policy.id,
        code=Bar.CONTRADICTED,
    )


def payer_brief(start: WorldStart) -> str:
    """Return what the physician is told, which is nothing of any request."""
    return _PAYER.format(physician=physician(start))
