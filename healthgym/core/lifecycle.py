"""A state machine as a table: which state may follow which, by what, and on what condition.

The table is the only place that knows. Whoever keeps a status asks it for the next one, so that
no status is ever assigned, and a move that is not in the table is refused with what is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Generic, TypeVar

from healthgym.errors import ConfigurationError, ToolError

StateT = TypeVar("StateT", bound=StrEnum)
FactsT = TypeVar("FactsT")


@dataclass(frozen=True, slots=True)
class Guard(Generic[FactsT]):
    """A condition on a move.

    Attributes:
        name: What it is called.
        holds: Whether the facts allow the move. It reads them and changes nothing.
        refusal: What is said where they do not: a clause without a period, such as
            ``"two signatures are missing"``.
    """

    name: str
    holds: Callable[[FactsT], bool]
    refusal: str


@dataclass(frozen=True, slots=True)
class Move(Generic[StateT, FactsT]):
    """A row of the table.

    Attributes:
        source: The state it leaves.
        target: The state it enters.
        trigger: What makes it: the name of a verb or of an event.
        guard: On what condition; always if None.
    """

    source: StateT
    target: StateT
    trigger: str
    guard: Guard[FactsT] | None = None


@dataclass(frozen=True)
class Lifecycle(Generic[StateT, FactsT]):
    """A state machine over the members of one enum.

    Args:
        rows: The moves.
        initial: The state everything begins in.
        terminal: The states that nothing leaves.

    Raises:
        ConfigurationError: If a state is not of the initial one's enum, a state has two moves by
            one trigger, a terminal state is left or another one is not, or the initial state
            leads not to every member.
    """

    rows: Sequence[Move[StateT, FactsT]]
    initial: StateT
    terminal: Collection[StateT] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", tuple(self.rows))
        object.__setattr__(self, "terminal", frozenset(self.terminal))
        self._require_known()
        self._require_distinct()
        self._require_ends()
        self._require_reachable()

    def fire(self, state: StateT, trigger: str, facts: FactsT) -> StateT:
        """Return the state that follows.

        Args:
            state: The state now.
            trigger: What happens.
            facts: What the guards look at.

        Raises:
            ToolError: If the state has no such move, or the move's guard refuses.
            ConfigurationError: If it is no state of this machine.
        """
        moves = self._moves(state)
        move = moves.get(trigger)
        accepted = ", ".join(moves) or f"nothing, {state} is final"
        if move is None:
            raise ToolError(
                f"{trigger[:80]!r} is not possible in state {state}; accepted from here: "
                f"{accepted}."
            )
        if move.guard is not None and not move.guard.holds(facts):
            # The other guards are not asked: which of them hold may be what is to be found out.
            raise ToolError(
                f"{trigger!r} is refused in state {state}: {move.guard.refusal}; accepted from "
                f"here: {accepted}."
            )
        return move.target

    def legal(self, state: StateT) -> tuple[Move[StateT, FactsT], ...]:
        """Return the moves that leave a state, in the order of the table.

        Raises:
            ConfigurationError: If it is no state of this machine.
        """
        return tuple(self._moves(state).values())

    def pairs(self) -> frozenset[tuple[StateT, StateT]]:
        """Return the ordered pairs of states of which the second may follow the first."""
        return frozenset((row.source, row.target) for row in self.rows)

    def triggers(self) -> tuple[str, ...]:
        """Return every trigger, in the order of the table."""
        return tuple(dict.fromkeys(row.trigger for row in self.rows))

    def guards(self) -> tuple[Guard[FactsT], ...]:
        """Return every guard, in the order of the table."""
        return tuple(dict.fromkeys(row.guard for row in self.rows if row.guard is not None))

    @property
    def states(self) -> tuple[StateT, ...]:
        """Every state."""
        return tuple(type(self.initial))

    @cached_property
    def _table(self) -> Mapping[StateT, Mapping[str, Move[StateT, FactsT]]]:
        table: dict[StateT, dict[str, Move[StateT, FactsT]]] = {s: {} for s in self.states}
        for row in self.rows:
            table[row.source][row.trigger] = row
        return table

    def _moves(self, state: StateT) -> Mapping[str, Move[StateT, FactsT]]:
        if type(state) is not type(self.initial):
            raise ConfigurationError(f"{state!r} is no {type(self.initial).__name__}.")
        return self._table[state]

    def _require_known(self) -> None:
        kind = type(self.initial)
        named = [s for row in self.rows for s in (row.source, row.target)]
        for state in (*named, *self.terminal):
            if type(state) is not kind:
                raise ConfigurationError(f"{state!r} is no {kind.__name__}.")

    def _require_distinct(self) -> None:
        seen: set[tuple[StateT, str]] = set()
        for row in self.rows:
            if (row.source, row.trigger) in seen:
                raise ConfigurationError(f"{row.source} has two moves by {row.trigger!r}.")
            seen.add((row.source, row.trigger))

    def _require_ends(self) -> None:
        left = {row.source for row in self.rows}
        for state in self.states:
            if state in left and state in self.terminal:
                raise ConfigurationError(f"{state} is terminal, and there are moves that leave it.")
            if state not in left and state not in self.terminal:
                raise ConfigurationError(f"{state} is a dead end, and not terminal.")

    def _require_reachable(self) -> None:
        found, waiting = {self.initial}, deque([self.initial])
        while waiting:
            for move in self.legal(waiting.popleft()):
                if move.target not in found:
                    found.add(move.target)
                    waiting.append(move.target)
        lost = [state for state in self.states if state not in found]
        if lost:
            raise ConfigurationError(f"{self.initial} does not lead to {', '.join(lost)}.")
