"""Verbs that the engine brings, beside those of a family."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Protocol

from healthgym.core.tool import ToolKind, Toolset, tool
from healthgym.core.world import World
from healthgym.errors import ConfigurationError, ToolError


class Verb(StrEnum):
    """A verb of the engine that a family may offer to a role."""

    FINISH = "finish"  #: the role is done; for worlds whose tools end nothing
    READ_MORE = "read_more"  #: continues a result that was too long to show
    HELP = "help"  #: shows how tools are called; a role that writes command lines has it
    WAIT = "wait"  #: lets time pass, up to the next thing that the role is told


class Desk(Protocol):
    """What the engine's verbs act on: the role's place in the episode."""

    def more(self) -> str:
        """Return what is left of the last result that was cut, and forget it; empty if nothing."""

    def manual(self, topic: str) -> str:
        """Return how tools are called."""

    def wait_until(self, time: datetime) -> str:
        """Ask for time to pass once the call is over, up to a time or to the next news."""


class EngineToolset(Toolset[World]):
    """The engine's verbs. They act on the episode, by way of a desk."""

    engine = True
    desk: Desk | None = None

    def _at_desk(self) -> Desk:
        if self.desk is None:
            raise ConfigurationError("The engine's verbs work in an episode only.")
        return self.desk

    @tool(ToolKind.SUBMIT)
    def finish(self) -> str:
        """Say that your work is done. Nothing can be done after it."""
        return "Finished."

    @tool(ToolKind.READ)
    def read_more(self) -> str:
        """Read on in the last result that was too long to be shown whole."""
        text = self._at_desk().more()
        if not text:
            raise ToolError("The last result was shown whole; there is no more of it.")
        return text

    @tool(ToolKind.READ)
    def help(self, topic: str = "") -> str:
        """Show which tools there are, or what a tool takes.

        Args:
            topic: A server, or a server and a tool, such as "notes read"; all of them
                if left out.
        """
        return self._at_desk().manual(topic)

    @tool(ToolKind.READ)
    def wait(self, until: str) -> str:
        """Let time pass, until a time or until you are told something, whichever comes first.

        Args:
            until: Date and time in UTC, such as "2024-03-01T14:30".
        """
        try:
            time = datetime.fromisoformat(until)
            time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
        except (ValueError, OverflowError):  # the year 9999 of one zone is 10000 in another
            raise ToolError(
                f"until: {until[:40]!r} is not a date and time such as 2024-03-01T14:30."
            ) from None
        return self._at_desk().wait_until(time)
