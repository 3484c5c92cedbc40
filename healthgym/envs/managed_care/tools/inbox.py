"""The provider's inbox."""

from __future__ import annotations

from healthgym.core.tool import ToolKind, tool
from healthgym.envs.managed_care.tools.base import LOOK, OfficeToolset


class InboxToolset(OfficeToolset):
    """Read what the payer wrote."""

    namespace = "inbox"

    @tool(ToolKind.READ, takes=LOOK)
    def list_messages(self, case_id: str | None = None) -> str:
        """List the messages of the inbox, the oldest first.

        Args:
            case_id: Only messages about this case, such as "CASE-ACT-001".
        """
        return self.show(self.world.inbox.list_messages(case_id))

    @tool(ToolKind.WRITE, takes=LOOK)
    def read_message(self, message_id: str) -> str:
        """Open a message, which marks it as read.

        Args:
            message_id: Id of the message, such as "MSG-PEND-0001".
        """
        return self.show(self.world.inbox.read_message(message_id))
