"""When a letter or a notice is due, and what it may say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from healthgym.worlds.managed_care.apps.payer.letter_texts import Slots, gaps
from healthgym.worlds.managed_care.history import EntryKind
from healthgym.worlds.managed_care.records.case import PriorAuthCase
from healthgym.worlds.managed_care.records.decision import Letter
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DeterminationDecision,
    LetterType,
    MemberNotification,
    MessageKind,
    SubmissionChannel,
)

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld

_FOLLOWS = {
    LetterType.APPROVAL: DeterminationDecision.APPROVED,
    LetterType.PARTIAL_APPROVAL: DeterminationDecision.PARTIALLY_APPROVED,
    LetterType.DENIAL: DeterminationDecision.DENIED,
}
_NOTICE_FOLLOWS = {
    MemberNotification.APPROVAL: (
        CaseStatus.APPROVED,
        CaseStatus.PARTIALLY_APPROVED,
        CaseStatus.APPEAL_OVERTURNED,
        CaseStatus.EXTERNAL_APPEAL_OVERTURNED,
    ),
    MemberNotification.DENIAL: (
        CaseStatus.DENIED,
        CaseStatus.PARTIALLY_APPROVED,
        CaseStatus.APPEALED,
    ),
    MemberNotification.PEND: (CaseStatus.PENDED_ACTION_REQUIRED,),
    MemberNotification.APPEAL_RIGHTS: (
        CaseStatus.DENIED,
        CaseStatus.PARTIALLY_APPROVED,
        CaseStatus.APPEAL_UPHELD,
    ),
    MemberNotification.APPEAL_OUTCOME: (
        CaseStatus.APPEAL_UPHELD,
        CaseStatus.APPEAL_OVERTURNED,
        CaseStatus.EXTERNAL_APPEALED,
        CaseStatus.EXTERNAL_APPEAL_UPHELD,
        CaseStatus.EXTERNAL_APPEAL_OVERTURNED,
    ),
}
#: Where the decision before is contested already; its notice is owed all the same.
_CONTESTED = frozenset({CaseStatus.APPEALED, CaseStatus.EXTERNAL_APPEALED})


def require_due(world: ManagedCareWorld, case: PriorAuthCase, letter_type: LetterType) -> None:
    """Refuse a letter that does not follow from where a case stands.

    Raises:
        Refusal: If there is no such decision, or, in a strict world, its letter is written.
    """
    if letter_type is LetterType.PEND:
        if case.status is not CaseStatus.PENDED_ACTION_REQUIRED:
            raise Refusal(
                RefusalCode.WRONG_STATE,
                f"Case {case.id} is {case.status}; a pend letter follows a request for "
                "information.",
            )
    else:
        wanted = _FOLLOWS[letter_type]
        found = world.determinations.active(case.id)
        if found is None or found.final_decision is not wanted:
            stands = found.final_decision if found else "not determined"
            raise Refusal(
                RefusalCode.WRONG_STATE,
                f"Case {case.id} is {stands}; a letter of type {letter_type} follows a "
                f"determination {wanted}.",
            )
    if world.rules is Rules.STRICT and _is_written(world, case, letter_type):
        raise Refusal(
            RefusalCode.DUPLICATE,
            f"Case {case.id} has its {letter_type} letter; reissue writes it again.",
        )


def _is_written(world: ManagedCareWorld, case: PriorAuthCase, letter_type: LetterType) -> bool:
    if letter_type is LetterType.PEND:
        return world.letters.waiting(case.id, letter_type) is None
    found = world.determinations.active(case.id)
    return found is not None and any(
        letter.letter_type == letter_type and letter.created_at >= found.created_at
        for letter in world.letters.of(case.id)
    )


def require_citations(
    world: ManagedCareWorld, case: PriorAuthCase, citations: tuple[str, ...] | None
) -> None:
    """Refuse citations of what the policy of the case does not have; in a strict world only.

    Raises:
        Refusal: Naming the citation.
    """
    if world.rules is Rules.COMPAT or citations is None:
        return
    policy = world.cases.policy(case.id)
    whole = policy.policy_citations if policy else ()
    catalog = world.nursing.catalog(case.id)
    criteria = {item.criterion_id for item in catalog}
    known = {*whole, *(f"{section}, {one}" for section in whole for one in criteria)}
    known |= {
        f"{item.criteria_source} {item.criteria_version}"
        for item in catalog
        if item.criteria_source
    }
    if not citations or not set(citations) <= known:
        accepted = "; ".join(whole) or "none"
        raise Refusal(
            RefusalCode.BAD_ARGUMENT,
            f"policy_citations: the policy of case {case.id} has {accepted}, with or without one "
            "of its criteria after it; cite from these, or leave the argument out.",
        )


def require_complete(
    world: ManagedCareWorld, case_id: str, letter_type: LetterType, slots: Slots, text: str
) -> None:
    """Refuse a letter that the records leave with a gap.

    Raises:
        Refusal: If no record has what it must state.
    """
    missing = gaps(world, letter_type, slots, text)
    if missing:
        raise Refusal(
            RefusalCode.UNSUPPORTED_CLAIM,
            f"The records of case {case_id} do not have what a {letter_type} letter states: "
            f"{', '.join(missing)}.",
        )


def require_deliverable(
    world: ManagedCareWorld, letter: Letter, channel: SubmissionChannel
) -> None:
    """Refuse to send a letter twice on a channel, or when it has gone stale; strict worlds only.

    Raises:
        Refusal: If it went out so, or the decision it tells of counts no more.
    """
    if world.rules is Rules.COMPAT:
        return
    for entry in world.history.of(letter.case_id, EntryKind.AUDIT):
        if entry.action == "deliver_letter" and entry.details == _delivery(letter, channel):
            raise Refusal(
                RefusalCode.DUPLICATE,
                f"Letter {letter.id} went out by {channel} at {entry.at:%Y-%m-%d %H:%M}; reissue "
                "it to send it so again.",
            )
    case = world.cases.get(letter.case_id)
    wanted = _FOLLOWS.get(LetterType(letter.letter_type))
    found = world.determinations.active(case.id)
    stale = wanted is not None and (found is None or found.final_decision is not wanted)
    if letter.letter_type == LetterType.PEND:
        stale = case.status is not CaseStatus.PENDED_ACTION_REQUIRED
    if stale:
        raise Refusal(
            RefusalCode.WRONG_STATE,
            f"Letter {letter.id} tells of a {letter.letter_type}, and case {case.id} is "
            f"{case.status}; write the letter that fits.",
        )


def _delivery(letter: Letter, channel: SubmissionChannel) -> dict[str, str]:
    return {"letter": letter.id, "channel": channel}


def require_fitting_notice(
    world: ManagedCareWorld, case: PriorAuthCase, notice: MemberNotification, subject: str
) -> None:
    """Refuse a notice that the case does not bear out, or that was sent; in a strict world only.

    Raises:
        Refusal: If the case is elsewhere, or the member knows.
    """
    if world.rules is Rules.COMPAT:
        return
    accepted = _NOTICE_FOLLOWS[notice]
    if case.status not in accepted:
        raise Refusal(
            RefusalCode.WRONG_STATE,
            f"Case {case.id} is {case.status}; a notice of {notice} fits a case that is "
            f"{' or '.join(accepted)}.",
        )
    moves = [each.at for each in world.history.of(case.id, EntryKind.TRANSITION)]
    decided = moves[:-1] if case.status in _CONTESTED else moves
    since = max(decided, default=case.created_at)
    for message in world.inbox.messages.values():
        told = message.case_id == case.id and message.kind == MessageKind.MEMBER_NOTIFICATION
        if told and message.subject == subject and message.created_at >= since:
            raise Refusal(
                RefusalCode.DUPLICATE,
                f"The member was sent this notice at {message.created_at:%Y-%m-%d %H:%M}.",
            )
