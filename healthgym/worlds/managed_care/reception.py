"""What reaches the payer and sets none of its staff to work: each looks at it in its own time."""

from __future__ import annotations

from healthgym.worlds.managed_care.apps.app import App
from healthgym.worlds.managed_care.records.peer import PayerPeerToPeerRequest
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode


class Reception(App):
    """Where the provider's word arrives; whoever plays the payer is told of it."""

    def coming(self, case_id: str) -> None:
        """Note that a case is about to be handed in; the staff reads the packet itself."""

    def slot_answered(self, request: PayerPeerToPeerRequest, slot: str | None, note: str) -> None:
        """Note how an offer of times for a call was answered.

        Args:
            request: The request, as it is after the answer.
            slot: The time that was picked; None if none was.
            note: What was said.
        """

    def call_wanted(self, case_id: str, contact: str) -> str:
        """Take a provider's wish for a call; return what the provider is told.

        Args:
            case_id: The case.
            contact: Whom it would talk to; may be empty.

        Raises:
            Refusal: Always, where only the payer asks for calls.
        """
        raise Refusal(
            RefusalCode.WRONG_STATE,
            "The payer asks for calls between physicians; answer its request with "
            "auth.respond_to_peer_to_peer.",
        )
