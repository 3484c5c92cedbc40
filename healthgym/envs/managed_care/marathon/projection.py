"""One case out of many: the world as it would be if nobody else's case were in it."""

from __future__ import annotations

from healthgym.envs.managed_care.marathon.task import Piece
from healthgym.worlds.managed_care.history import Entry
from healthgym.worlds.managed_care.queue import QueueOffices
from healthgym.worlds.managed_care.world import ManagedCareWorld


def projected(world: QueueOffices, piece: Piece) -> ManagedCareWorld:
    """Return the world of one case: what belongs to it as it is now, and nothing else.

    What was opened for somebody who stands around a case belongs to that case; so a wrong case is
    found where it would be if the case were alone.

    Args:
        world: The offices; they are not changed.
        piece: The case.
    """
    alone = piece.before.clone()
    alone.clock.advance(world.clock.now - alone.clock.now)
    alone.actor = world.actor
    for own, every in zip(alone.apps(), world.apps(), strict=True):
        for name in own.keeps.values():
            kept, found = getattr(own, name), getattr(every, name)
            for key, record in found.items():
                if key in world.posted:  # by which the queue comes; nobody alone would need it
                    continue
                whose = world.owner_of(record) or world.owner(key)
                if whose == piece.key and kept.get(key) is not record:
                    kept[key] = record
            for key in [key for key in kept if key not in found]:
                del kept[key]
    _log(alone.history.entries, world.history.entries, world, piece)
    _log(alone.history.looks, world.history.looks, world, piece)
    return alone


def _log(kept: list[Entry], entries: list[Entry], world: QueueOffices, piece: Piece) -> None:
    """Add to a log what was done about the case since."""
    own = (entry for entry in entries if entry.case_id and world.owner(entry.case_id) == piece.key)
    for place, entry in enumerate(own):
        if place >= len(kept):
            kept.append(entry)
