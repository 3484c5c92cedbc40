"""Care management: telephone calls to the patient."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from healthgym.core.tool import ToolKind, tool
from healthgym.envs.managed_care.tools.base import ENTRY, LOOK, OfficeToolset
from healthgym.worlds.managed_care.records.care import CMOutreachSummaryInput

#: How long it takes to say something on the phone and to hear the answer.
EXCHANGE: Final = timedelta(minutes=2)


class OutreachTools(OfficeToolset):
    """The telephone."""

    namespace = "cm_outreach"

    @tool(ToolKind.WRITE, takes=EXCHANGE)
    def start_outreach_call(self, case_id: str) -> str:
        """Call the patient of a case whose chart was reviewed; returns the id of the call.

        Args:
            case_id: Id of the case, such as 'CM-ACT-001'.
        """
        return self.show(self.world.outreach.start_call(case_id))

    @tool(ToolKind.WRITE, takes=EXCHANGE)
    def send_message(self, session_id: str, message: str) -> str:
        """Say something to the patient and hear the answer; 20 messages of both sides end a call.

        Args:
            session_id: Id of the call, such as 'SES-0001'.
            message: What you say, in the words in which you would say it, such as 'Good morning,
                am I speaking with Mrs Roe?'.
        """
        return self.show(self.world.outreach.say(session_id, message))

    @tool(ToolKind.READ, takes=LOOK)
    def get_transcript(self, session_id: str) -> str:
        """Read what was said in a call, turn by turn.

        Args:
            session_id: Id of the call, such as 'SES-0001'.
        """
        return self.show(self.world.outreach.transcript(session_id))

    @tool(ToolKind.WRITE, takes=ENTRY)
    def end_outreach_call(self, session_id: str, summary: CMOutreachSummaryInput) -> str:
        """Hang up and file what came of the call; outreach is done with it.

        Where the patient hung up, or the call ended by itself, it still has to be filed.

        Args:
            session_id: Id of the call, such as 'SES-0001'.
            summary: What came of it.
        """
        return self.show(self.world.outreach.end_call(session_id, summary))
