"""A notebook, for work that is longer than anybody's memory."""

from __future__ import annotations

from healthgym.core.tool import ToolKind, Toolset, tool
from healthgym.envs.managed_care.tools.base import LOOK
from healthgym.errors import ToolError
from healthgym.worlds.managed_care.queue import QueueOffices


class NotesToolset(Toolset[QueueOffices]):
    """Keep notes that stay when what was read before is forgotten."""

    namespace = "notes"

    @tool(ToolKind.READ, takes=LOOK)
    def read(self) -> str:
        """Read all notes."""
        return self.world.notes or "There are no notes."

    @tool(ToolKind.WRITE, takes=LOOK)
    def add(self, text: str) -> str:
        """Add a line to the notes.

        Args:
            text: What to keep, such as "CASE-6107: letter sent, waits for the reply".
        """
        _require(text)
        return f"Noted; the notes have {len(self.world.note(text))} characters."

    @tool(ToolKind.WRITE, takes=LOOK)
    def rewrite(self, text: str) -> str:
        """Put a text in the place of all notes.

        Args:
            text: All that is to be kept.
        """
        _require(text)
        if text == self.world.notes:
            raise ToolError("The notes say this already.")
        return f"Kept; the notes have {len(self.world.rewrite(text))} characters."


def _require(text: str) -> None:
    if not text.strip():
        raise ToolError("text: say what to note.")
