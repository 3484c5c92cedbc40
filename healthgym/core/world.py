"""What every world promises the engine."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from healthgym.core.clock import Clock, Due
from healthgym.core.state import Stateful, log

WorldIn = TypeVar("WorldIn", bound="World")

#: The role under which a world acts when something falls due.
WORLD = "world"


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a role is told without having asked.

    Attributes:
        role: Who is told.
        text: What.
        at: When it happened.
    """

    role: str
    text: str
    at: datetime


class World(Stateful):
    """Mutable state of one episode, over immutable data shared between episodes.

    A world knows no task, no reward and no tool. What changes in it is declared with
    :class:`~healthgym.core.state.state`, :class:`~healthgym.core.state.table` and
    :class:`~healthgym.core.state.log`; from that follow ``clone()``, ``digest()``,
    ``content_digest()``, and that a call which fails leaves nothing behind.

    Attributes:
        clock: Time and agenda. Set it in ``__init__``.
        notices: What roles are told, in the order in which it happened.
    """

    clock: Clock
    notices = log[Notice](content=False)

    def notify(self, role: str, text: str) -> None:
        """Tell a role something; it precedes what that role reads next."""
        self.notices.append(Notice(role, text, self.clock.now))

    def happen(self, due: Due) -> None:
        """Carry out what has fallen due; override it where a world puts things on the agenda.

        The clock shows the time at which it is due. What roles learn of it goes to
        :meth:`notify`.

        Raises:
            NotImplementedError: If the world does not know of it, which is a fault of the world.
        """
        raise NotImplementedError(f"{type(self).__name__} does not know what {due.name!r} is.")

    def entered(self, role: str) -> None:
        """Note who is about to use a tool, for worlds in which their tools do not say it."""

    def left_to_do(self, role: str) -> bool:
        """Return whether there is anything left to do for a role; a role without is done."""
        return True
