"""The drill: two requests between a coordinator and a physician, from one page and short papers.

It is for training small models on a processor: at most five tools and eight calls a seat, some
three hundred tokens to read. Neither side knows all: the provider has read the notes, the payer
reads what is sent, and the reports lie on file unread. So a request is rightly not sent, approved,
denied, or decided once its report has been asked for; each is judged by the checks that judge it in
every other task. Two stand beside each other so that no word is right about both (:data:`PAIRS`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from healthgym.core.seeding import Split, task_rng
from healthgym.core.task import Instance, Task, TaskKey
from healthgym.envs.managed_care.cases.clinic import draw_morning, staff, workforce
from healthgym.envs.managed_care.cases.situations import Bar
from healthgym.envs.managed_care.checks.expectation import PreSubmission
from healthgym.envs.managed_care.prior_auth_arena.drill_dealing import HELD, PAIRS, Dealt, deal
from healthgym.envs.managed_care.prior_auth_arena.drill_offices import physician
from healthgym.envs.managed_care.prior_auth_arena.drill_roles import DRILL
from healthgym.envs.managed_care.prior_auth_arena.task import (
    ArenaInstance,
    ArenaReference,
    ArenaTaskGenerator,
)
from healthgym.envs.managed_care.prior_authorization.drill import packet_of
from healthgym.envs.managed_care.prior_authorization.oracle import request_answers
from healthgym.envs.managed_care.prior_authorization.reference import reference_of
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationReference
from healthgym.worlds.managed_care.apps.provider.forms import UNKNOWN
from healthgym.worlds.managed_care.charts.chart import ChartLibrary
from healthgym.worlds.managed_care.handbook.draws import draw
from healthgym.worlds.managed_care.handbook.library import Library
from healthgym.worlds.managed_care.policies.pages import page_path
from healthgym.worlds.managed_care.policies.questionnaire import answers_from, question_keys
from healthgym.worlds.managed_care.records.case import QuestionnaireResponse
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.vocabulary.authorization import ProviderDeterminationAction

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
    "open; cite the document), and decide, signed: approve if both are met; deny naming the "
    "criterion that is not met, or that the provider's answer left open; else request_info naming "
    "the criterion that is open. Finish once nothing more comes."
)


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
        both = deal(outcomes[:: 1 if rng.integers(2) else -1], now, split, rng)
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


def _records(dealt: Dealt, start: WorldStart, wanted: AuthorizationReference) -> Iterator[object]:
    """Yield the records of a case that somebody has opened, up to its packet."""
    drill, book = dealt.drill, dealt.drill.drawn.book
    yield from (drill.case, drill.line)
    yield book.book.card(book.in_force, drill.case.id, drill.line.procedure_code)
    yield from _forms(dealt, start, wanted)
    yield packet_of(drill, dealt.packed)


def _forms(
    dealt: Dealt, start: WorldStart, wanted: AuthorizationReference
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


def _reference(dealt: Dealt) -> AuthorizationReference:
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


def _brief(both: Sequence[Dealt]) -> str:
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


def _on_file(dealt: Dealt) -> str:
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
