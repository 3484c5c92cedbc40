"""The line of a peer-to-peer call, as either side uses it."""

from __future__ import annotations

from collections.abc import Mapping

from healthgym.core.tool import ToolKind, tool
from healthgym.envs.managed_care.presentation import named_values
from healthgym.envs.managed_care.tools.base import DECISION, ENTRY, LOOK, OfficeToolset
from healthgym.worlds.managed_care.apps.payer import peer_calls
from healthgym.worlds.managed_care.records.peer import P2PSessionRecord
from healthgym.worlds.managed_care.vocabulary.authorization import PeerToPeerOutcome

#: What the records of a call keep for whoever judges it.
_KEPT = ("revealed_fact_ids", "challenge_index", "benchmark_side")


def _heard(result: object) -> object:
    """Return a record of a call without what is kept for whoever judges it."""
    values = named_values(result) if isinstance(result, P2PSessionRecord) else None
    if values is None:
        return result
    return {name: value for name, value in values.items() if name not in _KEPT}


class PeerSessionToolset(OfficeToolset):
    """What is said on a call between the ordering clinician and the payer's physician."""

    namespace = "p2p_session"

    def show(self, result: object) -> str:
        """Return a result as the agent reads it: of a call what was said, and what came of it."""
        if isinstance(result, Mapping):
            parts = {name: _heard(one) for name, one in result.items() if name not in _KEPT}
            return super().show(parts)
        return super().show(_heard(result))

    @tool(ToolKind.READ, takes=LOOK)
    def get_context(self, request_id: str) -> str:
        """Read where a call stands and what was said on it so far.

        Args:
            request_id: Id of the request, such as "P2P-0001".
        """
        return self.show(peer_calls.context(self.world, request_id))

    @tool(ToolKind.WRITE, takes=ENTRY)
    def send_turn(self, request_id: str, message: str) -> str:
        """Say something on an open call, and read the answer. Turns are limited.

        Args:
            request_id: Id of the request, such as "P2P-0001".
            message: What you say: facts, or specific questions.
        """
        return self.show(peer_calls.send_turn(self.world, request_id, message))

    @tool(ToolKind.WRITE, takes=DECISION)
    def submit_summary(
        self, request_id: str, summary: str, proposed_result: PeerToPeerOutcome | str
    ) -> str:
        """Sum a call up and end it, once. On the payer's side that records the outcome, too.

        Args:
            request_id: Id of the request, such as "P2P-0001".
            summary: What was said and agreed: the criterion by its number, such as "C3", and the
                fact with its day or value.
            proposed_result: What ought to come of it: "uphold_intended_adverse_decision" or
                "overturn_to_approval". From the payer it is the outcome.
        """
        return self.show(
            peer_calls.submit_summary(self.world, request_id, summary, proposed_result)
        )
