"""The telephone of the extended surface, on which a caller may say what was meant."""

from __future__ import annotations

from healthgym.core.tool import ToolKind, tool
from healthgym.envs.managed_care.tools.cm_outreach import EXCHANGE, OutreachTools
from healthgym.worlds.managed_care.conversation.acts import Meant


class OutreachExtendedTools(OutreachTools):
    """The telephone, with a way to say what was meant."""

    @tool(ToolKind.WRITE, takes=EXCHANGE)
    def send_message(self, session_id: str, message: str, acts: tuple[Meant, ...] = ()) -> str:
        """Say something to the patient and hear the answer; 20 messages of both sides end a call.

        The patient hears the words. What you list helps where they could be taken in two ways; it
        says nothing that they do not say, and asks for no consent.

        Args:
            session_id: Id of the call, such as 'SES-0001'.
            message: What you say, in the words in which you would say it, such as 'Good morning,
                am I speaking with Mrs Roe?'.
            acts: What you mean by it, in order; blank to leave it to the words.
        """
        return self.show(self.world.outreach.say(session_id, message, acts))
