"""Who did what in an episode, and whether it was theirs to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from healthgym.worlds.managed_care.apps.payer.reviewers import PAYER_STAFF, Part, parts_taken
from healthgym.worlds.managed_care.history import Entry, EntryKind
from healthgym.worlds.managed_care.vocabulary.authorization import DeterminationDecision
from healthgym.worlds.managed_care.world import ManagedCareWorld

#: What somebody did, and the rule of operation that says who may.
_RULES: Mapping[str, str] = {
    "payer_triage.set_disposition": "may_route",
    "payer_routing_engine.route_case": "may_route",
    "payer_nurse_review.save_criteria_evaluation": "may_recommend",
    "payer_nurse_review.submit_case_recommendation": "may_recommend",
    "payer_md_review.save_md_review": "may_sign",
    "payer_md_review.submit_case_decision": "may_sign",
    "payer_p2p_scheduler.offer_slots": "may_hold_peer_to_peer",
    "payer_p2p_scheduler.schedule_p2p": "may_hold_peer_to_peer",
    "payer_p2p_scheduler.record_p2p_outcome": "may_hold_peer_to_peer",
    "payer_appeals.assign_internal_appeal_reviewer": "may_decide_appeal",
    "payer_appeals.save_appeal_review": "may_decide_appeal",
    "payer_appeals.decide_internal_appeal": "may_decide_appeal",
}
#: What anybody of the payer's may do.
_ANYBODY = frozenset(
    (
        "payer_letter_center.generate_approval_letter",
        "payer_letter_center.generate_partial_approval_letter",
        "payer_letter_center.generate_denial_letter",
        "payer_letter_center.generate_pend_letter",
        "payer_letter_center.generate_member_notification",
        "payer_appeals.acknowledge_appeal",
    )
)
_FINAL = "payer_determination.finalize"


def misplaced(before: ManagedCareWorld, after: ManagedCareWorld, case_id: str) -> tuple[str, ...]:
    """Return what was done in an episode by somebody who may not do it, or overrides a colleague.

    Args:
        before: The world as it began.
        after: The world now.
        case_id: The case.
    """
    done = list(_done(before, after, case_id))
    wrong = [f"{entry.name} by {entry.actor}" for entry in done if not _may(after, case_id, entry)]
    made = after.determinations.active(case_id)
    if made is not None and made.overridden:
        wrong.append("an override")
    return tuple(dict.fromkeys((*wrong, *_twice(after, case_id))))


def _done(before: ManagedCareWorld, after: ManagedCareWorld, case_id: str) -> Iterator[Entry]:
    known = len(before.history.entries)
    for entry in tuple(after.history.entries)[known:]:
        if entry.case_id == case_id and entry.kind is EntryKind.AUDIT:
            yield entry


def _may(world: ManagedCareWorld, case_id: str, entry: Entry) -> bool:
    role = world.staff.role_of(entry.actor)
    if entry.name in _ANYBODY:
        return role in PAYER_STAFF
    if entry.name == _FINAL:
        return str(role) in _final(world, case_id)
    rule = _RULES.get(entry.name)
    if rule is None:
        return True
    return str(role) in set(map(str, getattr(world.operations, rule)))


def _final(world: ManagedCareWorld, case_id: str) -> set[str]:
    """Return who may make the case's decision final."""
    made = world.determinations.active(case_id)
    if made is None or made.source == "triage_auto_approve":
        return set(map(str, world.operations.may_route))
    approved = made.final_decision is DeterminationDecision.APPROVED
    rules = world.operations
    return set(map(str, rules.may_approve if approved else rules.may_deny))


def _twice(world: ManagedCareWorld, case_id: str) -> Iterator[str]:
    """Yield who was the nurse of a case and its physician, or the physician of its call, too."""
    taken = set(parts_taken(world, case_id))
    nurses = {who for who, part in taken if part is Part.NURSE}
    for who in sorted({who for who, part in taken if part is not Part.NURSE} & nurses):
        yield f"{who} in two parts"
