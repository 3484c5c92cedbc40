"""The payer that decides by itself: one rule after the other, and the first that fits decides.

The order is the source's (``auto_rule_order``); the sentences are in ``data/adjudication.json``.
Where the source raises half way, because an edge does not exist, nothing is written here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from healthgym.core.records import replace
from healthgym.worlds.managed_care.apps.provider import deadlines, forms
from healthgym.worlds.managed_care.apps.provider.readiness import (
    missing_diagnoses,
    missing_kinds,
    wrong_answers,
)
from healthgym.worlds.managed_care.records.decision import Appeal, Letter, ReviewDecision
from healthgym.worlds.managed_care.records.policy import CasePolicy
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.vocabulary.authorization import (
    AppealOutcome,
    CaseStatus,
    DecisionOutcome,
    LetterType,
    MessageBox,
    MessageKind,
    PendReason,
    ReviewRoute,
    UploadableDocumentKind,
)

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.records.case import PriorAuthCase
    from healthgym.worlds.managed_care.records.chart import DocumentReference
    from healthgym.worlds.managed_care.world import ManagedCareWorld

#: Who acts, in the log.
ACTOR = "SYSTEM"
_NURSE, _PHYSICIAN = "nurse_reviewer", "physician_reviewer"
_LETTERS = {
    CaseStatus.APPROVED: (LetterType.APPROVAL, "LET-APPROVE-"),
    CaseStatus.PARTIALLY_APPROVED: (LetterType.PARTIAL_APPROVAL, "LET-PARTIAL-"),
    CaseStatus.DENIED: (LetterType.DENIAL, "LET-DENY-"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What the rules say of a submission.

    Attributes:
        outcome: The decision.
        route: Who it is said to come from.
        status: The status that follows.
        rationale: Why, in words.
        pend_reason: Why it is pended, if it is.
        missing_document_kinds: Kinds of document that were missing.
    """

    outcome: DecisionOutcome
    route: ReviewRoute
    status: CaseStatus
    rationale: str
    pend_reason: PendReason | None = None
    missing_document_kinds: tuple[UploadableDocumentKind, ...] = ()


def evaluate(
    world: ManagedCareWorld,
    case: PriorAuthCase,
    answers: Mapping[str, str],
    packet: Sequence[DocumentReference],
) -> Evaluation:
    """Return what the rules say of a submission; nothing is written.

    Args:
        world: The world.
        case: The case.
        answers: Answers that came with the submission; the saved ones count besides.
        packet: The documents that came with it.

    Raises:
        Refusal: If the policy asks for no authorization of what was submitted all the same.
    """
    card = world.cases.policy(case.id) or CasePolicy(id="", case_id=case.id)
    kinds = missing_kinds(world, case, packet)
    if kinds:
        return _pend(card.pend_reason, ", ".join(kinds), kinds)
    codes = missing_diagnoses(world, case.id)
    if codes:
        why = PendReason.INVALID_DIAGNOSIS_ASSOCIATION
        if card.incomplete_action == "deny":
            return _deny(card, _texts()["mismatch"].format(what=", ".join(codes)))
        return _pend(why, ", ".join(codes))
    given = {**forms.all_answers(forms.of_case(world, case.id)), **answers}
    questions = wrong_answers(world, case.id, given)
    if questions:
        return _pend(PendReason.MISSING_QUESTIONNAIRE, ", ".join(questions))
    return _complete(card)


def _complete(card: CasePolicy) -> Evaluation:
    """Return what a complete submission earns."""
    texts = _texts()
    if card.complete_outcome is DecisionOutcome.DENIED:
        return _deny(card, card.deny_reason or texts["denied"])
    if card.complete_outcome is DecisionOutcome.PENDED:
        return Evaluation(
            outcome=DecisionOutcome.PENDED,
            route=ReviewRoute.CLINICAL_SPECIALIST,
            status=CaseStatus.UNDER_REVIEW,
            rationale=texts["clinical"],
            pend_reason=PendReason.NEEDS_CLINICAL_REVIEW,
        )
    if card.complete_outcome is DecisionOutcome.NOT_REQUIRED:
        raise Refusal(
            RefusalCode.ILLEGAL_TRANSITION,
            "The plan asks for no authorization of this service; do_not_submit closes the case.",
        )
    part = card.complete_outcome is DecisionOutcome.APPROVED_MODIFIED
    whole = texts["modified"].format(what=card.modification_note or texts["part"])
    return Evaluation(
        outcome=card.complete_outcome,
        route=ReviewRoute.AUTO_APPROVE,
        status=CaseStatus.PARTIALLY_APPROVED if part else CaseStatus.APPROVED,
        rationale=whole if part else texts["approved"],
    )


def _pend(why: PendReason, what: str, kinds: tuple[UploadableDocumentKind, ...] = ()) -> Evaluation:
    return Evaluation(
        outcome=DecisionOutcome.PENDED,
        route=ReviewRoute.PEND,
        status=CaseStatus.PENDED_ACTION_REQUIRED,
        rationale=_texts()[why].format(what=what),
        pend_reason=why,
        missing_document_kinds=kinds,
    )


def _deny(card: CasePolicy, rationale: str) -> Evaluation:
    return Evaluation(
        outcome=DecisionOutcome.DENIED,
        route=ReviewRoute.DENY,
        status=CaseStatus.DENIED,
        rationale=card.deny_reason or rationale,
    )


def carry_out(world: ManagedCareWorld, case_id: str, found: Evaluation) -> PriorAuthCase:
    """Write down what the rules said, and what follows from it.

    Args:
        world: The world.
        case_id: The case.
        found: What they said.

    Returns:
        The case as it stands then.
    """
    card = world.cases.policy(case_id) or CasePolicy(id="", case_id=case_id)
    denied = found.status is CaseStatus.DENIED
    decision = ReviewDecision(
        id=world.determinations.draw_id("REV-"),
        case_id=case_id,
        route=found.route,
        outcome=found.outcome,
        rationale=found.rationale,
        reviewer_role=_PHYSICIAN if denied else _NURSE,
        policy_citations=card.policy_citations,
        supporting_basis=card.policy_summary or None,
        created_at=world.clock.now,
    )
    world.determinations.decisions[decision.id] = decision
    for stage in ("sufficiency", "rule", "decision"):
        world.history.stage(case_id, stage, found.outcome, ACTOR)
    case = world.cases.move(case_id, found.status, ACTOR)
    if found.status in _LETTERS:
        kind, prefix = _LETTERS[found.status]
        case = _settle(world, case, found)
        _write(world, case_id, kind, prefix, found.rationale, card)
    elif found.status is CaseStatus.PENDED_ACTION_REQUIRED:
        case = _ask(world, case, found)
    return case


def _settle(world: ManagedCareWorld, case: PriorAuthCase, found: Evaluation) -> PriorAuthCase:
    case = replace(case, outcome_reason=found.rationale)
    if found.status is CaseStatus.APPROVED:
        number = world.counters.draw(f"AUTH-{case.id}-")
        case = replace(case, authorization_number=f"AUTH-{case.id}-{number:06X}")
    if found.status is CaseStatus.DENIED:
        case = replace(case, appeal_due_at=deadlines.appeal_due(world, found.status))
    return world.cases.put(case)


def _ask(world: ManagedCareWorld, case: PriorAuthCase, found: Evaluation) -> PriorAuthCase:
    world.inbox.post(
        MessageKind.PEND_REQUEST,
        MessageBox.PAYER,
        case.id,
        _texts()["pend_subject"],
        found.rationale,
        action_required=True,
    )
    return world.cases.put(replace(case, pend_due_at=deadlines.pend_due(world)))


def decide_appeal(world: ManagedCareWorld, case_id: str, rationale: str, level: str) -> Appeal:
    """File an appeal and decide it as the rule card says, with a letter.

    Args:
        world: The world.
        case_id: The case, in the status that the filing gave it.
        rationale: Why it is appealed.
        level: ``internal`` or ``external``.
    """
    card = world.cases.policy(case_id) or CasePolicy(id="", case_id=case_id)
    outcome, status = _appealed(card, level)
    reason = _texts()[outcome]
    now = world.clock.now
    appeal = Appeal(
        id=world.appeals.draw_id("APL-" if level == "internal" else "APL-EXT-"),
        case_id=case_id,
        rationale=rationale,
        filed_at=now,
        status=outcome,
        level=level,
        outcome=outcome,
        outcome_reason=reason,
        decided_at=now,
    )
    world.appeals.appeals[appeal.id] = appeal
    case = world.cases.move(case_id, status, ACTOR)
    world.cases.put(replace(case, outcome_reason=reason))
    prefix = "LET-APL-" if level == "internal" else "LET-EXT-"
    _write(world, case_id, LetterType(outcome), prefix, reason, card)
    return appeal


def _appealed(card: CasePolicy, level: str) -> tuple[AppealOutcome, CaseStatus]:
    if level == "internal":
        won = card.appeal_outcome is AppealOutcome.APPEAL_OVERTURNED
        outcome = AppealOutcome.APPEAL_OVERTURNED if won else AppealOutcome.APPEAL_UPHELD
        return outcome, CaseStatus.APPEAL_OVERTURNED if won else CaseStatus.APPEAL_UPHELD
    won = card.external_appeal_outcome is AppealOutcome.EXTERNAL_APPEAL_OVERTURNED
    if won:
        return AppealOutcome.EXTERNAL_APPEAL_OVERTURNED, CaseStatus.EXTERNAL_APPEAL_OVERTURNED
    return AppealOutcome.EXTERNAL_APPEAL_UPHELD, CaseStatus.EXTERNAL_APPEAL_UPHELD


def _write(
    world: ManagedCareWorld,
    case_id: str,
    kind: LetterType,
    prefix: str,
    body: str,
    card: CasePolicy,
) -> None:
    denial = kind is LetterType.DENIAL
    letter = Letter(
        id=world.letters.draw_id(prefix),
        case_id=case_id,
        letter_type=kind,
        subject=_texts()["subject"].format(kind=kind.replace("_", " "), case=case_id),
        body=body,
        created_at=world.clock.now,
        supporting_basis=card.policy_summary or None,
        policy_citations=card.policy_citations,
        appeal_information=_texts()["appeal"] if denial else None,
    )
    world.letters.letters[letter.id] = letter


@cache
def _texts() -> Mapping[str, str]:
    text = (files(__package__) / "data" / "adjudication.json").read_text("utf-8")
    read: Mapping[str, str] = json.loads(text)
    return read
