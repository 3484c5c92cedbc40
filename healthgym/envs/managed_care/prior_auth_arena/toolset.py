"""What both sides call with when they talk, and what the provider asks with for a call."""

from __future__ import annotations

from healthgym.core.tool import ToolKind, Toolset, tool
from healthgym.envs.managed_care.tools.auth import AuthToolset
from healthgym.envs.managed_care.tools.base import ENTRY
from healthgym.worlds.managed_care.shared import SharedOffices
from healthgym.worlds.managed_care.vocabulary.authorization import PeerToPeerOutcome


class CallToolset(Toolset[SharedOffices]):
    """The line between the ordering clinician and the payer's physician, for both alike."""

    namespace = "call"

    @tool(ToolKind.WRITE)
    def speak(self, message: str, position: PeerToPeerOutcome, ready: bool = False) -> str:
        """Say something on the open call, when it is your turn; the other side then has the turn.

        The call is over when both sides are ready, or when each has had its turns.

        Args:
            message: What you say, in words, at most 4,000 characters: facts with their days and
                values, or questions that name the criterion, such as "C3".
            position: What you now think ought to come of the call:
                "uphold_intended_adverse_decision" or "overturn_to_approval".
            ready: Whether you have nothing to add.
        """
        line = self.world.parley.speak(self.caller.role, message, position, ready=ready)
        if line.ended:
            return "Said. The call is over."
        return f"Said. The {line.speaker} is to answer; call.read tells whose turn it is then."

    @tool(ToolKind.READ)
    def read(self, request_id: str) -> str:
        """Read what was said so far on a call, and whose turn it is to speak.

        Args:
            request_id: Id of the request for the call, such as "P2P-0001".
        """
        line = self.world.parley.heard(request_id)
        said = [f"{turn.side} ({turn.position}): {turn.message}" for turn in line.turns]
        state = "The call is over." if line.ended else f"It is the {line.speaker}'s turn to speak."
        return "\n".join((*said, state))


class AskedToolset(Toolset[SharedOffices]):
    """Calls that the provider asks for, as the payer answers them."""

    namespace = "call"

    @tool(ToolKind.WRITE, takes=ENTRY)
    def decline(self, case_id: str, reason: str) -> str:
        """Refuse a call that the provider asked for; a physician's p2p_review grants one.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            reason: Why there is to be no call, in words.
        """
        self.world.parley.decline(case_id, reason)
        return f"The provider is told that there is no call about case {case_id}, and why."


class AskingToolset(AuthToolset):
    """The provider's authorizations, where it may ask for a call."""

    @tool(ToolKind.WRITE, takes=ENTRY)
    def request_peer_to_peer(self, case_id: str, preferred_contact_id: str | None = None) -> str:
        """Ask for a call with the payer's physician about a case in review; it may be refused.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            preferred_contact_id: Whom to talk to, such as "C-MD".
        """
        return super().request_peer_to_peer(case_id, preferred_contact_id)
