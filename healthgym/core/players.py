"""Scripted policies, and the one player that plays all of them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Protocol

import numpy as np

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.core.task import Instance, ReferenceIn, StartIn, TaskIn

#: Actions played one after the other, whatever the environment answers.
Script = Sequence[object]
#: A scripted policy: from an instance, reference included, and randomness to a script.
Baseline = Callable[[Instance[TaskIn, ReferenceIn, StartIn], np.random.Generator], Script]
#: A scripted policy that looks before it acts: from the instruction to a generator that yields
#: actions and is sent the text of each observation. It is handed no instance, so it cannot know
#: more than an agent does.
Solver = Callable[[str], Generator[object, str, None]]


class Player:
    """Plays a script or a solver, one action an observation.

    What it does is a function of what it was shown, so that one can be replayed to where another
    stands: a running generator cannot be copied.

    Args:
        begin: Returns the actions anew.
    """

    def __init__(self, begin: Callable[[], Script | Generator[object, str, None]]) -> None:
        self._begin = begin
        self._moves = _moves(begin())
        self._shown: list[str] = []
        self._begun = False

    @classmethod
    def of_script(cls, script: Script) -> Player:
        """Return a player of fixed actions."""
        return cls(lambda: script)

    @classmethod
    def of_solver(cls, solver: Solver, instruction: str) -> Player:
        """Return a player of a policy that looks."""
        return cls(lambda: solver(instruction))

    def act(self, observation: str = "") -> object:
        """Return the next action; None once there is none.

        Args:
            observation: The answer to the last action; what is given before the first is ignored.
        """
        # A generator's first message is None by the language's rule; it has the instruction.
        message = observation if self._begun else None
        if self._begun:
            self._shown.append(observation)
        self._begun = True
        try:
            return self._moves.send(message)
        except StopIteration:
            return None

    @property
    def position(self) -> int:
        """How many actions it has been asked for."""
        return len(self._shown) + self._begun

    def at(self, position: int) -> Player:
        """Return a player that stands where this one stood after so many actions."""
        twin = Player(self._begin)
        for observation in ("", *self._shown)[:position]:
            twin.act(observation)
        return twin

    def clone(self) -> Player:
        """Return a player that stands where this one stands."""
        return self.at(self.position)


class Occupant(Protocol):
    """Somebody who can fill a seat, from outside the family: an endpoint, a frozen checkpoint.

    One that is a dataclass is kept in records by its fields.
    """

    def sit(self, role: str, instruction: str, tools: Sequence[JsonDict]) -> Player:
        """Return a player of one episode.

        Args:
            role: The seat.
            instruction: What it reads first.
            tools: Its tools, in OpenAI's function form.

        Raises:
            ConfigurationError: If nobody can be seated, such as without a model.
        """


#: Who fills a seat: a scripted policy by its name, or several by weight, of which each task draws
#: one; somebody from outside, or that as its fields.
Filling = str | Mapping[str, float] | JsonObject | Occupant


def _moves(
    actions: Script | Generator[object, str, None],
) -> Generator[object, str | None, None]:
    if isinstance(actions, Generator):
        yield from actions
        return
    # `yield from` would pass on what is sent, and a list takes no messages.
    for action in actions:  # noqa: UP028
        yield action
