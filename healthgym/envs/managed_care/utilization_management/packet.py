"""What the practice sends for a case: documents of the chart, and papers of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

import numpy as np

from healthgym.core.records import replace
from healthgym.envs.managed_care.cases.drawing import DrawnCase
from healthgym.envs.managed_care.cases.situations import OWN_KINDS
from healthgym.envs.managed_care.utilization_management.choosing import Shelf
from healthgym.envs.managed_care.utilization_management.task import Path
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.charts.sheets import told_by
from healthgym.worlds.managed_care.facts import AnyFact
from healthgym.worlds.managed_care.policies.evaluation import PolicyAssessment, evaluate
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.postures import decisive, favourable
from healthgym.worlds.managed_care.policies.questionnaire import question_keys
from healthgym.worlds.managed_care.records.chart import DocumentReference
from healthgym.worlds.managed_care.vocabulary.authorization import (
    DocumentKind,
    Posture,
    UploadableDocumentKind,
)

#: What the title of a correction begins with.
_CORRECTS = "Addendum to: "
_OPEN = (Posture.INSUFFICIENT, Posture.ABSENT)
_UNKNOWN = "not documented"
#: Papers of its own are written so long before a request is sent.
_WRITTEN = timedelta(minutes=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What was sent, and what it shows.

    Attributes:
        documents: Ids of the documents of the packet, papers of the practice included.
        own: The papers of the practice: a letter, a questionnaire.
        held_back: Ids of documents that the practice overlooked, and can send.
        spare: Id of a document without bearing that it can send in reply.
        found: What the packet shows of the policy in force.
        answers: Answers to the policy's questions.
    """

    documents: tuple[str, ...]
    own: tuple[DocumentReference, ...]
    held_back: tuple[str, ...] = ()
    spare: tuple[str, ...] = ()
    found: PolicyAssessment
    answers: Mapping[str, str]


def put_together(
    case: DrawnCase, path: Path, case_id: str, at: datetime, rng: np.random.Generator, *, more: bool
) -> Sent:
    """Return what the practice sends.

    Args:
        case: The case.
        path: How it is rightly decided.
        case_id: Its id.
        at: When it is sent.
        rng: Where chance comes from.
        more: Whether pages that do not count are sent along.

    Raises:
        ConfigurationError: If what is sent does not show what the path needs.
    """
    own = papers(case, case_id, at)
    shelf = Shelf(case)
    kept = shelf.picked()
    held: tuple[str, ...] = ()
    if path in (Path.INFORMED, Path.OVERTURNED):
        kept, held = _overlooked(case, shelf, own, path, rng)
    sent = filled(case, shelf, own, kept, held, rng, more=more)
    _require(case, path, sent)
    return sent


def filled(
    case: DrawnCase,
    shelf: Shelf,
    own: tuple[DocumentReference, ...],
    kept: tuple[str, ...],
    held: tuple[str, ...],
    rng: np.random.Generator,
    *,
    more: bool,
) -> Sent:
    """Return a packet with what practices send along besides what they mean to send.

    Args:
        case: The case.
        shelf: The documents of its chart.
        own: Papers of the practice.
        kept: What it means to send.
        held: What it overlooks.
        rng: Where chance comes from.
        more: Whether pages that do not count are sent along.
    """
    besides, spare = shelf.besides(rng)
    kept = (*kept, *shelf.also(kept, rng), *besides)
    look = cache(lambda names: seen(case, names, own))
    void, corrections = _void_along(case, kept, look) if more else ([], [])
    kept = (*kept, *corrections)
    order = {page.id: place for place, page in enumerate(case.patient.chart.documents)}
    documents = sorted((*kept, *void), key=order.__getitem__)
    return Sent(
        documents=(*documents, *(page.id for page in own)),
        own=own,
        held_back=held,
        spare=spare,
        found=look(frozenset(kept)),
        answers=_answers(case),
    )


def seen(
    case: DrawnCase,
    documents: Iterable[str],
    own: Iterable[DocumentReference],
    told: Iterable[AnyFact] = (),
) -> PolicyAssessment:
    """Return what documents show of the policy in force on the day of the request.

    Args:
        case: The case.
        documents: Ids of documents of the chart.
        own: Papers of the practice, which show nothing.
        told: Facts that were said, and that no document shows.
    """
    chart, names = case.patient.chart, frozenset(documents)
    kinds = {str(page.kind) for page in chart.documents if page.id in names}
    kinds |= {str(page.kind) for page in own}
    able = {fact.id for fact in case.bearing}
    shown = {fact for name in names for fact in told_by(chart.shows, name, able)}
    request = replace(
        case.drawn.request, documents=tuple(k for k in UploadableDocumentKind if str(k) in kinds)
    )
    facts = (*(fact for fact in case.bearing if fact.id in shown), *told)
    return evaluate(case.book.in_force, facts, request, case.today)


def _void_along(
    case: DrawnCase, kept: Sequence[str], look: Callable[[frozenset[str]], PolicyAssessment]
) -> tuple[list[str], list[str]]:
    """Return pages that do not count, and what shows a reader that they do not.

    An error that was put right goes along with its correction, or stays behind where that would
    change what is shown: nobody can see from the page alone that it errs.
    """
    chart = case.patient.chart
    pages = {page.id: page for page in chart.documents}
    void: list[str] = []
    corrections: list[str] = []
    for name in sorted(case.patient.void):
        page = pages[name]
        if name == case.patient.erring:
            right = next(
                (
                    one.id
                    for one in chart.documents
                    if one.created_at >= page.created_at
                    and one.author_name == page.author_name
                    and one.title == f"{_CORRECTS}{page.title}"
                ),
                None,
            )
            if right is None:
                continue
            if right not in kept:
                before = _postures(look(frozenset(kept)))
                if _postures(look(frozenset((*kept, right)))) != before:
                    continue
                corrections.append(right)
        void.append(name)
    return void, corrections


def _postures(found: PolicyAssessment) -> dict[str, Posture]:
    return {name: each.posture for name, each in found.criteria.items()}


def turning(case: DrawnCase, found: PolicyAssessment) -> tuple[str, ...]:
    """Return the criteria whose change would turn a result."""
    postures = {name: each.posture for name, each in found.criteria.items()}
    return decisive(case.book.in_force.criteria, postures)


def call_due(case: DrawnCase, found: PolicyAssessment) -> bool:
    """Return whether a call is due before a denial, once the practice has answered.

    That is so where one criterion alone decides, and what was sent leaves it open.
    """
    named = turning(case, found)
    alone = len(named) == 1 and found.criteria[named[0]].posture in _OPEN
    return alone and found.posture in _OPEN and not found.missing_documents


def may_lead(path: Path) -> Callable[[Policy, PolicyAssessment], bool]:
    """Return what tells, before there are documents, whether a case may go a path.

    Args:
        path: The path.
    """

    def leads(policy: Policy, found: PolicyAssessment) -> bool:
        postures = {name: each.posture for name, each in found.criteria.items()}
        if path is Path.UPHELD:
            named = decisive(policy.criteria, postures)
            return len(named) == 1 and postures[named[0]] in _OPEN
        if path is Path.OVERTURNED:
            good = favourable(policy.criteria)
            return any(
                decisive(policy.criteria, {**postures, name: Posture.ABSENT}) == (name,)
                for name, each in found.criteria.items()
                if each.facts and each.posture is good[name]
            )
        return True

    return leads


# -- what is right to send ---------------------------------------------------------------------


def _overlooked(
    case: DrawnCase,
    shelf: Shelf,
    own: tuple[DocumentReference, ...],
    path: Path,
    rng: np.random.Generator,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what is sent where something is overlooked, and what that is.

    Raises:
        ConfigurationError: If nothing that is overlooked leaves something open.
    """
    names = [name for name, each in case.found.criteria.items() if each.facts]
    for place in rng.permutation(len(names)):
        kept, held = shelf.without(frozenset(case.found.criteria[names[int(place)]].facts))
        found = seen(case, kept, own)
        if held and _leaves_open(case, path, found, shelf.shown(kept)):
            after = seen(case, (*kept, *held), own)
            if after.posture is Posture.SATISFIED and not after.missing_documents:
                return kept, held
    raise ConfigurationError("Nothing that is overlooked leaves something open.")


def _leaves_open(
    case: DrawnCase, path: Path, found: PolicyAssessment, shown: frozenset[str]
) -> bool:
    """Return whether a packet without some documents leaves open what a path needs.

    For a call that is one criterion alone, which the chart settles by a fact that was not sent:
    what it settles by silence nobody can state.
    """
    if found.posture not in _OPEN:
        return False
    if path is Path.INFORMED:
        return True
    if not call_due(case, found):
        return False
    (named,) = turning(case, found)
    known = case.found.criteria[named]
    settled = known.posture is favourable(case.book.in_force.criteria)[named]
    return settled and bool(set(known.facts) - shown)


def _require(case: DrawnCase, path: Path, sent: Sent) -> None:
    """Refuse a packet that does not show what a path needs.

    Raises:
        ConfigurationError: If it does not.
    """
    found = sent.found
    match path:
        case Path.NURSE_APPROVES | Path.PHYSICIAN_APPROVES:
            right = found.posture is Posture.SATISFIED and not found.missing_documents
        case Path.PARTLY:
            right = found.approved_quantity is not None and not found.missing_documents
        case Path.DENIED:
            right = found.posture is Posture.CONTRADICTS and found.approved_quantity is None
        case Path.INFORMED:
            right = found.posture in _OPEN
        case Path.UNINFORMED:
            right = found.posture in _OPEN or bool(found.missing_documents)
            right = right and found.posture is not Posture.CONTRADICTS
        case Path.UPHELD | Path.OVERTURNED:
            right = call_due(case, found)
        case _:
            right = True
    if not right:
        raise ConfigurationError(f"The packet does not make it {path.value}.")


# -- papers of the practice -----------------------------------------------------------------------


def _answers(case: DrawnCase) -> dict[str, str]:
    keys = question_keys(case.book.in_force.criteria)
    return {key: case.answers.get(key, _UNKNOWN) for key in keys}


def papers(case: DrawnCase, case_id: str, at: datetime) -> tuple[DocumentReference, ...]:
    """Return the letter and the questionnaire that the policy asks for.

    Args:
        case: The case.
        case_id: Its id.
        at: When the request is sent.
    """
    return tuple(_own(case, case_id, at, _answers(case)))


def _own(
    case: DrawnCase, case_id: str, at: datetime, answers: Mapping[str, str]
) -> Iterable[DocumentReference]:
    """Yield the letter and the questionnaire that the policy asks for."""
    policy, order = case.book.in_force, case.patient.order
    kinds = sorted(set(policy.required_documents) & OWN_KINDS)
    for number, kind in enumerate(kinds, case.first_paper):
        form = kind is UploadableDocumentKind.QUESTIONNAIRE_FORM
        lines = [f"{question.text} {answers[question.key]}" for question in policy.form.questions]
        text = (
            "\n".join((policy.form.title, *lines))
            if form
            else f"We ask for {order.description}. What {policy.id} requires is in the packet."
        )
        yield DocumentReference(
            id=f"DOC-UP-{number:04d}",
            patient_id=case.patient.chart.patient.id,
            case_id=case_id,
            kind=DocumentKind(str(kind)),
            title="Questionnaire" if form else "Letter of medical necessity",
            content=text,
            created_at=at - _WRITTEN,
        )
