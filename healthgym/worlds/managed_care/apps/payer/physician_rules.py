"""What a physician's decision needs: what the source asks for, and what a strict world adds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from healthgym.worlds.managed_care.apps.payer import pends
from healthgym.worlds.managed_care.apps.payer.criteria import lines, not_met
from healthgym.worlds.managed_care.records.review import MdCaseDecision, MdLineItemDecision
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.vocabulary.authorization import MdReviewDecision

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld

#: What a line can be granted with; how much is in its units.
_GRANTS = (MdReviewDecision.APPROVE, MdReviewDecision.PARTIAL_APPROVE)
_SIGNED = (MdReviewDecision.DENY, MdReviewDecision.PARTIAL_APPROVE)


def require_complete(world: ManagedCareWorld, made: MdCaseDecision) -> None:
    """Refuse a decision without the texts, lines or signature that go with it, in any world.

    Raises:
        Refusal: Naming what is missing.
    """
    decision = made.decision
    if decision is MdReviewDecision.DENY and not made.denial_rationale.strip():
        _missing("denial_rationale", "say why the request is denied")
    if decision is MdReviewDecision.PARTIAL_APPROVE and not made.line_item_decisions:
        _missing("line_item_decisions", "say for each line what is approved and what is not")
    if decision in _SIGNED and not made.signed_off:
        raise Refusal(
            RefusalCode.MISSING_SIGNOFF,
            f"signed_off: {decision} is adverse and counts only when the physician signs it.",
        )
    if decision is MdReviewDecision.REQUEST_INFO:
        wanted = made.info_requested
        pends.require_request(world, made.case_id, wanted, wanted, made.info_deadline)
        if not made.info_deadline.strip():
            _missing("info_deadline", "say until when the provider is to answer")


def require_founded(world: ManagedCareWorld, made: MdCaseDecision) -> None:
    """Refuse a decision that nothing on record carries, in a strict world.

    Raises:
        Refusal: If an approval gives no reason, a denial names no criterion that is not met, or a
            partial approval does not answer every line.
    """
    # What leads to a call is the denial that is intended; its letter says why.
    reasoned = (MdReviewDecision.APPROVE, MdReviewDecision.P2P_REVIEW, *_SIGNED)
    if made.decision in reasoned and not made.determination_rationale.strip():
        _missing("determination_rationale", "say what the decision rests on")
    if made.decision is MdReviewDecision.DENY and not not_met(world, made.case_id):
        raise Refusal(
            RefusalCode.UNSUPPORTED_CLAIM,
            f"No criterion of case {made.case_id} is on record as not met, or not shown; "
            "evaluate what you deny on yourself before denying.",
        )
    if made.decision is MdReviewDecision.PARTIAL_APPROVE:
        _require_lines(world, made)
    else:
        _require_agreement(world, made)


def _require_agreement(world: ManagedCareWorld, made: MdCaseDecision) -> None:
    """Refuse words on lines that are not there, or other ones than on the whole case."""
    asked = lines(world, made.case_id)
    answered = [one.line_number for one in made.line_item_decisions]
    if len(set(answered)) < len(answered) or not asked.keys() >= set(answered):
        raise Refusal(
            RefusalCode.BAD_ARGUMENT,
            f"line_item_decisions: answers lines {sorted(answered)}; case {made.case_id} has lines "
            f"{sorted(asked)}, each to be answered once at most.",
        )
    if made.decision not in (MdReviewDecision.APPROVE, MdReviewDecision.DENY):
        return
    whole = made.decision is MdReviewDecision.APPROVE
    for one in made.line_item_decisions:
        units = asked[one.line_number] or one.approved_units if whole else 0
        if one.decision is not made.decision or one.approved_units not in (None, units):
            granted = "" if one.approved_units is None else f" of {one.approved_units} units"
            raise Refusal(
                RefusalCode.BAD_ARGUMENT,
                f"line_item_decisions: line {one.line_number} says {one.decision}{granted}, and "
                f"the case {made.decision}; use partial_approve where less than all is granted.",
            )


def _require_lines(world: ManagedCareWorld, made: MdCaseDecision) -> None:
    asked = lines(world, made.case_id)
    answered = sorted(one.line_number for one in made.line_item_decisions)
    if answered != sorted(asked):
        raise Refusal(
            RefusalCode.BAD_ARGUMENT,
            f"line_item_decisions: answers lines {answered}; case {made.case_id} has lines "
            f"{sorted(asked)}, each to be answered once.",
        )
    reduced = [_reduces(one, asked[one.line_number]) for one in made.line_item_decisions]
    denied = [one.decision is MdReviewDecision.DENY for one in made.line_item_decisions]
    if not any(reduced) or all(denied):
        raise Refusal(
            RefusalCode.BAD_ARGUMENT,
            "line_item_decisions: a partial approval approves something and denies something; "
            "use approve or deny for all or nothing.",
        )


def _reduces(one: MdLineItemDecision, asked: int | None) -> bool:
    """Return whether a line gets less than it asks for; refuse what cannot be meant."""
    where = f"line_item_decisions: line {one.line_number}"
    if one.decision is MdReviewDecision.DENY:
        if not one.denial_rationale.strip():
            _missing(where, "give denial_rationale for a denied line")
        return True
    if one.decision not in _GRANTS:
        raise Refusal(RefusalCode.BAD_ARGUMENT, f"{where} takes approve, partial_approve or deny.")
    units = one.approved_units
    if units is None:
        return False
    if units < 1 or (asked is not None and units > asked):
        most = "" if asked is None else f", at most the {asked} asked for"
        raise Refusal(
            RefusalCode.BAD_ARGUMENT,
            f"{where} approves {units} units; accepted are 1 or more{most}.",
        )
    less = asked is None or units < asked
    if less and not one.denial_rationale.strip():
        _missing(where, "give denial_rationale for the units that are not approved")
    return less


def _missing(argument: str, wanted: str) -> None:
    raise Refusal(RefusalCode.MISSING_TEXT, f"{argument}: {wanted}.")
