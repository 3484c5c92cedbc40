"""Checks of a state machine, for worlds that keep a status by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from healthgym.core.lifecycle import Guard, Lifecycle, StateT
from healthgym.errors import ToolError
from healthgym.testing.play import require

FactsT = TypeVar("FactsT")
_UNKNOWN = "no_such_trigger"


@dataclass(frozen=True, slots=True)
class Walked(Generic[StateT]):
    """What random walks saw.

    Attributes:
        accepted: Moves made.
        refused: Moves refused.
        pairs: How often each pair of states was gone through.
    """

    accepted: int
    refused: int
    pairs: Counter[tuple[StateT, StateT]]


def check_lifecycle(
    machine: Lifecycle[StateT, FactsT],
    facts: Callable[[np.random.Generator], FactsT],
    *,
    walks: int = 200,
    length: int = 50,
    draws: int = 500,
    seed: int = 0,
) -> Walked[StateT]:
    """Check that a machine does what its table says, whatever happens to it.

    Every move of the table can be made and no other can, every guard passes on some facts and
    refuses others, and random walks never leave the table.

    Args:
        machine: The machine.
        facts: Draws facts for the guards. They must be such as do occur: a guard that refuses
            all of them, or none, fails.
        walks: Number of walks, each from the initial state.
        length: Triggers tried in a walk.
        draws: Facts drawn to see a guard pass and refuse.
        seed: Seed of all of it.

    Raises:
        ConformanceError: Naming the first state and trigger, or guard, that fails.
    """
    rng = np.random.default_rng(seed)
    for guard in machine.guards():
        _check_guard(guard, facts, rng, draws)
    for state in machine.states:
        for trigger in (*machine.triggers(), _UNKNOWN):
            _check_move(machine, state, trigger, [facts(rng) for _ in range(draws)])
    return _walk(machine, facts, rng, walks, length)


def _check_guard(
    guard: Guard[FactsT],
    facts: Callable[[np.random.Generator], FactsT],
    rng: np.random.Generator,
    draws: int,
) -> None:
    seen = {guard.holds(facts(rng)) for _ in range(draws)}
    require(True in seen, f"Guard {guard.name} passes on none of {draws} facts.")
    require(False in seen, f"Guard {guard.name} refuses none of {draws} facts.")


def _check_move(
    machine: Lifecycle[StateT, FactsT], state: StateT, trigger: str, facts: list[FactsT]
) -> None:
    """Try one trigger in one state, on many facts; it can be made if it is in the table."""
    known = any(move.trigger == trigger for move in machine.legal(state))
    made = [step(machine, state, trigger, each) is not None for each in facts]
    require(any(made) == known, f"{trigger} from {state}: {'never' if known else 'was'} made.")


def _walk(
    machine: Lifecycle[StateT, FactsT],
    facts: Callable[[np.random.Generator], FactsT],
    rng: np.random.Generator,
    walks: int,
    length: int,
) -> Walked[StateT]:
    pairs: Counter[tuple[StateT, StateT]] = Counter()
    triggers = machine.triggers()
    for _ in range(walks):
        state = machine.initial
        for _ in range(length):
            legal = [move.trigger for move in machine.legal(state)]
            # Legal triggers half of the time, or a walk through a large table gets nowhere.
            choices = legal if legal and rng.random() < 0.5 else triggers
            after = step(machine, state, choices[int(rng.integers(len(choices)))], facts(rng))
            if after is not None:
                pairs[state, after] += 1
                state = after
    return Walked(pairs.total(), walks * length - pairs.total(), pairs)


def step(
    machine: Lifecycle[StateT, FactsT], state: StateT, trigger: str, facts: FactsT
) -> StateT | None:
    """Fire a trigger, hold the answer against the table, and return the new state if any.

    Args:
        machine: The machine.
        state: The state now.
        trigger: What happens.
        facts: What the guards look at.

    Raises:
        ConformanceError: If the machine accepts what its table refuses, refuses what it allows,
            goes elsewhere, or does not say what it refused.
    """
    moves = {move.trigger: move for move in machine.legal(state)}
    move = moves.get(trigger)
    allowed = move is not None and (move.guard is None or move.guard.holds(facts))
    where = f"{trigger} from {state}"
    try:
        after = machine.fire(state, trigger, facts)
    except ToolError as error:
        said = str(error)
        require(not allowed, f"{where} is allowed, and was refused: {said}")
        require(str(state) in said and trigger in said, f"{where}: the refusal does not name it.")
        require(all(name in said for name in moves), f"{where}: not all that is accepted is named.")
        require("\n" not in said and said.endswith("."), f"{where}: no sentence: {said!r}")
        return None
    require(allowed, f"{where} is not allowed, and led to {after}.")
    require(move is not None and after is move.target, f"{where} led to {after}.")
    require((state, after) in machine.pairs(), f"{state} to {after} is no pair of the table.")
    return after
