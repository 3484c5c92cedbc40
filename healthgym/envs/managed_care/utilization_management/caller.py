"""A call with the ordering clinician, by somebody who reads: times, questions, what they show."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from healthgym.envs.managed_care.reading.asking import Play
from healthgym.envs.managed_care.utilization_management.hearing_out import (
    heard_facts,
    same_fact,
    with_heard,
)
from healthgym.envs.managed_care.utilization_management.lookups import CaseReading, Colleague
from healthgym.envs.managed_care.utilization_management.reader import (
    MOST_NEWS,
    PATIENCE,
    Reader,
    rows_of,
)
from healthgym.errors import DataError
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.facts import AnyFact
from healthgym.worlds.managed_care.findings import Finding
from healthgym.worlds.managed_care.vocabulary.authorization import (
    PeerToPeerOutcome,
    PeerToPeerStatus,
    Posture,
)

#: How soon after an offer a call may be, in business hours: the practice has to choose before.
SOONEST = timedelta(hours=2, minutes=30)
_HALF = timedelta(minutes=30)
_ASKS = (
    "What can you tell me about {id}, the {title}? The packet leaves it open.",
    "What else do you have on {id}?",
    "Is there more on the {title}?",
    "Anything further on {id}, the {title}, before we end?",
)


class Caller(Reader):
    """A reader who also holds calls."""

    # -- the call ----------------------------------------------------------------------------------

    def _call(self) -> Play[str]:
        """Arrange and hold a call with the clinician; return the determination that follows.

        It is empty where no time was agreed on.
        """
        case = yield from self._look("md")
        found = self._found(case)
        listed = yield from self._do("p2p.list", case_id=self.case_id)
        request = next(reversed(re.findall(r"\bP2P-\d+\b", listed)), "")
        peers = self.office.able("call", self.nurses | self.physicians)
        if not peers:
            raise DataError("Nobody may hold the call.")
        peer, slots = min(
            ((one, self._slots(one, case.intake.get("state", ""))) for one in peers),
            key=lambda offer: (offer[1][-1], offer[0].id),
        )
        while not peer.is_in(self.now):
            yield from self._wait(peer.opens(self.now))
            slots = self._slots(peer, case.intake.get("state", ""))
        picked = yield from self._offered(request, peer, slots)
        if picked is None:
            return ""
        if not peer.is_in(self.now):
            yield from self._wait(peer.opens(self.now))
        yield from self._do("p2p.schedule", request_id=request, payer_contact_id=peer.id)
        yield from self._wait(picked)
        return (yield from self._talk(request, case, found))

    def _offered(
        self, request: str, peer: Colleague, slots: Sequence[datetime]
    ) -> Play[datetime | None]:
        """Offer times; return the one that is taken, None if the practice takes none."""
        yield from self._do(
            "p2p.offer_slots",
            request_id=request,
            payer_contact_id=peer.id,
            slots=[f"{at:%Y-%m-%dT%H:%M:%S}" for at in slots],
        )
        return (yield from self._picked(request))

    def _slots(self, peer: Colleague, state: str, lead: timedelta = SOONEST) -> list[datetime]:
        """Return as few times as may be offered, the first that both offices allow.

        Args:
            peer: Who holds the call.
            state: The member's.
            lead: Business hours before the first, in which the practice has to answer.
        """
        region = office_calendar(state)
        at = region.add_business_hours(max(self.now, peer.opens(self.now)), lead)
        at = at.replace(minute=0, second=0, microsecond=0) + _HALF * (1 + (at.minute >= 30))
        slots: list[datetime] = []
        while len(slots) < self.office.slots:
            if region.is_open(at) and peer.is_in(at) and peer.is_in(at - _HALF):
                slots.append(at)
            at += _HALF
        return slots

    def _picked(self, request: str) -> Play[datetime | None]:
        until = self.now + PATIENCE
        for _ in range(MOST_NEWS):
            yield from self._do("wait", until=f"{until:%Y-%m-%dT%H:%M}")
            row = yield from self._standing(request)
            if row.get("status") == PeerToPeerStatus.COMPLETED:
                return None
            if row.get("provider_selected_slot"):
                at = datetime.fromisoformat(row["provider_selected_slot"])
                return at.replace(tzinfo=UTC) if at.tzinfo is None else at
        raise DataError("The practice picks no time.")

    def _standing(self, request: str) -> Play[Mapping[str, str]]:
        """Return how a request for a call stands, by the names of its fields."""
        listed = yield from self._do("p2p.list", case_id=self.case_id)
        return next((row for row in rows_of(listed) if row.get("id") == request), {})

    def _talk(self, request: str, case: CaseReading, found: Finding) -> Play[str]:
        """Ask about each criterion in dispute until nothing more is told, and sum it up."""
        said: list[str] = []
        packet = found.packet
        for name in found.named():
            item, heard = found.policy.criterion(name), dict[AnyFact, None]()
            for ask in _ASKS:
                text = yield from self._do(
                    "p2p_session.send_turn",
                    request_id=request,
                    message=ask.format(id=name, title=item.display),
                )
                answer = _last_said(text)
                told = [one for one in heard_facts(answer, item) if one not in heard]
                if not told and ask is not _ASKS[0]:
                    break
                said.append(answer)
                heard.update(dict.fromkeys(told))
            new = (one for one in heard if not any(same_fact(one, f) for f in packet.facts))
            packet = replace(packet, facts=with_heard(packet.facts, new))
        after = self._judged(packet, case)
        turned = after.assessment.posture is Posture.SATISFIED
        outcome = PeerToPeerOutcome.UPHOLD_INTENDED_ADVERSE_DECISION
        if turned:
            outcome = PeerToPeerOutcome.OVERTURN_TO_APPROVAL
        named = ", ".join(found.named())
        yield from self._do(
            "p2p_session.submit_summary",
            request_id=request,
            summary=f"In dispute under {found.policy.id}: {named}. {' '.join(said)}",
            proposed_result=str(outcome),
        )
        return "approved" if turned else "denied"


def _last_said(text: str) -> str:
    """Return what the other side said last.

    Raises:
        DataError: If nobody answers, as in a call that is held at the wrong time.
    """
    found = re.findall(r"counterpart \| .*?\n\s+message: (.+)", text)
    found = found or re.findall(r"^.*counterpart.*$", text, re.MULTILINE)
    if not found:
        raise DataError("Nobody answers in the call.")
    return str(found[-1])
