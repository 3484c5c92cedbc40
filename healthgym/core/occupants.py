"""Seats filled by argument: by whom, and from a record without them.

Who is outside is known by name only, as in the table of environments, and loaded when somebody is
seated.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from importlib import import_module
from typing import Final

import numpy as np

from healthgym.core.choice import Weighted
from healthgym.core.family import AnyFamily, Player, Seat
from healthgym.core.players import Filling, Occupant
from healthgym.core.seeding import player_rng
from healthgym.core.task import AnyInstance
from healthgym.core.trajectory import Trajectory
from healthgym.errors import ConfigurationError, SeatCrashedError

#: Occupants by the field that they are told by.
OCCUPANTS: Final[Mapping[str, str]] = {
    "endpoint": "healthgym.policies.seats:EndpointSeat",
    "checkpoint": "healthgym.integrations.trl.seats:CheckpointSeat",
}
#: Who fills a seat, worked out: a scripted policy's name, several by weight, or an occupant.
Filler = str | Weighted[str] | Occupant


def resolved(fillings: Mapping[str, Filling]) -> dict[str, Filler]:
    """Return who fills which seat, fields made into whom they tell of; nobody is loaded yet.

    Raises:
        ConfigurationError: If the fields are nobody's, or weights are none.
    """
    return {role: _resolved(filling) for role, filling in fillings.items()}


def _resolved(filling: Filling) -> Filler:
    if isinstance(filling, str):
        return filling
    if isinstance(filling, Mapping) and filling and not OCCUPANTS.keys() & filling.keys():
        weights = {name: each for name, each in filling.items() if type(each) in (int, float)}
        if len(weights) == len(filling):
            return Weighted(weights, "players")
    return occupant_of(filling)


def seated(
    family: AnyFamily,
    instance: AnyInstance,
    fillings: Mapping[str, Filler],
    record: Trajectory | None = None,
) -> dict[str, Player]:
    """Return the players of the seats that are not played from outside.

    Args:
        family: The family.
        instance: The task that will be played.
        fillings: Who fills which seat, by role.
        record: An episode that is played again: whoever came from outside does what they did.

    Raises:
        ConfigurationError: If there is no scripted player of a name.
    """
    seats = family.seats(instance)
    return {
        role: _player(family, instance, role, seats[role], filling, record)
        for role, filling in fillings.items()
    }


def _player(
    family: AnyFamily,
    instance: AnyInstance,
    role: str,
    seat: Seat,
    filling: Filler,
    record: Trajectory | None,
) -> Player:
    if isinstance(filling, str | Weighted):
        rng: np.random.Generator = player_rng(instance.task.task_id, role)
        name = filling if isinstance(filling, str) else filling.draw(rng)
        return family.player(name, instance, rng, role)
    if record is not None:
        return recorded(record, role)
    return filling.sit(role, seat.instruction, seat.catalog.openai())


def occupant_of(filling: Filling) -> Occupant:
    """Return somebody from outside, made of fields if given as such.

    Raises:
        ConfigurationError: If the fields are nobody's.
    """
    if not isinstance(filling, Mapping):
        if isinstance(filling, str) or not hasattr(filling, "sit"):
            raise ConfigurationError(f"{filling!r:.80} cannot fill a seat.")
        return filling
    kinds = [name for name in OCCUPANTS if name in filling]
    if len(kinds) != 1:
        raise ConfigurationError(
            f"A seat is filled by the fields of one of {', '.join(OCCUPANTS)}, not by "
            f"{', '.join(map(str, filling)) or 'none'}."
        )
    module, _, name = OCCUPANTS[kinds[0]].partition(":")
    try:
        made: Occupant = getattr(import_module(module), name)(**filling)
    except TypeError as error:
        raise ConfigurationError(f"The fields fill no seat: {error}.") from None
    return made


def recorded(record: Trajectory, role: str) -> Player:
    """Return a player who does what was done in a record, its failure included."""

    def play() -> Generator[object, str, None]:
        for turn in record.turns:
            if turn.role == role:
                yield turn.action
        if record.fault.startswith(f"{role}: "):
            raise SeatCrashedError(record.fault)

    return Player(play)
