"""What crossed between the two sides, and in which order."""

from __future__ import annotations

from functools import cached_property

from healthgym.envs.managed_care.prior_auth_arena.truth import Received, truth_of
from healthgym.envs.managed_care.utilization_management.requests import asked
from healthgym.worlds.managed_care import deadlines
from healthgym.worlds.managed_care.history import EntryKind
from healthgym.worlds.managed_care.vocabulary.authorization import CaseStatus, Posture

_OPEN = (Posture.INSUFFICIENT, Posture.ABSENT)


class Crossing:
    """Looks at what one side sent and the other received.

    Args:
        received: The case, as it was received and as it is now.
    """

    def __init__(self, received: Received) -> None:
        self.received = received

    @property
    def whole(self) -> bool:
        """Whether the payer holds what was listed as sent, and nothing else."""
        world, case_id = self.received.now, self.received.case_id
        listed: dict[str, None] = {}
        for packet in world.authorizations.packets.values():
            if packet.case_id == case_id:
                listed |= dict.fromkeys(packet.attached_document_ids)
        held = tuple(page.id for page in world.intake.sent(case_id))
        return bool(listed) and set(held) == set(listed)

    @cached_property
    def unanswered(self) -> tuple[str, ...]:
        """What was rightly asked for, is not settled by what came, and could have been.

        Of a criterion that nothing settles which the practice has there is nothing to answer.
        """
        received = self.received
        wanted = truth_of(received).wanted
        if not wanted or not asked(received.before, received.now, received.case_id):
            return ()
        names = (*received.packet, *received.reply)
        after = received.shows(names, received.said)
        open_kinds = {str(kind) for kind in after.missing_documents} | received.lacking(names)
        left = [name for name in sorted(wanted) if name in open_kinds]
        first = received.shows(received.packet).criteria
        known = received.known.criteria
        for name in sorted(wanted & first.keys()):
            open_still = after.criteria[name].posture is first[name].posture
            if open_still and known[name].posture not in _OPEN:
                left.append(name)
        return tuple(left)

    @property
    def ordered(self) -> bool:
        """Whether everything was done after what it follows from, and before its limit."""
        world, case_id = self.received.now, self.received.case_id
        packet = next(p for p in world.authorizations.packets.values() if p.case_id == case_id)
        times = [packet.submitted_at]
        for entry in world.history.of(case_id, EntryKind.TRANSITION):
            if entry.action in (CaseStatus.PENDED_ACTION_REQUIRED, CaseStatus.RESUBMITTED):
                times.append(entry.at)
        made = world.determinations.active(case_id)
        if made is not None:
            if made.created_at > deadlines.decision_deadline(world, case_id):
                return False
            times.append(made.created_at)
            times += [
                one.delivered_at
                for one in world.letters.of(case_id)
                if one.delivered_at is not None and one.created_at >= made.created_at
            ]
        return times == sorted(times)
