"""The drill: two requests between a coordinator and a physician, from one page and short papers.

It is for training small models on a processor: at most five tools and eight calls a seat, some
three hundred tokens to read. Neither side knows all: the provider has read the notes, the payer
reads what is sent, and the reports lie on file unread. So a request is rightly not sent, approved,
denied, or decided once its report has been asked for; each is judged by the checks that judge it in
every other task. Two stand beside each other so that no word is right about both (:data:`PAIRS`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain, product

import numpy as np

from healthgym.core.family import Role
from healthgym.core.seeding import Split, task_rng
from healthgym.core.task import Instance, Task, TaskKey
from healthgym.core.verbs import Verb
from healthgym.envs.managed_care.cases.clinic import draw_morning, staff, workforce
from healthgym.envs.managed_care.cases.drills import (
    CASE,
    NOTE,
    SECOND,
    Drill,
    draw_standing,
    note_of,
)
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
from healthgym.worlds.managed_care.facts import AnyFact
from healthgym.worlds.managed_care.handbook.draws import draw
from healthgym.worlds.managed_care.handbook.library import Library
from healthgym.worlds.managed_care.policies.pages import page_path
from healthgym.worlds.managed_care.policies.questionnaire import (
    answers_from,
    question_keys,
)
from healthgym.worlds.managed_care.records.case import QuestionnaireResponse
from healthgym.worlds.managed_care.records.chart import DocumentReference
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


@dataclass(frozen=True, slots=True)
class Held:
    """A case of a drill, and the ids of what is on file about it.

    Attributes:
        case: Its id.
        note: Id of the note, which the provider has read.
        papers: Ids of the report and of a paper that shows nothing, in either order.
    """

    case: str
    note: str
    papers: tuple[str, str]


#: The two cases.
HELD = (
    Held(CASE, NOTE, ("DOC-7002", "DOC-7003")),
    Held(SECOND, "DOC-7004", ("DOC-7005", "DOC-7006")),
)
REPORT_TITLE = "Report"
_BLANKS = ("Invoice", "Appointment card", "Consent form", "Visitor pass")
_TRIES = 60
_SENDS = ProviderDeterminationAction.SUBMIT_PA
_PROVIDER = (
    "{cases} are open: {service}.\n{told}\nRead {page}. Decide each: if its note contradicts a "
    "criterion, do_not_submit with the reason {code}: {policy} and the criterion; else submit_pa, "
    "and send it by portal. If the payer asks, answer with the one document that settles it. "
    "Finish once both are over."
)
_TOLD = (
    "{case}: the note {note} says:\n{text}\n"
    "The packet has {packed}. Also on file, unread: {papers}."
)
_PAYER = (
    "You review requests as {physician}. For each that is yours, read its policy once, save what "
    "was sent shows on each criterion (met; not_met if it contradicts it; unclear if it leaves it "
    "open; cite the document), and decide, signed: approve if both are met, deny naming the "
    "criterion that is not, request_info naming the criterion that is open. Finish once nothing "
    "more comes."
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
_WITHHELD = Outcome("withheld", _NO, _YES, True), Outcome("withheld", _NO, _YES, False)
_APPROVED = Outcome("approved", _YES, _YES, True)
_DENIED = Outcome("denied", _YES, _NO, True)
_ASKED_APPROVED = Outcome("asked-approved", _YES, _YES, False)
_ASKED_DENIED = Outcome("asked-denied", _YES, _NO, False)
#: What stands beside what, as often as it stands here. In none of them is it right to send both or
#: neither unread, to approve or to deny what comes unread, or to leave what is asked unanswered.
PAIRS: tuple[tuple[Outcome, Outcome], ...] = (
    # Twice, so that who sends everything and reads only what is asked is right in a quarter.
    *2 * tuple(product(_WITHHELD, (_ASKED_APPROVED, _ASKED_DENIED, _DENIED))),
    *product((_APPROVED, _DENIED), (_ASKED_APPROVED, _ASKED_DENIED)),
)


@dataclass(frozen=True, slots=True)
class _Dealt:
    """A drawn drill whose facts are told in two documents.

    Attributes:
        drill: The drill, its chart rewritten.
        outcome: What becomes of it.
        held: Its ids.
        report: Id of the report.
        noted: The criterion that the note is about.
    """

    drill: Drill
    outcome: Outcome
    held: Held
    report: str
    noted: str

    @property
    def packed(self) -> tuple[str, ...]:
        """Ids of what the packet has."""
        return (self.held.note, *((self.report,) if self.outcome.packed else ()))


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
        outcomes = PAIRS[int(rng.integers(len(PAIRS)))]
        both = _deal(outcomes[:: 1 if rng.integers(2) else -1], now, split, rng)
        book, case = both[0].drill.drawn.book, both[0].drill.case
        people = workforce()
        start = WorldStart(
            now=now,
            provider=people.provider,
            payer=people.payer,
            staff=staff(),
            charts=ChartLibrary(tuple(one.drill.drawn.patient.chart for one in both)),
            rules=Rules.STRICT,
            operations=draw(rng),
            handbook=Library.of(book.pages),
            policies=book.book,
            actor=case.assigned_to,
        )
        task = Task(
            TaskKey(self.name, split, index),
            "+".join(one.name for one in outcomes),
            _brief(both),
            {"difficulty": DRILL},
        )
        wanted = [_reference(one) for one in both]
        records = [_records(one, start, each) for one, each in zip(both, wanted, strict=True)]
        first, second = (
            ArenaReference(provider=each, case=one.drill.drawn, beside=frozenset({other.held.case}))
            for each, one, other in zip(wanted, both, both[::-1], strict=True)
        )
        return Instance(
            task,
            replace(first, second=second),
            replace(start, records=tuple(chain.from_iterable(records))),
        )


def _records(dealt: _Dealt, start: WorldStart, wanted: AuthorizationReference) -> Iterator[object]:
    """Yield the records of a case that somebody has opened, up to its packet."""
    drill, book = dealt.drill, dealt.drill.drawn.book
    yield from (drill.case, drill.line)
    yield book.book.card(book.in_force, drill.case.id, drill.line.procedure_code)
    yield from _forms(dealt, start, wanted)
    yield packet_of(drill, dealt.packed)


def _deal(
    outcomes: Sequence[Outcome], now: datetime, split: Split, rng: np.random.Generator
) -> tuple[_Dealt, _Dealt]:
    """Return two drills under one policy that end as they are to."""
    for _ in range(_TRIES):
        with suppress(ConfigurationError):
            first = _dealt(outcomes[0], HELD[0], None, now, split, rng)
            return first, _dealt(outcomes[1], HELD[1], first.drill, now, split, rng)
    names = " and ".join(one.name for one in outcomes)
    raise ConfigurationError(f"No policy gives drills that are {names}.")


def _dealt(
    outcome: Outcome,
    held: Held,
    beside: Drill | None,
    now: datetime,
    split: Split,
    rng: np.random.Generator,
) -> _Dealt:
    """Return a drill whose facts are told in two documents.

    Raises:
        ConfigurationError: If it does not end as it is to.
    """
    first = bool(rng.integers(2))
    wanted = (outcome.note, outcome.report)
    drill = draw_standing(wanted if first else wanted[::-1], now, split, rng, beside)
    names = list(drill.drawn.found.criteria)
    noted, reported = names if first else names[::-1]
    dealt = _told(drill, outcome, held, noted, reported, rng)
    if not _as_dealt(dealt, reported):
        raise ConfigurationError(f"A drill is not {outcome.name}.")
    return dealt


def _told(
    drill: Drill,
    outcome: Outcome,
    held: Held,
    noted: str,
    reported: str,
    rng: np.random.Generator,
) -> _Dealt:
    """Return a drill with a note on one criterion, a report on the other, and a blank paper."""
    drawn = drill.drawn
    chart, order = drawn.patient.chart, drawn.patient.order
    about = set(drawn.found.criteria[reported].facts)
    report, blank = (held.papers[int(place)] for place in rng.permutation(len(held.papers)))

    def page(facts: Iterable[AnyFact]) -> DocumentReference:
        return note_of(tuple(facts), order, drawn.today, rng)

    pages = {
        held.note: page(fact for fact in chart.facts if fact.id not in about),
        report: replace(
            page(fact for fact in chart.facts if fact.id in about),
            kind=DocumentKind.OTHER,
            title=REPORT_TITLE,
        ),
        blank: replace(
            page(()),
            kind=DocumentKind.OTHER,
            title=_BLANKS[int(rng.integers(len(_BLANKS)))],
        ),
    }
    documents = tuple(
        replace(
            pages[name],
            id=name,
            case_id=held.case,
            content=f"{chart.patient.id}\n{pages[name].content}",
        )
        for name in (held.note, *held.papers)
    )
    told = replace(
        chart,
        documents=documents,
        shows={
            held.note: frozenset(fact.id for fact in chart.facts if fact.id not in about),
            report: frozenset(about),
        },
    )
    patient = replace(drawn.patient, chart=told)
    told_so = replace(drill, drawn=replace(drawn, patient=patient))
    return _Dealt(told_so, outcome, held, report, noted)


def _as_dealt(dealt: _Dealt, reported: str) -> bool:
    """Return whether note and report show what they are to, and the note nothing of the report."""
    case, note = dealt.drill.drawn, dealt.held.note
    alone, both = seen(case, (note,), ()), seen(case, (note, dealt.report), ())
    return (
        alone.criteria[dealt.noted].posture is dealt.outcome.note
        and alone.criteria[reported].posture in (Posture.INSUFFICIENT, Posture.ABSENT)
        and both.criteria[dealt.noted].posture is dealt.outcome.note
        and both.criteria[reported].posture is dealt.outcome.report
        and not both.missing_documents
    )


def _forms(
    dealt: _Dealt, start: WorldStart, wanted: AuthorizationReference
) -> Iterator[QuestionnaireResponse]:
    """Yield the answers that a colleague has given on the forms."""
    drill, case_id = dealt.drill, dealt.held.case
    known = answers_from(drill.drawn.found.criteria)
    keys = question_keys(drill.drawn.book.in_force.criteria)
    answers = {
        f"FORM-REQUEST-{case_id}": request_answers(start, drill.drawn.patient.chart, wanted),
        f"FORM-POLICY-{case_id}-QUESTIONNAIRE-01": {key: known.get(key, UNKNOWN) for key in keys},
    }
    first = 7001 + len(answers) * HELD.index(dealt.held)
    for number, (name, given) in enumerate(answers.items(), first):
        yield QuestionnaireResponse(
            id=f"QRESP-{number}",
            case_id=case_id,
            questionnaire_id=name,
            answers=given,
            created_at=drill.case.created_at,
        )


def _reference(dealt: _Dealt) -> AuthorizationReference:
    """Return what is right at the provider, who has not read the report."""
    outcome, case_id = dealt.outcome, dealt.held.case
    found = reference_of(dealt.drill.drawn)
    paper = replace(
        found.paper,
        target_case_id=case_id,
        target_status=outcome.status,
        pre_submission=PreSubmission(),
    )
    found = replace(found, status=outcome.status, paper=paper, drilled=case_id)
    if not outcome.sent:
        return found
    return replace(
        found,
        action=_SENDS,
        bar=None,
        gaps=frozenset(),
        course=None,
        documents=frozenset({dealt.held.note, dealt.report}),
    )


def _brief(both: Sequence[_Dealt]) -> str:
    drawn = both[0].drill.drawn
    policy = drawn.book.in_force
    return _PROVIDER.format(
        cases=" and ".join(one.held.case for one in both),
        service=drawn.patient.order.description,
        told="\n".join(map(_on_file, both)),
        page=page_path(policy.id),
        policy=policy.id,
        code=Bar.CONTRADICTED,
    )


def _on_file(dealt: _Dealt) -> str:
    """Return what the provider is told of a case."""
    pages = dealt.drill.drawn.patient.chart.documents
    return _TOLD.format(
        case=dealt.held.case,
        note=dealt.held.note,
        text=pages[0].content.partition("\n")[2],
        packed=" and ".join(dealt.packed),
        papers=", ".join(f"{page.id} ({page.title})" for page in pages[1:]),
    )


def payer_brief(start: WorldStart) -> str:
    """Return what the physician is told, which is nothing of any request."""
    return _PAYER.format(physician=physician(start))
