"""The desk that arranges peer-to-peer calls, as the payer's physicians use it."""

from __future__ import annotations

from healthgym.core.tool import ToolKind, tool
from healthgym.envs.managed_care.tools.base import DECISION, ENTRY, LOOK, OfficeToolset
from healthgym.worlds.managed_care.vocabulary.authorization import PeerToPeerOutcome


class PeerToPeerToolset(OfficeToolset):
    """Requests for calls with the ordering clinician: times, confirmation, outcome."""

    namespace = "p2p"

    @tool(ToolKind.READ, name="list", takes=LOOK)
    def list_requests(self, case_id: str | None = None) -> str:
        """List requests for peer-to-peer calls, oldest first.

        Args:
            case_id: Only those of this case, such as "CASE-ACT-001".
        """
        return self.show(self.world.peer.list_all(case_id))

    @tool(ToolKind.WRITE, takes=ENTRY)
    def offer_slots(
        self,
        request_id: str,
        payer_contact_id: str = "SYSTEM",
        slots: tuple[str, ...] | None = None,
    ) -> str:
        """Offer the ordering clinician times for a call.

        Args:
            request_id: Id of the request, such as "P2P-0001".
            payer_contact_id: Id of the physician who will talk, such as "C-MD2": who means to
                decide, or another physician reviewer.
            slots: Times in UTC, in working hours, such as ["2026-03-16T15:00:00"].
        """
        return self.show(self.world.peer.offer(request_id, payer_contact_id, slots or ()))

    @tool(ToolKind.WRITE, takes=ENTRY)
    def schedule(
        self, request_id: str, payer_contact_id: str = "SYSTEM", scheduled_at: str = ""
    ) -> str:
        """Confirm the time of a call; an invitation goes out, and the line opens at that time.

        A time is confirmed before it comes; one that passed is lost, and times are offered anew.

        Args:
            request_id: Id of the request, such as "P2P-0001".
            payer_contact_id: Id of the physician who will talk, such as "C-MD2"; confirming is
                office work, for which nobody has to be in.
            scheduled_at: The time in UTC, such as "2026-03-16T15:00:00"; the one that the provider
                picked if left blank.
        """
        return self.show(self.world.peer.schedule(request_id, payer_contact_id, scheduled_at))

    @tool(ToolKind.WRITE, takes=DECISION)
    def record_outcome(
        self,
        request_id: str,
        payer_contact_id: str = "SYSTEM",
        outcome: PeerToPeerOutcome | str = "",
        note: str | None = None,
    ) -> str:
        """Record, once, what came of a call: the intended denial stands, or turns to an approval.

        For a call that p2p_session.submit_summary has not ended; the summary records the outcome.

        Args:
            request_id: Id of the request, such as "P2P-0001".
            payer_contact_id: Id of the physician who talked, such as "C-MD2".
            outcome: "uphold_intended_adverse_decision" or "overturn_to_approval".
            note: What decided it, with the number of the criterion, such as "C3".
        """
        return self.show(
            self.world.peer.record_outcome(request_id, payer_contact_id, outcome, note)
        )
