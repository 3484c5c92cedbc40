"""What every world promises the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from healthgym.core.clock import Clock, Due
from healthgym.core.sayings import Saying
from healthgym.core.state import Stateful, log
from healthgym.errors import TrajectoryError

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
        said: What was heard from outside, in its order; it is part of the episode's record.
        tape: What was heard when the episode was recorded, and is heard again; None where whoever
            is outside is asked. Set it before anything is heard.
    """

    clock: Clock
    notices = log[Notice](content=False)
    said = log[Saying](content=False)
    tape: Sequence[Saying] | None = None

    def notify(self, role: str, text: str) -> None:
        """Tell a role something; it precedes what that role reads next."""
        self.notices.append(Notice(role, text, self.clock.now))

    def hear(self, speaker: str, ask: Callable[[], str]) -> str:
        """Return what somebody outside says, and keep it; from a tape, nobody is asked.

        Args:
            speaker: For whom it is said.
            ask: Asks whoever is outside.

        Raises:
            TrajectoryError: If the tape has something else in this place.
            InfrastructureError: If whoever is outside cannot be asked; nothing was heard then.
        """
        text = ask() if self.tape is None else self._taped(speaker, len(self.said))
        self.said.append(Saying(speaker, text))
        return text

    def _taped(self, speaker: str, place: int) -> str:
        tape = self.tape or ()
        then = tape[place].speaker if place < len(tape) else "nobody"
        if then != speaker:
            raise TrajectoryError(f"Words of {speaker} are due; the record has those of {then}.")
        return tape[place].text

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

    def exited(self, role: str) -> None:
        """Note that a tool was used, or refused: what follows is nobody's look at the world."""

    def left_to_do(self, role: str) -> bool:
        """Return whether there is anything left to do for a role; a role without is done."""
        return True
